//! Selects parts of a document by JSON pointers (RFC 6901), as `ecdsa-sd-2023` does: the target of each pointer, with
//! the ids and types of all objects on the way.
//!
//! Issuers compact a document before they select from it, which replaces an array of one item by the item. So a
//! pointer may skip such an array.

use std::collections::BTreeMap;

use lyceum_core::message;
use lyceum_core::problem::{Problem, Result};
use serde_json::Value;

/// The selected parts, as a tree.
#[derive(Debug)]
pub(crate) enum SelectedParts {
    /// This value and everything below.
    All,
    /// Parts of this value, by the member name or array index.
    Some(BTreeMap<String, SelectedParts>),
}

impl SelectedParts {
    /// The parts of the document that the pointers select; `None` without pointers.
    /// Errors: a pointer that is malformed, or that selects nothing.
    pub(crate) fn read(document: &Value, pointers: &[String]) -> Result<Option<Self>> {
        let mut parts = Self::Some(BTreeMap::new());
        for pointer in pointers {
            let steps = pointer.split('/').skip(1);
            let steps: Vec<String> =
                steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
            let is_pointer = pointer.is_empty() || pointer.starts_with('/');
            if !is_pointer || !leads_somewhere(document, &steps) {
                let message = message!("'{pointer}' is not a pointer to a part of the document");
                return Err(Problem::invalid("", message));
            }
            parts.add(&mut steps.into_iter());
        }
        Ok((!pointers.is_empty()).then_some(parts))
    }

    fn add(&mut self, steps: &mut dyn Iterator<Item = String>) {
        let Self::Some(members) = self else { return };
        match steps.next() {
            None => *self = Self::All,
            Some(step) => {
                members.entry(step).or_insert_with(|| Self::Some(BTreeMap::new())).add(steps);
            }
        }
    }

    /// The pick that these parts make of the document.
    pub(crate) fn pick(parts: Option<&Self>) -> Pick<'_> {
        match parts {
            None => Pick::None,
            Some(Self::All) => Pick::All,
            Some(Self::Some(members)) => Pick::Some(members),
        }
    }
}

fn leads_somewhere(value: &Value, steps: &[String]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    match value {
        Value::Object(members) => {
            members.get(step).is_some_and(|member| leads_somewhere(member, rest))
        }
        Value::Array(items) => match (index(step), &items[..]) {
            (Some(index), items) if index < items.len() => leads_somewhere(&items[index], rest),
            (_, [only]) => leads_somewhere(only, steps),
            _ => false,
        },
        _ => false,
    }
}

/// The array index in a step.
fn index(step: &str) -> Option<usize> {
    step.parse().ok().filter(|index: &usize| index.to_string() == step)
}

/// The selection at one place of a document.
#[derive(Clone, Copy)]
pub(crate) enum Pick<'a> {
    /// Nothing.
    None,
    /// This value and everything below.
    All,
    /// Parts of this value.
    Some(&'a BTreeMap<String, SelectedParts>),
}

impl Pick<'_> {
    /// The selection in a member.
    pub(super) fn member(self, name: &str) -> Self {
        match self {
            Self::Some(members) => SelectedParts::pick(members.get(name)),
            whole => whole,
        }
    }

    /// The selection in an item of an array of that length.
    pub(super) fn item(self, index: usize, length: usize) -> Self {
        match self {
            Self::Some(members) if length == 1 && !members.contains_key("0") => self,
            Self::Some(_) => self.member(&index.to_string()),
            whole => whole,
        }
    }

    /// Whether anything is picked.
    pub(super) fn selects_any(self) -> bool {
        !matches!(self, Self::None)
    }

    /// Whether everything or nothing is picked.
    pub(super) fn is_whole(self) -> bool {
        !matches!(self, Self::Some(_))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pointers_pick_their_targets() {
        let document = json!({"a": [{"b": 1}, {"b~/": 2}], "c": 3, "d": [{"e": 1}]});
        let read = |pointers: &[&str]| {
            SelectedParts::read(
                &document,
                &pointers.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>(),
            )
        };
        let parts = read(&["/a/1/b~0~1", "/c"]).unwrap();
        let pick = SelectedParts::pick(parts.as_ref());
        assert!(
            pick.selects_any() && pick.member("c").is_whole() && pick.member("c").selects_any()
        );
        let item = |index| pick.member("a").item(index, 2);
        assert!(!item(0).selects_any() && item(1).member("b~/").selects_any());
        assert!(
            SelectedParts::pick(read(&[""]).unwrap().as_ref()).member("a").item(0, 2).selects_any()
        );
        assert!(!SelectedParts::pick(read(&[]).unwrap().as_ref()).selects_any());
        for pointer in ["/d/e", "/d/0/e"] {
            let parts = read(&[pointer]).unwrap();
            assert!(
                SelectedParts::pick(parts.as_ref())
                    .member("d")
                    .item(0, 1)
                    .member("e")
                    .selects_any()
            );
        }
        for pointer in ["a", "/x", "/a/2", "/a/01", "/c/d"] {
            assert!(read(&[pointer]).is_err(), "{pointer}");
        }
    }
}
