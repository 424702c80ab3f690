//! Learner records and their versions.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::{Tx, columns, parsed};

use super::issued::{CredentialForm, Page, StatusEntry};

/// A version of a record as it is stored.
#[derive(Clone, Debug)]
pub struct Record {
    /// The record and this version of it.
    pub of: Version,
    /// The number of the version, from 1.
    pub number: i64,
    /// When this version was stored.
    pub created: String,
    /// When the record was deleted.
    pub deleted: Option<String>,
    /// When the record was revoked.
    pub revoked: Option<String>,
    /// Why it was revoked.
    pub reason: Option<String>,
}

impl Record {
    /// Rejects a change if the client sent the version that it saw and the stored version is another one.
    ///
    /// Errors: `PreconditionFailed`.
    pub fn expect(&self, expected: Option<i64>) -> Result<()> {
        match expected {
            Some(expected) if expected != self.number => {
                let message = "the record has changed since it was read; read it again";
                Err(Problem::new(ProblemKind::PreconditionFailed, message))
            }
            _ => Ok(()),
        }
    }
}

/// A version of a record that is about to be stored.
#[derive(Clone, Debug)]
pub struct Version {
    /// The record's id, a URI.
    pub id: String,
    /// The sourcedId of the learner, if the subject is a user of this server.
    pub learner: Option<String>,
    /// The learner for whom it was compiled.
    pub compiled_for: Option<String>,
    /// From when it is valid.
    pub valid_from: Timestamp,
    /// The record as it was sent.
    pub sent: String,
    /// The form in which it is signed.
    pub form: CredentialForm,
    /// The signed record.
    pub body: String,
}

columns!(Record {
    of: "r.id, r.learner, r.compiled_for, v.valid_from, v.given, v.form, v.body",
    number: "v.version",
    created: "v.created",
    deleted: "r.deleted",
    revoked: "r.revoked",
    reason: "r.reason",
});
columns!(Version {
    id: "r.id",
    learner: "r.learner",
    compiled_for: "r.compiled_for",
    valid_from: "v.valid_from" => parsed,
    sent: "v.given",
    form: "v.form",
    body: "v.body",
});

const COLUMNS: &str = Record::COLUMNS;

const JOIN_NEWEST: &str =
    "JOIN learner_record_versions v ON v.record = r.seq AND v.version = r.version";

/// The newest version of a record, deleted or not.
pub(crate) fn find(tx: &mut Tx<'_>, id: &str) -> Result<Option<Record>> {
    let sql = format!("SELECT {COLUMNS} FROM learner_records r {JOIN_NEWEST} WHERE r.id = $1");
    tx.row(&sql, &[id.into()])
}

/// The id of the record that was compiled for the learner.
pub(crate) fn compiled_for(tx: &mut Tx<'_>, learner: &str) -> Result<Option<String>> {
    let sql = "SELECT id FROM learner_records WHERE compiled_for = $1";
    tx.query_one(sql, &[learner.into()], |row| Ok(row.text(0)?.to_owned()))
}

const VERSIONS: &str = "learner_records r JOIN learner_record_versions v ON v.record = r.seq";

pub(crate) fn version(tx: &mut Tx<'_>, id: &str, number: i64) -> Result<Option<Record>> {
    let sql = format!("SELECT {COLUMNS} FROM {VERSIONS} WHERE r.id = $1 AND v.version = $2");
    tx.row(&sql, &[id.into(), number.into()])
}

/// The versions of a record, the newest first.
pub(crate) fn versions(tx: &mut Tx<'_>, id: &str) -> Result<Vec<Record>> {
    let sql = format!("SELECT {COLUMNS} FROM {VERSIONS} WHERE r.id = $1 ORDER BY v.version DESC");
    tx.rows(&sql, &[id.into()])
}

/// Adds a record with its first version.
pub(crate) fn insert(tx: &mut Tx<'_>, version: &Version, now: Timestamp) -> Result<Record> {
    let (now, valid_from) = (tx.stamp(now)?.to_string(), version.valid_from.to_string());
    let seq = tx.query_one(
        "INSERT INTO learner_records (id, learner, compiled_for, version, valid_from, created, \
         updated) VALUES ($1, $2, $3, 1, $4, $5, $5) RETURNING seq",
        &[
            (&version.id).into(),
            version.learner.as_deref().into(),
            version.compiled_for.as_deref().into(),
            (&valid_from).into(),
            (&now).into(),
        ],
        |row| row.int(0),
    )?;
    let seq = seq.ok_or_else(|| Problem::internal("a learner record was not added"))?;
    add_version(tx, seq, 1, version, &now)?;
    read_written(tx, &version.id)
}

