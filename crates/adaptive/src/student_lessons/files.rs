//! The files of the items that a student's lesson asks.

use lyceum_assessment::files::{self, DocumentFile};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::Tx;

use super::find;
use crate::attempt::{LessonContext, bank_of};
use crate::repository::attempts;

/// The file with this content name, if an item of the student's last attempt at the lesson has it, or a stimulus of such an
/// item.
///
/// Errors: `NotFound` for a lesson that the student does not have, and for any other file, whether it exists or not.
pub fn file(
    tx: &mut Tx<'_>,
    desk: &LessonContext<'_>,
    student: &str,
    lesson: &str,
    content_name: &str,
) -> Result<DocumentFile> {
    find(tx, desk, student, lesson)?;
    let found = match attempts::last(tx, student, lesson)? {
        Some(attempt) => {
            let bank = bank_of(tx, desk, &attempt)?;
            files::of_items(tx, content_name, |item| bank.place(item).is_some())?
        }
        None => None,
    };
    found.ok_or_else(|| {
        let message = format!("the questions of this lesson have no file '{content_name}'");
        Problem::new(ProblemKind::NotFound, message)
    })
}
