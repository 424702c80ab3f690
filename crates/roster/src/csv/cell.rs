//! Reads and writes the values of cells.
//!
//! Lists are separated by commas. A member with a comma, a quote or outer white space is quoted like a field in RFC
//! 4180 (`Math,"Reading, Writing"`). Pairs are written as `{type:identifier},{…}`. Metadata that is text is written
//! as it is. Other JSON values follow the prefix `json:`, and so does text that is empty or itself begins with
//! `json:`. An empty cell has no value.

use std::fmt::Write as _;

use lyceum_core::{Message, message};
use serde_json::{Number, Value, json};

use crate::kind::{Field, FieldType, Presence, Vocabulary, VocabularyExtension};

/// An error in a cell and how to fix it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CellError {
    pub(super) problem: Message,
    pub(super) remedy: Message,
}

fn unfit<T>(problem: impl Into<Message>, remedy: impl Into<Message>) -> Result<T, CellError> {
    Err(CellError { problem: problem.into(), remedy: remedy.into() })
}

/// The prefix of a metadata value that is not plain text.
const JSON: &str = "json:";

/// Reads the cell of a field; `None` if it has no value.
pub(super) fn decode(field: &Field, cell: &str) -> Result<Option<Value>, CellError> {
    if cell.is_empty() || matches!(field.ty, FieldType::Secret) {
        return Ok(None);
    }
    Ok(Some(match field.ty {
        FieldType::Reference(_) => json!({ "sourcedId": cell }),
        FieldType::References(_) => {
            list(cell)?.into_iter().map(|id| json!({ "sourcedId": id })).collect()
        }
        FieldType::Texts | FieldType::Grades | FieldType::WordList(_) => {
            list(cell)?.into_iter().map(Value::String).collect()
        }
        FieldType::Integer | FieldType::Number => match serde_json::from_str::<Number>(cell) {
            Ok(number) => Value::Number(number),
            Err(_) => return unfit("is not a number", fix_for(field)),
        },
        FieldType::Objects(members) => pairs(members, cell)?,
        FieldType::Json => metadata(cell)?,
        _ => Value::String(cell.to_owned()),
    }))
}

/// Writes the value of a field as a cell from which [`decode`] reads the same value; `None` if that is impossible.
pub(super) fn encode(field: &Field, value: &Value) -> Option<String> {
    let cell = match (field.ty, value) {
        (FieldType::Reference(_), reference) => id_of(reference)?.to_owned(),
        (FieldType::References(_), Value::Array(members)) => {
            join(members.iter().map(id_of).collect::<Option<Vec<_>>>()?)
        }
        (FieldType::Texts | FieldType::Grades | FieldType::WordList(_), Value::Array(members)) => {
            join(members.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?)
        }
        (FieldType::Integer | FieldType::Number, Value::Number(number)) => number.to_string(),
        (FieldType::Objects(members), Value::Array(objects)) => written_pairs(members, objects)
            .filter(|cell| decode(field, cell).is_ok_and(|back| back.as_ref() == Some(value)))?,
        (FieldType::Json, value) => written_metadata(value),
        (
            FieldType::Text
            | FieldType::Uri
            | FieldType::Word(_)
            | FieldType::Flag
            | FieldType::Date
            | FieldType::Instant,
            _,
        ) => value.as_str()?.to_owned(),
        _ => return None,
    };
    (!cell.is_empty()).then_some(cell)
}

/// Whether a value can be left out, because reading an empty cell gives the same value.
pub(super) fn is_implied(field: &Field, value: &Value) -> bool {
    match field.presence {
        Presence::OrElse(default) => value == default,
        Presence::Nullable => value.is_null(),
        _ => false,
    }
}

/// The id of a reference that has only an id and a type.
pub(super) fn id_of(reference: &Value) -> Option<&str> {
    let object = reference.as_object()?;
    let plain = object.keys().all(|key| key == "sourcedId" || key == "type");
    object.get("sourcedId").filter(|_| plain)?.as_str()
}

/// The members of a list.
pub(super) fn list(cell: &str) -> Result<Vec<String>, CellError> {
    let mut members = Vec::new();
    let mut rest = cell.trim();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (member, behind) = unquote(quoted)?;
            members.push(member);
            let behind = behind.trim_start();
            match behind.strip_prefix(',') {
                Some(more) => rest = more.trim_start(),
                None if behind.is_empty() => break,
                None => {
                    return unfit(
                        "has text after a quoted member",
                        "put a comma between the members of the list",
                    );
                }
            }
        } else {
            let (member, more) = rest.split_once(',').unwrap_or((rest, ""));
            if !member.trim().is_empty() {
                members.push(member.trim().to_owned());
            }
            rest = more.trim_start();
        }
    }
    Ok(members)
}

