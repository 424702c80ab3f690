//! Packages are stored and replaced whole, in one transaction.

use std::collections::{BTreeSet, HashSet};

use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Message, Problem, ProblemKind, Result, message};
use lyceum_store::{ChangeRange, ChangedRow, Sql, Tx, Value, dialect};
use schemars::JsonSchema;
use serde::Serialize;

use super::same;
use crate::class::{ASSOCIATION, CHILD_OF, ITEM};
use crate::fault::{Faults, Path};
use crate::package::{Document, Package, children};
use crate::record::Record;

/// The number of records in a package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PackageCounts {
    /// Frameworks.
    pub documents: usize,
    /// Items.
    pub items: usize,
    /// Associations.
    pub associations: usize,
}

impl PackageCounts {
    fn of(package: &Package) -> Self {
        let (items, associations) = (package.items.len(), package.associations.len());
        Self { documents: 1, items, associations }
    }
}

/// The outcome of writing a package or a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// It is new.
    Created,
    /// It replaced another version.
    Replaced,
    /// It existed with the same content.
    Unchanged,
}

/// Stores a new framework. Storing the same one again succeeds, so a request can be repeated. Errors: `Conflict` if
/// another framework has the identifier or one of the records; `Invalid` for associations of which neither end is known.
pub fn create(
    tx: &mut Tx<'_>,
    now: Timestamp,
    package: &Package,
) -> Result<(WriteOutcome, PackageCounts)> {
    let id = &package.document.record.id;
    if let Some(seq) = framework(tx, id)? {
        return match same::holds(tx, seq, package)? {
            true => Ok((WriteOutcome::Unchanged, PackageCounts::of(package))),
            false => Err(id_in_use(id)),
        };
    }
    let seq = insert_document(tx, &package.document, &package.parts, package.rest.as_deref())?;
    stamp(tx, seq, now)?;
    Ok((WriteOutcome::Created, fill(tx, seq, package)?))
}

/// Replaces the framework with the package's identifier. It stays public or not public. Errors: `NotFound`, and those
/// of [`create`].
pub fn replace(tx: &mut Tx<'_>, now: Timestamp, package: &Package) -> Result<PackageCounts> {
    let document = &package.document;
    let id = &document.record.id;
    let seq = framework(tx, id)?.ok_or_else(|| missing(id))?;
    empty(tx, seq)?;
    tx.send(
        "UPDATE case_document SET parts = $1, rest = $2 WHERE seq = $3",
        &[(&package.parts).into(), package.rest.as_deref().into(), seq.into()],
    )?;
    update_document(tx, seq, document)?;
    stamp(tx, seq, now)?;
    fill(tx, seq, package)
}

/// [`create`] or [`replace`].
pub fn upsert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    package: &Package,
) -> Result<(WriteOutcome, PackageCounts)> {
    match framework(tx, &package.document.record.id)? {
        Some(_) => Ok((WriteOutcome::Replaced, replace(tx, now, package)?)),
        None => create(tx, now, package),
    }
}

/// Lets everybody read a framework, or only those with a token. Errors: `NotFound`.
pub fn publish(tx: &mut Tx<'_>, now: Timestamp, id: &str, is_public: bool) -> Result<()> {
    let seq = framework(tx, id)?.ok_or_else(|| missing(id))?;
    stamp(tx, seq, now)?;
    let sql = "UPDATE case_document SET is_public = $1 WHERE seq = $2";
    tx.send(sql, &[i64::from(is_public).into(), seq.into()])
}

/// Notes when a framework, or anything in it, changed here.
pub(super) fn stamp(tx: &mut Tx<'_>, document: i64, now: Timestamp) -> Result<()> {
    let stamp = tx.stamp(now)?.to_string();
    let sql = "UPDATE case_document SET stamp = $1 WHERE seq = $2";
    tx.send(sql, &[stamp.as_str().into(), document.into()])
}

/// The frameworks that changed in the range, with those of their items and associations.
pub fn changed(tx: &mut Tx<'_>, range: &ChangeRange) -> Result<Vec<ChangedRow>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push("SELECT t.stamp, t.seq, t.id FROM case_document t WHERE TRUE");
    range.rows(tx, sql, "t.stamp")
}

pub(super) fn missing(id: &str) -> Problem {
    Problem::not_found("CFDocument", id)
}

pub(super) fn id_in_use(id: &str) -> Problem {
    let message = message!(
        "a framework with the identifier '{id}' exists already with other values; replace it \
         with PUT"
    );
    Problem::new(ProblemKind::Conflict, message)
}

