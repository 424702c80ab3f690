//! Links between components and resources.

use super::prelude::*;

/// A resource in its place in a course: the unit of work of a learner.
pub const COMPONENT_RESOURCE: RecordKind = RecordKind {
    one: "componentResource",
    many: "componentResources",
    table: "component_resources",
    path: "courses/component-resources",
    service: Service::Rostering,
    doc: "The link that places a resource in a component of a course. With a `lessonType` it is \
          a lesson.",
    organization: OrganizationPath::Through("courseComponent"),
    fields: &[
        title("title").required().doc("Its title."),
        reference("courseComponent", "courseComponent")
            .required()
            .in_use()
            .doc("The component that it is in."),
        reference("resource", "resource").required().in_use().doc("The material."),
        field("sortOrder", FieldType::Integer).doc("Its place in the component: 1, 2, 3…"),
        word("lessonType", LESSON_TYPES).nullable().doc("The type of the lesson, or null."),
    ],
    rules: KindRules::NONE,
};

const LESSON_TYPES: Vocabulary = open(&[
    "powerpath-100",
    "adaptive",
    "quiz",
    "placement",
    "test-out",
    "unit-test",
    "alpha-read-article",
]);
