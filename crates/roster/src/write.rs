//! Changes of records by clients: create, replace, change, delete (docs/decisions/014).

use lyceum_core::time::Timestamp;
use lyceum_core::{
    Detail, Message, PayloadDialect, Problem, ProblemKind, Reach, Result, message, messages,
};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::collections::{Collection, CollectionPart, at, named_by};
use crate::kind::RecordKind;
use crate::kinds::USER;
use crate::patch::merge;
use crate::record::{ModifiedTime, Object, Record, StoredRecord, members};
use crate::repository::{self, WrittenRecord};
use crate::{reach, rules};

/// The rules of a write.
#[derive(Clone, Debug)]
pub struct WriteRules {
    /// The dialect of what is sent.
    pub dialect: PayloadDialect,
    /// The present instant, which becomes `dateLastModified`.
    pub now: Timestamp,
    /// Whether a record without a sourcedId gets one (`UUIDv7`); else it is refused.
    pub allocate_missing_ids: bool,
    /// The part of the roster that the caller has access to.
    pub reach: Reach,
}

/// The sourcedIds of a created record.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourcedIdPair {
    /// The sourcedId that the client sent, or the allocated one if it sent none.
    pub supplied_sourced_id: String,
    /// The sourcedId that the record has.
    pub allocated_sourced_id: String,
}

/// A created record.
#[derive(Clone, Debug)]
pub struct CreatedRecord {
    /// Its ids.
    pub pair: SourcedIdPair,
    /// The stored record.
    pub put: WrittenRecord,
}

/// A path into which records are created: `POST /classes/{classSourcedId}/lineItems`.
#[derive(Debug)]
pub struct CreationPath {
    /// The path.
    pub path: &'static str,
    /// The collection that the records join.
    pub of: &'static str,
    /// The fields that the records take from the path, one a parameter; none for a parameter
    /// that only has to exist.
    pub fields: &'static [Option<&'static str>],
    /// Values that the records take beside.
    pub also: &'static [(&'static str, &'static str)],
    /// Whether the client chooses the ids: the gradebook allocates them (OneRoster 1.2, 4.2).
    pub keeps_ids: bool,
}

const fn into(
    path: &'static str,
    of: &'static str,
    fields: &'static [Option<&'static str>],
) -> CreationPath {
    CreationPath { path, of, fields, also: &[], keeps_ids: false }
}

/// Every path into which records are created.
pub static INTO: &[CreationPath] = &[
    into("/classes/{classSourcedId}/lineItems", "lineItems", &[Some("class")]),
    into("/schools/{schoolSourcedId}/lineItems", "lineItems", &[Some("school")]),
    into("/lineItems/{lineItemSourcedId}/results", "results", &[Some("lineItem")]),
    // The results name their line items; the session says for which term they are.
    into(
        "/classes/{classSourcedId}/academicSessions/{academicSessionSourcedId}/results",
        "results",
        &[Some("class"), None],
    ),
    CreationPath {
        also: &[("role", "student")],
        keeps_ids: true,
        ..into("/classes/{classSourcedId}/students", "enrollments", &[Some("class")])
    },
    CreationPath {
        also: &[("role", "teacher")],
        keeps_ids: true,
        ..into("/classes/{classSourcedId}/teachers", "enrollments", &[Some("class")])
    },
    CreationPath {
        also: &[("type", "gradingPeriod")],
        keeps_ids: true,
        ..into("/terms/{termSourcedId}/gradingPeriods", "gradingPeriods", &[Some("parent")])
    },
];

/// The notices for the caller of a write about each of the written records although it succeeded: an earlier user has
/// the same username.
pub fn notices(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    records: &[Record],
) -> Result<Vec<Option<Detail>>> {
    if *kind != USER {
        return Ok(vec![None; records.len()]);
    }
    let first = repository::first_users_with_usernames(tx, records)?;
    let notice = |record: &Record| {
        let (message, _) = rules::user::shared_username(record, &first)?;
        Some(Detail { path: "user.username".to_owned(), message })
    };
    Ok(records.iter().map(notice).collect())
}

