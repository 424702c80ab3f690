//! Rules of values: order of dates, score ranges, the `metadata` of a resource.

use lyceum_core::{Detail, Message, message, messages};
use serde_json::Value;

use crate::canonical::day;
use crate::grade;
use crate::kind::RecordKind;
use crate::record::Object;

/// The values of `metadata.type` of a resource.
const RESOURCE_TYPES: [&str; 8] = [
    "interactive",
    "video",
    "text",
    "qti",
    "audio",
    "visual",
    "course-material",
    "assessment-bank",
];

/// A session must end on its first day or later.
pub(crate) fn session_dates(kind: &RecordKind, session: &Object, faults: &mut Vec<Detail>) {
    faults.extend(span_fault(session, "startDate", "endDate", kind.one));
}

/// An enrollment must end on its first day or later.
pub(crate) fn enrollment_dates(kind: &RecordKind, enrollment: &Object, faults: &mut Vec<Detail>) {
    faults.extend(span_fault(enrollment, "beginDate", "endDate", kind.one));
}

/// Each role of a user must end on its first day or later.
pub(crate) fn role_dates(kind: &RecordKind, user: &Object, faults: &mut Vec<Detail>) {
    let roles = user.get("roles").and_then(Value::as_array);
    for (at, role) in roles.into_iter().flatten().enumerate() {
        if let Value::Object(role) = role {
            let path = format!("{}.roles[{at}]", kind.one);
            faults.extend(span_fault(role, "beginDate", "endDate", &path));
        }
    }
}

/// The error of a span that ends before its first day.
fn span_fault(object: &Object, start: &str, end: &str, path: &str) -> Option<Detail> {
    let [first, last] = [start, end].map(|name| object.get(name).and_then(Value::as_str));
    let (first, last) = (day(first?)?, day(last?)?);
    // Dates in this form sort like text.
    (last < first).then(|| Detail {
        path: format!("{path}.{end}"),
        message: message!("must not be before {start} '{first}' (got '{last}')"),
    })
}

/// The lowest score of a line item must not be above the highest.
pub(crate) fn score_range(kind: &RecordKind, item: &Object, faults: &mut Vec<Detail>) {
    let number = |name: &str| item.get(name).and_then(Value::as_f64);
    let range = number("resultValueMin").zip(number("resultValueMax"));
    if let Some((least, most)) = range.filter(|(least, most)| most < least) {
        faults.push(Detail {
            path: format!("{}.resultValueMax", kind.one),
            message: message!("must be at least resultValueMin, {least} (got {most})"),
        });
    }
}

/// Checks the types in the `metadata` of a resource that the platform's clients rely on.
pub(crate) fn resource_metadata(_: &RecordKind, resource: &Object, faults: &mut Vec<Detail>) {
    let Some(Value::Object(metadata)) = resource.get("metadata") else { return };
    let mut fault = |name: &str, message: Message| {
        faults.push(Detail { path: format!("resource.metadata.{name}"), message });
    };
    let member = |name: &str| metadata.get(name).filter(|value| !value.is_null());
    if let Some(ty) = member("type")
        && !ty.as_str().is_some_and(|ty| RESOURCE_TYPES.contains(&ty))
    {
        let message = match ty.as_str() {
            Some(got) => messages::must_be_one_of(&RESOURCE_TYPES, got),
            None => messages::MUST_BE_STRING.into(),
        };
        fault("type", message);
    }
    if let Some(xp) = member("xp")
        && !xp.as_f64().is_some_and(|xp| xp >= 0.0)
    {
        fault("xp", message!("must be a number of at least 0 (got {xp})"));
    }
    match member("grades") {
        None => {}
        Some(Value::Array(grades)) => {
            for (at, grade) in grades.iter().enumerate() {
                if let Err(message) = grade::read(grade) {
                    fault(&format!("grades[{at}]"), message);
                }
            }
        }
        Some(other) => fault("grades", message!("must be an array of grades (got {other})")),
    }
}
