//! Score scales.

use super::prelude::*;

/// The values of text scores (OneRoster 1.2, ScoreScale).
pub const SCORE_SCALE: RecordKind = RecordKind {
    one: "scoreScale",
    many: "scoreScales",
    table: "score_scales",
    path: "scoreScales",
    service: Service::Gradebook,
    doc: "The values of text scores, such as A for 90 to 100.",
    organization: OrganizationPath::Through("class"),
    fields: &[
        title("title").required().doc("Its title."),
        text("type").required().doc("The type of the scale."),
        reference("course", "course").doc("The course that uses it."),
        reference("class", "class").required().doc("The class that uses it."),
        field("scoreScaleValue", FieldType::Objects(VALUES)).required().doc("Its steps."),
    ],
    rules: KindRules::NONE,
};

const VALUES: &[Field] = &[
    text("itemValueLHS").required().doc("The text score."),
    text("itemValueRHS").required().doc("The value of the text score."),
];
