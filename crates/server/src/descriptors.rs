//! The number of files and sockets that the system lets the process open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The assumed number if the system sets no limit.
const WITHOUT_LIMIT: u64 = 1_000_000;

/// Raises the limit of open files as far as the process may, and returns it.
pub(crate) fn raise() -> usize {
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
