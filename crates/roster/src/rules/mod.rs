//! What the declarations cannot say, a file a kind.

mod enrollment;
mod targets;
mod tree;
mod user;
mod values;

use std::collections::{BTreeSet, HashMap};

use lyceum_core::time::Timestamp;
use lyceum_core::{Dialect, Problem, ProblemKind, Result};
use lyceum_store::Tx;
use serde_json::{Value, json};

pub(crate) use user::{ROLE_AT_ORG, role_at_org};
pub(crate) use values::check_values;

use crate::kind::{Field, Kind};
use crate::kinds::{ORG, USER};
use crate::record::{Link, Object, Pointer, Record, Status};
use crate::repository::{self, Stored};

/// Fills in what clients of the platform may leave out. Runs before validation.
pub(crate) fn complete(
    tx: &mut Tx<'_>,
    kind: &'static Kind,
    object: &mut Object,
    dialect: Dialect,
    now: Timestamp,
) -> Result<()> {
    if dialect == Dialect::Standard {
        return Ok(());
    }
    match kind.one {
        "class" => {
            // Both name the school: the standard's clients read one, the platform's the other.
            for (from, to) in [("org", "school"), ("school", "org")] {
                let known = object.get(from).filter(|known| !known.is_null()).cloned();
                if let Some(known) = known.filter(|_| is_missing(object, to)) {
                    object.insert(to.into(), known);
                }
            }
            Ok(())
        }
        // An earlier client names the organization of a course so.
        "course" => {
            if let Some(Value::String(org)) = object.get("orgSourcedId")
                && is_missing(object, "org")
            {
                let org = reference(org);
                object.insert("org".into(), org);
            }
            Ok(())
        }
        "enrollment" => enrollment::complete(tx, object, now),
        _ => Ok(()),
    }
}

/// Links beyond those of list members.
pub(crate) fn links(kind: &Kind, object: &Object) -> Vec<Link> {
    match kind.one {
        "user" => user::roles_at_orgs(object),
        _ => Vec::new(),
    }
}

/// The kind of the record whose sourcedId a record of the kind has, and to which it refers by that.
pub(crate) fn shares_id_with(kind: &Kind) -> Option<&'static Kind> {
    (kind.one == "demographics").then_some(&USER)
}

/// References beyond those of fields: demographics have the sourcedId of their user.
pub(crate) fn references(kind: &Kind, sourced_id: &str) -> Option<Pointer> {
    shares_id_with(kind).map(|owner| Pointer {
        path: format!("{}.sourcedId", kind.one),
        kind: owner,
        sourced_id: sourced_id.to_owned(),
    })
}

/// The collections that count a record; see [`crate::collections`].
pub(crate) fn collections(
    kind: &Kind,
    columns: &[Option<String>],
    links: &[Link],
) -> Vec<&'static str> {
    let of_type = || {
        let at = kind.columns().position(|(field, _)| field.name == "type");
        at.and_then(|at| columns[at].as_deref())
    };
    let mut counted = vec![kind.path];
    match kind.one {
        "user" => counted.extend(user::collections(links)),
        "org" if of_type() == Some("school") => counted.push("schools"),
        "academicSession" => match of_type() {
            Some("term") => counted.push("terms"),
            Some("gradingPeriod") => counted.push("gradingPeriods"),
            _ => {}
        },
        _ => {}
    }
    counted
}

/// Whether nothing beside the row of a record follows from what it says but that it is counted, in one
/// collection, while it is in use.
pub(crate) fn stand_alone(kind: &Kind) -> bool {
    let is_whole = !matches!(kind.one, "user" | "org" | "academicSession");
    is_whole && !are_ordered(kind) && !kind.fields.iter().any(Field::has_links)
}

/// Whether a record of the kind can make the next one a fault, so that they are written one by one.
pub(crate) fn are_ordered(kind: &Kind) -> bool {
    matches!(kind.one, "courseComponent" | "org" | "academicSession" | "assessmentLineItem")
}

/// Whether [`check`] looks at records of the kind at all.
pub(crate) fn are_checked(kind: &Kind) -> bool {
    are_ordered(kind) || targets::concern(kind)
}

