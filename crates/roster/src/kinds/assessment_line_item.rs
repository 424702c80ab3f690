//! Assessment line items.

use super::prelude::*;
use crate::rules::{tree, values};

/// Something that is assessed, apart from a class's gradebook (OneRoster 1.2, AssessmentLineItem).
pub const ASSESSMENT_LINE_ITEM: RecordKind = RecordKind {
    one: "assessmentLineItem",
    many: "assessmentLineItems",
    table: "assessment_line_items",
    path: "assessmentLineItems",
    service: Service::Gradebook,
    doc: "Something that is assessed: a test, a lesson or a question of a lesson.",
    organization: OrganizationPath::ThroughIfAny("class"),
    fields: &[
        title("title").required().doc("Its title."),
        text("description").doc("What is to be done."),
        reference("class", "class").doc("The class that it belongs to."),
        reference("parentAssessmentLineItem", "assessmentLineItem")
            .doc("The line item that it is a part of."),
        reference("scoreScale", "scoreScale").doc("The scale of its text scores."),
        field("resultValueMin", FieldType::Number).doc("The lowest score."),
        field("resultValueMax", FieldType::Number).doc("The highest score."),
        LEARNING_OBJECTIVES,
        reference("course", "course").platform().doc("The course that it belongs to."),
        reference("component", "courseComponent").platform().doc("The component that it assesses."),
        reference("componentResource", "componentResource")
            .platform()
            .doc("The lesson that it assesses."),
    ],
    rules: KindRules {
        check_values: Some(values::score_range),
        check_place: Some(tree::line_item_place),
        ..KindRules::NONE
    },
};
