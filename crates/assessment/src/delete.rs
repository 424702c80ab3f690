//! Deleting by an identifier alone.

use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::Tx;

use crate::{feedback, repository};

/// Deletes what has the identifier: a document, else the feedback with that id, else all feedback on
/// the lesson with it. Answers what it was. Errors: `NotFound`; `Conflict` where documents of several
/// kinds have it, or where something refers to the document.
pub fn delete_any(tx: &mut Tx<'_>, id: &str) -> Result<String> {
    let kinds = repository::kinds_of(tx, id)?;
    match kinds.as_slice() {
        [] if feedback::delete(tx, id)? => Ok(format!("the feedback '{id}'")),
        [] => {
            let message = format!("there is no item, test, stimulus or feedback '{id}'");
            Err(Problem::new(ProblemKind::NotFound, message))
        }
        [kind] => {
            repository::delete(tx, *kind, id, None)?;
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
