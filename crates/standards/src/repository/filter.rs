//! Filters and orders of lists: the members that can be named, and their columns.

use lyceum_core::filter::{FilterExpression, refused};
use lyceum_core::{Detail, Problem, ProblemKind, Result};
use lyceum_store::filter::{
    self, BoundFilter, FilterField, ListLocation, ValueLocation, ValueType,
};
use lyceum_store::{SqlDialect, dialect};

use crate::class::{Class, Type};

/// Looks the members of a filter up. Errors: `BadFilter` for unknown members and values that do not fit them.
pub(crate) fn bind(class: &'static Class, expr: &FilterExpression) -> Result<BoundFilter> {
    filter::bind(expr, &|name| field(class, name))
}

/// The name as the class has it.
fn case_name(name: &str) -> &str {
    if name == "sourcedId" { "identifier" } else { name }
}

fn field(class: &'static Class, name: &str) -> Result<FilterField> {
    let path: Vec<&str> = name.split('.').map(case_name).collect();
    let Some(field) = class.field(path[0]) else {
        let names: Vec<&str> = class.fields.iter().map(|field| field.name).collect();
        let names = names.join(", ");
        return Err(refused(format!("there is no member '{name}'; the members are {names}")));
    };
    let json = |ty| FilterField::json("t.body", &path, ty);
    Ok(match (field.ty, path.as_slice()) {
        (Type::Uuid, ["identifier"]) => FilterField::column("id", ValueType::Exact),
        (Type::Instant, ["lastChangeDateTime"]) => {
            FilterField::column("changed", ValueType::Instant { has_parts: false })
        }
        (Type::Text | Type::Uri | Type::Date | Type::Word(..), [_]) => json(ValueType::Folded),
        (Type::Integer, [_]) => json(ValueType::Number),
        (Type::Object(inner), [_, member]) if inner.field(member).is_some() => {
            json(ValueType::Folded)
        }
        (Type::Texts, [_]) => FilterField {
            location: ValueLocation::List(ListLocation {
                column: "t.body",
                name: field.name,
                leaf: Vec::new(),
                rows: None,
            }),
            ty: ValueType::List {
                values: |text| vec![text.to_ascii_lowercase()],
                is_folded: true,
                is_whole: false,
            },
        },
        _ => return Err(refused(format!("'{name}' cannot be filtered"))),
    })
}

/// The SQL that orders a list by a member. Errors: `BadSelection` for a member by which lists cannot be ordered.
pub(super) fn order(sql: SqlDialect, class: &'static Class, name: &str) -> Result<String> {
    match (case_name(name), class.field(case_name(name)).map(|field| field.ty)) {
        ("identifier", _) => Ok("t.id".to_owned()),
        ("lastChangeDateTime", _) => Ok("t.changed".to_owned()),
        (member, Some(Type::Text | Type::Uri | Type::Date | Type::Word(..))) => {
            // A missing member is first in both stores.
            Ok(format!("COALESCE({}, '')", dialect::json_text(sql, "t.body", &[member])?))
        }
        _ => Err(Problem {
            details: vec![Detail {
                path: "sort".to_owned(),
                message: format!("'{name}' cannot be used to sort a {}", class.name),
            }],
            ..Problem::new(
                ProblemKind::BadSelection,
                format!(
                    "the parameter 'sort' must name a member with text ('{name}' cannot be used \
                     to sort)"
                ),
            )
        }),
    }
}
