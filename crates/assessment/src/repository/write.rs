//! Creates, replaces and deletes documents. Earlier versions stay readable.

use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Problem, ProblemKind, Result, message};
use lyceum_store::{ChangeRange, ChangedRow, Sql, Tx};

use super::read::{find, require};
use super::references::{known, refer, referrers, resolved};
use crate::{CheckedDocument, ContentKind, DocumentChange, Metadata, StoredDocument};

/// Stores a new document. If documents with its identifier were deleted, its version numbers continue theirs. If an
/// equal document already exists, it is returned, so that a request can be repeated. Errors: `Conflict` if another
/// document has the identifier.
pub fn create(
    tx: &mut Tx<'_>,
    now: Timestamp,
    document: &CheckedDocument,
) -> Result<StoredDocument> {
    let (kind, identifier) = (document.kind, document.identifier.as_str());
    let targets = targets(tx, document)?;
    let sql = "SELECT MAX(version) FROM qti_version WHERE kind = $1 AND identifier = $2";
    let params = [kind.name().into(), identifier.into()];
    let last = tx.query_one(sql, &params, |row| row.opt_int(0))?.flatten();
    let now = tx.stamp(now)?.to_string();
    let stored = StoredDocument {
        kind,
        identifier: identifier.to_owned(),
        version: last.unwrap_or(0) + 1,
        title: document.title.clone(),
        xml: document.xml.clone(),
        json: document.json.clone(),
        metadata: metadata(&document.metadata, None),
        created_at: now.clone(),
        updated_at: now,
    };
    let seq = tx.insert(
        "INSERT INTO qti_document (kind, identifier, version, type, qti_version, created_at, \
         updated_at, title, metadata, words, json, xml) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
         ON CONFLICT (kind, identifier) DO NOTHING",
        "seq",
        &[
            kind.name().into(),
            identifier.into(),
            stored.version.into(),
            (&document.interaction).into(),
            (&document.qti_version).into(),
            (&stored.created_at).into(),
            (&stored.updated_at).into(),
            (&stored.title).into(),
            stored.metadata.as_deref().into(),
            (&document.words).into(),
            (&stored.json).into(),
            (&stored.xml).into(),
        ],
    )?;
    let Some(seq) = seq else {
        let before = find(tx, kind, identifier)?.ok_or_else(|| kind.missing(identifier))?;
        return match has_same_content(&before, &stored) {
            true => Ok(before),
            false => Err(identifier_taken(kind, identifier)),
        };
    };
    tx.tally(kind.collection(), seq, 1);
    refer(tx, kind.name(), identifier, &targets)?;
    Ok(stored)
}

/// Applies a change to a document and keeps the previous version. A change without effect creates no version. Errors:
/// `NotFound`; `PreconditionFailed` if the stored version is not `expected`.
pub fn replace(
    tx: &mut Tx<'_>,
    now: Timestamp,
    kind: ContentKind,
    identifier: &str,
    change: &DocumentChange,
    expected: Option<i64>,
) -> Result<StoredDocument> {
    let before = expect(tx, kind, identifier, expected)?;
    let document = change.onto(&before)?;
    let stored = StoredDocument {
        version: before.version + 1,
        title: document.title.clone(),
        xml: document.xml.clone(),
        json: document.json.clone(),
        metadata: metadata(&document.metadata, before.metadata.as_deref()),
        ..before.clone()
    };
    if has_same_content(&before, &stored) {
        return Ok(before);
    }
    let targets = targets(tx, &document)?;
    let updated_at = tx.stamp(now)?.to_string();
    let stored = StoredDocument { updated_at, ..stored };
    archive(tx, kind, identifier)?;
    tx.send(
        "UPDATE qti_document SET version = $1, type = $2, qti_version = $3, updated_at = $4, \
         title = $5, metadata = $6, words = $7, json = $8, xml = $9 \
         WHERE kind = $10 AND identifier = $11",
        &[
            stored.version.into(),
            (&document.interaction).into(),
            (&document.qti_version).into(),
            (&stored.updated_at).into(),
            (&stored.title).into(),
            stored.metadata.as_deref().into(),
            (&document.words).into(),
            (&stored.json).into(),
            (&stored.xml).into(),
            kind.name().into(),
            identifier.into(),
        ],
    )?;
    refer(tx, kind.name(), identifier, &targets)?;
    Ok(stored)
}

/// The documents of the kind that changed in the range.
pub fn changed(tx: &mut Tx<'_>, kind: ContentKind, range: &ChangeRange) -> Result<Vec<ChangedRow>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push("SELECT t.updated_at, t.seq, t.identifier FROM qti_document t WHERE t.kind = ");
    sql.bind(kind.name());
    range.rows(tx, sql, "t.updated_at")
}

/// Whether two versions are equal.
fn has_same_content(one: &StoredDocument, other: &StoredDocument) -> bool {
    (&one.xml, &one.json, &one.metadata) == (&other.xml, &other.json, &other.metadata)
}

