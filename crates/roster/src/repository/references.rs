//! References must exist; and who refers to a record.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lyceum_core::{Detail, Problem, Result, messages};
use lyceum_store::{Tx, Value, dialect};

use super::targets::depend_on;
use crate::kind::{Field, RecordKind};
use crate::kinds;
use crate::record::{Record, RecordReference, StoredRecord};

/// Refuses a path whose record does not exist. Errors: `NotFound`.
pub fn require(tx: &mut Tx<'_>, kind: &RecordKind, sourced_id: &str) -> Result<()> {
    let sql = format!("SELECT 1 FROM {} WHERE sourced_id = $1", kind.table);
    match tx.query_one(&sql, &[sourced_id.into()], |_| Ok(()))? {
        Some(()) => Ok(()),
        None => Err(Problem::not_found(kind.one, sourced_id)),
    }
}

/// The references that point to nothing, with one query for each kind of target.
pub fn missing<'a>(
    tx: &mut Tx<'_>,
    references: impl Iterator<Item = &'a RecordReference>,
) -> Result<Vec<&'a RecordReference>> {
    let references: Vec<&RecordReference> = references.collect();
    let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for reference in &references {
        wanted.entry(reference.kind.one).or_default().insert(&reference.sourced_id);
    }
    for (one, ids) in &mut wanted {
        let kind = kinds::by_name(one).expect("references point to declared kinds");
        for id in existing(tx, kind, ids)? {
            ids.remove(id.as_str());
        }
    }
    let is_missing = |reference: &&RecordReference| {
        wanted[reference.kind.one].contains(reference.sourced_id.as_str())
    };
    Ok(references.into_iter().filter(is_missing).collect())
}

/// The ids that exist when the transaction is committed. A purge may be removing those that are marked, and it does not
/// see what refers to them before an import is committed.
fn existing(tx: &mut Tx<'_>, kind: &RecordKind, ids: &BTreeSet<&str>) -> Result<Vec<String>> {
    let status = if tx.is_serializable() { "'active'" } else { "status" };
    let (mut found, mut marked) = (Vec::with_capacity(ids.len()), Vec::new());
    // One id is by far the most frequent case, and the cheapest statement.
    if let (1, Some(id)) = (ids.len(), ids.first()) {
        let sql = format!("SELECT {status} FROM {} WHERE sourced_id = $1", kind.table);
        if let Some(status) = tx.query_one(&sql, &[(*id).into()], |row| row.string(0))? {
            found.push((*id).to_owned());
            marked.extend((status != "active").then(|| (*id).to_owned()));
        }
    } else {
        let sql = format!(
            "SELECT sourced_id, {status} FROM {} WHERE {}",
            kind.table,
            dialect::is_one_of(tx.dialect(), "sourced_id", "$1")
        );
        let list = serde_json::to_string(ids).map_err(Problem::internal)?;
        tx.query(&sql, &[list.as_str().into()], |row| {
            found.push(row.text(0)?.to_owned());
            marked.extend((row.text(1)? != "active").then(|| found[found.len() - 1].clone()));
            Ok(true)
        })?;
    }
    for one in marked {
        depend_on(tx, kind, &one)?;
    }
    Ok(found)
}

/// Refuses a record with references to nothing. Its references to itself are fine.
pub(super) fn check(tx: &mut Tx<'_>, record: &Record) -> Result<()> {
    refused(record, &missing(tx, others(record))?)
}

/// The records that refer to nothing, by their sourcedIds, with the error that [`check`] has for each; one
/// query for each kind of target.
pub(crate) fn check_all<'a>(
    tx: &mut Tx<'_>,
    records: impl Iterator<Item = &'a Record> + Clone,
) -> Result<HashMap<&'a str, Problem>> {
    let missing = missing(tx, records.clone().flat_map(others))?;
    let problem = |record: &'a Record| {
        let problem = refused(record, &missing).err()?;
        Some((record.sourced_id.as_str(), problem))
    };
    Ok(if missing.is_empty() { HashMap::new() } else { records.filter_map(problem).collect() })
}

fn others(record: &Record) -> impl Iterator<Item = &RecordReference> {
    record.references.iter().filter(|reference| {
        reference.sourced_id != record.sourced_id || reference.kind.one != record.kind.one
    })
}

/// Refuses the record when some of its references are among the missing.
fn refused(record: &Record, missing: &[&RecordReference]) -> Result<()> {
    let is_missing =
        |one: &&RecordReference| missing.iter().any(|missing| std::ptr::eq(*missing, *one));
    let faults: Vec<Detail> = others(record).filter(is_missing).map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(Problem::invalid_all(faults)) }
}

fn fault(reference: &RecordReference) -> Detail {
    Detail {
        path: reference.path.clone(),
        message: messages::unknown_reference(reference.kind.one, &reference.sourced_id),
    }
}

/// The active records of the kind whose reference of that name points to one of the ids, in the
/// order of insertion. One statement, however many ids.
pub fn referring_to(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    reference: &str,
    ids: &[&str],
) -> Result<Vec<StoredRecord>> {
    referring(tx, kind, &[(reference, ids)])
}

/// As [`referring_to`], with two references that must both point to one of their ids.
pub fn referring_to_both(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    one: (&str, &[&str]),
    other: (&str, &[&str]),
) -> Result<Vec<StoredRecord>> {
    referring(tx, kind, &[one, other])
}

fn referring(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    wanted: &[(&str, &[&str])],
) -> Result<Vec<StoredRecord>> {
    let mut sql = format!("SELECT {} FROM {} t WHERE ", StoredRecord::COLUMNS, kind.table);
    let mut lists = Vec::with_capacity(wanted.len());
    for (reference, ids) in wanted {
        lists.push(serde_json::to_string(ids).map_err(Problem::internal)?);
        let column = kind.field(reference).and_then(Field::column_name);
        let column = format!("t.{}", column.expect("single references have columns"));
        let placeholder = format!("${}", lists.len());
        sql += &dialect::is_one_of(tx.dialect(), &column, &placeholder);
        sql += " AND ";
    }
    sql += "t.status = 'active' ORDER BY t.seq";
    let values: Vec<Value<'_>> = lists.iter().map(Value::from).collect();
    let mut found = Vec::new();
    tx.query(&sql, &values, |row| {
        found.push(StoredRecord::read(row)?);
        Ok(true)
    })?;
    Ok(found)
}

/// The active records of the kind whose list of that path (`user.grades`) has the member, behind
/// the given number in the order of insertion, at most `most` of them.
pub fn linked(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    path: &str,
    member: &str,
    after: i64,
    most: i64,
) -> Result<Vec<StoredRecord>> {
    let sql = format!(
        "SELECT {} FROM roster_link l CROSS JOIN {} t WHERE l.field = $1 AND l.value = $2 \
         AND l.owner > $3 AND t.seq = l.owner AND t.status = 'active' ORDER BY l.owner LIMIT $4",
        StoredRecord::COLUMNS,
        kind.table
    );
    let mut found = Vec::new();
    tx.query(&sql, &[path.into(), member.into(), after.into(), most.into()], |row| {
        found.push(StoredRecord::read(row)?);
        Ok(true)
    })?;
    Ok(found)
}
