//! Organizations.

use super::prelude::*;
use crate::rules::tree;

/// A school, or what stands above or inside one (OneRoster 1.2, Org).
pub const ORG: RecordKind = RecordKind {
    one: "org",
    many: "orgs",
    table: "orgs",
    path: "orgs",
    service: Service::Rostering,
    doc: "A school, an organization above it (district, state, nation) or a department inside it.",
    organization: OrganizationPath::Itself,
    fields: &[
        title("name").required().doc("Its name."),
        word("type", ORG_TYPES).required().column().doc("The type of the organization."),
        text("identifier").or_else("").indexed().searched().doc("Its number in public registers."),
        reference("parent", "org").doc("The organization above it."),
        references("children", "org").doc("The organizations below it."),
    ],
    rules: KindRules { check_place: Some(tree::org_place), ..KindRules::NONE },
};

const ORG_TYPES: Vocabulary =
    open(&["department", "district", "local", "national", "school", "state"]);
