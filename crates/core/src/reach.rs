//! The part of the roster that a caller has access to.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Message, Problem, Result, message};

/// The part of the roster that a caller has access to. Each function that lists people takes one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reach {
    /// Everything.
    #[default]
    Everything,
    /// Records that belong to the organizations with these sourcedIds, or to an organization below one of them.
    Organizations(BTreeSet<String>),
    /// Records that belong to the classes that the user with this sourcedId teaches.
    ClassesOf(String),
}

impl Reach {
    /// The organizations with all below them. Errors: `Invalid` if none is named.
    pub fn organizations(ids: impl IntoIterator<Item = impl Into<String>>) -> Result<Self> {
        let ids: BTreeSet<String> = ids.into_iter().map(Into::into).collect();
        if ids.is_empty() {
            return Err(Problem::invalid("organizations", "must name at least one organization"));
        }
        Ok(Self::Organizations(ids))
    }

    /// Whether it is less than everything.
    pub fn is_limited(&self) -> bool {
        *self != Self::Everything
    }

    /// For messages: "the organization 'd-1' and all below it".
    pub fn text(&self) -> Message {
        match self {
            Self::Everything => "everything".into(),
            Self::Organizations(ids) => {
                let names: Vec<String> = ids.iter().map(|id| format!("'{id}'")).collect();
                match names.as_slice() {
                    [id] => message!("the organization {id} and all below it"),
                    ids => {
                        message!("the organizations {ids} and all below them", ids = ids.join(", "))
                    }
                }
            }
            Self::ClassesOf(teacher) => message!("the classes of the teacher '{teacher}'"),
        }
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}
