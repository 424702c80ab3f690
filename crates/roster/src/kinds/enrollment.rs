//! Enrollments.

use super::prelude::*;
use crate::rules::{enrollment, values};

/// A user's part in a class (OneRoster 1.2, Enrollment).
pub const ENROLLMENT: RecordKind = RecordKind {
    one: "enrollment",
    many: "enrollments",
    table: "enrollments",
    path: "enrollments",
    service: Service::Rostering,
    doc: "The link between a user and a class, with the user's role and dates.",
    organization: OrganizationPath::School,
    fields: &[
        reference("user", "user").required().in_use().doc("The user."),
        reference("class", "class")
            .derived()
            .in_use()
            .doc("The class. A create request may name `course` instead."),
        reference("school", "org").derived().school().doc("The school of the class."),
        word("role", ENROLLMENT_ROLES)
            .or_else("student")
            .column()
            .doc("The role of the user in the class."),
        flag("primary").doc("Whether the user is the main teacher of the class."),
        field("beginDate", FieldType::Date).column().doc("The first day of the enrollment."),
        field("endDate", FieldType::Date).column().doc("The day on which the enrollment ends."),
        reference("course", "course")
            .platform()
            .in_use()
            .doc("The course of the class. A create request without `class` enrolls in its default class."),
    ],
    rules: KindRules {
        complete: Some(enrollment::derive_class_and_school),
        derive: Some(enrollment::derive_course),
        forget: Some(enrollment::forget_former_class),
        check_values: Some(values::enrollment_dates),
        ..KindRules::NONE
    },
};

const ENROLLMENT_ROLES: Vocabulary = open(&["administrator", "proctor", "student", "teacher"]);
