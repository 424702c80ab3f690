//! `lyceum admin take-over`

use clap::Args;
use lyceum_core::config::Config;
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_hosting::installations::{self, MarkComparison, PresentInstallation};
use lyceum_hosting::owners::{self, OwnerState};
use lyceum_hosting::replicas::{self, ReplicaStore};
use lyceum_store::Db;
use serde_json::json;

use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted};
use crate::settings::{self, DataArgs, Missing};

/// Seconds after its last sign of life for which an installation counts as running. Longer than
/// the longest silence of running servers: 600 s if one stopped while it replaced the mark
/// (`INSTALLATION_MARK_STORED_MAX_S`), 20 s until the next look (`INSTALLATION_CHECK_EVERY_S`), and a minute for clocks
/// that differ (`CLOCK_DIFFERENCE_MAX_S`).
const RUNNING_S: i64 = 900;
/// Seconds in the future up to which a sign of life counts. One that is further ahead is of a wrong clock and is ignored,
/// because nobody could take over the bucket until then.
const AHEAD_MAX_S: i64 = 24 * 60 * 60;

const DOUBT_HINT: &str = "to keep this database, stop the servers of the other ones, or give them another bucket or prefix and another \
    `replica.folder`, then add `--others-stopped`; to keep another one, change the bucket or prefix and `replica.folder` of \
    this server";
const RUNNING_HINT: &str = "stop them and run this again after 15 minutes; or give this server another bucket or prefix, \
    and another `replica.folder`";

/// Run it after a restore or a move, once the servers of the original will never run again. The server then deletes what
/// nobody needs from the S3 bucket, and the replicas of the original `replica.keep_days` days after their last use.
/// Before, it deletes nothing that the original may need. Servers may run meanwhile.
#[derive(Args)]
pub(crate) struct TakeOver {
    /// Say that no servers of other databases use the bucket any more; needed if its owner is in doubt, because servers
    /// with a copy of the database used it, too
    #[arg(long)]
    others_stopped: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl TakeOver {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (config, db) = self.data.open(Missing::Refuse)?;
        let (store, now) = (owners::store(&config)?, SystemClock.now());
        if let Some(store) = &store {
            self.check_owner(store, &config, &db, now)?;
        }
        let copied = if self.others_stopped { copied(&config, &db, now)? } else { None };
        let (owner, replaced) = settings::write(&db, move |tx| {
            if let Some(copied) = &copied {
                installations::replace(tx, now, copied)?;
            }
            let (owner, replaced) = owners::take_over(tx, now)?;
            settings::record_change(tx, now, "installation.take_over", &owner.installation)?;
            Ok((owner, replaced))
        })?;
        if let Some(store) = store {
            store.set_owner(&owner)?;
            if self.others_stopped {
                store.set_owner_in_doubt(false)?;
            }
        }
        printer.answer(
            String::new,
            || json!({ "installation": owner.installation, "replaced": replaced }),
        );
        printer.done(&about(&config, replaced));
        Ok(())
    }

    /// Refuses to replace an installation whose servers run or may run. Errors: `Conflict`.
    fn check_owner(
        &self,
        store: &ReplicaStore,
        config: &Config,
        db: &Db,
        now: Timestamp,
    ) -> Result {
        let Some(owner) = store.owner()? else { return Ok(()) };
        let is_in_doubt = store.is_owner_in_doubt()?;
        let state = db.read_blocking(|tx| owners::state(tx, Some(&owner), is_in_doubt))?;
        if (is_in_doubt || state == OwnerState::InDoubt) && !self.others_stopped {
            let message = format!(
                "servers with a copy of the database used the S3 bucket as the installation '{}', so its owner is in doubt",
                owner.installation
            );
            return Err(Failure::new(Code::Conflict, message).hint(DOUBT_HINT));
        }
        // The servers of this database may run.
        if !matches!(state, OwnerState::Other(_)) {
            return Ok(());
        }
        let signs = owners::last_seen(config, &owner)?;
        let (from, to) = (now.plus_seconds(-RUNNING_S), now.plus_seconds(AHEAD_MAX_S));
        let is_fresh = |at: &Timestamp| from < *at && *at <= to;
        let (done, at) = if is_fresh(&signs.in_bucket) {
            ("used the S3 bucket", signs.in_bucket)
        } else if let Some(at) = signs.with_replicas.filter(is_fresh) {
            ("stored replicas", at)
        } else {
            return Ok(());
        };
        let message = format!(
            "the servers of the installation '{}' {done} at {at}, so they may run",
            owner.installation
        );
        Err(Failure::new(Code::Conflict, message).hint(RUNNING_HINT))
    }
}

/// The present installation, if servers with a copy of the database stored the mark of its replicas. The next start would
/// find that mark, and doubt the owner again.
fn copied(config: &Config, db: &Db, now: Timestamp) -> Result<Option<PresentInstallation>> {
    let Some(store) = replicas::store(config)? else { return Ok(None) };
    let present = db.write_blocking(move |tx| installations::present(tx, now))?;
    let stored = store.below(&present.id).mark()?;
    let is_copied = present.compare(stored.as_ref(), now, false) == MarkComparison::Foreign;
    Ok(is_copied.then_some(present))
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
