//! Course components.

use super::prelude::*;
use crate::rules::tree;

/// A unit, module or lesson of a course; nests without bound.
pub const COURSE_COMPONENT: RecordKind = RecordKind {
    one: "courseComponent",
    many: "courseComponents",
    table: "course_components",
    path: "courses/components",
    service: Service::Rostering,
    doc: "A unit, module or lesson of a course; components nest to any depth.",
    organization: OrganizationPath::Through("course"),
    fields: &[
        title("title").required().doc("Its title."),
        field("sortOrder", FieldType::Integer).doc("Its place among its siblings: 1, 2, 3…"),
        reference("course", "course").required().in_use().doc("The course that it belongs to."),
        reference("parent", "courseComponent")
            .nullable()
            .in_use()
            .doc("The component that it is a part of; null at the top."),
        field("prerequisites", FieldType::Texts)
            .doc("The sourcedIds of the components that must be done before it."),
        word("prerequisiteCriteria", closed_vocabulary(&["ALL", "ANY"]))
            .doc("Whether all of them or any one must be done."),
        field("unlockDate", FieldType::Instant).doc("When it opens."),
    ],
    rules: KindRules { check_place: Some(tree::component_place), ..KindRules::NONE },
};
