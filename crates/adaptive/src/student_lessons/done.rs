//! Lessons that are done when the student says so.
//!
//! They earn no XP, because XP is paid for answers. The result is `submitted`, without a score.

use lyceum_core::{Problem, Reach, Result};
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::{LessonStanding, find};
use crate::course_progress::{self, ItemResponse};
use crate::lesson_context::LessonContext;

/// Records that the student is done with material or an app: a submitted result without a score, which earns no XP.
/// A repeated request changes nothing.
///
/// Errors: `NotFound` for a lesson that the student does not have; `Invalid` for a lesson with questions, and for material
/// that was added to a lesson plan, which has no place in the gradebook.
pub fn mark_done(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
) -> Result<()> {
    roster::lock_user(tx, student)?;
    let found = find(tx, context, student, lesson)?;
    if !found.lesson.can_be_marked_done() {
        let message = "this lesson is done when its questions are answered";
        return Err(Problem::invalid("lesson", message));
    }
    // The gradebook may have a grade for it by now.
    if found.lesson.standing == LessonStanding::Done {
        return Ok(());
    }
    let result = json!({ "scoreStatus": "submitted", "scoreDate": context.now });
    let Value::Object(result) = result else {
        return Err(Problem::internal("a result is an object"));
    };
    let response = ItemResponse::of_lesson(student, lesson, result);
    course_progress::update(tx, context.now, response, &Reach::Everything).map(drop)
}
