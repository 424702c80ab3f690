//! Operations on a plan.

use lyceum_core::body::OneLineText;
use lyceum_roster::record::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The type of an item in a lesson plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LessonPlanItemSort {
    /// A unit, module or lesson.
    Component,
    /// A resource in a component.
    Resource,
}

impl LessonPlanItemSort {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::Resource => "resource",
        }
    }
}

/// The item to which an operation refers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct LessonPlanTarget {
    /// Its type: component or resource.
    #[serde(rename = "type")]
    pub sort: LessonPlanItemSort,
    /// Its id.
    #[schemars(with = "OneLineText")]
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
        target: LessonPlanTarget,
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
        target: LessonPlanTarget,
        /// The other item.
        reference: String,
        /// Before or after it.
        place: InsertPosition,
    },
    /// Moves an item to the start or end of its parent.
    MoveWithin {
        /// The item.
        target: LessonPlanTarget,
        /// Start or end.
        place: InsertPosition,
    },
    /// Moves an item to the start or end of another component.
    ChangeParent {
        /// The item.
        target: LessonPlanTarget,
        /// The component.
        parent: String,
        /// Start or end.
        place: InsertPosition,
    },
}

/// The types of operations in JSON.
pub(crate) const TYPES: [&str; 7] = [
    "set-skipped",
    "add-custom-resource",
    "move-item-before",
    "move-item-after",
    "move-item-to-start",
    "move-item-to-end",
    "change-item-parent",
];

/// An operation as it is sent. Members of the payload may also be spelled as in `referenceId`.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", content = "payload", rename_all = "kebab-case")]
pub enum LessonPlanOperationInput {
    /// Hides an item and everything below it, or shows it again.
    SetSkipped {
        /// The item.
        target: LessonPlanTarget,
        /// Whether it is hidden.
        value: bool,
    },
    /// Adds a resource that the course does not use, behind the other resources of a component.
    AddCustomResource {
        /// The resource's sourcedId.
        #[schemars(with = "OneLineText")]
        resource_id: String,
        /// The component.
        #[schemars(with = "OneLineText")]
        parent_component_id: String,
        /// Whether it is hidden.
        skipped: Option<bool>,
    },
    /// Moves an item before another item of its type, in any component.
    MoveItemBefore {
        /// The item.
        target: LessonPlanTarget,
        /// The other.
        #[schemars(with = "OneLineText")]
        reference_id: String,
    },
    /// Moves an item after another item of its type, in any component.
    MoveItemAfter {
        /// The item.
        target: LessonPlanTarget,
        /// The other.
        #[schemars(with = "OneLineText")]
        reference_id: String,
    },
    /// Moves an item to the start of its parent.
    MoveItemToStart {
        /// The item.
        target: LessonPlanTarget,
    },
    /// Moves an item to the end of its parent.
    MoveItemToEnd {
        /// The item.
        target: LessonPlanTarget,
    },
    /// Moves an item to an end of another component.
    ChangeItemParent {
        /// The item.
        target: LessonPlanTarget,
        /// The component.
        #[schemars(with = "OneLineText")]
        new_parent_id: String,
        /// The position; by default the end of the list.
        position: Option<InsertPosition>,
    },
}

impl From<LessonPlanOperationInput> for Operation {
    fn from(input: LessonPlanOperationInput) -> Self {
        use LessonPlanOperationInput as Input;
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
