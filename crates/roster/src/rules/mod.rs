//! Rules that declarations cannot express, as functions to which a declaration refers.

pub(crate) mod class;
pub(crate) mod course;
pub(crate) mod enrollment;
pub(crate) mod name;
mod targets;
pub(crate) mod tree;
pub(crate) mod user;
pub(crate) mod values;

use std::collections::HashMap;

use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, PayloadDialect, Problem, ProblemKind, Result};
use lyceum_store::Tx;
use serde_json::{Value, json};

pub(crate) use user::{ROLE_AT_ORG, SEVERAL_ORGS, role_at_org};

use crate::collections::PARTS;
use crate::kind::{Field, RecordKind, ReferenceTarget};
use crate::kinds;
use crate::record::{ListLink, Object, Record, RecordReference, Status, StoredRecord};

/// The rules of a kind that its fields cannot express.
#[derive(Clone, Copy, Debug)]
pub struct KindRules {
    /// Adds values that clients of the platform may leave out. Runs before validation.
    pub complete: Option<CompleteRecord>,
    /// Sets members that follow from other records, in both dialects. Runs after validation.
    pub derive: Option<DeriveMembers>,
    /// Removes members of a changed record that must follow again, because the change does not name them.
    pub forget: Option<ForgetMembers>,
    /// Checks the values of a record.
    pub check_values: Option<CheckValues>,
    /// Returns links in addition to those of list members.
    pub links: Option<fn(&Object) -> Vec<ListLink>>,
    /// Checks the place of a record in its tree. A record can make the next one wrong, so records of such a kind are
    /// written one by one.
    pub check_place: Option<CheckPlace>,
    /// Runs for new and changed active records that passed all other rules.
    pub accept: Option<AcceptRecord>,
    /// The name of the kind of which a record with the same sourcedId must exist.
    pub shares_id_with: Option<&'static str>,
}

