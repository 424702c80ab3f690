//! A student's results in a course, and results that clients write.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::course_progress::{self, CourseProgress, ItemResponse};
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_http::route::{ParamPlace, get, post};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::Success;
use crate::shape::some_text;
use crate::{Context, Route};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct WrittenResult {
    /// The sourcedId of the assessment result.
    result_sourced_id: String,
}

pub(super) fn routes() -> Vec<Route> {
    let path = "/lessonPlans/getCourseProgress/{courseId}/student/{studentId}";
    vec![
        get(path, AdaptiveRead, of_course)
            .within_reach()
            .named("getCourseProgress")
            .description("Reads a student's results in the components and lessons of a course, and the state of testing out of it.")
            .param(ParamPlace::Query, "lessonId", some_text(), "Only the results of this lesson.")
            .answers::<CourseProgress>(200, "The results by line item."),
        post("/lessonPlans/updateStudentItemResponse", AdaptiveWrite, update)
            .within_reach()
            .named("updateStudentItemResponse")
            .description("Writes a student's result in a lesson or a component. A missing line item is created.")
            .reads::<ItemResponse>()
            .answers::<Success<WrittenResult>>(200, "It was written."),
    ]
}

async fn of_course(context: Context) -> Result<Answer> {
    let progress = super::scan(context, |tx, context| {
        let lesson = context.query().filter(|(name, _)| name == "lessonId").last();
        let lesson = lesson.as_ref().map(|(_, lesson)| lesson.as_ref());
        let course_and_student = (context.param("courseId"), context.param("studentId"));
        let (now, view) = (context.app.clock.now(), super::view(context));
        course_progress::of(tx, now, course_and_student, lesson, &view, &context.reach())
    });
    Ok(Answer::of(&progress.await?))
}

async fn update(context: Context) -> Result<Answer> {
    let (response, now) = (context.body_as::<ItemResponse>()?, context.app.clock.now());
    let reach = context.reach();
    let write = move |tx: &mut Tx<'_>| course_progress::update(tx, now, response.clone(), &reach);
    let result_sourced_id = context.app.db.write(write).await?;
    Ok(Answer::of(&Success::of(WrittenResult { result_sourced_id })))
}