/// Creates a record.
///
/// Errors: `Invalid`; `Conflict` when the id belongs to another record.
pub fn create(
    tx: &mut Tx<'_>,
    collection: Collection,
    object: Object,
    rules: &WriteRules,
) -> Result<CreatedRecord> {
    let supplied = object.get("sourcedId").and_then(Value::as_str).map(str::to_owned);
    let record = prepared(tx, collection, object, rules)?;
    check_reach(tx, &record, rules)?;
    let put = repository::create(tx, &record)?;
    let allocated = record.sourced_id;
    let pair = SourcedIdPair {
        supplied_sourced_id: supplied.unwrap_or_else(|| allocated.clone()),
        allocated_sourced_id: allocated,
    };
    Ok(CreatedRecord { pair, put })
}

/// Refuses a record outside of the reach. Errors: as [`reach::check_write`].
fn check_reach(tx: &mut Tx<'_>, record: &Record, rules: &WriteRules) -> Result<()> {
    if !rules.reach.is_limited() {
        return Ok(());
    }
    let before = repository::find(tx, record.kind, &record.sourced_id)?;
    reach::check_write(tx, record, before.as_ref(), &rules.reach)
}

/// The record that the object becomes: what may be missing is filled in. Nothing is written but
/// what an enrollment by course needs.
pub(crate) fn prepared(
    tx: &mut Tx<'_>,
    collection: Collection,
    mut object: Object,
    rules: &WriteRules,
) -> Result<Record> {
    if rules.allocate_missing_ids && object.get("sourcedId").is_none_or(Value::is_null) {
        object.insert("sourcedId".into(), Uuid::now_v7().to_string().into());
    }
    parsed(tx, collection, &mut object, rules)
}

fn parsed(
    tx: &mut Tx<'_>,
    collection: Collection,
    object: &mut Object,
    rules: &WriteRules,
) -> Result<Record> {
    let kind = collection.kind;
    if let CollectionPart::OfType(word) = collection.part {
        object.entry("type").or_insert_with(|| word.into());
        if object.get("type").is_some_and(|sent| sent != word) {
            return Err(Problem::invalid(
                format!("{one}.type", one = kind.one),
                message!("must be '{word}' for this path"),
            ));
        }
    }
    reach::check_default_class(tx, kind, object, &rules.reach)?;
    rules::complete(tx, kind, object, rules.dialect, rules.now)?;
    let mut record = Record::parse(kind, object, rules.dialect, ModifiedTime::Now(rules.now))?;
    let refused = rules::derive(tx, kind, &mut [&mut record])?;
    refused.into_values().next().map_or(Ok(record), Err)
}

/// Replaces the record with that id; with `upserts` it is created if it is missing.
///
/// Errors: `Invalid`, also when the body names another id; `NotFound`; `PreconditionFailed`.
pub fn put(
    tx: &mut Tx<'_>,
    collection: Collection,
    id: &str,
    mut object: Object,
    expected: Option<i64>,
    upserts: bool,
    rules: &WriteRules,
) -> Result<WrittenRecord> {
    same_id(collection, id, &mut object)?;
    let record = parsed(tx, collection, &mut object, rules)?;
    if !upserts {
        within(tx, collection, id, &rules.reach)?;
    }
    check_reach(tx, &record, rules)?;
    if upserts {
        return repository::upsert(tx, &record, expected);
    }
    repository::replace(tx, &record, expected)
}

/// Sets the id from the path. A body with another id is rejected.
fn same_id(collection: Collection, id: &str, object: &mut Object) -> Result<()> {
    match object.get("sourcedId") {
        Some(Value::String(sent)) if sent != id => Err(Problem::invalid(
            format!("{one}.sourcedId", one = collection.kind.one),
            message!("must be the sourcedId of the path, '{id}' (got '{sent}')"),
        )),
        Some(Value::String(_)) => Ok(()),
        _ => {
            object.insert("sourcedId".into(), id.into());
            Ok(())
        }
    }
}

/// Refuses an id that is not in the collection or outside of the reach. Errors: `NotFound`.
fn within(
    tx: &mut Tx<'_>,
    collection: Collection,
    id: &str,
    reach: &Reach,
) -> Result<StoredRecord> {
    repository::find_in(tx, &collection, id, reach)?
        .ok_or_else(|| Problem::not_found(collection.kind.one, id))
}

