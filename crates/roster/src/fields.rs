//! Members of stored records, read without ceremony.

use crate::kind::RecordKind;
use crate::record::{Object, StoredRecord, members};
use crate::repository::{self};
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_store::Tx;
use serde_json::Value;

/// The members of a stored record.
pub fn of(stored: &StoredRecord) -> Result<Object> {
    members(&stored.body, stored.extra.as_deref())
}

/// The text of a member; empty if it is missing.
pub fn text<'a>(object: &'a Object, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The text of a member, if it is one.
pub fn opt_text(object: &Object, name: &str) -> Option<String> {
    object.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// The given and family name of a user.
pub fn full_name(user: &Object) -> String {
    let names = [text(user, "givenName"), text(user, "familyName")];
    names.join(" ").trim().to_owned()
}

/// The texts of a list member.
pub fn texts(object: &Object, name: &str) -> Vec<String> {
    let list = object.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The sourcedId of a reference; empty if it is missing.
pub fn reference<'a>(object: &'a Object, name: &str) -> &'a str {
    object.get(name).map(id_in).unwrap_or_default()
}

/// The sourcedIds that a list of references names.
pub fn references<'a>(object: &'a Object, name: &str) -> impl Iterator<Item = &'a str> {
    object.get(name).and_then(Value::as_array).into_iter().flatten().map(id_in)
}

/// The sourcedId in a reference.
pub fn id_in(reference: &Value) -> &str {
    reference.get("sourcedId").and_then(Value::as_str).unwrap_or_default()
}

/// The `metadata` of a record; empty if it is missing.
pub fn metadata(object: &Object) -> Object {
    object.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The record of the kind, if it is in use. Everything that is derived from a record reads it through this
/// function, so that one rule decides what a deletion means there; the record itself stays readable by its id.
///
/// Errors: `NotFound` for one that is missing or deleted.
pub fn in_use(tx: &mut Tx<'_>, kind: &RecordKind, id: &str) -> Result<Object> {
    of(&stored_in_use(tx, kind, id)?)
}

/// As [`in_use`], the record as it is stored.
pub fn stored_in_use(tx: &mut Tx<'_>, kind: &RecordKind, id: &str) -> Result<StoredRecord> {
    let stored = repository::find(tx, kind, id)?;
    check_in_use(kind, id, stored).map(|(stored, _)| stored)
}

/// As [`in_use`], of a record within the reach. Others are answered like missing ones.
pub fn in_use_within(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    id: &str,
    reach: &Reach,
) -> Result<Object> {
    let stored = repository::find_within(tx, kind, id, reach)?;
    check_in_use(kind, id, stored).map(|(_, fields)| fields)
}

fn check_in_use(
    kind: &RecordKind,
    id: &str,
    stored: Option<StoredRecord>,
) -> Result<(StoredRecord, Object)> {
    let stored = stored.ok_or_else(|| Problem::not_found(kind.one, id))?;
    let fields = of(&stored)?;
    match is_in_use(&fields) {
        true => Ok((stored, fields)),
        false => Err(deleted(kind, id)),
    }
}

/// Whether a record is not deleted.
pub fn is_in_use(record: &Object) -> bool {
    text(record, "status") == "active"
}

/// The problem for a deleted record. Its message says how to restore the record.
fn deleted(kind: &RecordKind, id: &str) -> Problem {
    let (one, path) = (kind.one, kind.path);
    let message = message!(
        "the {one} '{id}' is deleted; to restore it, send PATCH {prefix}/{path}/{id} with \
         {{\"{one}\": {{\"status\": \"active\"}}}}",
        prefix = kind.service.prefix()
    );
    Problem::new(ProblemKind::NotFound, message)
}

/// The stored records of the kind with these ids, by id. Runs one statement.
pub fn of_all<'a>(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    ids: impl Iterator<Item = &'a str>,
) -> Result<std::collections::HashMap<String, Object>> {
    let ids: std::collections::BTreeSet<&str> = ids.filter(|id| !id.is_empty()).collect();
    if ids.is_empty() {
        return Ok(std::collections::HashMap::new());
    }
    let ids: Vec<&str> = ids.into_iter().collect();
    let stored = repository::present(tx, kind, &ids)?;
    stored.into_iter().map(|(id, stored)| Ok((id, of(&stored)?))).collect()
}

/// As [`of_all`], without the records outside of the reach.
pub fn of_all_within<'a>(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    ids: impl Iterator<Item = &'a str>,
    reach: &Reach,
) -> Result<std::collections::HashMap<String, Object>> {
    let mut found = of_all(tx, kind, ids)?;
    if reach.is_limited() {
        let ids: Vec<&str> = found.keys().map(String::as_str).collect();
        let see = repository::RecordUse::See;
        let within = repository::ids_within(tx, kind, &ids, reach, see)?;
        found.retain(|id, _| within.contains(id));
    }
    Ok(found)
}
