//! Deleting by an identifier alone.

use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::Tx;

use crate::{feedback, repository};

/// Deletes what has the identifier: a document, else the feedback with that id, else all feedback on
/// the lesson with it. Answers what it was. Errors: `NotFound`; `Conflict` where documents of several
/// kinds have it, or where something refers to the document; `PreconditionFailed` where another version than
/// `expected` is there, or feedback, which has none.
pub fn delete_any(tx: &mut Tx<'_>, id: &str, expected: Option<i64>) -> Result<String> {
    let kinds = repository::kinds_of(tx, id)?;
    match kinds.as_slice() {
        [] if expected.is_some() => {
            let message =
                format!("'{id}' names no document, so no ETag is its own; send no If-Match");
            Err(Problem::new(ProblemKind::PreconditionFailed, message))
        }
        [] if feedback::delete(tx, id)? => Ok(format!("the feedback '{id}'")),
        [] => {
            let message = format!("there is no item, test, stimulus or feedback '{id}'");
            Err(Problem::new(ProblemKind::NotFound, message))
        }
        [kind] => {
            repository::delete(tx, *kind, id, expected)?;
            Ok(format!("the {kind} '{id}'"))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|kind| kind.name()).collect();
            Err(Problem::new(
                ProblemKind::Conflict,
                format!(
                    "'{id}' is the identifier of several documents ({}); delete each at its own address",
                    names.join(", ")
                ),
            ))
        }
    }
}