/// The number of the framework's row.
pub(super) fn framework(tx: &mut Tx<'_>, id: &str) -> Result<Option<i64>> {
    tx.query_one("SELECT seq FROM case_document WHERE id = $1", &[id.into()], |row| row.int(0))
}

pub(super) fn insert_document(
    tx: &mut Tx<'_>,
    document: &Document,
    parts: &str,
    rest: Option<&str>,
) -> Result<i64> {
    let record = &document.record;
    let changed = record.changed.to_string();
    let seq = tx.query_one(
        "INSERT INTO case_document (id, is_public, title, uri, changed, parts, rest, body, extensions, \
         beyond) VALUES ($1, 0, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING RETURNING seq",
        &[
            (&record.id).into(),
            (&document.title).into(),
            (&document.uri).into(),
            (&changed).into(),
            parts.into(),
            rest.into(),
            (&record.body).into(),
            record.extensions.as_deref().into(),
            record.beyond.as_deref().into(),
        ],
        |row| row.int(0),
    )?;
    seq.ok_or_else(|| id_in_use(&record.id))
}

pub(super) fn update_document(tx: &mut Tx<'_>, seq: i64, document: &Document) -> Result<()> {
    let record = &document.record;
    let changed = record.changed.to_string();
    tx.send(
        "UPDATE case_document SET title = $1, uri = $2, changed = $3, body = $4, extensions = $5, \
         beyond = $6 WHERE seq = $7",
        &[
            (&document.title).into(),
            (&document.uri).into(),
            (&changed).into(),
            (&record.body).into(),
            record.extensions.as_deref().into(),
            record.beyond.as_deref().into(),
            seq.into(),
        ],
    )
}

/// Takes everything out of a framework.
pub(super) fn empty(tx: &mut Tx<'_>, seq: i64) -> Result<()> {
    for sql in [
        "DELETE FROM case_word WHERE item IN (SELECT seq FROM case_item WHERE document = $1)",
        "DELETE FROM case_item WHERE document = $1",
        "DELETE FROM case_association WHERE document = $1",
        "DELETE FROM case_definition WHERE document = $1",
    ] {
        tx.send(sql, &[seq.into()])?;
    }
    Ok(())
}

/// Puts the records of a package into an empty framework.
fn fill(tx: &mut Tx<'_>, document: i64, package: &Package) -> Result<PackageCounts> {
    unclaimed(tx, "case_item", ITEM.list, package.items.iter().map(|one| &one.record))?;
    let associations = package.associations.iter().map(|one| &one.record);
    unclaimed(tx, "case_association", ASSOCIATION.list, associations)?;
    lead_somewhere(tx, package)?;
    insert_items(tx, document, package)?;
    let changed: Vec<String> =
        package.associations.iter().map(|one| one.record.changed.to_string()).collect();
    let mut values = Vec::with_capacity(9 * package.associations.len());
    for (one, changed) in package.associations.iter().zip(&changed) {
        values.extend([
            Value::from(&one.record.id),
            document.into(),
            (&one.ty).into(),
            (&one.origin).into(),
            (&one.destination).into(),
            changed.into(),
        ]);
        values.extend(texts(&one.record));
    }
    let columns = [
        "id",
        "document",
        "type",
        "origin",
        "destination",
        "changed",
        "body",
        "extensions",
        "beyond",
    ];
    tx.send_rows("case_association", &columns, &values, "")?;
    let mut values = Vec::with_capacity(6 * package.definitions.len());
    for one in &package.definitions {
        values.extend([Value::from(one.class.name), (&one.record.id).into(), document.into()]);
        values.extend(texts(&one.record));
    }
    let columns = ["class", "id", "document", "body", "extensions", "beyond"];
    tx.send_rows("case_definition", &columns, &values, "")?;
    Ok(PackageCounts::of(package))
}

fn texts(record: &Record) -> [Value<'_>; 3] {
    [(&record.body).into(), record.extensions.as_deref().into(), record.beyond.as_deref().into()]
}