/// Adds a version to a record; one that was deleted is restored by it.
pub(crate) fn add(
    tx: &mut Tx<'_>,
    known: &Record,
    version: &Version,
    now: Timestamp,
) -> Result<Record> {
    let (now, valid_from) = (tx.stamp(now)?.to_string(), version.valid_from.to_string());
    let number = known.number + 1;
    let seq = tx.query_one(
        "UPDATE learner_records SET version = $1, valid_from = $2, updated = $3, deleted = NULL, \
         learner = COALESCE($4, learner), compiled_for = COALESCE($5, compiled_for) \
         WHERE id = $6 RETURNING seq",
        &[
            number.into(),
            (&valid_from).into(),
            (&now).into(),
            version.learner.as_deref().into(),
            version.compiled_for.as_deref().into(),
            (&version.id).into(),
        ],
        |row| row.int(0),
    )?;
    let seq = seq.ok_or_else(|| Problem::internal("a learner record is gone"))?;
    add_version(tx, seq, number, version, &now)?;
    read_written(tx, &version.id)
}

fn add_version(
    tx: &mut Tx<'_>,
    record: i64,
    number: i64,
    version: &Version,
    now: &str,
) -> Result<()> {
    let valid_from = version.valid_from.to_string();
    tx.send(
        "INSERT INTO learner_record_versions (record, version, valid_from, given, form, body, \
         created) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        &[
            record.into(),
            number.into(),
            (&valid_from).into(),
            (&version.sent).into(),
            version.form.name().into(),
            (&version.body).into(),
            now.into(),
        ],
    )?;
    Ok(())
}

fn read_written(tx: &mut Tx<'_>, id: &str) -> Result<Record> {
    find(tx, id)?.ok_or_else(|| Problem::internal("a learner record that was written is gone"))
}

pub(crate) fn list(tx: &mut Tx<'_>, page: &Page) -> Result<(Vec<Record>, u64)> {
    let not_deleted = "r.deleted IS NULL";
    super::page(tx, COLUMNS, "learner_records r", JOIN_NEWEST, not_deleted, page)
}

/// Marks a record as deleted.
pub(crate) fn delete(tx: &mut Tx<'_>, id: &str, now: Timestamp) -> Result<()> {
    let now = tx.stamp(now)?.to_string();
    let sql = "UPDATE learner_records SET deleted = $1, updated = $1 WHERE id = $2";
    tx.send(sql, &[(&now).into(), id.into()])?;
    Ok(())
}

/// Marks a record as revoked, with all of its versions.
pub(crate) fn revoke(
    tx: &mut Tx<'_>,
    id: &str,
    reason: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    let now = tx.stamp(now)?.to_string();
    let sql = "UPDATE learner_records SET revoked = $1, reason = $2, updated = $1 \
               WHERE id = $3 AND revoked IS NULL";
    tx.send(sql, &[(&now).into(), reason.into(), id.into()])?;
    Ok(())
}

/// The place of the record in the status lists of an issuer.
pub(crate) fn place(tx: &mut Tx<'_>, record: &str, issuer: &str) -> Result<Option<StatusEntry>> {
    let sql = "SELECT list, place FROM learner_record_places WHERE record = $1 AND issuer = $2";
    tx.row(sql, &[record.into(), issuer.into()])
}

/// Whether the record has a place in a status list of any issuer.
pub(crate) fn has_place(tx: &mut Tx<'_>, record: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM learner_record_places WHERE record = $1 LIMIT 1";
    Ok(tx.query_one(sql, &[record.into()], |_| Ok(()))?.is_some())
}

/// Gives the record a place in the status lists of an issuer, unless another request gave it one meanwhile.
pub(crate) fn set_place(
    tx: &mut Tx<'_>,
    record: &str,
    issuer: &str,
    place: StatusEntry,
) -> Result<()> {
    tx.send(
        "INSERT INTO learner_record_places (record, issuer, list, place) VALUES ($1, $2, $3, $4) \
         ON CONFLICT DO NOTHING",
        &[record.into(), issuer.into(), place.list.into(), place.index.into()],
    )?;
    Ok(())
}
