//! `lyceum admin take-over`

use clap::Args;
use lyceum_core::config::Config;
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_hosting::owners::{self, OwnerState};
use lyceum_hosting::replicas::ReplicaStore;
use lyceum_store::Db;
use serde_json::json;

use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted};
use crate::settings::{self, DataArgs, Missing};

/// Seconds after its last sign of life for which an installation counts as running.
const RUNNING_S: i64 = 600;

/// Run it after a restore or a move, once the servers of the original will never run again. The server then deletes what
/// nobody needs from the S3 bucket, and the replicas of the original `replica.keep_days` days after their last use.
/// Before, it deletes nothing that the original may need. Servers may run meanwhile.
#[derive(Args)]
pub(crate) struct TakeOver {
    #[command(flatten)]
    data: DataArgs,
}

impl TakeOver {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (config, db) = self.data.open(Missing::Refuse)?;
        let (store, now) = (owners::store(&config)?, SystemClock.now());
        if let Some(store) = &store {
            check_owner(store, &db, now)?;
        }
        let (owner, replaced) = settings::write(&db, move |tx| {
            let (owner, replaced) = owners::take_over(tx, now)?;
            settings::record_change(tx, now, "installation.take_over", &owner.installation)?;
            Ok((owner, replaced))
        })?;
        if let Some(store) = store {
            store.set_owner(&owner)?;
            store.set_owner_in_doubt(false)?;
        }
        printer.answer(
            String::new,
            || json!({ "installation": owner.installation, "replaced": replaced }),
        );
        printer.done(&about(&config, replaced));
        Ok(())
    }
}

fn about(config: &Config, replaced: u64) -> String {
    let former = counted(replaced, "former installation");
    let replicas =
        format!("replicas of {former} are deleted `replica.keep_days` days after their last use");
    match (config.s3.bucket.as_str(), replaced) {
        ("", 0) => "there is nothing to take over".to_owned(),
        ("", _) => replicas,
        (bucket, 0) => format!("this installation owns the S3 bucket '{bucket}'"),
        (bucket, _) => format!("this installation owns the S3 bucket '{bucket}'; {replicas}"),
    }
}

/// Refuses to replace an installation whose servers run or may run. Errors: `Conflict`.
fn check_owner(store: &ReplicaStore, db: &Db, now: Timestamp) -> Result {
    let Some(owner) = store.owner()? else { return Ok(()) };
    let state = db.read_blocking(|tx| owners::state(tx, Some(&owner), false))?;
    if !matches!(state, OwnerState::Other(_)) {
        return Ok(());
    }
    // Servers of an owner that is in doubt do not renew its mark.
    if store.is_owner_in_doubt()? {
        let message = format!(
            "servers with a copy of the database used the S3 bucket as the installation '{}', so its owner is in doubt",
            owner.installation
        );
        return Err(Failure::new(Code::Conflict, message).hint(
            "run it on the original, or give this server another bucket or prefix; if no other server will ever use the \
             bucket, delete its object 'installation/in-doubt.json' and run this again after ten minutes",
        ));
    }
    let at = owner.mark.at();
    if at.plus_seconds(RUNNING_S) <= now {
        return Ok(());
    }
    let message = format!(
        "the servers of the installation '{}' used the S3 bucket at {at}, so they may run",
        owner.installation
    );
    Err(Failure::new(Code::Conflict, message)
        .hint("stop them and run this again after ten minutes; or give this server another bucket or prefix"))
}
