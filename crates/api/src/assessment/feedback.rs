//! Feedback on lessons and questions. Its users need not be in the roster, so callers who are limited to organizations are
//! refused.

use http::StatusCode;
use lyceum_access::Scope::{QtiRead, QtiWrite};
use lyceum_assessment::feedback::{self, Feedback, FeedbackSubject, NewFeedback, OnLesson};
use lyceum_assessment::parse;
use lyceum_core::{Result, body};
use lyceum_http::answer::Answer;
use lyceum_http::route::{get, post};
use lyceum_store::Tx;

use crate::{Context, Route};

pub(super) fn of_lessons() -> Vec<Route> {
    vec![
        submit(FeedbackSubject::Lesson)
            .named("submitLessonFeedback")
            .description("Stores feedback on a lesson."),
        get("/{lessonId}", QtiRead, read)
            .named("getLessonFeedback")
            .description("Reads the newest feedback on a lesson, and all feedback on the lesson and its questions.")
            .answers::<OnLesson>(200, "The feedback."),
    ]
}

pub(super) fn of_questions() -> Vec<Route> {
    vec![
        submit(FeedbackSubject::Question)
            .named("submitQuestionFeedback")
            .description("Stores feedback on a question."),
    ]
}

fn submit(about: FeedbackSubject) -> Route {
    post("", QtiWrite, move |context| submitted(context, about))
        .reads::<NewFeedback>()
        .answers::<Feedback>(201, "Stored.")
}

async fn submitted(context: Context, about: FeedbackSubject) -> Result<Answer> {
    let new: NewFeedback = body::of(parse(&context.body)?.into())?;
    let now = context.app.clock.now();
    let write = move |tx: &mut Tx<'_>| feedback::submit(tx, now, about, &new);
    Ok(Answer::of(&context.app.db.write(write).await?).status(StatusCode::CREATED))
}

async fn read(context: Context) -> Result<Answer> {
    let lesson = context.param("lessonId").to_owned();
    let found = context.app.db.read(move |tx| feedback::of_lesson(tx, &lesson)).await?;
    Ok(Answer::of(&found))
}
