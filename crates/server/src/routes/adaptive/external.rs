//! Tests in external tools, and testing out of courses.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::external::{self, ExternalAssignment, ExternalTestRequest};
use lyceum_adaptive::test_out::{self, Eligibility, TestOut, TestOutAssignment, TestOutRequest};
use lyceum_bridge::enrollments;
use lyceum_core::Result;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::lessons::write;
use super::shape::some_text;
use super::{Success, query_as};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{ParamPlace, Route, get, post};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Elected {
    data: TestOutAssignment,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/makeExternalTestAssignment", AdaptiveWrite, made)
            .named("makeExternalTestAssignment")
            .says("Notes that a student is to take a test at its outside tool, and tells where that is. Nobody is signed in there.")
            .reads::<ExternalTestRequest>()
            .answers::<ExternalAssignment>(200, "The assignment."),
        get("/importExternalTestAssignmentResults", AdaptiveWrite, imported)
            .named("importExternalTestAssignmentResults")
            .says("Finishes a student's test at an outside tool with the result that the gradebook has of it; while there is none, it is not finished.")
            .param(ParamPlace::Query, "student", some_text(), "The student's sourcedId; required.")
            .param(ParamPlace::Query, "lesson", some_text(), "The lesson's sourcedId (a component resource); required.")
            .param(ParamPlace::Query, "applicationName", some_text(), "Ignored: nobody is signed in at the tool.")
            .answers::<ExternalAssignment>(200, "The assignment."),
        get("/testOut", AdaptiveRead, of_course)
            .named("getTestOut")
            .says("The test-out lesson of a course, for a student.")
            .param(ParamPlace::Query, "student", some_text(), "The student's sourcedId; required.")
            .param(ParamPlace::Query, "course", some_text(), "The course's sourcedId; required.")
            .answers::<TestOut>(200, "The lesson; null where the course has none."),
        get("/test-out/getTestOutEligibility/{studentId}/{subject}", AdaptiveRead, eligible)
            .named("getTestOutEligibility")
            .says("Whether a student may ask for a test-out in a subject.")
            .answers::<Eligibility>(200, "Whether, and why not."),
        post("/test-out/makeExternalStudentTestOutAssignment", AdaptiveWrite, elected)
            .named("makeExternalStudentTestOutAssignment")
            .says("Assigns a student the test-out of a course of the subject that the student learns in.")
            .reads::<TestOutRequest>()
            .answers::<Success<Elected>>(200, "Assigned."),
    ]
}

async fn made(context: Context) -> Result<Answer> {
    let test: ExternalTestRequest = context.body_as()?;
    let assignment = write(&context, move |tx, desk| external::make(tx, desk, &test)).await?;
    Ok(Answer::of(&assignment))
}

async fn imported(context: Context) -> Result<Answer> {
    let asked = query_as(&context)?;
    let assignment = write(&context, move |tx, desk| external::import(tx, desk, &asked)).await?;
    Ok(Answer::of(&assignment))
}

async fn of_course(context: Context) -> Result<Answer> {
    let asked = query_as(&context)?;
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
    let (test, now) = (context.body_as::<TestOutRequest>()?, context.app.clock.now());
    let assign = move |tx: &mut Tx<'_>| test_out::assign(tx, now, &test);
    let data = context.app.db.write(assign).await?;
    Ok(Answer::of(&Success::of(Elected { data })))
}
