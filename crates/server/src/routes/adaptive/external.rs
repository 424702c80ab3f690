//! Tests that are taken at an outside tool, and testing out of courses.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::{external, test_out};
use lyceum_bridge::enrollments;
use lyceum_core::Result;
use serde_json::{Value, json};

use super::lessons::write;
use super::shape::{any_object, flag, object, or_null, some_text, text, whole, whole_object};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Place, Route, get, post};

pub(super) fn routes() -> Vec<Route> {
    let eligibility = object(&["eligible"], json!({ "eligible": flag(), "reason": text() }));
    vec![
        post("/makeExternalTestAssignment", AdaptiveWrite, made)
            .named("makeExternalTestAssignment")
            .says("Notes that a student is to take a test at its outside tool, and tells where that is. Nobody is signed in there.")
            .reads(object(
                &["student", "lesson"],
                json!({
                    "student": some_text(), "lesson": some_text(), "applicationName": some_text(),
                    "testId": some_text(), "skipCourseEnrollment": flag(),
                }),
            ))
            .answers(200, "The assignment.", assignment()),
        get("/importExternalTestAssignmentResults", AdaptiveWrite, imported)
            .named("importExternalTestAssignmentResults")
            .says("Finishes a student's test at an outside tool with the result that the gradebook has of it; while there is none, it is not finished.")
            .param(Place::Query, "student", some_text(), "The student's sourcedId; required.")
            .param(Place::Query, "lesson", some_text(), "The lesson's sourcedId (a component resource); required.")
            .param(Place::Query, "applicationName", some_text(), "Ignored: nobody is signed in at the tool.")
            .answers(200, "The assignment.", assignment()),
        get("/testOut", AdaptiveRead, of_course)
            .named("getTestOut")
            .says("The test-out lesson of a course, for a student.")
            .param(Place::Query, "student", some_text(), "The student's sourcedId; required.")
            .param(Place::Query, "course", some_text(), "The course's sourcedId; required.")
            .answers(200, "The lesson; null where the course has none.", test_out_lesson()),
        get("/test-out/getTestOutEligibility/{studentId}/{subject}", AdaptiveRead, eligible)
            .named("getTestOutEligibility")
            .says("Whether a student may ask for a test-out in a subject.")
            .answers(200, "Whether, and why not.", eligibility),
        post("/test-out/makeExternalStudentTestOutAssignment", AdaptiveWrite, elected)
            .named("makeExternalStudentTestOutAssignment")
            .says("Assigns a student the test-out of a course of the subject that the student learns in.")
            .reads(whole_object(json!({ "oneRosterSourcedId": some_text(), "subject": some_text() })))
            .answers(200, "Assigned.", whole_object(json!({ "success": flag(), "data": any_object() }))),
    ]
}

fn assignment() -> Value {
    object(
        &["toolProvider", "lessonType", "lessonId", "attempt", "finalized", "assignmentId"],
        json!({
            "toolProvider": text(), "lessonType": text(), "lessonId": text(), "attempt": whole(),
            "finalized": flag(), "assignmentId": text(), "testUrl": text(), "testId": text(),
        }),
    )
}

fn test_out_lesson() -> Value {
    object(
        &["lessonType", "lessonId", "finalized", "toolProvider"],
        json!({
            "lessonType": text(), "lessonId": or_null(text()), "finalized": flag(),
            "toolProvider": or_null(text()), "attempt": whole(), "assignmentId": text(),
            "testUrl": text(), "testId": text(),
        }),
    )
}

async fn made(context: Context) -> Result<Answer> {
    let body = super::object(&context)?;
    let assignment = write(&context, move |tx, desk| external::make(tx, desk, &body)).await?;
    Ok(Answer::of(&assignment))
}

async fn imported(context: Context) -> Result<Answer> {
    let asked = super::query(&context);
    let assignment = write(&context, move |tx, desk| external::import(tx, desk, &asked)).await?;
    Ok(Answer::of(&assignment))
}

async fn of_course(context: Context) -> Result<Answer> {
    let asked = super::query(&context);
    let found = context.app.db.read(move |tx| test_out::of(tx, &asked)).await?;
    Ok(Answer::of(&found))
}

async fn eligible(context: Context) -> Result<Answer> {
    let (student, now) = (context.param("studentId").to_owned(), context.app.clock.now());
    let asked = student.clone();
    let db = &context.app.db;
    let learned = match db.read(move |tx| enrollments::of_user(tx, now, &asked)).await? {
        Some(learned) => learned,
        None => db.write(move |tx| enrollments::settled_of_user(tx, now, &student)).await?,
    };
    Ok(Answer::of(&test_out::eligibility(&learned, context.param("subject"))))
}

async fn elected(context: Context) -> Result<Answer> {
    let (body, now) = (super::object(&context)?, context.app.clock.now());
    let data = context.app.db.write(move |tx| test_out::assign(tx, now, &body)).await?;
    Ok(Answer::of(&json!({ "success": true, "data": data })))
}
