//! The check of replicas.

use lyceum_core::config::Config;
use lyceum_hosting::installations;
use lyceum_hosting::replicas::{self, RestorableTimes};
use lyceum_store::StoreLocation;

use super::{CheckState, Finding};
use crate::failure::Result;
use crate::settings::{self, Missing};

/// The times to which the database can be restored; `None` if it has no replica yet, or is of another release: looking must
/// not upgrade it.
fn times(
    config: &Config,
    target: &StoreLocation,
    is_current: bool,
) -> Result<Option<RestorableTimes>> {
    let Some(store) = replicas::store(config)? else { return Ok(None) };
    store.mark()?;
    if !is_current || matches!(target, StoreLocation::Postgres(_)) {
        return Ok(None);
    }
    let db = settings::open(config, Missing::Refuse)?;
    match db.read_blocking(installations::id)? {
        Some(id) => Ok(replicas::server_times(&store, &id)?),
        None => Ok(None),
    }
}

/// Checks the place of replicas, and the age of the replica of the server's own database.
pub(super) fn check(config: &Config, target: &StoreLocation, is_current: bool) -> Finding {
    let remedy = "check [replica] and [s3] in the settings";
    let found = times(config, target, is_current);
    match (found, target) {
        (Err(problem), _) => {
            let found = format!("replicas cannot be read: {}", problem.message);
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
        (Ok(None), _) if !is_current => Finding::well("replica", "replicas can be read"),
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
