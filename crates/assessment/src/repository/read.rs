//! Reads single documents and their versions.

use std::collections::{HashMap, HashSet};

use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::{Row, Tx, dialect};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ContentKind, Query, StoredDocument};

/// The columns of a [`StoredDocument`] of `qti_document t` or `qti_version t`.
pub(super) const COLUMNS: &str = "t.kind, t.identifier, t.version, t.title, t.created_at, \
                                  t.updated_at, t.metadata, t.json, t.xml";

/// Reads [`COLUMNS`].
pub(super) fn stored(row: &Row<'_>) -> Result<StoredDocument> {
    let text = |column| row.text(column).map(str::to_owned);
    Ok(StoredDocument {
        kind: ContentKind::from_name(row.text(0)?).expect("the table contains only known kinds"),
        identifier: text(1)?,
        version: row.int(2)?,
        title: text(3)?,
        created_at: text(4)?,
        updated_at: text(5)?,
        metadata: row.opt_text(6)?.map(str::to_owned),
        json: text(7)?,
        xml: text(8)?,
    })
}

/// Finds a document.
pub fn find(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    identifier: &str,
) -> Result<Option<StoredDocument>> {
    let sql =
        format!("SELECT {COLUMNS} FROM qti_document t WHERE t.kind = $1 AND t.identifier = $2");
    tx.query_one(&sql, &[kind.name().into(), identifier.into()], stored)
}

/// Finds a document. Errors: `NotFound`, with a different message if it was deleted.
pub fn require(tx: &mut Tx<'_>, kind: ContentKind, identifier: &str) -> Result<StoredDocument> {
    match find(tx, kind, identifier)? {
        Some(stored) => Ok(stored),
        None => Err(missing(tx, kind, identifier)?),
    }
}

/// The problem of an identifier that no document has.
pub(crate) fn missing(tx: &mut Tx<'_>, kind: ContentKind, identifier: &str) -> Result<Problem> {
    let sql = "SELECT MAX(version) FROM qti_version WHERE kind = $1 AND identifier = $2";
    let params = [kind.name().into(), identifier.into()];
    let last = tx.query_one(sql, &params, |row| row.opt_int(0))?.flatten();
    Ok(match last {
        None => kind.missing(identifier),
        Some(version) => Problem::new(
            ProblemKind::NotFound,
            message!(
                "The {kind} '{identifier}' was deleted, but its last version {version} is still readable. \
                Send it again \
                 with POST to restore it."
            ),
        ),
    })
}

/// Calls `each` with each of the documents that exist, in no particular order.
pub fn json_of(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    identifiers: &[String],
    mut each: impl FnMut(StoredDocument) -> Result<()>,
) -> Result<()> {
    let names = serde_json::to_string(identifiers).expect("texts are JSON");
    let sql = format!(
        "SELECT {COLUMNS} FROM qti_document t WHERE t.kind = $1 AND {}",
        dialect::is_one_of(tx.dialect(), "t.identifier", "$2")
    );
    tx.query(&sql, &[kind.name().into(), names.as_str().into()], |row| {
        each(stored(row)?)?;
        Ok(true)
    })
}

/// Calls `each` with the identifier, title and metadata of each document of the kind that has metadata, in order of
/// creation.
pub fn metadata(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    mut each: impl FnMut(&str, &str, &str) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT identifier, title, metadata FROM qti_document \
               WHERE kind = $1 AND metadata IS NOT NULL ORDER BY seq";
    tx.query(sql, &[kind.name().into()], |row| {
        each(row.text(0)?, row.text(1)?, row.text(2)?)?;
        Ok(true)
    })
}

/// The data about an item in the overview of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemHead {
    /// Its identifier.
    pub identifier: String,
    /// Its version.
    pub version: i64,
    /// Its title.
    pub title: String,
    /// Its metadata as JSON, if it has any.
    pub metadata: Option<String>,
}

/// A text that is different after each change of a document, even after it was deleted and created again.
pub fn state(tx: &mut Tx<'_>, kind: ContentKind, identifier: &str) -> Result<Option<String>> {
    let sql = "SELECT version, updated_at FROM qti_document WHERE kind = $1 AND identifier = $2";
    tx.query_one(sql, &[kind.name().into(), identifier.into()], |row| {
        Ok(format!("{}@{}", row.int(0)?, row.text(1)?))
    })
}

