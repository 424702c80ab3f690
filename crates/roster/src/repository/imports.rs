//! Imports that a person uploaded in the browser.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, Reach, Result, phrase};
use lyceum_store::{Tx, Value, columns, json_column, opt_parsed, parsed};
use serde::{Deserialize, Serialize};

/// An import.
#[derive(Clone, Debug)]
pub struct Import {
    /// Its number.
    pub id: i64,
    /// The name of the file.
    pub name: String,
    /// Its bytes.
    pub bytes: i64,
    /// The SHA-256 of the file.
    pub file: String,
    /// The e-mail address of the person who owns it, or the id of the client.
    pub who: String,
    /// The part of the roster that its rows may change.
    pub reach: Reach,
    /// When the file was uploaded.
    pub uploaded: Timestamp,
    /// When the check or the import ended.
    pub ended: Option<Timestamp>,
    /// Its state.
    pub state: ImportState,
    /// Whether correct rows are stored although others are rejected.
    pub keep_going: bool,
    /// The result: a [`crate::csv::CsvReport`] as JSON, and in `noted` the SHA-256 of the file that
    /// lists the outcome of each row.
    pub report: Option<serde_json::Value>,
    /// The SHA-256 of the rejected rows as CSV, if there are any.
    pub rejects: Option<String>,
    /// Why it failed.
    pub error: Option<Message>,
    /// The last progress that the working server stored.
    pub progress: Option<ImportProgress>,
    /// Whether its files are removed when the reading ends, because a person was erased meanwhile.
    pub is_forgotten: bool,
}

impl Import {
    /// The SHA-256 of the file that lists the outcome of each row, if there is one.
    pub fn outcomes_sha256(&self) -> Option<&str> {
        self.report.as_ref()?["noted"].as_str()
    }
}

/// The outcome of a job.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportOutcome<'a> {
    /// The report, as of [`Import::report`].
    pub report: Option<&'a serde_json::Value>,
    /// The SHA-256 of the refused rows.
    pub rejects: Option<&'a str>,
    /// Why the file could not be read.
    pub error: Option<&'a Message>,
}

/// The progress of a check or an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportProgress {
    /// The file that is being read, without `.csv`.
    pub file: String,
    /// Rows that were read, over all files.
    pub rows: u64,
    /// From 0 to 100.
    pub percent: u64,
}

/// The state of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportState {
    /// The file is being read; nothing is stored.
    Checking,
    /// The file was read; its owner must start or discard the import.
    Checked,
    /// The file is being read and stored.
    Importing,
    /// The records are stored.
    Done,
    /// The file cannot be read.
    Failed,
    /// Its owner discarded it.
    Discarded,
}

/// An uploaded file.
#[derive(Clone, Copy, Debug)]
pub struct NewImport<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its bytes.
    pub bytes: i64,
    /// Its SHA-256.
    pub file: &'a str,
    /// The e-mail address of the person who owns it, or the id of the client.
    pub who: &'a str,
    /// The part of the roster that its rows may change.
    pub reach: &'a Reach,
}

pub(crate) const STATES: [(ImportState, &str); 6] = [
    (ImportState::Checking, phrase!("checking")),
    (ImportState::Checked, phrase!("checked")),
    (ImportState::Importing, phrase!("importing")),
    (ImportState::Done, phrase!("done")),
    (ImportState::Failed, phrase!("failed")),
    (ImportState::Discarded, phrase!("discarded")),
];

columns!(Import {
    id: "id",
    name: "name",
    bytes: "bytes",
    file: "file",
    who: "who",
    reach: "reach" => reach,
    uploaded: "begun" => parsed,
    ended: "ended" => opt_parsed,
    state: "state" => ImportState::named,
    keep_going: "keep_going",
    report: "report",
    rejects: "rejects",
    error: "error",
    progress: "progress",
    is_forgotten: "is_forgotten",
});
json_column!(ImportProgress);

const COLUMNS: &str = Import::COLUMNS;

fn reach_text(reach: &Reach) -> Result<String> {
    serde_json::to_string(reach).map_err(Problem::internal)
}

fn reach(text: &str) -> Result<Reach> {
    serde_json::from_str(text).map_err(Problem::internal)
}

pub(crate) fn insert(tx: &mut Tx<'_>, now: Timestamp, new: &NewImport<'_>) -> Result<i64> {
    let sql = "INSERT INTO imports (name, bytes, file, who, reach, begun, state, keep_going) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, 0) RETURNING id";
    let (reach, uploaded) = (reach_text(new.reach)?, now.to_string());
    let values: [Value<'_>; 7] = [
        new.name.into(),
        new.bytes.into(),
        new.file.into(),
        new.who.into(),
        reach.as_str().into(),
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

/// Stores the part of the roster that its rows may change.
pub(crate) fn set_reach(tx: &mut Tx<'_>, id: i64, reach: &Reach) -> Result<()> {
    let reach = reach_text(reach)?;
    tx.send("UPDATE imports SET reach = $1 WHERE id = $2", &[reach.as_str().into(), id.into()])
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
    let error = import.error.as_ref().map(Message::stored);
    let sql =
        "UPDATE imports SET rejects = NULL, report = $1, state = $2, error = $3 WHERE id = $4";
    let values: [Value<'_>; 4] = [
        report.as_deref().into(),
        import.state.name().into(),
        error.as_ref().into(),
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
    let error = outcome.error.map(Message::stored);
    let sql = "UPDATE imports SET state = $1, ended = $2, report = COALESCE($3, report), \
               rejects = COALESCE($4, rejects), error = $5, progress = NULL WHERE id = $6";
    let values: [Value<'_>; 6] = [
        to.name().into(),
        now.as_str().into(),
        report.as_deref().into(),
        outcome.rejects.into(),
        error.as_ref().into(),
        id.into(),
    ];
    tx.send(sql, &values)
}
