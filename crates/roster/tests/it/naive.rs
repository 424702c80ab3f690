//! A filter, evaluated on a record's JSON in the plainest way: the measure of the engine.

use lyceum_core::filter::{FilterExpression, FilterOperator, FilterValue};
use lyceum_core::time::Timestamp;
use serde_json::Value;

/// Whether the record passes the filter.
pub(crate) fn passes(record: &Value, expr: &FilterExpression) -> bool {
    match expr {
        FilterExpression::And(parts) => parts.iter().all(|part| passes(record, part)),
        FilterExpression::Or(parts) => parts.iter().any(|part| passes(record, part)),
        FilterExpression::Clause(name, op, literal) => compares(record, name, *op, literal),
    }
}

fn compares(record: &Value, name: &str, op: FilterOperator, literal: &FilterValue) -> bool {
    if op == FilterOperator::NotEqual {
        return !compares(record, name, FilterOperator::Equal, literal);
    }
    let (head, rest) = name.split_once('.').unwrap_or((name, ""));
    match record.get(head) {
        Some(Value::Array(items)) if rest.is_empty() => list(head, items, op, literal),
        Some(Value::Array(items)) => {
            let wanted = literal.text.split(',').map(str::trim);
            let mut wanted = wanted.map(|text| fold(name, text));
            wanted.any(|wanted| {
                items.iter().any(|item| {
                    at(item, rest).and_then(Value::as_str).is_some_and(|t| fold(name, t) == wanted)
                })
            })
        }
        Some(value) => match if rest.is_empty() { Some(value) } else { at(value, rest) } {
            Some(found) if !found.is_null() => scalar(name, found, op, literal),
            _ => false,
        },
        // An absent list has no members, and is equal to a list of none only.
        None => false,
    }
}

fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, name| value.get(name))
}

fn list(name: &str, items: &[Value], op: FilterOperator, literal: &FilterValue) -> bool {
    let members: Vec<String> =
        items.iter().map(|item| fold(name, item.as_str().unwrap_or_default())).collect();
    let wanted: Vec<String> = literal.text.split(',').map(|text| fold(name, text.trim())).collect();
    match op {
        FilterOperator::Contains => wanted.iter().any(|wanted| members.contains(wanted)),
        _ => members.len() == wanted.len() && wanted.iter().all(|wanted| members.contains(wanted)),
    }
}

fn scalar(name: &str, value: &Value, op: FilterOperator, literal: &FilterValue) -> bool {
    let number = literal.text.parse::<f64>().ok().filter(|_| !literal.quoted || is_number(name));
    if let (Some(wanted), true) = (number, op != FilterOperator::Contains) {
        return value.as_f64().is_some_and(|found| ordered(found.partial_cmp(&wanted), op));
    }
    let found = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (found, wanted) = match name {
        "dateLastModified" if op != FilterOperator::Contains => {
            (instant(&found), instant(&literal.text))
        }
        _ => (fold(name, &found), fold(name, &literal.text)),
    };
    match op {
        // A part is found without regard to ASCII case, even of an id.
        FilterOperator::Contains => {
            found.to_ascii_lowercase().contains(&wanted.to_ascii_lowercase())
        }
        _ => ordered(Some(found.cmp(&wanted)), op),
    }
}

fn is_number(name: &str) -> bool {
    matches!(name, "sortOrder" | "weight" | "score")
}

fn instant(text: &str) -> String {
    text.parse::<Timestamp>().expect("the tests write instants").to_string()
}

/// Ids and words compare as they are, grades by value, all other texts without ASCII case.
fn fold(name: &str, text: &str) -> String {
    match name {
        "sourcedId" | "status" | "roles.role" | "enabledUser" | "roles.roleType" => text.to_owned(),
        _ if name.ends_with("sourcedId") => text.to_owned(),
        "grades" => match text.parse::<i64>() {
            Ok(grade @ 0..=9) => format!("0{grade}"),
            _ if text.eq_ignore_ascii_case("KG") => "00".to_owned(),
            _ => text.to_lowercase(),
        },
        _ => text.to_ascii_lowercase(),
    }
}

fn ordered(order: Option<std::cmp::Ordering>, op: FilterOperator) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    matches!(
        (order, op),
        (
            Some(Equal),
            FilterOperator::Equal | FilterOperator::GreaterOrEqual | FilterOperator::LessOrEqual
        ) | (Some(Greater), FilterOperator::Greater | FilterOperator::GreaterOrEqual)
            | (Some(Less), FilterOperator::Less | FilterOperator::LessOrEqual)
    )
}