/// The heads of the items that exist, by identifier.
pub(crate) fn heads(
    tx: &mut Tx<'_>,
    identifiers: &HashSet<&str>,
) -> Result<HashMap<String, ItemHead>> {
    let names = serde_json::to_string(identifiers).expect("texts are JSON");
    let sql = format!(
        "SELECT identifier, version, title, metadata FROM qti_document WHERE kind = $1 AND {}",
        dialect::is_one_of(tx.dialect(), "identifier", "$2")
    );
    let mut heads = HashMap::new();
    tx.query(&sql, &[ContentKind::Item.name().into(), names.as_str().into()], |row| {
        let head = ItemHead {
            identifier: row.text(0)?.to_owned(),
            version: row.int(1)?,
            title: row.text(2)?.to_owned(),
            metadata: row.opt_text(3)?.map(str::to_owned),
        };
        heads.insert(head.identifier.clone(), head);
        Ok(true)
    })?;
    Ok(heads)
}

/// The XML of an item, and the type of its first interaction, such as `choice`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The type of its first interaction.
    pub kind: String,
    /// The item's XML, as it was sent.
    pub xml: String,
}

/// The XML of versions of items. Runs one statement for all current versions, and one for all earlier ones. Errors:
/// `NotFound` for a version that never existed.
pub fn texts(tx: &mut Tx<'_>, wanted: &[(String, i64)]) -> Result<HashMap<(String, i64), Text>> {
    let names: Vec<&str> = wanted.iter().map(|(name, _)| name.as_str()).collect();
    let names = serde_json::to_string(&names).expect("texts are JSON");
    let sql = format!(
        "SELECT identifier, version, type, xml FROM qti_document WHERE kind = $1 AND {}",
        dialect::is_one_of(tx.dialect(), "identifier", "$2")
    );
    let mut texts = HashMap::new();
    tx.query(&sql, &[ContentKind::Item.name().into(), names.as_str().into()], |row| {
        let text = Text { kind: row.text(2)?.to_owned(), xml: row.text(3)?.to_owned() };
        texts.insert((row.text(0)?.to_owned(), row.int(1)?), text);
        Ok(true)
    })?;
    let earlier: Vec<_> = wanted.iter().filter(|version| !texts.contains_key(*version)).collect();
    if earlier.is_empty() {
        return Ok(texts);
    }
    let names: Vec<&str> = earlier.iter().map(|(name, _)| name.as_str()).collect();
    let numbers: Vec<i64> = earlier.iter().map(|(_, number)| *number).collect();
    let names = serde_json::to_string(&names).expect("texts are JSON");
    let numbers = serde_json::to_string(&numbers).expect("numbers are JSON");
    let sql = format!(
        "SELECT identifier, version, json, xml FROM qti_version WHERE kind = $1 AND {} AND {}",
        dialect::is_one_of(tx.dialect(), "identifier", "$2"),
        dialect::is_one_of_numbers(tx.dialect(), "version", "$3")
    );
    let params = [ContentKind::Item.name().into(), names.as_str().into(), numbers.as_str().into()];
    tx.query(&sql, &params, |row| {
        let version = (row.text(0)?.to_owned(), row.int(1)?);
        if earlier.contains(&&version) {
            let json: serde_json::Value =
                serde_json::from_str(row.text(2)?).map_err(Problem::internal)?;
            let kind = json["type"].as_str().unwrap_or_default().to_owned();
            texts.insert(version, Text { kind, xml: row.text(3)?.to_owned() });
        }
        Ok(true)
    })?;
    match earlier.into_iter().find(|version| !texts.contains_key(*version)) {
        None => Ok(texts),
        Some((name, number)) => Err(no_version(ContentKind::Item, name, *number)),
    }
}

fn no_version(kind: ContentKind, identifier: &str, version: i64) -> Problem {
    let message = message!("the {kind} '{identifier}' has no version {version}");
    Problem::new(ProblemKind::NotFound, message)
}

/// Calls `each` with the row number, identifier and XML of each document of a kind, in order of creation.
pub fn each(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    mut each: impl FnMut(i64, &str, &str) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT seq, identifier, xml FROM qti_document WHERE kind = $1 ORDER BY seq";
    tx.query(sql, &[kind.name().into()], |row| {
        each(row.int(0)?, row.text(1)?, row.text(2)?)?;
        Ok(true)
    })
}