/// Reads up to the closing quote; returns the text and the rest.
fn unquote(text: &str) -> Result<(String, &str), CellError> {
    let mut member = String::new();
    let mut rest = text;
    loop {
        let Some((before, behind)) = rest.split_once('"') else {
            return unfit("has a quoted member that is never closed", "close the quote");
        };
        member.push_str(before);
        match behind.strip_prefix('"') {
            Some(more) => {
                member.push('"');
                rest = more;
            }
            None => return Ok((member, behind)),
        }
    }
}

fn join(members: Vec<&str>) -> String {
    let mut cell = String::new();
    for (at, member) in members.into_iter().enumerate() {
        if at > 0 {
            cell.push(',');
        }
        if member.is_empty() || member.contains([',', '"']) || member.trim() != member {
            cell.push('"');
            cell.push_str(&member.replace('"', "\"\""));
            cell.push('"');
        } else {
            cell.push_str(member);
        }
    }
    cell
}

/// Reads `{a:b},{c:d}` as objects with the two declared members.
fn pairs(members: &[Field], cell: &str) -> Result<Value, CellError> {
    let [left, right] = members else {
        return unfit("cannot be written in a cell", "leave the cell empty");
    };
    let form = || {
        let pair = format!("{{{}:{}}}", left.name, right.name);
        message!("write {pair}, with a comma between several")
    };
    let mut objects = Vec::new();
    let mut rest = cell.trim();
    while !rest.is_empty() {
        let Some(open) = rest.strip_prefix('{') else {
            return unfit("does not begin with an opening brace", form());
        };
        let Some((pair, behind)) = open.split_once('}') else {
            return unfit("has an opening brace without its closing one", form());
        };
        match pair.split_once(':') {
            Some((a, b)) if !a.is_empty() && !b.is_empty() => {
                objects.push(json!({ left.name: a, right.name: b }));
            }
            _ => return unfit("has a pair without a colon between two values", form()),
        }
        let behind = behind.trim_start();
        rest = match behind.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if behind.is_empty() => "",
            None => return unfit("has text between its pairs", form()),
        };
    }
    Ok(Value::Array(objects))
}

fn written_pairs(members: &[Field], objects: &[Value]) -> Option<String> {
    let [left, right] = members else { return None };
    let mut cell = String::new();
    for object in objects {
        let (a, b) = (object.get(left.name)?.as_str()?, object.get(right.name)?.as_str()?);
        if !cell.is_empty() {
            cell.push(',');
        }
        let _ = write!(cell, "{{{a}:{b}}}");
    }
    Some(cell)
}

/// Reads a metadata cell that is not empty.
pub(super) fn metadata(cell: &str) -> Result<Value, CellError> {
    match cell.strip_prefix(JSON) {
        None => Ok(Value::String(cell.to_owned())),
        Some(json) => serde_json::from_str(json).or_else(|error| {
            unfit(
                message!("is not JSON after 'json:' ({error})"),
                "fix the JSON, or write a text that begins with 'json:' as json:\"json:…\"",
            )
        }),
    }
}

/// Writes a metadata value.
pub(super) fn written_metadata(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && !text.starts_with(JSON) => text.clone(),
        other => format!("{JSON}{other}"),
    }
}

/// Says what to write into the cell of a field.
pub(super) fn fix_for(field: &Field) -> Message {
    match field.ty {
        FieldType::Flag => "write true or false".into(),
        FieldType::Integer => "write a whole number such as 3".into(),
        FieldType::Number => "write a number such as 3 or 92.5".into(),
        FieldType::Date => "write the date as 2026-01-15".into(),
        FieldType::Instant => "write the instant as 2026-01-15T08:00:00Z".into(),
        FieldType::Word(words) | FieldType::WordList(words) => vocabulary(words),
        FieldType::Reference(kind) => message!("write the sourcedId of the {kind}"),
        FieldType::References(kind) => {
            message!("write the sourcedIds of the {kind}s, separated by commas")
        }
        FieldType::Texts => "write the members, separated by commas".into(),
        FieldType::Grades => "write grades such as 03, KG or UG, separated by commas".into(),
        FieldType::Objects(members) => match members {
            [left, right] => {
                let pair = format!("{{{}:{}}}", left.name, right.name);
                message!("write {pair}")
            }
            _ => "add a row for it".into(),
        },
        FieldType::Text | FieldType::Uri => match field.presence {
            Presence::Required | Presence::Derived => "fill the cell".into(),
            _ => "fix the cell, or leave it empty".into(),
        },
        FieldType::Secret | FieldType::Json => "fix the cell, or leave it empty".into(),
    }
}