fn insert_items(tx: &mut Tx<'_>, document: i64, package: &Package) -> Result<()> {
    let items = &package.items;
    let numbers = tx.take_numbers("case_item", "seq", items.len())?;
    let changed: Vec<String> = items.iter().map(|item| item.record.changed.to_string()).collect();
    let mut values = Vec::with_capacity(7 * items.len());
    for ((item, seq), changed) in items.iter().zip(&numbers).zip(&changed) {
        let id = Value::from(&item.record.id);
        values.extend([Value::Int(*seq), id, document.into(), changed.into()]);
        values.extend(texts(&item.record));
    }
    let columns = ["seq", "id", "document", "changed", "body", "extensions", "beyond"];
    tx.send_rows("case_item", &columns, &values, "")?;
    let of_item = items.iter().zip(&numbers);
    insert_words(
        tx,
        of_item.flat_map(|(item, seq)| item.words.iter().map(|word| (word.as_str(), *seq))),
    )
}

/// Notes words of items, in the order of their index.
pub(super) fn insert_words<'w>(
    tx: &mut Tx<'_>,
    words: impl Iterator<Item = (&'w str, i64)>,
) -> Result<()> {
    let mut words: Vec<(&str, i64)> = words.collect();
    words.sort_unstable();
    let values: Vec<Value<'_>> =
        words.iter().flat_map(|(word, item)| [Value::Text(word), Value::Int(*item)]).collect();
    tx.send_rows("case_word", &["word", "item"], &values, "")
}

/// Refuses identifiers that records of other frameworks have. Errors: `Conflict` with each.
fn unclaimed<'r>(
    tx: &mut Tx<'_>,
    table: &str,
    list: &str,
    records: impl Iterator<Item = &'r Record>,
) -> Result<()> {
    let ids: Vec<&str> = records.map(|record| record.id.as_str()).collect();
    let claimed = present(tx, table, &ids)?;
    let of_others = ids.iter().enumerate().filter(|(_, id)| claimed.contains(**id));
    let mut faults = Faults::default();
    for (index, id) in of_others {
        let path = Path::Record(list, Some(index));
        let message = message!("must not belong to another framework ('{id}' does)");
        faults.add(Path::Member(&path, "identifier"), message);
    }
    faults.refuse().map_err(|problem| Problem { kind: ProblemKind::Conflict, ..problem })
}

/// The identifiers that a table has.
pub(super) fn present(tx: &mut Tx<'_>, table: &str, ids: &[&str]) -> Result<HashSet<String>> {
    let mut found = HashSet::new();
    if ids.is_empty() {
        return Ok(found);
    }
    let list = serde_json::to_string(ids).map_err(Problem::internal)?;
    let among = dialect::is_one_of(tx.dialect(), "id", "$1");
    tx.query(&format!("SELECT id FROM {table} WHERE {among}"), &[list.as_str().into()], |row| {
        found.insert(row.text(0)?.to_owned());
        Ok(true)
    })?;
    Ok(found)
}

/// Refuses children of nothing, and associations whose ends both lie elsewhere. Nodes of other
/// frameworks are known where they are stored here.
fn lead_somewhere(tx: &mut Tx<'_>, package: &Package) -> Result<()> {
    let own: HashSet<&str> = package
        .items
        .iter()
        .map(|item| item.record.id.as_str())
        .chain([package.document.record.id.as_str()])
        .collect();
    let strangers: BTreeSet<&str> = package
        .associations
        .iter()
        .flat_map(|one| [one.origin.as_str(), one.destination.as_str()])
        .filter(|id| !own.contains(id))
        .collect();
    let strangers: Vec<&str> = strangers.into_iter().collect();
    let mut known = present(tx, "case_item", &strangers)?;
    known.extend(present(tx, "case_document", &strangers)?);
    let is_known = |id: &str| own.contains(id) || known.contains(id);
    let mut faults = Faults::default();
    let mut fault = |index, member, id: &str| {
        let path = Path::Record(ASSOCIATION.list, Some(index));
        faults.add(
            Path::Member(&path, member),
            message!("there is no item or document with the identifier '{id}'"),
        );
    };
    for (index, child, parent) in children(&package.associations) {
        if !is_known(child) {
            fault(index, "originNodeURI.identifier", child);
        }
        if !is_known(parent) {
            fault(index, "destinationNodeURI.identifier", parent);
        }
    }
    for (index, one) in package.associations.iter().enumerate() {
        if one.ty != CHILD_OF && !is_known(&one.origin) && !is_known(&one.destination) {
            fault(index, "originNodeURI.identifier", &one.origin);
        }
    }
    faults.refuse()
}

/// A refusal at one place.
pub(super) fn at(path: &str, message: Message) -> Problem {
    Problem::invalid_all(vec![Detail { path: path.to_owned(), message }])
}
