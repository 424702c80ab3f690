//! An update of a record: what was sent before, with what is new.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use serde_json::{Value, json};

use super::Record;
use crate::body::{self, Object};

/// The lists of a record's subject that grow: an entry takes the place of the one with its id.
const LISTS: [&str; 3] = ["achievement", "verifiableCredential", "association"];

/// The record as if it had been sent with what is new: a whole record, a subject with what it adds, or
/// `achievement` (also `achievements`) alone. Members of the record beside the subject are replaced;
/// without a `validFrom` the update is valid from now.
/// Errors: `Conflict` for a record that was signed elsewhere; `Invalid` for another id, or nothing new.
pub fn updated(now: Timestamp, record: &Record, sent: &Object) -> Result<Object> {
    let given: Option<Object> = serde_json::from_str(&record.of.given).ok();
    let Some(mut given) = given.filter(|given| !body::has_proof(given)) else {
        return Err(Problem::new(
            ProblemKind::Conflict,
            "the record was signed by another server; its issuer must send the new version to \
             POST …/credentials",
        ));
    };
    if sent.get("id").is_some_and(|id| *id != record.of.id.as_str()) {
        let message = format!("must be the id of the record, '{}'", record.of.id);
        return Err(Problem::invalid("id", message));
    }
    let before = given.clone();
    let subject = |record: &Object| record.get("credentialSubject")?.get("id").cloned();
    if let (Some(before), Some(sent)) = (subject(&before), subject(sent))
        && before != sent
    {
        let message = format!(
            "must be the learner of the record, {before}; each learner has their own record"
        );
        return Err(Problem::invalid("credentialSubject.id", message));
    }
    let added = added(sent);
    for (name, value) in sent {
        let is_added =
            matches!(name.as_str(), "credentialSubject" | "achievement" | "achievements");
        if !is_added && !LISTS.contains(&name.as_str()) {
            given.insert(name.clone(), value.clone());
        }
    }
    given.insert("id".to_owned(), record.of.id.as_str().into());
    let subject = given.entry("credentialSubject").or_insert_with(|| json!({}));
    for (name, value) in added {
        if LISTS.contains(&name.as_str()) {
            merge(&mut subject[&name], value);
        } else {
            subject[&name] = value;
        }
    }
    if given == before {
        let message = "has no new achievements; send achievements that are new or changed";
        return Err(Problem::invalid("credentialSubject", message));
    }
    if !sent.contains_key("validFrom") {
        given.insert("validFrom".to_owned(), now.to_string().into());
    }
    Ok(given)
}

/// What an update says of the subject.
fn added(sent: &Object) -> Object {
    let mut added =
        sent.get("credentialSubject").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, list) in [
        ("achievement", "achievement"),
        ("achievements", "achievement"),
        ("verifiableCredential", "verifiableCredential"),
        ("association", "association"),
    ] {
        if let Some(value) = sent.get(name) {
            let mut all = added.shift_remove(list).unwrap_or_default();
            merge(&mut all, value.clone());
            added.insert(list.to_owned(), all);
        }
    }
    added
}

/// Adds the entries to a list, each in the place of the one with its id, or of one that is the same.
fn merge(list: &mut Value, new: Value) {
    let mut entries = entries(list.take());
    for one in self::entries(new) {
        let same = |known: &&mut Value| match one.get("id") {
            Some(id) => known.get("id") == Some(id),
            None => **known == one,
        };
        match entries.iter_mut().find(same) {
            Some(known) => *known = one,
            None => entries.push(one),
        }
    }
    *list = entries.into();
}

fn entries(value: Value) -> Vec<Value> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(all) => all,
        one => vec![one],
    }
}
