//! Values that no declaration can refuse: days in their order, and what `metadata` of a resource says.

use lyceum_core::Detail;
use serde_json::Value;

use crate::canonical::day;
use crate::grade;
use crate::kind::Kind;
use crate::record::Object;

/// What `metadata.type` of a resource can be.
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

/// Adds the faults of the object's values.
pub(crate) fn check_values(kind: &Kind, object: &Object, faults: &mut Vec<Detail>) {
    let mut spans = |object: &Object, start, end, path: &str| {
        faults.extend(span_fault(object, start, end, path));
    };
    match kind.one {
        "academicSession" => spans(object, "startDate", "endDate", kind.one),
        "enrollment" => spans(object, "beginDate", "endDate", kind.one),
        "user" => {
            let roles = object.get("roles").and_then(Value::as_array);
            for (at, role) in roles.into_iter().flatten().enumerate() {
                if let Value::Object(role) = role {
                    spans(role, "beginDate", "endDate", &format!("user.roles[{at}]"));
                }
            }
        }
        "lineItem" | "assessmentLineItem" => faults.extend(range_fault(kind, object)),
        "resource" => {
            if let Some(Value::Object(metadata)) = object.get("metadata") {
                resource_metadata(metadata, faults);
            }
        }
        _ => {}
    }
}

/// A span ends on its first day or later.
fn span_fault(object: &Object, start: &str, end: &str, path: &str) -> Option<Detail> {
    let [first, last] = [start, end].map(|name| object.get(name).and_then(Value::as_str));
    let (first, last) = (day(first?)?, day(last?)?);
    // Text order is time order.
    (last < first).then(|| Detail {
        path: format!("{path}.{end}"),
        message: format!("'{last}' is before {start} '{first}'; send that day or a later one"),
    })
}

/// The lowest score is not above the highest.
fn range_fault(kind: &Kind, object: &Object) -> Option<Detail> {
    let number = |name: &str| object.get(name).and_then(Value::as_f64);
    let (least, most) = (number("resultValueMin")?, number("resultValueMax")?);
    (most < least).then(|| Detail {
        path: format!("{}.resultValueMax", kind.one),
        message: format!("{most} is less than resultValueMin {least}; send that number or more"),
    })
}

fn resource_metadata(metadata: &Object, faults: &mut Vec<Detail>) {
    let mut fault = |name: &str, message: String| {
        faults.push(Detail { path: format!("resource.metadata.{name}"), message });
    };
    let member = |name: &str| metadata.get(name).filter(|value| !value.is_null());
    if let Some(ty) = member("type")
        && !ty.as_str().is_some_and(|ty| RESOURCE_TYPES.contains(&ty))
    {
        let types = RESOURCE_TYPES.join("', '");
        fault("type", format!("must be one of '{types}' (got {ty})"));
    }
    if let Some(xp) = member("xp")
        && !xp.as_f64().is_some_and(|xp| xp >= 0.0)
    {
        fault("xp", format!("must be a number from 0 (got {xp})"));
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
        Some(other) => fault("grades", format!("must be an array of grades (got {other})")),
    }
}
