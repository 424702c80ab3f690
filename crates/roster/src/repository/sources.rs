//! When imported records changed in the system that they come from.

use std::collections::HashMap;

use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, dialect};

use crate::kind::RecordKind;
use crate::record::{Record, StoredRecord};

/// Notes that the source of an import said the same at a later time.
pub(super) fn confirm(tx: &mut Tx<'_>, record: &Record, stored: &StoredRecord) -> Result<()> {
    let Some(at) = record.source_modified.as_deref() else { return Ok(()) };
    let sql = format!(
        "UPDATE {} SET source_modified = $1 WHERE seq = $2 AND {SOURCE_TIME} < $1",
        record.kind.table
    );
    tx.send(&sql, &[at.into(), stored.seq.into()])
}

/// When a record changed in its source; changes that were made here count as well.
const SOURCE_TIME: &str = "coalesce(source_modified, date_last_modified)";

/// The times at which the records with these ids changed in their source, as text, by id.
pub(crate) fn source_times(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    ids: &[&str],
) -> Result<HashMap<String, String>> {
    let list = serde_json::to_string(ids).map_err(Problem::internal)?;
    let sql = format!(
        "SELECT sourced_id, {SOURCE_TIME} FROM {} WHERE {}",
        kind.table,
        dialect::is_one_of(tx.dialect(), "sourced_id", "$1")
    );
    Ok(tx.rows::<(String, String)>(&sql, &[list.as_str().into()])?.into_iter().collect())
}
