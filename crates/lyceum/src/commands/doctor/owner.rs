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
const OWNER_REMEDY: &str = "run `lyceum admin take-over` if the servers of the original will never run again; else give \
    this server another bucket or prefix, and another `replica.folder`";
const DOUBT_REMEDY: &str = "stop the other server or give it another bucket or prefix, and another `replica.folder`, then \
    run `lyceum admin take-over --others-stopped` on the one that stays";

/// What the database and the bucket say: the owner, if there is a bucket, and the number of former installations whose
/// replicas stay.
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
    match (state, former) {
        (Some(OwnerState::Other(id)), _) => warning(
            format!(
                "the installation '{id}' owns the S3 bucket, so this server deletes nothing there"
            ),
            OWNER_REMEDY,
        ),
        (Some(OwnerState::Unclaimed), _) => warning(
            "this database was restored or copied, and its original may use the same S3 bucket, so this server deletes \
             nothing there"
                .to_owned(),
            OWNER_REMEDY,
        ),
        (Some(OwnerState::InDoubt), _) => warning(
            "a server with a copy of this database uses the same S3 bucket, so nothing is deleted there".to_owned(),
            DOUBT_REMEDY,
        ),
        (_, 1..) => warning(
            format!(
                "the replicas of {} are kept until you run `lyceum admin take-over`",
                counted(former, "former installation")
            ),
            REMEDY,
        ),
        (Some(OwnerState::Own | OwnerState::Free), 0) => {
            Some(Finding::well(CHECK, "this installation owns the S3 bucket"))
        }
        (None, 0) => None,
    }
}
