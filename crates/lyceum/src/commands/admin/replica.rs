//! `lyceum admin restore --at`

use lyceum_core::config::Config;
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_hosting::backup::UnpackedBackup;
use lyceum_hosting::replicas::{self, ReplicaStore, RestorableTimes};
use lyceum_store::StoreLocation;
use serde_json::json;

use super::backup::{about_master_key, about_original};
use super::projects;
use crate::failure::{Code, Failure, Result};
use crate::in_use;
use crate::printer::{Printer, counted};
use crate::settings::{self, Missing};

/// Restores the database of a server on SQLite and the files of its projects to a time. If several installations have
/// replicas from that time, `installation` names one.
pub(super) fn restore(
    config: &Config,
    at: Timestamp,
    installation: Option<&str>,
    printer: &Printer,
) -> Result {
    let StoreLocation::Sqlite(target) = settings::target(config) else {
        let message =
            "--at restores servers on SQLite; restore PostgreSQL to a time with its own tools";
        return Err(Failure::new(Code::Usage, message).hint(
            "restore the database of one project with `lyceum db restore --at TIME --remote`",
        ));
    };
    let store = replicas::store(config)?.ok_or_else(replicas::not_replicated)?;
    settings::make_folder(config)?;
    // Held for the whole restore: no server may start on half of the data.
    let _alone = in_use::alone(&config.store.data)?;
    if target.exists() || UnpackedBackup::is_taken(&config.store.data) {
        let message = format!("'{}' already contains data", config.store.data.display());
        return Err(
            Failure::new(Code::Conflict, message).hint("choose an empty folder with --data")
        );
    }
    let id = match installation {
        Some(id) => id.to_owned(),
        None => installation_at(&store, at)?,
    };
    let bar = printer.progress("downloading the replica", 1);
    let state = replicas::restore_server(&store, &id, at, &target, &mut |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let state = state?;
    // Applies migrations: the replica may be of an earlier release.
    let db = settings::open_alone(config, Missing::Refuse)?;
    let (stores, files) = db.read_blocking(|tx| replicas::project_files(tx, &store, &id))?;
    let (node, now) = (projects::node(config)?.0, SystemClock.now());
    let (restored, missing) = replicas::restore_files(&stores, &node, &files, at)?;
    settings::write(&db, move |tx| replicas::adopt_restored(tx, now, &node, &files))?;
    printer.answer(String::new, || {
        json!({
            "installation": id, "at": state.time, "bytes": state.bytes, "projectFiles": restored, "missing": missing,
        })
    });
    printer.done(&format!(
        "restored the database to {} and {} of projects",
        state.time,
        counted(restored, "file")
    ));
    printer.warn(&about_master_key(config));
    about_original(config, printer);
    if config.s3.bucket.is_empty() {
        printer.warn(
            "versions and bucket objects of projects are not in the replica; restore 'hosting/blobs' and the objects \
             from a backup",
        );
    }
    for name in missing {
        printer.warn(&format!("the replica '{name}' has no state from that time"));
    }
    Ok(())
}

/// The installation whose replica has a state from that time. Errors: `NotFound`; `Conflict` if several have one.
fn installation_at(store: &ReplicaStore, at: Timestamp) -> Result<String> {
    let all = replicas::restorable_installations(store)?;
    let mut found: Vec<_> = all.iter().filter(|(_, times)| times.earliest <= at).collect();
    match (found.pop(), found.is_empty()) {
        (Some((id, _)), true) => Ok(id.clone()),
        (None, _) => {
            let message = match all.iter().map(|(_, times)| times.earliest).min() {
                Some(earliest) => format!("the replicas begin at {earliest}, later than {at}"),
                None => "no server has replicated its database there".to_owned(),
            };
            Err(Failure::new(Code::NotFound, message))
        }
        (Some(_), false) => {
            let line = |(id, times): &(String, RestorableTimes)| {
                format!("{id} from {} to {}", times.earliest, times.latest)
            };
            let lines: Vec<String> = all.iter().map(line).collect();
            let message =
                format!("several installations have replicas from {at}: {}", lines.join(", "));
            Err(Failure::new(Code::Conflict, message)
                .hint("choose one with --installation; the last time of each is its last change"))
        }
    }
}
