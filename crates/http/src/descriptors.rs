//! The number of files and sockets that the system lets the process open.

use lyceum_core::config::Config;
use lyceum_replica::limits::{REPLICA_FILE_DESCRIPTORS_COUNT, REPLICA_OPEN_MAX_COUNT};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::admission::connections_of;

/// The assumed number if the system sets no limit.
const WITHOUT_LIMIT: u64 = 1_000_000;

/// Raises the limit of open files as far as the process may, and returns it.
pub fn raise() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(WITHOUT_LIMIT).min(WITHOUT_LIMIT);
    let limit = match current {
        None => WITHOUT_LIMIT,
        Some(current) if current >= wanted => current,
        Some(current) => {
            match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }) {
                Ok(()) => wanted,
                Err(fault) => {
                    tracing::warn!("the limit for open files stays at {current}: {fault}");
                    current
                }
            }
        }
    };
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// The number of replicated files that may be open at once: three quarters of the descriptors that connections leave are
/// for them.
pub fn replicated_files(descriptors: usize, config: &Config) -> usize {
    let connections = config.server.connections.min(connections_of(descriptors));
    let left = descriptors.saturating_sub(connections) / 4 * 3;
    (left / REPLICA_FILE_DESCRIPTORS_COUNT).clamp(1, REPLICA_OPEN_MAX_COUNT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicated_files_use_the_descriptors_that_connections_leave() {
        let mut config = Config::defaults();
        config.server.connections = 10_000;
        assert_eq!(replicated_files(1024, &config), 32);
        assert_eq!(replicated_files(11_000, &config), 256);
        assert_eq!(replicated_files(65_536, &config), REPLICA_OPEN_MAX_COUNT);
        assert_eq!(replicated_files(16, &config), 1);
    }
}
