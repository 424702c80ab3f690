//! Filters: `field op 'value'` clauses joined by AND and OR (docs/decisions/006). This module looks the fields up in
//! a kind's declaration.

use lyceum_core::filter::{FilterExpression, refused};
use lyceum_core::{Result, message};
use lyceum_store::filter::{
    BoundFilter, FilterField, ListLocation, MemberRows, ValueLocation, ValueType,
};

use crate::grade;
use crate::kind::{Field, FieldType, RecordKind};

/// Binds a filter to a kind. Errors: `BadFilter` naming the field and what could stand there.
pub fn bind(kind: &'static RecordKind, expr: &FilterExpression) -> Result<BoundFilter> {
    lyceum_store::filter::bind(expr, &|name| field(kind, name))
}

/// Whether the filter names one of the fields at any place.
pub(crate) fn names(expr: &FilterExpression, fields: &[&str]) -> bool {
    match expr {
        FilterExpression::And(parts) | FilterExpression::Or(parts) => {
            parts.iter().any(|part| names(part, fields))
        }
        FilterExpression::Clause(name, _, _) => fields.contains(&name.as_str()),
    }
}

fn field(kind: &'static RecordKind, name: &str) -> Result<FilterField> {
    match name {
        "sourcedId" => return Ok(scalar(column("sourced_id", true), FieldType::Uri)),
        "status" => return Ok(scalar(column("status", false), FieldType::Uri)),
        "dateLastModified" => {
            return Ok(scalar(column("date_last_modified", true), FieldType::Instant));
        }
        _ => {}
    }
    // OneRoster 1.1 had one role a user; clients still filter by it.
    let name = if (kind.one, name) == ("user", "role") { "roles.role" } else { name };
    if name.starts_with("metadata.") {
        return FilterField::undeclared("t.body", name);
    }
    let (head, rest) = name.split_once('.').unwrap_or((name, ""));
    if let Some(field) = kind.field(head) {
        return declared(kind, field, rest, name);
    }
    // The published guide flattens references: `userSourcedId` is `user.sourcedId`.
    if let Some(field) = head.strip_suffix("SourcedId").and_then(|head| kind.field(head)) {
        return declared(kind, field, "sourcedId", name);
    }
    Err(unknown(kind, name))
}

fn declared(
    kind: &'static RecordKind,
    field: &'static Field,
    rest: &str,
    full: &str,
) -> Result<FilterField> {
    let link = format!("{}.{}", kind.one, field.name);
    let list = |link: Option<String>, leaf: Vec<&'static str>, members| FilterField {
        ty: members_type(members, leaf.is_empty()),
        location: ValueLocation::List(ListLocation {
            column: source(field.platform),
            name: field.name,
            leaf,
            rows: link.map(|field| MemberRows { table: "roster_link", field }),
        }),
    };
    Ok(match (field.ty, rest) {
        (FieldType::Secret, _) => return Err(unknown(kind, full)),
        (FieldType::Reference(target), "sourcedId") => {
            // Whole districts may share an organization or a session, so such a filter may find many rows.
            let is_quick = !matches!(target, "org" | "academicSession");
            let name = field.column_name().expect("references have columns");
            scalar(column(&name, is_quick), FieldType::Uri)
        }
        (FieldType::References(_), "sourcedId") => {
            list(Some(link), vec!["sourcedId"], ListMembers::Exact)
        }
        (FieldType::Texts, "") => {
            list(field.is_indexed().then_some(link), vec![], ListMembers::Folded)
        }
        (FieldType::Grades, "") => {
            list(field.is_indexed().then_some(link), vec![], ListMembers::Grades)
        }
        (FieldType::WordList(_), "") => list(None, vec![], ListMembers::Exact),
        (FieldType::Objects(fields), rest) => {
            let (leaf, below) = rest.split_once('.').unwrap_or((rest, ""));
            let Some(leaf) = fields.iter().find(|field| field.name == leaf) else {
                return Err(unknown(kind, full));
            };
            let linked = |how, path| {
                list(leaf.is_indexed().then(|| format!("{link}.{}", leaf.name)), path, how)
            };
            match (leaf.ty, below) {
                (FieldType::Reference(_), "sourcedId") => {
                    linked(ListMembers::Exact, vec![leaf.name, "sourcedId"])
                }
                (FieldType::Text, "") => linked(ListMembers::Folded, vec![leaf.name]),
                (FieldType::Uri | FieldType::Word(_) | FieldType::Date | FieldType::Flag, "") => {
                    linked(ListMembers::Exact, vec![leaf.name])
                }
                _ => return Err(unknown(kind, full)),
            }
        }
        (FieldType::Reference(_) | FieldType::References(_) | FieldType::Json, _) => {
            let message = message!("'{full}' cannot be filtered; use '{field.name}.sourcedId'");
            return Err(refused(message));
        }
        (ty, "") => {
            let location = match field.column_name() {
                Some(name) => column(&name, field.is_indexed()),
                None => ValueLocation::Json {
                    column: source(field.platform),
                    path: vec![field.name.to_owned()],
                },
            };
            scalar(location, ty)
        }
        _ => return Err(unknown(kind, full)),
    })
}

fn column(name: &str, indexed: bool) -> ValueLocation {
    ValueLocation::Column { name: name.to_owned(), indexed }
}

/// The column with the JSON of the platform's members, or of those that the standard defines.
fn source(platform: bool) -> &'static str {
    if platform { "t.extra" } else { "t.body" }
}

fn scalar(location: ValueLocation, ty: FieldType) -> FilterField {
    let ty = match ty {
        FieldType::Number | FieldType::Integer => ValueType::Number,
        FieldType::Date => ValueType::Date,
        FieldType::Instant => ValueType::Instant { has_parts: true },
        FieldType::Text => ValueType::Folded,
        _ => ValueType::Exact,
    };
    FilterField { location, ty }
}

/// The comparison of a list's members.
#[derive(Clone, Copy)]
enum ListMembers {
    /// As they are.
    Exact,
    /// Without regard to ASCII case.
    Folded,
    /// As grades, by value.
    Grades,
}

/// `=` on a list of scalars: the same members, in any order. Elsewhere: one member is a value.
fn members_type(members: ListMembers, is_whole: bool) -> ValueType {
    let values = match members {
        ListMembers::Exact => |text: &str| comma_separated(text, str::to_owned),
        ListMembers::Folded => |text: &str| comma_separated(text, str::to_ascii_lowercase),
        ListMembers::Grades => |text: &str| comma_separated(text, grade::comparable),
    };
    ValueType::List { values, is_folded: !matches!(members, ListMembers::Exact), is_whole }
}

fn comma_separated(text: &str, comparable: fn(&str) -> String) -> Vec<String> {
    text.split(',').map(|part| comparable(part.trim())).collect()
}

fn unknown(kind: &RecordKind, name: &str) -> lyceum_core::Problem {
    let known: Vec<&str> = ["sourcedId", "status", "dateLastModified", "metadata.…"]
        .into_iter()
        .chain(kind.fields.iter().filter(|f| !matches!(f.ty, FieldType::Secret)).map(|f| f.name))
        .collect();
    refused(message!("{kind.one} has no field '{name}'; it has {known}", known = known.join(", ")))
}
