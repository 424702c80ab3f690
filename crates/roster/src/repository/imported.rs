//! The records that an import wrote last.

use lyceum_core::{Problem, Reach, Result};
use lyceum_store::{Sql, Tx, dialect};

use super::reach::{RecordUse, condition};
use crate::kind::RecordKind;
use crate::record::StoredRecord;

/// Remembers that an import wrote the records with these sourcedIds. It ends with the next write of another kind, which
/// raises the version of the record.
pub(crate) fn mark_imported(tx: &mut Tx<'_>, kind: &RecordKind, ids: &[&str]) -> Result<()> {
    let list = serde_json::to_string(ids).map_err(Problem::internal)?;
    let sql = format!(
        "INSERT INTO roster_imported (kind, owner, version) \
         SELECT '{}', t.seq, t.version FROM {} t WHERE {} \
         ON CONFLICT (kind, owner) DO UPDATE SET version = excluded.version \
         WHERE roster_imported.version <> excluded.version",
        kind.one,
        kind.table,
        dialect::is_one_of(tx.dialect(), "t.sourced_id", "$1")
    );
    tx.send(&sql, &[list.as_str().into()])
}

/// Forgets a record that is removed for good, because another one may get its number.
pub(super) fn forget(tx: &mut Tx<'_>, kind: &RecordKind, seq: i64) -> Result<()> {
    let sql = "DELETE FROM roster_imported WHERE kind = $1 AND owner = $2";
    tx.send(sql, &[kind.one.into(), seq.into()])
}

/// The largest number of a record of the kind; 0 if none is stored.
pub(crate) fn last_number(tx: &mut Tx<'_>, kind: &RecordKind) -> Result<i64> {
    let sql = format!("SELECT COALESCE(MAX(seq), 0) FROM {}", kind.table);
    Ok(tx.query_one(&sql, &[], |row| row.int(0))?.unwrap_or(0))
}

/// Hands the number of each active record of the kind up to `last` that may be changed within the reach to `each`, and
/// whether an import wrote it last.
pub(crate) fn each_active(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    reach: &Reach,
    last: i64,
    mut each: impl FnMut(i64, bool),
) -> Result<()> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!(
        "SELECT t.seq, i.version FROM {} t LEFT JOIN roster_imported i \
         ON i.kind = '{}' AND i.owner = t.seq AND i.version = t.version \
         WHERE t.status = 'active' AND t.seq <= ",
        kind.table, kind.one
    ));
    sql.bind(last).push(" AND ");
    condition(&mut sql, (kind, "t"), reach, RecordUse::Change)?;
    tx.query(&sql.text, &sql.values(), |row| {
        each(row.int(0)?, row.opt_int(1)?.is_some());
        Ok(true)
    })
}

/// The records of the kind with these numbers.
pub(crate) fn with_numbers(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    numbers: &[i64],
) -> Result<Vec<StoredRecord>> {
    let list = serde_json::to_string(numbers).map_err(Problem::internal)?;
    let sql = format!(
        "SELECT {} FROM {} t WHERE {} ORDER BY t.seq",
        StoredRecord::COLUMNS,
        kind.table,
        dialect::is_one_of_numbers(tx.dialect(), "t.seq", "$1")
    );
    tx.all(&sql, &[list.as_str().into()], StoredRecord::read)
}
