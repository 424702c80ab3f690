//! Results.

use super::prelude::*;

/// A student's score in a line item (OneRoster 1.2, Result).
pub const RESULT: RecordKind = RecordKind {
    one: "result",
    many: "results",
    table: "results",
    path: "results",
    service: Service::Gradebook,
    doc: "A student's score in a line item; scores above the maximum are kept.",
    organization: OrganizationPath::Through("lineItem"),
    fields: &[
        reference("lineItem", "lineItem").required().doc("The line item."),
        reference("student", "user").required().doc("The student."),
        reference("class", "class")
            .doc("The class, if it differs from the class of the line item."),
        reference("scoreScale", "scoreScale").doc("The scale of the text score."),
        SCORE_STATUS,
        field("score", FieldType::Number).doc("The score as a number."),
        text("textScore").doc("The score as a text of the scale."),
        field("scoreDate", FieldType::Date).required().doc("The day of the score."),
        text("comment").doc("A comment of the teacher."),
        LEARNING_OBJECTIVE_RESULTS,
        flag("inProgress").doc("Whether grading is in progress."),
        flag("incomplete").doc("Whether the work is incomplete."),
        flag("late").doc("Whether the work was late."),
        flag("missing").doc("Whether the work is missing."),
    ],
    rules: KindRules::NONE,
};
