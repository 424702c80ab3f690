//! Adds new achievements to a record as it was sent before.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use serde_json::{Value, json};

use super::{LearnerRecord, LearnerRecordUpdate, Record};
use crate::body::{self, Object};

/// The lists of a subject that an update extends. An entry replaces the entry with its id.
const LISTS: [&str; 3] = ["achievement", "verifiableCredential", "association"];

/// The record with the additions. Members of the record outside of its subject are replaced. Without a `validFrom`, the new
/// version is valid from now.
/// Errors: `Conflict` for a record that another server signed; `Invalid` for another id, or if nothing is new.
pub fn updated(
    now: Timestamp,
    record: &Record,
    LearnerRecordUpdate(sent): &LearnerRecordUpdate,
) -> Result<LearnerRecord> {
    let record_json: Option<Object> = serde_json::from_str(&record.of.sent).ok();
    let Some(mut record_json) = record_json.filter(|record| !body::has_proof(record)) else {
        return Err(Problem::new(
            ProblemKind::Conflict,
            "the record was signed by another server; its issuer must send the new version to \
             POST …/credentials",
        ));
    };
    if sent.get("id").is_some_and(|id| *id != record.of.id.as_str()) {
        let message = message!("must be the id of the record, '{record.of.id}'");
        return Err(Problem::invalid("id", message));
    }
    let before = record_json.clone();
    let subject = |record: &Object| record.get("credentialSubject")?.get("id").cloned();
    if let (Some(before), Some(sent)) = (subject(&before), subject(sent))
        && before != sent
    {
        let message = message!(
            "must be the learner of the record, {before}; each learner has their own record"
        );
        return Err(Problem::invalid("credentialSubject.id", message));
    }
    let added = added(sent);
    for (name, value) in sent {
        let is_added =
            matches!(name.as_str(), "credentialSubject" | "achievement" | "achievements");
        if !is_added && !LISTS.contains(&name.as_str()) {
            record_json.insert(name.clone(), value.clone());
        }
    }
    record_json.insert("id".to_owned(), record.of.id.as_str().into());
    let subject = record_json.entry("credentialSubject").or_insert_with(|| json!({}));
    for (name, value) in added {
        if LISTS.contains(&name.as_str()) {
            merge(&mut subject[&name], value);
        } else {
            subject[&name] = value;
        }
    }
    if record_json == before {
        let message = "has no new achievements; send achievements that are new or changed";
        return Err(Problem::invalid("credentialSubject", message));
    }
    if !sent.contains_key("validFrom") {
        record_json.insert("validFrom".to_owned(), now.to_string().into());
    }
    Ok(LearnerRecord(record_json))
}

/// The members of the subject that an update changes.
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

/// Adds entries to a list. An entry replaces the entry with the same id, or an equal entry without id.
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
