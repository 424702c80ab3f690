//! Academic sessions: school years, semesters, terms and grading periods.

use super::prelude::*;
use crate::rules::{tree, values};

/// A span of the calendar in which teaching happens (OneRoster 1.2, AcademicSession).
pub const ACADEMIC_SESSION: RecordKind = RecordKind {
    one: "academicSession",
    many: "academicSessions",
    table: "academic_sessions",
    path: "academicSessions",
    service: Service::Rostering,
    doc: "A span of the calendar in which teaching happens: school year, semester, term or grading period.",
    organization: OrganizationPath::Shared,
    fields: &[
        title("title").required().doc("Its title."),
        field("startDate", FieldType::Date).required().column().doc("Its first day."),
        field("endDate", FieldType::Date)
            .required()
            .column()
            .doc("Its last day, or the day after (the standard leaves it open)."),
        word("type", SESSION_TYPES).required().column().doc("The type of the session."),
        reference("parent", "academicSession").doc("The session that it is a part of."),
        references("children", "academicSession").doc("The sessions that are parts of it."),
        text("schoolYear")
            .required()
            .doc("The year in which the school year ends, as four digits."),
        reference("org", "org").platform().doc("The organization whose calendar it belongs to."),
    ],
    rules: KindRules {
        check_values: Some(values::session_dates),
        check_place: Some(tree::session_place),
        ..KindRules::NONE
    },
};

const SESSION_TYPES: Vocabulary = open(&["gradingPeriod", "semester", "schoolYear", "term"]);
