//! Courses.

use super::prelude::*;
use crate::rules::{course, name};

/// A course: a subject of teaching, apart from when, where and to whom it is taught (OneRoster 1.2, Course).
pub const COURSE: RecordKind = RecordKind {
    one: "course",
    many: "courses",
    table: "courses",
    path: "courses",
    service: Service::Rostering,
    doc: "A course: what is taught, independent of terms, schools and students.",
    organization: OrganizationPath::Course,
    fields: &[
        title("title").required().doc("Its title."),
        reference("schoolYear", "academicSession").doc("The school year for which it is offered."),
        text("courseCode").or_else("").indexed().searched().doc("The short code of the catalogue."),
        field("grades", FieldType::Grades).indexed().doc("The grades that it is for."),
        field("subjects", FieldType::Texts).indexed().doc("The subjects that it teaches."),
        reference("org", "org").doc("The organization that owns the course."),
        field("subjectCodes", FieldType::Texts).doc("Codes of the subjects, in their order."),
        references("resources", "resource").doc("The materials that it uses."),
    ],
    rules: KindRules {
        complete: Some(course::read_org_of_earlier_clients),
        links: Some(name::of_course),
        ..KindRules::NONE
    },
};
