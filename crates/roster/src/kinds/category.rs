//! Categories of line items.

use super::prelude::*;

/// A group of line items, such as homework (OneRoster 1.2, Category).
pub const CATEGORY: RecordKind = RecordKind {
    one: "category",
    many: "categories",
    table: "categories",
    path: "categories",
    service: Service::Gradebook,
    doc: "A group of line items, such as homework or tests.",
    organization: OrganizationPath::Shared,
    fields: &[
        title("title").required().doc("Its title."),
        field("weight", FieldType::Number).doc("Its share of the final grade."),
    ],
    rules: KindRules::NONE,
};
