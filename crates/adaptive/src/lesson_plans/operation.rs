//! Operations on a plan.

use lyceum_core::Result;
use lyceum_roster::record::Object;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::input::Input;

/// The type of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// A unit, module or lesson.
    Component,
    /// A resource in a component.
    Resource,
}

impl Sort {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::Resource => "resource",
        }
    }
}

/// An item, as operations name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its type.
    pub sort: Sort,
    /// Its id.
    pub id: String,
}

/// Before or after an item, or at the start or end of its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
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
        target: Target,
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
        target: Target,
        /// The other item.
        reference: String,
        /// Before or after it.
        place: Where,
    },
    /// Moves an item to the start or end of its parent.
    MoveWithin {
        /// The item.
        target: Target,
        /// Start or end.
        place: Where,
    },
    /// Moves an item to the start or end of another component.
    ChangeParent {
        /// The item.
        target: Target,
        /// The component.
        parent: String,
        /// Start or end.
        place: Where,
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

impl Operation {
    /// Reads `{type, payload}`. Members of the payload may be written as `reference_id` or `referenceId`. Errors:
    /// `Invalid`, with every error and its path.
    pub fn read(object: &Object) -> Result<Self> {
        let mut input = Input::of(object);
        let kind = input.word("type", &TYPES);
        let payload = input.object("payload").map(plainly).unwrap_or_default();
        let mut inner = Input::of(&payload);
        let operation = if kind.is_empty() || input.is_missing("payload") {
            None
        } else {
            Some(Self::of(kind, &mut inner))
        };
        input.inside("payload", inner);
        let operation = input.done(operation)?;
        operation.ok_or_else(|| lyceum_core::Problem::internal("an operation was not read"))
    }

    fn of(kind: &str, payload: &mut Input<'_>) -> Self {
        let place = match kind {
            "move-item-before" | "move-item-to-start" => Where::Start,
            _ => Where::End,
        };
        match kind {
            "set-skipped" => {
                if payload.is_missing("value") {
                    payload.fault("value", "is required; send true or false");
                }
                Self::SetSkipped { target: target(payload), value: payload.flag("value") }
            }
            "add-custom-resource" => Self::AddCustomResource {
                resource: payload.text("resource_id"),
                parent: payload.text("parent_component_id"),
                skipped: payload.flag("skipped"),
            },
            "move-item-before" | "move-item-after" => Self::MoveBeside {
                target: target(payload),
                reference: payload.text("reference_id"),
                place,
            },
            "change-item-parent" => Self::ChangeParent {
                target: target(payload),
                parent: payload.text("new_parent_id"),
                place: match payload.opt_word("position", &["start", "end"]) {
                    Some("start") => Where::Start,
                    _ => Where::End,
                },
            },
            _ => Self::MoveWithin { target: target(payload), place },
        }
    }
}

fn target(payload: &mut Input<'_>) -> Target {
    let mut read = Target { sort: Sort::Component, id: String::new() };
    if let Some(object) = payload.object("target") {
        let mut inner = Input::of(object);
        if inner.word("type", &["component", "resource"]) == "resource" {
            read.sort = Sort::Resource;
        }
        read.id = inner.text("id");
        payload.inside("target", inner);
    }
    read
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
