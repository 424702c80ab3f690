//! Creates a test with all its parts in one request.

use http::StatusCode;
use lyceum_access::Scope::AdaptiveWrite;
use lyceum_adaptive::LessonType;
use lyceum_adaptive::new_test::{self, ExternalTest, InternalTest, NewTest, NewTestLesson};
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_http::route::post;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{Context, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/createInternalTest", AdaptiveWrite, internal)
            .named("createInternalTest")
            .description("Creates a lesson from one stored test or from several that students take in turn. It also creates the resources and the place in the course.")
            .reads::<InternalTest>()
            .answers::<NewTestLesson>(201, "The lesson was created."),
        post("/createExternalPlacementTest", AdaptiveWrite, |context| {
            external::<Option<f64>>(context, LessonType::Placement)
        })
        .named("createExternalPlacementTest")
        .description("Creates a placement test at an outside tool.")
        .reads::<ExternalTest<Option<f64>>>()
        .answers::<NewTestLesson>(201, "The lesson was created."),
        post("/createExternalTestOut", AdaptiveWrite, |context| {
            external::<f64>(context, LessonType::TestOut)
        })
        .named("createExternalTestOut")
        .description("Creates the test-out lesson of a course, which students take at an outside tool.")
        .reads::<ExternalTest<f64>>()
        .answers::<NewTestLesson>(201, "The lesson was created."),
    ]
}

async fn internal(context: Context) -> Result<Answer> {
    let request = NewTest::internal(context.body_as()?)?;
    create(context, request).await
}

async fn external<X>(context: Context, lesson_type: LessonType) -> Result<Answer>
where
    X: Into<Option<f64>> + DeserializeOwned + JsonSchema + 'static,
{
    let request = NewTest::external(context.body_as::<ExternalTest<X>>()?, lesson_type)?;
    create(context, request).await
}

async fn create(context: Context, request: NewTest) -> Result<Answer> {
    let now = context.app.clock.now();
    let test = context.app.db.write(move |tx| new_test::create(tx, now, &request)).await?;
    Ok(Answer::of(&test).status(StatusCode::CREATED))
}