/// Checks what needs the other records, after references are known to exist. `before` is what is stored
/// under the id; what a record said before is not held against it.
///
/// A rule that reads what it does not write makes the transaction depend on it
/// ([`repository::depend_on`]), so that it holds among concurrent writers on both stores.
pub(crate) fn check(tx: &mut Tx<'_>, record: &Record, before: Option<&Stored>) -> Result<()> {
    let refused = refused(tx, &[(record, before)])?;
    refused.into_values().next().map_or(Ok(()), Err)
}

/// Those of the records that break a rule, by their sourcedIds; as [`check`] for each of them.
pub(crate) fn refused<'r>(
    tx: &mut Tx<'_>,
    records: &[(&'r Record, Option<&Stored>)],
) -> Result<HashMap<&'r str, Problem>> {
    let Some((first, _)) = records.first().filter(|(one, _)| are_checked(one.kind)) else {
        return Ok(HashMap::new());
    };
    let mut refused = targets::refused(tx, records)?;
    if are_ordered(first.kind) {
        for (record, before) in records {
            match in_tree(tx, record, *before) {
                Err(problem) if problem.kind == ProblemKind::Invalid => {
                    refused.entry(&record.sourced_id).or_insert(problem);
                }
                other => other?,
            }
        }
    }
    if first.kind.one == "class" {
        let written = records.iter().filter(|(class, before)| {
            let is_new = |stored: &Stored| !class.same_as(&stored.body, stored.extra.as_deref());
            class.status == Status::Active
                && !refused.contains_key(class.sourced_id.as_str())
                && before.is_none_or(is_new)
        });
        // In one order, so that two imports do not wait for each other.
        let schools: BTreeSet<&str> = written.filter_map(|(class, _)| school(class)).collect();
        for school in schools {
            repository::depend_on(tx, &ORG, school)?;
        }
    }
    Ok(refused)
}

/// Those of the new records that refer to what they must not; their place in a tree is known to be right.
pub(crate) fn refused_targets<'r>(
    tx: &mut Tx<'_>,
    records: &[&'r Record],
) -> Result<HashMap<&'r str, Problem>> {
    let records: Vec<_> = records.iter().map(|record| (*record, None)).collect();
    targets::refused(tx, &records)
}

fn in_tree(tx: &mut Tx<'_>, record: &Record, before: Option<&Stored>) -> Result<()> {
    let read = |stored: &Stored| Record::stored(record.kind, &stored.body, stored.extra.as_deref());
    let before = before.map(read).transpose()?;
    let before = before.as_ref();
    match record.kind.one {
        "assessmentLineItem" => {
            return tree::refuse_cycle(tx, record, before, "parentAssessmentLineItem");
        }
        "courseComponent" => tree::refuse_two_courses(tx, record, before)?,
        "org" => stays_a_school(tx, record, before)?,
        _ => {}
    }
    tree::refuse_cycle(tx, record, before, "parent")
}

/// Refuses another type for an organization that records name as their school.
fn stays_a_school(tx: &mut Tx<'_>, org: &Record, before: Option<&Record>) -> Result<()> {
    let is_school = |org: &Record| org.collections().contains(&"schools");
    if is_school(org) || !before.is_some_and(is_school) {
        return Ok(());
    }
    match repository::of_school(tx, &org.sourced_id)? {
        None => Ok(()),
        Some((one, id)) => Err(Problem::invalid(
            "org.type",
            format!("must stay 'school', since the {one} '{id}' names this org as its school"),
        )),
    }
}

/// The school of a class. A class is what makes others name its school: enrollments and line items follow their
/// class and would wait for each other if they depended on it.
fn school(class: &Record) -> Option<&str> {
    let school = class.references.iter().find(|one| one.path == "class.school.sourcedId");
    school.map(|school| school.sourced_id.as_str())
}

fn is_missing(object: &Object, name: &str) -> bool {
    object.get(name).is_none_or(Value::is_null)
}

fn reference(id: &str) -> Value {
    json!({ "sourcedId": id })
}
