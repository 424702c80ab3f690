//! Categories of line items.

use super::prelude::*;

/// A group of line items, such as homework (OneRoster 1.2, Category).
pub const CATEGORY: Kind = Kind {
    one: "category",
    many: "categories",
    table: "categories",
    path: "categories",
    service: Service::Gradebook,
    doc: "A group of line items, such as homework or tests.",
    fields: &[
        title("title").required().doc("Its title."),
        field("weight", Type::Number).doc("Its share of the final grade."),
    ],
    rules: KindRules::NONE,
};
