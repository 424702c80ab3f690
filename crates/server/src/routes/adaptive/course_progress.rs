//! A student's results in a course, and results that clients write.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::course_progress;
use lyceum_core::Result;
use serde_json::{Value, json};

use super::shape::{any_object, flag, list, object, some_text, text, whole_object, words};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Place, Route, get, post};

pub(super) fn routes() -> Vec<Route> {
    let path = "/lessonPlans/getCourseProgress/{courseId}/student/{studentId}";
    vec![
        get(path, AdaptiveRead, of_course)
            .named("getCourseProgress")
            .says("A student's results in the components and lessons of a course, and how far testing out of it is.")
            .param(Place::Query, "lessonId", some_text(), "Of this lesson alone.")
            .answers(200, "The results by line item.", progress()),
        post("/lessonPlans/updateStudentItemResponse", AdaptiveWrite, updated)
            .named("updateStudentItemResponse")
            .says("Writes a student's result in a lesson or a component; its line item is made if it is not there.")
            .reads(object(
                &["studentId", "result"],
                json!({
                    "studentId": some_text(), "componentResourceId": some_text(),
                    "componentId": some_text(),
                    "result": any_object(),
                }),
            ))
            .answers(
                200,
                "Written.",
                whole_object(json!({ "success": flag(), "resultSourcedId": text() })),
            ),
    ]
}

fn progress() -> Value {
    let item = object(
        &["type", "assessmentLineItemSourcedId", "title", "results"],
        json!({
            "type": words(&["component", "resource"]), "assessmentLineItemSourcedId": text(),
            "courseComponentSourcedId": text(), "courseComponentResourceSourcedId": text(),
            "title": text(), "results": list(any_object()),
        }),
    );
    let statuses = ["not_eligible", "available", "in_progress", "completed", "failed"];
    let test_out = object(
        &["status"],
        json!({ "status": words(&statuses), "assignmentId": text(), "lessonId": text() }),
    );
    whole_object(json!({ "lineItems": list(item), "testOut": test_out }))
}

async fn of_course(context: Context) -> Result<Answer> {
    let progress = super::scan(context, |tx, context| {
        let asked = super::query(context);
        let lesson = asked.get("lessonId").and_then(Value::as_str);
        let of = (context.param("courseId"), context.param("studentId"));
        course_progress::of(tx, context.app.clock.now(), of, lesson, &super::view(context))
    });
    Ok(Answer::of(&progress.await?))
}

async fn updated(context: Context) -> Result<Answer> {
    let (body, now) = (super::object(&context)?, context.app.clock.now());
    let id = context.app.db.write(move |tx| course_progress::update(tx, now, &body)).await?;
    Ok(Answer::of(&json!({ "success": true, "resultSourcedId": id })))
}
