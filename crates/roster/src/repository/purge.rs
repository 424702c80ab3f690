//! Removes deleted records for good, without leaving a reference to a record that is gone.

use std::collections::HashSet;

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use super::read::find;
use super::referrers::referring;
use super::{credentials, imported, moves, organizations};
use crate::kind::RecordKind;
use crate::kinds::{self, ORG, USER};
use crate::limits;
use crate::record::Record;

/// The result of a purge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgeReport {
    /// Records removed for good.
    pub removed: u64,
    /// Records kept, because others that stay refer to them.
    pub kept: u64,
}

/// Removes the records of the kind that were marked before the first instant, at most `most` of them, beginning behind
/// `after`. It is the second instant now. A record to which any record refers that stays is kept, so that nothing
/// dangles: an active one, one that was marked later, or one that is itself kept. Records that refer to
/// each other go together, also those of other kinds. Returns the counts, and where to continue.
pub fn purge(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    (before, now): (Timestamp, Timestamp),
    after: i64,
    most: i64,
) -> Result<(PurgeReport, Option<i64>)> {
    let sql = format!(
        "SELECT seq, sourced_id FROM {} WHERE status = 'tobedeleted' \
         AND date_last_modified < $1 AND seq > $2 ORDER BY seq LIMIT $3",
        kind.table
    );
    let before = before.to_string();
    let mut marked = Vec::new();
    tx.query(&sql, &[(&before).into(), after.into(), most.into()], |row| {
        marked.push((row.int(0)?, row.text(1)?.to_owned()));
        Ok(true)
    })?;
    let mut purge = Purge { before, now, removed: HashSet::new(), kept: HashSet::new() };
    let (mut kept, mut last) = (0, None);
    for (seq, sourced_id) in marked {
        let one = (kind.one, sourced_id);
        if !purge.removed.contains(&one) && !purge.remove(tx, one)? {
            kept += 1;
        }
        last = Some(seq);
        if i64::try_from(purge.removed.len()).is_ok_and(|removed| removed >= most) {
            break;
        }
    }
    Ok((PurgeReport { removed: purge.removed.len() as u64, kept }, last))
}

/// A record by its kind and its sourcedId.
type PurgedId = (&'static str, String);

/// A purge inside one transaction.
struct Purge {
    /// The instant before which a record must have been marked.
    before: String,
    now: Timestamp,
    removed: HashSet<PurgedId>,
    /// Records that stay. A search ends at them.
    kept: HashSet<PurgedId>,
}

impl Purge {
    /// Removes the record with all that refer to it, directly or through others, unless one of them
    /// stays. Returns whether it removed them.
    fn remove(&mut self, tx: &mut Tx<'_>, one: PurgedId) -> Result<bool> {
        // Each record with the place of the one to which it refers, for marking the way to a record that stays.
        let mut found = vec![(one.clone(), None)];
        let mut seen = HashSet::from([one]);
        let mut at = 0;
        while at < found.len() {
            let (target, _) = found[at].clone();
            let is_free = !self.kept.contains(&target)
                && found.len() as u64 <= limits::CASCADE_MAX_RECORDS
                && self.referrers(tx, &target, |id| {
                    if seen.insert(id.clone()) {
                        found.push((id, Some(at)));
                    }
                })?;
            if !is_free {
                self.keep_with_path(&found, at);
                return Ok(false);
            }
            at += 1;
        }
        for ((one, sourced_id), _) in found {
            let kind = kinds::by_name(one).expect("it was found in a table");
            forget(tx, kind, &sourced_id, self.now)?;
            self.removed.insert((one, sourced_id));
        }
        Ok(true)
    }

    /// Names the records that refer to the record, all of which may go; false if one of them stays.
    fn referrers(
        &self,
        tx: &mut Tx<'_>,
        (one, sourced_id): &PurgedId,
        mut each: impl FnMut(PurgedId),
    ) -> Result<bool> {
        let target = kinds::by_name(one).expect("it was found in a table");
        for kind in kinds::ALL {
            for from in referring(kind, target) {
                let sql = format!("SELECT t.sourced_id, t.status, t.date_last_modified {from}");
                let mut all_may_go = true;
                tx.query(&sql, &[sourced_id.into()], |row| {
                    all_may_go =
                        row.text(1)? == "tobedeleted" && row.text(2)? < self.before.as_str();
                    if all_may_go {
                        each((kind.one, row.text(0)?.to_owned()));
                    }
                    Ok(all_may_go)
                })?;
                if !all_may_go {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Marks the record at the place as one that stays, with all on the way to where the search began:
    /// it refers to them.
    fn keep_with_path(&mut self, found: &[(PurgedId, Option<usize>)], at: usize) {
        let mut next = Some(at);
        while let Some((id, refers_to)) = next.map(|at| &found[at]) {
            self.kept.insert(id.clone());
            next = *refers_to;
        }
    }
}

/// Removes a record with its links and what is kept beside it.
pub(super) fn forget(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    sourced_id: &str,
    now: Timestamp,
) -> Result<()> {
    let Some(stored) = find(tx, kind, sourced_id)? else { return Ok(()) };
    moves::note_gone(tx, kind, &stored, now)?;
    for link in &Record::stored(kind, &stored.body, stored.extra.as_deref())?.links {
        tx.send(
            "DELETE FROM roster_link WHERE field = $1 AND value = $2 AND owner = $3",
            &[(&link.field).into(), (&link.value).into(), stored.seq.into()],
        )?;
    }
    tx.send(&format!("DELETE FROM {} WHERE seq = $1", kind.table), &[stored.seq.into()])?;
    imported::forget(tx, kind, stored.seq)?;
    if *kind == USER {
        credentials::forget(tx, sourced_id)?;
    }
    if *kind == ORG {
        organizations::forget(tx, sourced_id)?;
    }
    Ok(())
}
