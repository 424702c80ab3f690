//! Removes what names a person from roster records. The records stay, so that totals keep their numbers; the user
//! becomes a pseudonym.

use lyceum_core::redaction::{Redaction, TextOwner};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Sql, Tx, dialect};
use serde_json::{Value, json};

use super::put::rewrite_all;
use super::read::find;
use super::referrers::referring;
use super::{credentials, moves};
use crate::kind::{Field, FieldType, RecordKind};
use crate::kinds::{self, USER};
use crate::record::{Object, Record, Status, StoredRecord, members};
use crate::rules;

/// The members of a user that say nothing about who it is.
const IMPERSONAL_MEMBERS: [&str; 2] = ["primaryOrg", "grades"];
/// The members of a role that say nothing about who has it.
const ROLE_MEMBERS: [&str; 5] = ["roleType", "role", "org", "beginDate", "endDate"];
/// Members with free text, which may name the person in any way.
const FREE_TEXT_MEMBERS: [&str; 2] = ["metadata", "comment"];

/// Turns a user into a pseudonym with the same roles, grades and organizations. Returns `false` if there is no such
/// user. Records that refer to the user still name it; [`erase_references`] must follow.
pub fn erase_user(tx: &mut Tx<'_>, now: Timestamp, id: &str, pseudonym: &str) -> Result<bool> {
    credentials::forget(tx, id)?;
    let Some(stored) = find(tx, &USER, id)? else { return Ok(false) };
    rewrite(tx, now, &USER, &stored, |user| {
        let members = user.clone().into_iter();
        let mut pseudonymous: Object =
            members.filter(|(name, _)| IMPERSONAL_MEMBERS.contains(&name.as_str())).collect();
        pseudonymous.insert("sourcedId".to_owned(), pseudonym.into());
        pseudonymous.insert("status".to_owned(), user["status"].clone());
        pseudonymous.insert("enabledUser".to_owned(), json!("false"));
        pseudonymous.insert("givenName".to_owned(), json!("Erased"));
        pseudonymous.insert("familyName".to_owned(), json!("Person"));
        let mut roles = user.get("roles").cloned().unwrap_or_else(|| json!([]));
        for role in roles.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            role.retain(|name, _| ROLE_MEMBERS.contains(&name.as_str()));
        }
        pseudonymous.insert("roles".to_owned(), roles);
        *user = pseudonymous;
    })?;
    Ok(true)
}

/// Renames the user in at most about `most` records that refer to it, and removes their free text. Records that exist
/// only for the user, such as demographics, are removed. Returns the number of records; 0 if there are no more.
pub fn erase_references(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (id, pseudonym): (&str, &str),
    most: i64,
) -> Result<u64> {
    let mut changed = 0;
    for kind in kinds::ALL {
        if rules::shares_id_with(kind) == Some(&USER) {
            changed += u64::from(remove(tx, kind, id, now)?);
            continue;
        }
        for from in referring(kind, &USER) {
            let sql =
                format!("SELECT {} {from} ORDER BY t.seq LIMIT {most}", StoredRecord::COLUMNS);
            for stored in tx.all(&sql, &[id.into()], StoredRecord::read)? {
                rewrite(tx, now, kind, &stored, |record| {
                    // A record with a single reference to the user is about the user.
                    if rename(kind.fields, record, id, pseudonym) {
                        record.insert(
                            "sourcedId".to_owned(),
                            format!("{pseudonym}-{}-{}", kind.one, stored.seq).into(),
                        );
                        record.retain(|name, _| !FREE_TEXT_MEMBERS.contains(&name.as_str()));
                    }
                })?;
                changed += 1;
            }
        }
    }
    Ok(changed)
}

/// The outcome of [`redact_records`].
#[derive(Clone, Copy, Debug)]
pub struct RedactedRecords {
    /// The number of records that were changed.
    pub changed: u64,
    /// Where to continue; `None` after the last record.
    pub next: Option<i64>,
}

