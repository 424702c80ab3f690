//! Imports that a person uploaded in the browser.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, Value, columns, json_column, opt_parsed, parsed};

use crate::imports::{Import, ImportOutcome, ImportProgress, ImportState, NewImport};

columns!(Import {
    id: "id",
    name: "name",
    bytes: "bytes",
    file: "file",
    who: "who",
    uploaded: "begun" => parsed,
    ended: "ended" => opt_parsed,
    state: "state" => ImportState::named,
    keep_going: "keep_going",
    report: "report",
    rejects: "rejects",
    error: "COALESCE(error, '')",
    progress: "progress",
    is_forgotten: "is_forgotten",
});
json_column!(ImportProgress);

const COLUMNS: &str = Import::COLUMNS;

pub(crate) fn insert(tx: &mut Tx<'_>, now: Timestamp, new: &NewImport<'_>) -> Result<i64> {
    let sql = "INSERT INTO imports (name, bytes, file, who, begun, state, keep_going) \
               VALUES ($1, $2, $3, $4, $5, $6, 0) RETURNING id";
    let uploaded = now.to_string();
    let values: [Value<'_>; 6] = [
        new.name.into(),
        new.bytes.into(),
        new.file.into(),
        new.who.into(),
        uploaded.as_str().into(),
        ImportState::Checking.name().into(),
    ];
    tx.query_one(sql, &values, |row| row.int(0))?
        .ok_or_else(|| Problem::internal("an import was not added"))
}

pub(crate) fn find(tx: &mut Tx<'_>, id: i64) -> Result<Option<Import>> {
    let sql = format!("SELECT {COLUMNS} FROM imports WHERE id = $1");
    tx.row(&sql, &[id.into()])
}

/// All of them, the newest first.
pub(crate) fn all(tx: &mut Tx<'_>, most: i64) -> Result<Vec<Import>> {
    let sql = format!("SELECT {COLUMNS} FROM imports ORDER BY id DESC LIMIT $1");
    tx.rows(&sql, &[most.into()])
}

/// Goes on to another state; `false` if it is in another one by now.
pub(crate) fn set_state(
    tx: &mut Tx<'_>,
    id: i64,
    (from, to): (ImportState, ImportState),
    keep_going: bool,
) -> Result<bool> {
    let sql =
        "UPDATE imports SET state = $1, keep_going = $2, error = NULL WHERE id = $3 AND state = $4";
    let values: [Value<'_>; 4] =
        [to.name().into(), i64::from(keep_going).into(), id.into(), from.name().into()];
    Ok(tx.execute(sql, &values)? == 1)
}

/// Stores that the files of an import are removed when its reading ends.
pub(crate) fn forget_at_end(tx: &mut Tx<'_>, id: i64) -> Result<()> {
    tx.send("UPDATE imports SET is_forgotten = 1 WHERE id = $1", &[id.into()])
}

/// Forgets the rejected rows, and stores a report that names no file.
pub(crate) fn forget_files(tx: &mut Tx<'_>, import: &Import) -> Result<()> {
    let report = import.report.as_ref().map(ToString::to_string);
    let sql =
        "UPDATE imports SET rejects = NULL, report = $1, state = $2, error = $3 WHERE id = $4";
    let values: [Value<'_>; 4] = [
        report.as_deref().into(),
        import.state.name().into(),
        Some(import.error.as_str()).filter(|error| !error.is_empty()).into(),
        import.id.into(),
    ];
    tx.send(sql, &values)
}

/// Notes how far it is.
pub(crate) fn record_progress(tx: &mut Tx<'_>, id: i64, progress: &ImportProgress) -> Result<()> {
    let progress = serde_json::to_string(progress).map_err(Problem::internal)?;
    let sql = "UPDATE imports SET progress = $1 WHERE id = $2";
    tx.send(sql, &[progress.as_str().into(), id.into()])
}

/// Notes what came of it.
pub(crate) fn store_outcome(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: i64,
    to: ImportState,
    outcome: &ImportOutcome<'_>,
) -> Result<()> {
    let (now, report) = (now.to_string(), outcome.report.map(ToString::to_string));
    let sql = "UPDATE imports SET state = $1, ended = $2, report = COALESCE($3, report), \
               rejects = COALESCE($4, rejects), error = $5, progress = NULL WHERE id = $6";
    let values: [Value<'_>; 6] = [
        to.name().into(),
        now.as_str().into(),
        report.as_deref().into(),
        outcome.rejects.into(),
        outcome.error.into(),
        id.into(),
    ];
    tx.send(sql, &values)
}
