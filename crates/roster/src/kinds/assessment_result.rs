//! Assessment results.

use super::prelude::*;

/// A student's score in an assessment line item (OneRoster 1.2, AssessmentResult).
pub const ASSESSMENT_RESULT: RecordKind = RecordKind {
    one: "assessmentResult",
    many: "assessmentResults",
    table: "assessment_results",
    path: "assessmentResults",
    service: Service::Gradebook,
    doc: "A student's score in an assessment line item.",
    organization: OrganizationPath::Through("student"),
    fields: &[
        reference("assessmentLineItem", "assessmentLineItem")
            .required()
            .doc("The line item that was assessed."),
        reference("student", "user").required().doc("The student."),
        field("score", FieldType::Number).doc("The score as a number."),
        text("textScore").doc("The score as a text of the scale."),
        field("scoreDate", FieldType::Date).required().doc("The day of the score."),
        reference("scoreScale", "scoreScale").doc("The scale of the text score."),
        field("scorePercentile", FieldType::Number)
            .doc("The percentage of scores at or below this one."),
        SCORE_STATUS,
        text("comment").doc("A comment of the assessor."),
        LEARNING_OBJECTIVE_RESULTS,
        flag("inProgress").doc("Whether the assessment is in progress."),
        flag("incomplete").doc("Whether the work is incomplete."),
        flag("late").doc("Whether the work was late."),
        flag("missing").doc("Whether the work is missing."),
    ],
    rules: KindRules::NONE,
};
