//! Creates a test with all its parts in one request.

use axum::http::StatusCode;
use lyceum_access::Scope::AdaptiveWrite;
use lyceum_adaptive::LessonType;
use lyceum_adaptive::new_test::{self, CreatedTest, ExternalTest, InternalTest, NewTest};
use lyceum_core::Result;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Route, post};

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/createInternalTest", AdaptiveWrite, internal)
            .named("createInternalTest")
            .says("Makes a lesson of a stored test, or of several that take turns, with its resources and its place in the course.")
            .reads::<InternalTest>()
            .answers::<CreatedTest>(201, "Made."),
        post("/createExternalPlacementTest", AdaptiveWrite, |context| {
            external::<Option<f64>>(context, LessonType::Placement)
        })
        .named("createExternalPlacementTest")
        .says("Makes a placement test that is taken at an outside tool.")
        .reads::<ExternalTest<Option<f64>>>()
        .answers::<CreatedTest>(201, "Made."),
        post("/createExternalTestOut", AdaptiveWrite, |context| {
            external::<f64>(context, LessonType::TestOut)
        })
        .named("createExternalTestOut")
        .says("Makes the test-out lesson of a course, taken at an outside tool.")
        .reads::<ExternalTest<f64>>()
        .answers::<CreatedTest>(201, "Made."),
    ]
}

async fn internal(context: Context) -> Result<Answer> {
    let wish = NewTest::internal(context.body_as()?)?;
    created(context, wish).await
}

async fn external<X>(context: Context, lesson_type: LessonType) -> Result<Answer>
where
    X: Into<Option<f64>> + DeserializeOwned + JsonSchema + 'static,
{
    let wish = NewTest::external(context.body_as::<ExternalTest<X>>()?, lesson_type)?;
    created(context, wish).await
}

async fn created(context: Context, wish: NewTest) -> Result<Answer> {
    let now = context.app.clock.now();
    let made = context.app.db.write(move |tx| new_test::create(tx, now, &wish)).await?;
    Ok(Answer::of(&made).status(StatusCode::CREATED))
}