/// See [`KindRules::complete`].
pub type CompleteRecord = fn(&mut Tx<'_>, &mut Object, Timestamp) -> Result<()>;
/// See [`KindRules::derive`]. Returns the records that contradict those from which their members follow, by sourcedId.
pub type DeriveMembers = fn(&mut Tx<'_>, &mut [&mut Record]) -> Result<HashMap<String, Problem>>;
/// See [`KindRules::forget`]. The last object is the change.
pub type ForgetMembers = fn(&mut Object, &Object);
/// See [`KindRules::check_values`].
pub type CheckValues = fn(&RecordKind, &Object, &mut Vec<Detail>);
/// See [`KindRules::check_place`]. The last record is the stored one that is replaced.
pub type CheckPlace = fn(&mut Tx<'_>, &Record, Option<&Record>) -> Result<()>;
/// See [`KindRules::accept`].
pub type AcceptRecord = fn(&mut Tx<'_>, &[&Record]) -> Result<()>;

impl KindRules {
    /// The rules of a kind without any.
    pub const NONE: Self = Self {
        complete: None,
        derive: None,
        forget: None,
        check_values: None,
        links: None,
        check_place: None,
        accept: None,
        shares_id_with: None,
    };
}

/// Adds values that clients of the platform may leave out. Runs before validation.
pub(crate) fn complete(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    object: &mut Object,
    dialect: PayloadDialect,
    now: Timestamp,
) -> Result<()> {
    match kind.rules.complete.filter(|_| dialect == PayloadDialect::Platform) {
        Some(complete) => complete(tx, object, now),
        None => Ok(()),
    }
}

/// Sets the members of records of a kind that follow from other records. Returns those that contradict them, by
/// sourcedId.
pub(crate) fn derive(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    records: &mut [&mut Record],
) -> Result<HashMap<String, Problem>> {
    kind.rules.derive.map_or_else(|| Ok(HashMap::new()), |derive| derive(tx, records))
}

/// The kind of which a record with the same sourcedId must exist.
pub(crate) fn shares_id_with(kind: &RecordKind) -> Option<&'static RecordKind> {
    kind.rules.shares_id_with.and_then(kinds::by_name)
}

/// The reference to the record with the same sourcedId.
pub(crate) fn reference_by_id(kind: &RecordKind, sourced_id: &str) -> Option<RecordReference> {
    shares_id_with(kind).map(|owner| RecordReference {
        path: format!("{}.sourcedId", kind.one),
        kind: owner,
        sourced_id: sourced_id.to_owned(),
        target: ReferenceTarget::Any,
    })
}

/// Whether a record affects only its own row, and is counted in one collection while it is active.
pub(crate) fn stand_alone(kind: &RecordKind) -> bool {
    let has_parts = PARTS.iter().any(|part| part.kind == kind);
    !has_parts && !are_ordered(kind) && !kind.fields.iter().any(Field::has_links)
}

/// Whether a record of the kind can make the next one wrong, so that they must be written one by one.
pub(crate) fn are_ordered(kind: &RecordKind) -> bool {
    kind.rules.check_place.is_some()
}

/// Whether [`check`] applies to records of the kind.
pub(crate) fn are_checked(kind: &RecordKind) -> bool {
    are_ordered(kind) || kind.fields.iter().any(|field| field.target != ReferenceTarget::Any)
}

/// Checks rules that need other records, after a check that references exist. `before` is the record stored under the
/// id. Values that did not change are accepted.
///
/// A rule that reads records which it does not write must make the transaction depend on them
/// ([`crate::repository::depend_on`]), so that it holds under concurrent writes on both stores.
pub(crate) fn check(tx: &mut Tx<'_>, record: &Record, before: Option<&StoredRecord>) -> Result<()> {
    let refused = refused(tx, &[(record, before)])?;
    refused.into_values().next().map_or(Ok(()), Err)
}

/// The records that break a rule, by sourcedId, checked as in [`check`]. The records must be of one kind.
pub(crate) fn refused<'r>(
    tx: &mut Tx<'_>,
    records: &[(&'r Record, Option<&StoredRecord>)],
) -> Result<HashMap<&'r str, Problem>> {
    let Some((first, _)) = records.first().filter(|(one, _)| are_checked(one.kind)) else {
        return Ok(HashMap::new());
    };
    let mut refused = targets::refused(tx, records)?;
    if let Some(check_place) = first.kind.rules.check_place {
        for (record, before) in records {
            let before = before.map(|stored| record.read_former(stored)).transpose()?;
            match check_place(tx, record, before.as_ref()) {
                Err(problem) if problem.kind == ProblemKind::Invalid => {
                    refused.entry(&record.sourced_id).or_insert(problem);
                }
                other => other?,
            }
        }
    }
    if let Some(accept) = first.kind.rules.accept {
        let is_accepted = |(record, before): &&(&Record, Option<&StoredRecord>)| {
            let is_other =
                |stored: &StoredRecord| !record.same_as(&stored.body, stored.extra.as_deref());
            record.status == Status::Active
                && !refused.contains_key(record.sourced_id.as_str())
                && before.is_none_or(is_other)
        };
        let accepted = records.iter().filter(is_accepted);
        accept(tx, &accepted.map(|(record, _)| *record).collect::<Vec<_>>())?;
    }
    Ok(refused)
}

/// The new records with a reference that is not allowed. Their place in a tree must have been checked.
pub(crate) fn refused_targets<'r>(
    tx: &mut Tx<'_>,
    records: &[&'r Record],
) -> Result<HashMap<&'r str, Problem>> {
    let records: Vec<_> = records.iter().map(|record| (*record, None)).collect();
    targets::refused(tx, &records)
}

fn is_missing(object: &Object, name: &str) -> bool {
    object.get(name).is_none_or(Value::is_null)
}

fn reference(id: &str) -> Value {
    json!({ "sourcedId": id })
}