/// Replaces the strings of a person in the next records of a kind behind `after`, at most `most` of those that
/// contain one.
pub fn redact_records(
    tx: &mut Tx<'_>,
    now: Timestamp,
    kind: &'static RecordKind,
    redaction: &Redaction,
    (after, most): (i64, i64),
) -> Result<RedactedRecords> {
    let terms = redaction.search_terms();
    if terms.is_empty() {
        return Ok(RedactedRecords { changed: 0, next: None });
    }
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!("SELECT {} FROM {} t", StoredRecord::COLUMNS, kind.table));
    sql.push(" WHERE t.seq > ").bind(after).push(" AND (FALSE");
    for term in &terms {
        for column in ["t.body", "COALESCE(t.extra, '')"] {
            let place = sql.placeholder(term.as_str());
            let condition = dialect::contains(sql.dialect, column, &place);
            sql.push(" OR ").push(&condition);
        }
    }
    sql.push(") ORDER BY t.seq LIMIT ").bind(most);
    let found = tx.all(&sql.text, &sql.values(), StoredRecord::read)?;
    let mut changed = 0;
    for stored in &found {
        let object = members(&stored.body, stored.extra.as_deref())?;
        let mut redacted = Value::Object(object);
        if redaction.redact_json(&mut redacted, TextOwner::Others) {
            let Value::Object(redacted) = redacted else { continue };
            rewrite(tx, now, kind, stored, |record| *record = redacted)?;
            changed += 1;
        }
    }
    Ok(RedactedRecords { changed, next: found.last().map(|stored| stored.seq) })
}

/// Renames the user in an object with these fields. Returns whether a single reference named it.
fn rename(fields: &[Field], object: &mut Object, id: &str, pseudonym: &str) -> bool {
    let mut is_about_user = false;
    let named = |reference: &Value| reference["sourcedId"] == id;
    for field in fields {
        let Some(value) = object.get_mut(field.name) else { continue };
        match field.ty {
            FieldType::Reference(to) if to == USER.one && named(value) => {
                value["sourcedId"] = pseudonym.into();
                is_about_user = true;
            }
            FieldType::References(to) if to == USER.one => {
                for reference in value.as_array_mut().into_iter().flatten().filter(|one| named(one))
                {
                    reference["sourcedId"] = pseudonym.into();
                }
            }
            FieldType::Objects(inner) => {
                let objects = value.as_array_mut().into_iter().flatten();
                for object in objects.filter_map(Value::as_object_mut) {
                    rename(inner, object, id, pseudonym);
                }
            }
            _ => {}
        }
    }
    is_about_user
}

/// Changes a stored record, whatever rules have been added since it was written.
fn rewrite(
    tx: &mut Tx<'_>,
    now: Timestamp,
    kind: &'static RecordKind,
    stored: &StoredRecord,
    change: impl FnOnce(&mut Object),
) -> Result<()> {
    let mut object = members(&stored.body, stored.extra.as_deref())?;
    change(&mut object);
    object.insert("dateLastModified".to_owned(), now.to_string().into());
    let text = serde_json::to_string(&object).map_err(Problem::internal)?;
    let record = Record::stored(kind, &text, None)?;
    if !stored.body.starts_with(&format!("{{\"sourcedId\":{}", json!(record.sourced_id))) {
        moves::note_gone(tx, kind, stored, now)?;
    }
    rewrite_all(tx, kind, &[(&record, stored)])
}

/// Removes a record with its links and counts. Returns whether there was one.
fn remove(tx: &mut Tx<'_>, kind: &'static RecordKind, id: &str, now: Timestamp) -> Result<bool> {
    let Some(stored) = find(tx, kind, id)? else { return Ok(false) };
    let record = Record::stored(kind, &stored.body, stored.extra.as_deref())?;
    if record.status == Status::Active {
        for collection in record.collections() {
            tx.tally(collection, stored.seq, -1);
        }
    }
    super::purge::forget(tx, kind, id, now)?;
    Ok(true)
}