/// The documents that a document refers to. All must exist, because learners would see a gap instead. Errors:
/// `Invalid`, with those that do not exist.
fn targets(tx: &mut Tx<'_>, document: &CheckedDocument) -> Result<Vec<(ContentKind, String)>> {
    let targets = resolved(tx, &document.references)?;
    let mut faults = Vec::new();
    for kind in ContentKind::ALL {
        let of_kind =
            || document.references.iter().zip(&targets).filter(|(_, (own, _))| *own == kind);
        let names: Vec<&str> = of_kind().map(|(_, (_, name))| name.as_str()).collect();
        if names.is_empty() {
            continue;
        }
        let existing = known(tx, kind, &names)?;
        let missing = of_kind().filter(|(_, (_, name))| !existing.contains(name));
        faults.extend(missing.map(|(reference, (_, name))| Detail {
            path: format!("qti-assessment-{kind}-ref '{}'", reference.identifier),
            message: message!(
                "there is no {kind} '{name}' (href '{reference.href}'); create it first"
            ),
        }));
    }
    match faults.is_empty() {
        true => Ok(targets),
        false => Err(Problem::invalid_all(faults)),
    }
}

/// Deletes a document with its files. Its versions stay readable by their numbers. Errors: `NotFound`; `Conflict`, with the
/// documents that refer to it; `PreconditionFailed` if the stored version is not `expected`.
pub fn delete(
    tx: &mut Tx<'_>,
    now: Timestamp,
    kind: ContentKind,
    identifier: &str,
    expected: Option<i64>,
) -> Result<()> {
    expect(tx, kind, identifier, expected)?;
    let (first, total) = referrers(tx, kind, identifier)?;
    if total > 0 {
        return Err(in_use(kind, identifier, &first, total));
    }
    tx.note_removed((kind.name(), identifier), None, now)?;
    archive(tx, kind, identifier)?;
    refer(tx, kind.name(), identifier, &[])?;
    super::files::delete_all(tx, kind, identifier)?;
    let sql = "DELETE FROM qti_document WHERE kind = $1 AND identifier = $2 RETURNING seq";
    let params = [kind.name().into(), identifier.into()];
    if let Some(seq) = tx.query_one(sql, &params, |row| row.int(0))? {
        tx.tally(kind.collection(), seq, -1);
    }
    Ok(())
}

/// Finds the document and checks its version.
fn expect(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    identifier: &str,
    expected: Option<i64>,
) -> Result<StoredDocument> {
    let stored = require(tx, kind, identifier)?;
    match expected.filter(|expected| *expected != stored.version) {
        None => Ok(stored),
        Some(expected) => Err(Problem::new(
            ProblemKind::PreconditionFailed,
            message!(
                "the {kind} '{identifier}' has version {stored.version} now, not {expected}; read it again"
            ),
        )),
    }
}

/// Makes a transaction that is not serializable, such as an import, depend on a document that it read: another
/// transaction may be deleting it.
pub(crate) fn depend_on(tx: &mut Tx<'_>, kind: ContentKind, identifier: &str) -> Result<()> {
    if tx.is_serializable() {
        return Ok(());
    }
    let sql = "UPDATE qti_document SET version = version WHERE kind = $1 AND identifier = $2";
    tx.send(sql, &[kind.name().into(), identifier.into()])
}

/// Copies the current version to the earlier ones.
fn archive(tx: &mut Tx<'_>, kind: ContentKind, identifier: &str) -> Result<()> {
    tx.send(
        "INSERT INTO qti_version (kind, identifier, version, created_at, updated_at, title, \
         metadata, json, xml) \
         SELECT kind, identifier, version, created_at, updated_at, title, metadata, json, xml \
         FROM qti_document WHERE kind = $1 AND identifier = $2",
        &[kind.name().into(), identifier.into()],
    )
}

fn metadata(change: &Metadata, before: Option<&str>) -> Option<String> {
    match change {
        Metadata::Keep => before.map(str::to_owned),
        Metadata::Remove => None,
        Metadata::Set(json) => Some(json.clone()),
    }
}

fn identifier_taken(kind: ContentKind, identifier: &str) -> Problem {
    Problem::new(
        ProblemKind::Conflict,
        message!(
            "There is another {kind} with the identifier '{identifier}'. Replace it with PUT, or choose \
             another identifier."
        ),
    )
}

fn in_use(kind: ContentKind, identifier: &str, first: &[(String, String)], total: i64) -> Problem {
    let named: Vec<String> = first.iter().map(|(kind, id)| format!("{kind} '{id}'")).collect();
    let shown = i64::try_from(named.len()).unwrap_or(total);
    let more = if total > shown { format!(" and {} more", total - shown) } else { String::new() };
    Problem::new(
        ProblemKind::Conflict,
        message!(
            "the {kind} '{identifier}' is in use by {named}{more}; remove it there first",
            named = named.join(", ")
        ),
    )
}
