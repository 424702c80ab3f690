//! Tests in external tools, and testing out of courses.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::external::{self, ExternalTestAssignment, ExternalTestRequest};
use lyceum_adaptive::test_out::{
    self, TestOut, TestOutAssignment, TestOutEligibility, TestOutRequest,
};
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_http::route::{ParamPlace, get, post};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::lessons::write;
use super::{Success, query_as};
use crate::shape::some_text;
use crate::{Context, Route, bridge};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct TestOutReply {
    data: TestOutAssignment,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/makeExternalTestAssignment", AdaptiveWrite, create)
            .within_reach()
            .named("makeExternalTestAssignment")
            .description("Assigns a student a test at its outside tool and returns the address. The student signs in there on their own.")
            .reads::<ExternalTestRequest>()
            .answers::<ExternalTestAssignment>(200, "The assignment."),
        get("/importExternalTestAssignmentResults", AdaptiveWrite, import)
            .within_reach()
            .named("importExternalTestAssignmentResults")
            .description("Finishes a student's test at an outside tool with its result in the gradebook. Without a result it is not finished.")
            .param(ParamPlace::Query, "student", some_text(), "The student's sourcedId; required.")
            .param(ParamPlace::Query, "lesson", some_text(), "The lesson's sourcedId (a component resource); required.")
            .param(ParamPlace::Query, "applicationName", some_text(), "Ignored, because the student signs in at the tool.")
            .answers::<ExternalTestAssignment>(200, "The assignment."),
        get("/testOut", AdaptiveRead, of_course)
            .within_reach()
            .named("getTestOut")
            .description("The test-out lesson of a course, for a student.")
            .param(ParamPlace::Query, "student", some_text(), "The student's sourcedId; required.")
            .param(ParamPlace::Query, "course", some_text(), "The course's sourcedId; required.")
            .answers::<TestOut>(200, "The lesson; null if the course has none."),
        get("/test-out/getTestOutEligibility/{studentId}/{subject}", AdaptiveRead, eligible)
            .within_reach()
            .named("getTestOutEligibility")
            .description("Whether a student may ask for a test-out in a subject.")
            .answers::<TestOutEligibility>(200, "Whether the student may, and the reason if not."),
        post("/test-out/makeExternalStudentTestOutAssignment", AdaptiveWrite, assign_test_out)
            .within_reach()
            .named("makeExternalStudentTestOutAssignment")
            .description("Assigns a student the test-out of a course of a subject in which the student is enrolled.")
            .reads::<TestOutRequest>()
            .answers::<Success<TestOutReply>>(200, "The assignment was created."),
    ]
}

async fn create(context: Context) -> Result<Answer> {
    let test: ExternalTestRequest = context.body_as()?;
    let assignment = write(&context, move |tx, lesson_context| {
        external::assign_external(tx, lesson_context, &test)
    })
    .await?;
    Ok(Answer::of(&assignment))
}

async fn import(context: Context) -> Result<Answer> {
    let parameters = query_as(&context)?;
    let assignment = write(&context, move |tx, lesson_context| {
        external::import(tx, lesson_context, &parameters)
    })
    .await?;
    Ok(Answer::of(&assignment))
}

async fn of_course(context: Context) -> Result<Answer> {
    let parameters = query_as(&context)?;
    let reach = context.reach();
    let found = context.app.db.read(move |tx| test_out::of(tx, &parameters, &reach)).await?;
    Ok(Answer::of(&found))
}

async fn eligible(context: Context) -> Result<Answer> {
    let (student, now) = (context.param("studentId").to_owned(), context.app.clock.now());
    let learned = bridge::settled(&context, now, student).await?;
    Ok(Answer::of(&test_out::eligibility(&learned, context.param("subject"))))
}

async fn assign_test_out(context: Context) -> Result<Answer> {
    let (test, now) = (context.body_as::<TestOutRequest>()?, context.app.clock.now());
    let reach = context.reach();
    let assign = move |tx: &mut Tx<'_>| test_out::assign(tx, now, &test, &reach);
    let data = context.app.db.write(assign).await?;
    Ok(Answer::of(&Success::of(TestOutReply { data })))
}
