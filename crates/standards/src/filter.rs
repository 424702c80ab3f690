//! The members that filters can name, and where their values are stored.

use lyceum_core::filter::{FilterExpression, refused};
use lyceum_core::{Result, message};
use lyceum_store::filter::{
    self, BoundFilter, FilterField, ListLocation, ValueLocation, ValueType,
};

use crate::class::{Class, Type};

/// Looks the members of a filter up. Errors: `BadFilter` for unknown members and values that do not fit them.
pub(crate) fn bind(class: &'static Class, expr: &FilterExpression) -> Result<BoundFilter> {
    filter::bind(expr, &|name| field(class, name))
}

/// The name as the class has it.
pub(crate) fn case_name(name: &str) -> &str {
    if name == "sourcedId" { "identifier" } else { name }
}

fn field(class: &'static Class, name: &str) -> Result<FilterField> {
    let path: Vec<&str> = name.split('.').map(case_name).collect();
    let Some(field) = class.field(path[0]) else {
        let names: Vec<&str> = class.fields.iter().map(|field| field.name).collect();
        let names = names.join(", ");
        return Err(refused(message!(
            "the filter names the unknown member '{name}'; use one of {names}"
        )));
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
        _ => return Err(refused(message!("'{name}' cannot be filtered"))),
    })
}
