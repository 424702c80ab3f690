//! JSON-LD 1.1 for the contexts that credentials use. It turns a document directly into quads, in safe mode: data
//! that the graph would lose is an error with its path.

mod context;
pub(crate) mod embedded;
mod literal;
mod local;
mod node;
mod pick;

use context::Context;
use lyceum_core::Message;
use lyceum_core::problem::{Problem, Result};
use node::{Expander, NodePosition};
use serde_json::Value;

use crate::rdf::Dataset;

pub(crate) use literal::canonical_json;
pub(crate) use pick::{Pick, SelectedParts};

/// The quads of the document. Quads of picked parts are marked. Errors: the document is not an object, or contains
/// data that the quads would lose.
pub(crate) fn quads(document: &Value, pick: Pick<'_>) -> Result<Dataset> {
    let Value::Object(object) = document else {
        return Err(Problem::invalid("", "the document must be a JSON object"));
    };
    let mut dataset = Dataset::default();
    let at = NodePosition { context: &Context::empty(), term: None, graph: None, pick };
    Expander { data: &mut dataset }.node(object, at, &Path::Root)?;
    match dataset.is_empty() {
        true => Err(Problem::invalid("", "the document contains no statements")),
        false => Ok(dataset),
    }
}

/// A place in a document.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The whole document.
    Root,
    /// A member of an object.
    Key(&'a Path<'a>, &'a str),
    /// A member of an array.
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// An error at this place.
    fn fault(&self, message: impl Into<Message>) -> Problem {
        Problem::invalid(self.to_string(), message)
    }
}

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, key) => f.write_str(key),
            Self::Key(above, key) => write!(f, "{above}.{key}"),
            Self::Index(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}
