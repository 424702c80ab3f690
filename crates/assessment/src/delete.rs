//! Deletes by identifier only.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;

use crate::{feedback, repository};

/// Deletes the document with the identifier, otherwise the feedback with that id, otherwise all feedback on the
/// lesson with that id. Returns what it deleted. Errors: `NotFound`; `Conflict` if documents of several kinds have
/// the identifier, or if something refers to the document; `PreconditionFailed` if the stored version is not
/// `expected`. Feedback has no version.
pub fn delete_any(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    expected: Option<i64>,
) -> Result<String> {
    let kinds = repository::kinds_of(tx, id)?;
    match kinds.as_slice() {
        [] if expected.is_some() => {
            let message =
                message!("'{id}' is not a document and has no ETag; remove the header If-Match");
            Err(Problem::new(ProblemKind::PreconditionFailed, message))
        }
        [] if feedback::delete(tx, id)? => Ok(format!("the feedback '{id}'")),
        [] => {
            let message = message!("there is no item, test, stimulus or feedback '{id}'");
            Err(Problem::new(ProblemKind::NotFound, message))
        }
        [kind] => {
            repository::delete(tx, now, *kind, id, expected)?;
            Ok(format!("the {kind} '{id}'"))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|kind| kind.name()).collect();
            Err(Problem::new(
                ProblemKind::Conflict,
                message!(
                    "'{id}' is the identifier of several documents ({names}); delete each at its own address",
                    names = names.join(", ")
                ),
            ))
        }
    }
}