fn vocabulary(vocabulary: Vocabulary) -> Message {
    let words = vocabulary.words.join(", ");
    match vocabulary.open {
        VocabularyExtension::Closed => message!("write one of: {words}"),
        VocabularyExtension::Extensions => {
            message!("write one of: {words}, or your own word as ext:…")
        }
        VocabularyExtension::Sources => message!("write one of: {words}, or your own as /…"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{CLASS, SCORE_SCALE, USER};
    use proptest::prelude::*;

    fn field(kind: &crate::kind::RecordKind, name: &str) -> &'static Field {
        kind.field(name).unwrap()
    }

    #[test]
    fn lists_are_read_as_people_write_them() {
        let read = |cell| list(cell).unwrap();
        assert_eq!(read("03,04"), ["03", "04"]);
        assert_eq!(read(" 03 , 04 ,"), ["03", "04"]);
        assert_eq!(
            read("Math,\"Reading, \"\"Writing\"\"\" , x"),
            ["Math", "Reading, \"Writing\"", "x"]
        );
        assert!(list("\"open").is_err() && list("\"a\"b").is_err());
    }

    #[test]
    fn pairs_are_read_and_their_errors_explained() {
        let ids = field(&USER, "userIds");
        assert_eq!(
            decode(ids, "{LDAP:u1}, {Fed:https://x/1}").unwrap().unwrap(),
            json!([{"type": "LDAP", "identifier": "u1"}, {"type": "Fed", "identifier": "https://x/1"}])
        );
        for faulty in ["LDAP:u1", "{LDAP}", "{LDAP:u1", "{:u1}", "{LDAP:}", "{a:b}{c:d}"] {
            let unfit = decode(ids, faulty).unwrap_err();
            assert!(unfit.remedy.contains("{type:identifier}"), "{faulty}");
        }
        let unwritable = json!([{"type": "a", "identifier": "x}y"}]);
        assert_eq!(encode(ids, &unwritable), None);
        let extra = json!([{"type": "a", "identifier": "b", "more": 1}]);
        assert_eq!(encode(ids, &extra), None);
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "(json:)?[a-z,\" {}:é]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::hash_map("[a-c]", inner, 0..3)
                    .prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn written_metadata_is_read_back(value in json_value()) {
            prop_assert_eq!(metadata(&written_metadata(&value)).unwrap(), value);
        }

        #[test]
        fn written_values_are_read_back(
            texts in proptest::collection::vec("[a-b,\" {}:]{0,4}", 0..4),
            value in json_value(),
        ) {
            let texts_value = Value::from(texts.clone());
            let pairs: Value = texts
                .chunks(2)
                .filter(|pair| pair.len() == 2)
                .map(|pair| json!({"itemValueLHS": pair[0], "itemValueRHS": pair[1]}))
                .collect();
            let reference = json!({"sourcedId": texts.first(), "type": "course"});
            for (field, value) in [
                (field(&CLASS, "subjects"), &texts_value),
                (field(&SCORE_SCALE, "scoreScaleValue"), &pairs),
                (field(&CLASS, "title"), &value),
                (field(&CLASS, "subjects"), &value),
                (field(&CLASS, "course"), &value),
            ] {
                if let Some(cell) = encode(field, value) {
                    prop_assert_eq!(decode(field, &cell).unwrap(), Some(value.clone()));
                }
            }
            if let Some(cell) = encode(field(&CLASS, "course"), &reference) {
                prop_assert_eq!(&json!(cell), &reference["sourcedId"]);
            }
            if !texts.is_empty() {
                prop_assert!(encode(field(&CLASS, "subjects"), &texts_value).is_some());
            }
        }

        #[test]
        fn any_cell_is_read_or_refused(cell in ".{0,30}") {
            for field in USER.fields {
                let _ = decode(field, &cell);
            }
            let _ = metadata(&cell);
        }
    }
}
