//! Enrollments.

use super::prelude::*;

/// A user's part in a class (OneRoster 1.2, Enrollment).
pub const ENROLLMENT: Kind = Kind {
    one: "enrollment",
    many: "enrollments",
    table: "enrollments",
    path: "enrollments",
    service: Service::Rostering,
    doc: "A user's part in a class: who learns there, who teaches, who looks on.",
    fields: &[
        reference("user", "user").required().doc("Who takes part."),
        reference("class", "class").derived().doc("The class; a create may name `course` instead."),
        reference("school", "org").derived().doc("The school of the class."),
        word("role", ENROLLMENT_ROLES)
            .or_else("student")
            .column()
            .doc("The part that the user plays."),
        flag("primary").doc("Whether the teacher is the class's main one."),
        field("beginDate", Type::Date).doc("The first day of the enrollment."),
        field("endDate", Type::Date).doc("The day on which the enrollment ends."),
        reference("course", "course").platform().doc("The course whose default class is meant."),
    ],
};

const ENROLLMENT_ROLES: Words = open(&["administrator", "proctor", "student", "teacher"]);
