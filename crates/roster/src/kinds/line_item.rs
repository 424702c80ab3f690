//! Line items.

use super::prelude::*;
use crate::rules::values;

/// A column of the gradebook (OneRoster 1.2, LineItem).
pub const LINE_ITEM: RecordKind = RecordKind {
    one: "lineItem",
    many: "lineItems",
    table: "line_items",
    path: "lineItems",
    service: Service::Gradebook,
    doc: "A column of the gradebook: something that students of a class are graded on.",
    organization: OrganizationPath::School,
    fields: &[
        title("title").required().doc("Its title."),
        text("description").doc("What is to be done."),
        field("assignDate", FieldType::Instant).required().doc("When students receive it."),
        field("dueDate", FieldType::Instant).required().doc("When it is due."),
        reference("class", "class").required().doc("The class that it belongs to."),
        reference("school", "org").required().school().doc("The school that it belongs to."),
        reference("category", "category").required().doc("The group that it counts in."),
        reference("gradingPeriod", "academicSession").doc("The grading period that it counts in."),
        reference("academicSession", "academicSession").doc("The session that it belongs to."),
        reference("scoreScale", "scoreScale").doc("The scale of its text scores."),
        field("resultValueMin", FieldType::Number).doc("The lowest score."),
        field("resultValueMax", FieldType::Number)
            .doc("The highest score; results above it are kept."),
        LEARNING_OBJECTIVES,
    ],
    rules: KindRules { check_values: Some(values::score_range), ..KindRules::NONE },
};
