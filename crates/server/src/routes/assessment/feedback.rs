//! Feedback on lessons and questions.

use axum::http::StatusCode;
use lyceum_access::Scope::{QtiRead, QtiWrite};
use lyceum_assessment::feedback::{self, About};
use lyceum_assessment::parse;
use lyceum_core::Result;
use lyceum_store::Tx;

use super::schema;
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Route, get, post};

pub(super) fn of_lessons() -> Vec<Route> {
    vec![
        submit(About::Lesson).named("submitLessonFeedback").says("Keeps feedback on a lesson."),
        get("/{lessonId}", QtiRead, read)
            .named("getLessonFeedback")
            .says("The newest feedback on a lesson, and beside it all of it, questions included.")
            .answers_schema(200, "The feedback.", schema::on_lesson()),
    ]
}

pub(super) fn of_questions() -> Vec<Route> {
    vec![
        submit(About::Question)
            .named("submitQuestionFeedback")
            .says("Keeps feedback on a question."),
    ]
}

fn submit(about: About) -> Route {
    post("", QtiWrite, move |context| submitted(context, about))
        .reads_schema(schema::feedback_input())
        .answers_schema(201, "Kept.", schema::feedback())
}

async fn submitted(context: Context, about: About) -> Result<Answer> {
    let (body, now) = (parse(&context.body)?, context.app.clock.now());
    let write = move |tx: &mut Tx<'_>| feedback::submit(tx, now, about, &body);
    Ok(Answer::of(&context.app.db.write(write).await?).status(StatusCode::CREATED))
}

async fn read(context: Context) -> Result<Answer> {
    let lesson = context.param("lessonId").to_owned();
    let found = context.app.db.read(move |tx| feedback::of_lesson(tx, &lesson)).await?;
    Ok(Answer::of(&found))
}
