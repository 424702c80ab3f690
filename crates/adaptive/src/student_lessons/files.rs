//! The files of the items that a student's lesson asks.

use lyceum_assessment::files::{self, DocumentFile};
use lyceum_assessment::stimulus_identifiers;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;

use crate::attempt::bank_of;
use crate::bank::QuestionSet;
use crate::lesson_context::LessonContext;
use crate::repository::attempts;

/// The file with this content name, if an item of the student's last attempt at the lesson has it, or a stimulus of such an
/// item.
///
/// Errors: `NotFound` for a lesson that the student has not begun, and for any other file, whether it exists or not.
pub fn file(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
    content_name: &str,
) -> Result<DocumentFile> {
    let found = match attempts::last(tx, student, lesson)? {
        Some(attempt) => {
            let bank = bank_of(tx, context, &attempt)?;
            let items: Vec<&str> =
                bank.questions.questions.iter().map(|question| question.id.as_str()).collect();
            match files::find_by_content(tx, content_name, &items)? {
                Some(file) => Some(file),
                None => in_former_versions(tx, context, &bank, content_name)?,
            }
        }
        None => None,
    };
    found.ok_or_else(|| {
        let message =
            message!("the questions of this lesson have no file '{name}'", name = content_name);
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// The file of a stimulus to which an item refers in the version that the attempt asks, and no longer in the current one.
fn in_former_versions(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    bank: &QuestionSet,
    content_name: &str,
) -> Result<Option<DocumentFile>> {
    let files = files::find_in_stimuli(tx, content_name)?;
    if files.is_empty() {
        return Ok(None);
    }
    for (question, details) in bank.questions.questions.iter().zip(&bank.items) {
        let item = context.items.version(tx, &question.id, details.version)?;
        let stimuli = stimulus_identifiers(tx, &item)?;
        if let Some((_, file)) = files.iter().find(|(stimulus, _)| stimuli.contains(stimulus)) {
            return Ok(Some(file.clone()));
        }
    }
    Ok(None)
}