/// Changes fields of a record (RFC 7396). Errors: as [`put`].
pub fn patch(
    tx: &mut Tx<'_>,
    collection: Collection,
    id: &str,
    patch: &Object,
    expected: Option<i64>,
    rules: &WriteRules,
) -> Result<WrittenRecord> {
    let stored = within(tx, collection, id, &rules.reach)?;
    let mut object = members(&stored.body, stored.extra.as_deref())?;
    merge(&mut object, patch);
    if let Some(forget) = collection.kind.rules.forget {
        forget(&mut object, patch);
    }
    same_id(collection, id, &mut object)?;
    // The stored record may hold the platform's members, whatever the client's dialect is.
    let wide = WriteRules { dialect: PayloadDialect::Platform, ..rules.clone() };
    let record = parsed(tx, collection, &mut object, &wide)?;
    reach::check_write(tx, &record, Some(&stored), &rules.reach)?;
    repository::replace(tx, &record, expected)
}

/// Marks a record `tobedeleted`, and with `cascade` also the records that refer to it. `expected` is the version
/// that the client saw, if it sent one.
///
/// Errors: `NotFound`; `PreconditionFailed` when the version is another; `Forbidden` if a record that refers to it does
/// not lie within the reach.
pub fn delete(
    tx: &mut Tx<'_>,
    collection: Collection,
    id: &str,
    now: Timestamp,
    cascade: bool,
    expected: Option<i64>,
    reach: &Reach,
) -> Result<()> {
    let stored = within(tx, collection, id, reach)?;
    repository::expect(collection.kind, id, &stored, expected)?;
    repository::delete(tx, collection.kind, id, now, cascade, reach)?;
    Ok(())
}

/// Creates records inside those of the path, all or none.
///
/// Errors: `NotFound` if a record of the path does not exist; `Invalid` with the number of the record.
pub fn create_in(
    tx: &mut Tx<'_>,
    into: &CreationPath,
    ids: &[(&str, String)],
    objects: Vec<Value>,
    rules: &WriteRules,
) -> Result<Vec<SourcedIdPair>> {
    for (parameter, id) in ids {
        let kind = named_by(parameter).expect("parameters of declared paths name kinds");
        repository::require_within(tx, kind, id, &rules.reach)?;
    }
    let collection = at(into.of).expect("declared paths name collections");
    let mut pairs = Vec::with_capacity(objects.len());
    for (number, object) in objects.into_iter().enumerate() {
        let place = format!("{}[{number}]", collection.kind.many);
        let Value::Object(mut object) = object else {
            return Err(Problem::invalid(place, messages::MUST_BE_OBJECT));
        };
        take_from_path(into, ids, &mut object)
            .map_err(|(field, message)| Problem::invalid(format!("{place}.{field}"), message))?;
        let supplied = object.get("sourcedId").and_then(Value::as_str).map(str::to_owned);
        if !into.keeps_ids {
            object.remove("sourcedId");
        }
        let created = create(tx, collection, object, rules).map_err(|p| numbered(p, &place))?;
        let mut pair = created.pair;
        pair.supplied_sourced_id = supplied.unwrap_or(pair.supplied_sourced_id);
        pairs.push(pair);
    }
    Ok(pairs)
}

fn take_from_path(
    into: &CreationPath,
    ids: &[(&str, String)],
    object: &mut Object,
) -> Result<(), (&'static str, Message)> {
    for (field, (_, id)) in into.fields.iter().zip(ids) {
        let Some(field) = field else { continue };
        let sent_id = object.get(*field).and_then(|value| value.get("sourcedId"));
        if sent_id.is_some_and(|sent| sent != id.as_str()) {
            return Err((field, message!("must be '{id}', the sourcedId in the path")));
        }
        object.insert((*field).into(), json!({ "sourcedId": id }));
    }
    for (field, value) in into.also {
        object.insert((*field).into(), (*value).into());
    }
    Ok(())
}

/// Adds the number of the record to the paths of the problem.
fn numbered(problem: Problem, place: &str) -> Problem {
    if problem.details.is_empty() {
        return problem;
    }
    let details = problem.details.iter().map(|detail| Detail {
        path: match detail.path.split_once('.') {
            Some((_, rest)) => format!("{place}.{rest}"),
            None => place.to_owned(),
        },
        message: detail.message.clone(),
    });
    let details = details.collect();
    match problem.kind {
        ProblemKind::Invalid => Problem::invalid_all(details),
        _ => Problem { details, ..problem },
    }
}
