//! Files of items and stimuli.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Row, Tx, dialect};
use schemars::JsonSchema;
use serde::Serialize;

use crate::ContentKind;

/// A file of an item or stimulus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentFile {
    /// Its path relative to the document, such as `images/map.png`.
    pub path: String,
    /// Its media type, which follows from the end of the path.
    pub media_type: &'static str,
    /// Its size in bytes.
    pub size: u64,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// When it was stored.
    pub updated_at: String,
}

/// The bytes to store under a path.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// The path, as [`check_path`] returned it.
    pub path: String,
    /// The SHA-256 of the blob, in hexadecimal.
    pub sha256: String,
    /// The size of the blob in bytes.
    pub size: u64,
}

const COLUMNS: &str = "f.path, f.sha256, f.size, f.updated_at";

/// Reads [`COLUMNS`] from this column on.
fn file(row: &Row<'_>, column: usize) -> Result<DocumentFile> {
    let (path, sha256) = (row.string(column)?, row.string(column + 1)?);
    DocumentFile::of(path, sha256, row.int(column + 2)?, row.string(column + 3)?)
}

pub(crate) fn put(
    tx: &mut Tx<'_>,
    now: Timestamp,
    kind: ContentKind,
    identifier: &str,
    file: &NewFile,
) -> Result<()> {
    tx.send(
        "INSERT INTO qti_file (kind, identifier, path, sha256, size, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (kind, identifier, path) \
         DO UPDATE SET sha256 = excluded.sha256, size = excluded.size, updated_at = excluded.updated_at",
        &[
            kind.name().into(),
            identifier.into(),
            (&file.path).into(),
            (&file.sha256).into(),
            i64::try_from(file.size).unwrap_or(i64::MAX).into(),
            now.to_string().as_str().into(),
        ],
    )
}

/// The files of documents, each with the identifier of its document, by path.
pub(crate) fn of(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    identifiers: &[&str],
) -> Result<Vec<(String, DocumentFile)>> {
    let names = serde_json::to_string(identifiers).expect("texts are JSON");
    let sql = format!(
        "SELECT f.identifier, {COLUMNS} FROM qti_file f WHERE f.kind = $1 AND {} ORDER BY f.path",
        dialect::is_one_of(tx.dialect(), "f.identifier", "$2")
    );
    let mut files = Vec::new();
    tx.query(&sql, &[kind.name().into(), names.as_str().into()], |row| {
        files.push((row.string(0)?, file(row, 1)?));
        Ok(true)
    })?;
    Ok(files)
}

pub(crate) fn delete(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    identifier: &str,
    path: &str,
) -> Result<()> {
    let sql = "DELETE FROM qti_file WHERE kind = $1 AND identifier = $2 AND path = $3";
    tx.send(sql, &[kind.name().into(), identifier.into(), path.into()])
}

pub(crate) fn delete_all(tx: &mut Tx<'_>, kind: ContentKind, identifier: &str) -> Result<()> {
    let sql = "DELETE FROM qti_file WHERE kind = $1 AND identifier = $2";
    tx.send(sql, &[kind.name().into(), identifier.into()])
}

pub(crate) fn digests(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let mut digests = Vec::new();
    tx.query("SELECT DISTINCT sha256 FROM qti_file", &[], |row| {
        digests.push(row.string(0)?);
        Ok(true)
    })?;
    Ok(digests)
}

/// The files with these bytes of the items, and of stimuli to which the current versions of the items refer.
pub(crate) fn with_content(
    tx: &mut Tx<'_>,
    sha256: &str,
    items: &[&str],
) -> Result<Vec<DocumentFile>> {
    let names = serde_json::to_string(items).expect("texts are JSON");
    let sql = format!(
        "SELECT {COLUMNS} FROM qti_file f WHERE f.sha256 = $1 AND (f.kind = 'item' AND {} OR f.kind = 'stimulus' \
         AND EXISTS (SELECT 1 FROM qti_reference r WHERE r.target_kind = f.kind AND r.target = f.identifier \
         AND r.kind = 'item' AND {}))",
        dialect::is_one_of(tx.dialect(), "f.identifier", "$2"),
        dialect::is_one_of(tx.dialect(), "r.identifier", "$2")
    );
    tx.all(&sql, &[sha256.into(), names.as_str().into()], |row| file(row, 0))
}

/// The files of stimuli with these bytes, each with the identifier of its stimulus.
pub(crate) fn of_stimuli(tx: &mut Tx<'_>, sha256: &str) -> Result<Vec<(String, DocumentFile)>> {
    let sql = format!(
        "SELECT f.identifier, {COLUMNS} FROM qti_file f WHERE f.sha256 = $1 AND f.kind = 'stimulus'"
    );
    tx.all(&sql, &[sha256.into()], |row| Ok((row.string(0)?, file(row, 1)?)))
}
