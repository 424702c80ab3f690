//! Resources.

use super::prelude::*;
use crate::rules::values;

/// Learning material (OneRoster 1.2, Resource).
pub const RESOURCE: RecordKind = RecordKind {
    one: "resource",
    many: "resources",
    table: "resources",
    path: "resources",
    service: Service::Resources,
    doc: "Learning material: a text, a video, a test, an app. `metadata` says what (`type`), for which grades and what it is worth (`xp`).",
    organization: OrganizationPath::Shared,
    fields: &[
        title("title").doc("Its title."),
        field("roles", FieldType::WordList(RESOURCE_ROLES)).doc("The roles for which it is meant."),
        word("importance", closed_vocabulary(&["primary", "secondary"]))
            .doc("Whether it is the main material."),
        text("vendorResourceId").required().indexed().doc("The vendor's own identifier of it."),
        text("vendorId").indexed().doc("Identifier of the vendor."),
        text("applicationId").doc("Identifier of the application that shows it."),
    ],
    rules: KindRules { check_values: Some(values::resource_metadata), ..KindRules::NONE },
};

const RESOURCE_ROLES: Vocabulary = open(&[
    "administrator",
    "aide",
    "guardian",
    "parent",
    "proctor",
    "relative",
    "student",
    "teacher",
])
.platform(&["primary", "secondary"]);