/// The kinds of documents with that identifier.
pub fn kinds_of(tx: &mut Tx<'_>, identifier: &str) -> Result<Vec<ContentKind>> {
    let mut kinds = Vec::new();
    for kind in ContentKind::ALL {
        let sql = "SELECT version FROM qti_document WHERE kind = $1 AND identifier = $2";
        let version =
            tx.query_one(sql, &[kind.name().into(), identifier.into()], |row| row.int(0))?;
        kinds.extend(version.map(|_| kind));
    }
    Ok(kinds)
}

/// Returns what `known` has for an item's current version, or otherwise parses the item's XML. Reads the XML only in
/// the latter case.
pub(crate) fn parsed<T>(
    tx: &mut Tx<'_>,
    identifier: &str,
    known: impl FnOnce(i64) -> Option<T>,
    make: impl FnOnce(i64, &str) -> Result<T>,
) -> Result<T> {
    let params = [ContentKind::Item.name().into(), identifier.into()];
    let sql = "SELECT version FROM qti_document WHERE kind = $1 AND identifier = $2";
    let version = tx.query_one(sql, &params, |row| row.int(0))?;
    let Some(version) = version else { return Err(missing(tx, ContentKind::Item, identifier)?) };
    if let Some(known) = known(version) {
        return Ok(known);
    }
    let sql = "SELECT xml FROM qti_document WHERE kind = $1 AND identifier = $2";
    let xml = tx.query_one(sql, &params, |row| row.text(0).map(str::to_owned))?;
    make(version, &xml.ok_or_else(|| ContentKind::Item.missing(identifier))?)
}

/// A version that a document has or had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormerVersion {
    /// Its number, from 1.
    pub version: i64,
    /// The title that the document had.
    pub title: String,
    /// When it was stored.
    pub updated_at: String,
    /// Whether it is the current version.
    pub current: bool,
}

/// A page of versions, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The page.
    pub items: Vec<FormerVersion>,
    /// The number of versions on all pages.
    pub total: u64,
}

/// Current and earlier versions of an identifier.
const VERSIONS: &str = "SELECT version, title, updated_at, CAST(1 AS BIGINT) AS present FROM qti_document \
     WHERE kind = $1 AND identifier = $2 \
     UNION ALL SELECT version, title, updated_at, CAST(0 AS BIGINT) AS present FROM qti_version \
     WHERE kind = $1 AND identifier = $2";

/// A page of a document's versions, even if the document was deleted. Errors: `NotFound` if it never existed.
pub fn versions(tx: &mut Tx<'_>, query: &Query, identifier: &str) -> Result<Versions> {
    let kind = query.kind;
    let count = format!("SELECT COUNT(*) FROM ({VERSIONS}) v");
    let params = [kind.name().into(), identifier.into()];
    let total = tx.query_one(&count, &params, |row| row.int(0))?.unwrap_or(0);
    let sql = format!("{VERSIONS} ORDER BY version DESC LIMIT $3 OFFSET $4");
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let (limit, skip) = (number(query.page.limit), number(query.page.skip()));
    let [kind_name, name] = params;
    let mut items = Vec::new();
    tx.query(&sql, &[kind_name, name, limit.into(), skip.into()], |row| {
        items.push(FormerVersion {
            version: row.int(0)?,
            title: row.text(1)?.to_owned(),
            updated_at: row.text(2)?.to_owned(),
            current: row.int(3)? == 1,
        });
        Ok(true)
    })?;
    match u64::try_from(total).unwrap_or(0) {
        0 => Err(kind.missing(identifier)),
        total => Ok(Versions { items, total }),
    }
}

/// A version of a document, even if the document was deleted. Errors: `NotFound`.
pub fn version(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    identifier: &str,
    version: i64,
) -> Result<StoredDocument> {
    for table in ["qti_document", "qti_version"] {
        let sql = format!(
            "SELECT {COLUMNS} FROM {table} t \
             WHERE t.kind = $1 AND t.identifier = $2 AND t.version = $3"
        );
        let params = [kind.name().into(), identifier.into(), version.into()];
        if let Some(found) = tx.query_one(&sql, &params, stored)? {
            return Ok(found);
        }
    }
    Err(no_version(kind, identifier, version))
}
