//! The fields that filters of documents can name: columns, and members of the metadata.

use lyceum_core::filter::{FilterExpression, refused};
use lyceum_core::{Result, message};
use lyceum_store::filter::{self, BoundFilter, FilterField, ValueType};

const FIELDS: &str = "identifier, title, type, qtiVersion, version, timeDependent, adaptive, \
                      createdAt, updatedAt and metadata.<name>";

/// Looks the fields of a filter up. Errors: `BadFilter` for unknown fields and unsuitable values.
pub(crate) fn bind(expr: &FilterExpression) -> Result<BoundFilter> {
    filter::bind(expr, &field)
}

fn field(name: &str) -> Result<FilterField> {
    let instant = ValueType::Instant { has_parts: false };
    Ok(match name {
        "identifier" => FilterField::column("identifier", ValueType::Exact),
        "title" => FilterField::column("title", ValueType::Folded),
        "type" => FilterField::column("type", ValueType::Folded),
        "qtiVersion" => FilterField::column("qti_version", ValueType::Exact),
        "createdAt" => FilterField::column("created_at", instant),
        "updatedAt" => FilterField::column("updated_at", instant),
        "version" => FilterField::column("version", ValueType::WholeNumber),
        "timeDependent" | "adaptive" => FilterField::json("t.json", &[name], ValueType::Folded),
        _ => match name.strip_prefix("metadata.") {
            Some(path) => FilterField::undeclared("t.metadata", path)?,
            None => {
                return Err(refused(message!(
                    "the filter names the unknown field '{name}'; use one of {FIELDS}"
                )));
            }
        },
    })
}
