//! Operations on a plan.

use lyceum_core::body::Line;
use lyceum_roster::record::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The sort of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "LessonPlanItemSort")]
pub enum PlanItemSort {
    /// A unit, module or lesson.
    Component,
    /// A resource in a component.
    Resource,
}

impl PlanItemSort {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::Resource => "resource",
        }
    }
}

/// An item, as operations name it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "LessonPlanTarget")]
pub struct PlanTarget {
    /// Its sort.
    #[serde(rename = "type")]
    pub sort: PlanItemSort,
    /// Its id.
    #[schemars(with = "Line")]
    pub id: String,
}

/// Before or after an item, or at an end of its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum InsertPosition {
    /// Before the item, or at the start.
    Start,
    /// After the item, or at the end.
    End,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Hides an item with everything below it, or shows it again.
    SetSkipped {
        /// The item.
        target: PlanTarget,
        /// Whether it is hidden.
        value: bool,
    },
    /// Adds a resource that the course does not use, after the other resources of a component.
    AddCustomResource {
        /// The resource's sourcedId.
        resource: String,
        /// The component.
        parent: String,
        /// Whether it is hidden.
        skipped: bool,
    },
    /// Moves an item next to another one of its type, anywhere in the plan.
    MoveBeside {
        /// The item.
        target: PlanTarget,
        /// The other item.
        reference: String,
        /// Before or after it.
        place: InsertPosition,
    },
    /// Moves an item to the start or end of its parent.
    MoveWithin {
        /// The item.
        target: PlanTarget,
        /// Start or end.
        place: InsertPosition,
    },
    /// Moves an item to the start or end of another component.
    ChangeParent {
        /// The item.
        target: PlanTarget,
        /// The component.
        parent: String,
        /// Start or end.
        place: InsertPosition,
    },
}

/// The types of operations in JSON.
pub const TYPES: [&str; 7] = [
    "set-skipped",
    "add-custom-resource",
    "move-item-before",
    "move-item-after",
    "move-item-to-start",
    "move-item-to-end",
    "change-item-parent",
];

/// One operation as it is sent. Members of the payload may also be spelled as in `referenceId`.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", content = "payload", rename_all = "kebab-case")]
#[schemars(rename = "LessonPlanOperationInput")]
pub enum OperationInput {
    /// Hides an item with what lies below it, or shows it again.
    SetSkipped {
        /// Which item.
        target: PlanTarget,
        /// Whether it is hidden.
        value: bool,
    },
    /// Adds a resource that the course does not use, behind the other resources of a component.
    AddCustomResource {
        /// The resource's sourcedId.
        #[schemars(with = "Line")]
        resource_id: String,
        /// The component.
        #[schemars(with = "Line")]
        parent_component_id: String,
        /// Whether it is hidden.
        skipped: Option<bool>,
    },
    /// Moves an item before another of its sort, wherever that is.
    MoveItemBefore {
        /// Which item.
        target: PlanTarget,
        /// The other.
        #[schemars(with = "Line")]
        reference_id: String,
    },
    /// Moves an item behind another of its sort, wherever that is.
    MoveItemAfter {
        /// Which item.
        target: PlanTarget,
        /// The other.
        #[schemars(with = "Line")]
        reference_id: String,
    },
    /// Moves an item to the start of its parent.
    MoveItemToStart {
        /// Which item.
        target: PlanTarget,
    },
    /// Moves an item to the end of its parent.
    MoveItemToEnd {
        /// Which item.
        target: PlanTarget,
    },
    /// Moves an item to an end of another component.
    ChangeItemParent {
        /// Which item.
        target: PlanTarget,
        /// The component.
        #[schemars(with = "Line")]
        new_parent_id: String,
        /// Which end; the end of the list unless it is sent.
        position: Option<InsertPosition>,
    },
}

impl From<OperationInput> for Operation {
    fn from(input: OperationInput) -> Self {
        use OperationInput as Input;
        match input {
            Input::SetSkipped { target, value } => Self::SetSkipped { target, value },
            Input::AddCustomResource { resource_id, parent_component_id, skipped } => {
                Self::AddCustomResource {
                    resource: resource_id,
                    parent: parent_component_id,
                    skipped: skipped.unwrap_or_default(),
                }
            }
            Input::MoveItemBefore { target, reference_id } => {
                Self::MoveBeside { target, reference: reference_id, place: InsertPosition::Start }
            }
            Input::MoveItemAfter { target, reference_id } => {
                Self::MoveBeside { target, reference: reference_id, place: InsertPosition::End }
            }
            Input::MoveItemToStart { target } => {
                Self::MoveWithin { target, place: InsertPosition::Start }
            }
            Input::MoveItemToEnd { target } => {
                Self::MoveWithin { target, place: InsertPosition::End }
            }
            Input::ChangeItemParent { target, new_parent_id, position } => Self::ChangeParent {
                target,
                parent: new_parent_id,
                place: position.unwrap_or(InsertPosition::End),
            },
        }
    }
}

/// Spells the members of an operation's payload as its type does.
pub(super) fn spell_plainly(operation: &mut Value) {
    if let Some(Value::Object(payload)) = operation.get_mut("payload") {
        *payload = plainly(payload);
    }
}

/// The payload with member names in snake case.
fn plainly(payload: &Object) -> Object {
    let plain = |name: &String| {
        let mut plain = String::with_capacity(name.len() + 4);
        for letter in name.chars() {
            if letter.is_ascii_uppercase() {
                plain.push('_');
            }
            plain.push(letter.to_ascii_lowercase());
        }
        plain
    };
    payload.iter().map(|(name, value): (&String, &Value)| (plain(name), value.clone())).collect()
}
