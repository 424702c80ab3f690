//! Installations: the servers that work with a database. Each has a folder of its own in the store of replicas, named by
//! its id, so that a copy of a database never writes into the replicas of its original.
//!
//! A restore ends the installation, and the next server begins a new one. A database that was copied in another way still
//! names the installation of its original. So a server replaces the *mark* every minute, in the database and in the
//! store. If the store has a mark that the database does not know, another database uses the same installation, and the
//! server begins a new one.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_replica::StoreMark;
use lyceum_store::{Tx, record_clock};
use uuid::Uuid;

use crate::limits;
use crate::repository::installations as repository;
use crate::repository::nodes;

pub use crate::repository::installations::{FormerInstallation, PresentInstallation};

/// The state of the mark in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkComparison {
    /// The servers of this database wrote it a moment ago.
    Recent,
    /// The servers of this database wrote it, and it must be replaced.
    Due,
    /// Servers of another database wrote it.
    Foreign,
}

impl PresentInstallation {
    /// Compares the mark of the database with the one in the store. A server that starts replaces each mark.
    pub fn compare(
        &self,
        stored: Option<&StoreMark>,
        now: Timestamp,
        is_start: bool,
    ) -> MarkComparison {
        let is_own = |stored: &StoreMark| [&self.mark, &self.next_mark].contains(&&stored.mark);
        if !stored.is_none_or(is_own) {
            return MarkComparison::Foreign;
        }
        let is_being_stored = self.mark != self.next_mark;
        let lasts_s = match (is_being_stored, is_start) {
            (true, _) => limits::INSTALLATION_MARK_STORED_MAX_S,
            (false, true) => 0,
            (false, false) => limits::INSTALLATION_MARK_EVERY_S,
        };
        // After a step of the clock, a mark of the future would last.
        let is_over = self.marked.plus_seconds(lasts_s) <= now;
        match is_over || now.plus_seconds(lasts_s) < self.marked {
            true => MarkComparison::Due,
            false => MarkComparison::Recent,
        }
    }
}

/// The present installation. Begins one if there is none.
pub fn present(tx: &mut Tx<'_>, now: Timestamp) -> Result<PresentInstallation> {
    if repository::present(tx)?.is_none() {
        repository::begin(tx, now, &new_id())?;
    }
    let present = repository::present(tx)?;
    Ok(present.expect("it was begun above"))
}

/// It is short, because file systems and services limit the length of names.
fn new_id() -> String {
    let mut id = Uuid::new_v4().simple().to_string();
    id.truncate(10);
    id
}

/// The installations that have ended, the last one first.
pub fn former(tx: &mut Tx<'_>) -> Result<Vec<FormerInstallation>> {
    repository::former(tx)
}

/// The id of the present installation; `None` before a server with a store of replicas has started.
pub fn id(tx: &mut Tx<'_>) -> Result<Option<String>> {
    Ok(repository::present(tx)?.map(|present| present.id))
}

/// Ends the present installation, because the database was restored or copied. The servers that reported to the original
/// do not use it.
pub fn end(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    nodes::stop_all(tx)?;
    record_clock::forget_past(tx, now)?;
    // Without one, the database would count as one that was never restored.
    present(tx, now)?;
    repository::end(tx, now)
}

/// Ends this installation and begins a new one, unless another server did already.
pub fn replace(tx: &mut Tx<'_>, now: Timestamp, copied: &PresentInstallation) -> Result<()> {
    if repository::present(tx)?.is_some_and(|present| present == *copied) {
        record_clock::forget_past(tx, now)?;
        repository::end(tx, now)?;
        repository::begin(tx, now, &new_id())?;
    }
    Ok(())
}

/// A new mark.
pub fn new_mark(now: Timestamp) -> StoreMark {
    StoreMark::new(&Uuid::new_v4().to_string(), now)
}

/// Records the mark that this server stores now. `false` if another server stores one.
pub fn set_next_mark(
    tx: &mut Tx<'_>,
    now: Timestamp,
    known: &PresentInstallation,
    stored: Option<&StoreMark>,
    next: &StoreMark,
) -> Result<bool> {
    repository::set_next_mark(tx, now, known, stored.map(|stored| &*stored.mark), &next.mark)
}

/// Records that the mark is in the store.
pub fn set_mark(tx: &mut Tx<'_>, id: &str, stored: &StoreMark) -> Result<()> {
    repository::set_mark(tx, id, &stored.mark)
}
