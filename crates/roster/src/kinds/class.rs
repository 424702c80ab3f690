//! Classes.

use super::prelude::*;
use crate::rules::{class, name};

/// A course taught to a group in some terms (OneRoster 1.2, Class).
pub const CLASS: RecordKind = RecordKind {
    one: "class",
    many: "classes",
    table: "classes",
    path: "classes",
    service: Service::Rostering,
    doc: "A group of students who take a course in a school during terms; enrollments name its \
          teachers and students.",
    organization: OrganizationPath::School,
    fields: &[
        title("title").required().doc("Its title."),
        text("classCode").indexed().searched().doc("The school's short code."),
        word("classType", open(&["homeroom", "scheduled"])).doc("Homeroom or scheduled."),
        text("location").doc("Where it is taught, such as a room."),
        field("grades", FieldType::Grades).indexed().doc("The grades that it is for."),
        field("subjects", FieldType::Texts).indexed().doc("The subjects that it teaches."),
        reference("course", "course").required().in_use().doc("The course that it teaches."),
        reference("school", "org").derived().school().doc("The school that runs it."),
        references("terms", "academicSession").required().doc("The terms in which it is taught."),
        field("subjectCodes", FieldType::Texts).doc("Codes of the subjects, in their order."),
        field("periods", FieldType::Texts).doc("The periods of the day in which it meets."),
        references("resources", "resource").doc("The materials that it uses."),
        reference("org", "org")
            .platform()
            .school()
            .doc("The same as `school`, as clients of the platform write it."),
    ],
    rules: KindRules {
        complete: Some(class::name_school_twice),
        forget: Some(class::forget_former_school),
        links: Some(name::of_class),
        accept: Some(class::depend_on_schools),
        ..KindRules::NONE
    },
};
