//! What the declarations cannot say, a file a kind.

mod enrollment;
mod tree;
mod user;

use lyceum_core::time::Timestamp;
use lyceum_core::{Dialect, Result};
use lyceum_store::Tx;
use serde_json::{Value, json};

pub(crate) use user::{ROLE_AT_ORG, role_at_org};

use crate::kind::{Field, Kind};
use crate::record::{Link, Object, Record};

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
            if let Some(org) = object.get("org").filter(|_| is_missing(object, "school")) {
                let org = org.clone();
                object.insert("school".into(), org);
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
    is_whole && !are_checked(kind) && !kind.fields.iter().any(Field::has_links)
}

/// Whether [`check`] looks at records of the kind at all.
pub(crate) fn are_checked(kind: &Kind) -> bool {
    matches!(kind.one, "courseComponent" | "org" | "academicSession" | "assessmentLineItem")
}

/// Checks what needs the other records, after references are known to exist.
pub(crate) fn check(tx: &mut Tx<'_>, record: &Record) -> Result<()> {
    match record.kind.one {
        "courseComponent" | "org" | "academicSession" => tree::refuse_cycle(tx, record, "parent"),
        "assessmentLineItem" => tree::refuse_cycle(tx, record, "parentAssessmentLineItem"),
        _ => Ok(()),
    }
}

fn is_missing(object: &Object, name: &str) -> bool {
    object.get(name).is_none_or(Value::is_null)
}

fn reference(id: &str) -> Value {
    json!({ "sourcedId": id })
}
