//! Records in the order in which they changed.

use std::collections::HashMap;

use lyceum_core::{Problem, Reach, Result};
use lyceum_store::{ChangeRange, ChangedRow, RemovedRecord, Sql, Tx, dialect, record_clock};

use super::reach::{self, RecordUse};
use crate::kind::RecordKind;
use crate::record::StoredRecord;

/// The records of the kind within the reach that changed in the range, deleted ones included.
pub fn changed(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    reach: &Reach,
    range: &ChangeRange,
) -> Result<Vec<ChangedRow>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!(
        "SELECT t.date_last_modified, t.seq, t.sourced_id FROM {} t WHERE ",
        kind.table
    ));
    reach::condition(&mut sql, (kind, "t"), reach, RecordUse::See)?;
    range.rows(tx, sql, "t.date_last_modified")
}

/// The notes of removed records of any kind in the range. Limited callers get those of their organizations.
pub fn removed(tx: &mut Tx<'_>, reach: &Reach, range: &ChangeRange) -> Result<Vec<RemovedRecord>> {
    record_clock::removed(tx, range, |sql| {
        match reach {
            // What an organization lost is still there for those who reach everything.
            Reach::Everything => sql.push("TRUE"),
            Reach::ClassesOf(_) => sql.push("FALSE"),
            Reach::Organizations(roots) => {
                let list = serde_json::to_string(roots).map_err(Problem::internal)?;
                let placeholder = sql.placeholder(list.as_str());
                let is_root = dialect::is_one_of(sql.dialect, "b.root", &placeholder);
                sql.push(&format!(
                    "EXISTS (SELECT 1 FROM roster_org_below b WHERE b.org = r.org AND {is_root})"
                ))
            }
        };
        Ok(())
    })
}

/// The records of the kind with these numbers.
pub fn numbered(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    numbers: &[i64],
) -> Result<HashMap<i64, StoredRecord>> {
    let list = serde_json::to_string(numbers).map_err(Problem::internal)?;
    let is_one = dialect::is_one_of_numbers(tx.dialect(), "t.seq", "$1");
    let sql = format!("SELECT {} FROM {} t WHERE {is_one}", StoredRecord::COLUMNS, kind.table);
    let found = tx.all(&sql, &[list.as_str().into()], StoredRecord::read)?;
    Ok(found.into_iter().map(|stored| (stored.seq, stored)).collect())
}
