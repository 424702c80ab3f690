//! Links between components and resources.

use super::prelude::*;

/// A resource in its place in a course: the unit of work of a learner.
pub const COMPONENT_RESOURCE: Kind = Kind {
    one: "componentResource",
    many: "componentResources",
    table: "component_resources",
    path: "courses/component-resources",
    service: Service::Rostering,
    doc: "A resource in its place in a course: the unit of work of a learner, often a lesson.",
    fields: &[
        title("title").required().doc("What people call it."),
        reference("courseComponent", "courseComponent")
            .required()
            .in_use()
            .doc("The component that it is in."),
        reference("resource", "resource").required().in_use().doc("The material."),
        field("sortOrder", Type::Integer).doc("Its place in the component: 1, 2, 3…"),
        word("lessonType", LESSON_TYPES).nullable().doc("What sort of lesson it is, or null."),
    ],
    rules: KindRules::NONE,
};

const LESSON_TYPES: Words = open(&[
    "powerpath-100",
    "adaptive",
    "quiz",
    "placement",
    "test-out",
    "unit-test",
    "alpha-read-article",
]);
