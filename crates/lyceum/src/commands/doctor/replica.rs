//! The check of replicas.

use lyceum_core::config::Config;
use lyceum_hosting::replicas;
use lyceum_store::StoreLocation;

use super::{CheckState, Finding};
use crate::failure::Failure;

/// Checks the place of replicas, and the age of the replica of the server's own database.
pub(super) fn check(config: &Config, target: &StoreLocation) -> Finding {
    let remedy = "check [replica] and [s3] in the settings";
    let found = replicas::store(config).and_then(|store| match store {
        Some(store) => replicas::server_times(&store),
        None => Ok(None),
    });
    match (found, target) {
        (Err(problem), _) => {
            let found = format!("replicas cannot be read: {}", Failure::from(problem).message);
            Finding::ill("replica", CheckState::Failed, found, remedy)
        }
        (Ok(_), StoreLocation::Postgres(_)) => Finding::well("replica", "replicas can be read"),
        (Ok(Some(times)), _) => {
            let found = format!(
                "the database can be restored from {} on, and last changed at {}",
                times.earliest, times.latest
            );
            Finding::well("replica", found)
        }
        (Ok(None), _) => {
            let found = "the database has no replica yet";
            Finding::ill(
                "replica",
                CheckState::Warning,
                found,
                "start the server; its first snapshot follows within seconds",
            )
        }
    }
}
