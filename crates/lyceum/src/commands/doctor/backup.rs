//! The check of backups.

use lyceum_core::config::Config;
use lyceum_core::time::Timestamp;
use lyceum_hosting::backup::runs::{self, CheckMethod};

use super::{CheckState, Finding};
use crate::failure::Result;
use crate::settings::{self, Missing};

/// Hours from which a backup is old: a daily one failed twice.
const BACKUP_OLD_H: i64 = 48;

/// Checks how old the last backup is, and whether the last one that was tried out could be restored.
pub(super) fn check(config: &Config, now: Timestamp) -> Finding {
    let read = || -> Result<_> {
        let db = settings::open(config, Missing::Refuse)?;
        Ok(db.read_blocking(|tx| Ok((runs::last_complete(tx)?, runs::last_checked(tx)?)))?)
    };
    let ill = |state, found: String, remedy: &str| Finding::ill("backup", state, found, remedy);
    let (last, checked) = match read() {
        Ok(found) => found,
        Err(failure) => {
            let found = format!("the backups are unknown: {}", failure.message);
            return ill(CheckState::Warning, found, "check the data folder and the database");
        }
    };
    if let Some(error) = checked.as_ref().and_then(|run| run.check_error.as_ref()) {
        let found = format!("the last backup that was tried out cannot be restored: {error}");
        return ill(
            CheckState::Failed,
            found,
            "make a new backup, and find out what damaged this one",
        );
    }
    let Some(last) = last else {
        let remedy =
            "set 'backup.to' in the settings, or run `lyceum admin backup FILE` every night";
        return ill(CheckState::Warning, "no backup exists yet".to_owned(), remedy);
    };
    let age_h = (now.seconds() - last.began.seconds()) / 3600;
    let tried = match (last.checked, last.check_method) {
        (Some(at), Some(CheckMethod::Restored)) => format!("restored as a trial at {at}"),
        (Some(at), _) => format!("its checksums were compared at {at}"),
        _ => "not tried out".to_owned(),
    };
    let found = format!("the last one is {age_h} h old, {tried}: {}", last.file);
    match age_h {
        ..=BACKUP_OLD_H => Finding::well("backup", found),
        _ => ill(
            CheckState::Warning,
            found,
            "look in the log or the console for the reason why no backup was created since",
        ),
    }
}
