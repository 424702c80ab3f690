//! The check of former installations, and of the one that owns the S3 bucket.

use lyceum_core::config::Config;
use lyceum_hosting::installations;
use lyceum_hosting::owners::{self, OwnerState};

use super::{CheckState, Finding};
use crate::failure::Result;
use crate::printer::counted;
use crate::settings::{self, Missing};

const CHECK: &str = "installation";
const REMEDY: &str =
    "run `lyceum admin take-over` if the servers of the original will never run again";

/// The state of the bucket's owner, if there is a bucket, and the number of former installations whose replicas stay.
fn look(config: &Config) -> Result<(Option<OwnerState>, usize)> {
    let stored = match owners::store(config)? {
        Some(store) => Some((store.owner()?, store.is_owner_in_doubt()?)),
        None => None,
    };
    let db = settings::open(config, Missing::Refuse)?;
    Ok(db.read_blocking(|tx| {
        let state = match &stored {
            Some((owner, is_in_doubt)) => Some(owners::state(tx, owner.as_ref(), *is_in_doubt)?),
            None => None,
        };
        let former = installations::former(tx)?;
        Ok((state, former.iter().filter(|former| !former.is_replaced).count()))
    })?)
}

/// Checks that the server deletes what nobody needs. `None` if there is nothing to say.
pub(super) fn check(config: &Config) -> Option<Finding> {
    let warning =
        |found: String, remedy: &str| Some(Finding::ill(CHECK, CheckState::Warning, found, remedy));
    let (state, former) = match look(config) {
        Ok(found) => found,
        Err(failure) => {
            let (unknown, remedy) = match config.s3.bucket.as_str() {
                "" => ("former installations are unknown", "check the database"),
                _ => (
                    "the owner of the S3 bucket is unknown",
                    "check [s3] in the settings, and the database",
                ),
            };
            return warning(format!("{unknown}: {}", failure.message), remedy);
        }
    };
    if let Some((found, remedy)) = state.as_ref().and_then(OwnerState::warning) {
        return warning(found, remedy);
    }
    if former > 0 {
        let former = counted(former, "former installation");
        return warning(
            format!("the replicas of {former} are kept until you run `lyceum admin take-over`"),
            REMEDY,
        );
    }
    state.map(|_| Finding::well(CHECK, "this installation owns the S3 bucket"))
}
