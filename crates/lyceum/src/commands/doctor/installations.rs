//! The check of former installations.

use lyceum_core::config::Config;
use lyceum_hosting::installations;

use super::{CheckState, Finding};
use crate::failure::Result;
use crate::settings::{self, Missing};

const CHECK: &str = "installation";

/// The former installations that were not adopted.
fn former(config: &Config) -> Result<Vec<String>> {
    let db = settings::open(config, Missing::Refuse)?;
    let former = db.read_blocking(installations::former)?.into_iter();
    Ok(former.filter(|former| !former.is_adopted).map(|former| former.id).collect())
}

/// Checks that the server deletes what nobody needs. `None` without former installations.
pub(super) fn check(config: &Config) -> Option<Finding> {
    let (found, remedy) = match former(config) {
        Ok(former) if former.is_empty() => return None,
        Ok(former) => (
            format!(
                "the objects and replicas of former installations stay, also those of erased persons: {}",
                former.join(", ")
            ),
            "run `lyceum admin adopt ID` for each one whose servers will never run again",
        ),
        Err(failure) => {
            (format!("former installations are unknown: {}", failure.message), "check the database")
        }
    };
    Some(Finding::ill(CHECK, CheckState::Warning, found, remedy))
}
