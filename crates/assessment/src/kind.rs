//! The kinds of documents.

use std::fmt;

use lyceum_core::{Problem, ProblemKind, message};
use schemars::JsonSchema;
use serde::Deserialize;

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "AssessmentDocumentKind")]
pub enum ContentKind {
    /// A question (`qti-assessment-item`).
    Item,
    /// A test (`qti-assessment-test`).
    Test,
    /// A text or picture that items share (`qti-assessment-stimulus`).
    Stimulus,
}

impl ContentKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Item, Self::Test, Self::Stimulus];

    /// Its name, as in the tables and in requests to validate.
    pub fn name(self) -> &'static str {
        match self {
            Self::Item => "item",
            Self::Test => "test",
            Self::Stimulus => "stimulus",
        }
    }

    /// The kind with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The tally's collection for its documents.
    pub(crate) fn collection(self) -> &'static str {
        match self {
            Self::Item => "qti_items",
            Self::Test => "qti_tests",
            Self::Stimulus => "qti_stimuli",
        }
    }

    /// The problem of a document that does not exist.
    pub fn missing(self, identifier: &str) -> Problem {
        Problem::new(ProblemKind::NotFound, message!("there is no {self} '{identifier}'"))
    }
}

impl fmt::Display for ContentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
