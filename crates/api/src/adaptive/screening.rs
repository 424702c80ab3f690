//! Screenings of students.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::screening::{
    self, ScreenedUser, ScreeningResults, ScreeningSession, ScreeningTestRequest,
};
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_http::route::{get, post};
use schemars::JsonSchema;
use serde::Serialize;

use super::Success;
use crate::{Context, Route};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct UserSession {
    user_id: String,
    session: Option<ScreeningSession>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ScreeningReset {
    /// Whether there was a screening.
    reset: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ScreeningReply {
    session: ScreeningSession,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/screening/results/{userId}", AdaptiveRead, results)
            .within_reach()
            .named("getScreeningResults")
            .description("Reads a student's latest screening result in each subject.")
            .answers::<ScreeningResults>(
                200,
                "The results by subject; null if there is no result.",
            ),
        get("/screening/session/{userId}", AdaptiveRead, session_of)
            .within_reach()
            .named("getScreeningSession")
            .description("Reads a student's screening with its tests.")
            .answers::<UserSession>(200, "The screening; null if none has started."),
        post("/screening/session/reset", AdaptiveWrite, reset)
            .within_reach()
            .named("resetScreeningSession")
            .description("Removes a student's screening. Results stay.")
            .reads::<ScreenedUser>()
            .answers::<Success<ScreeningReset>>(
                200,
                "The screening was removed, or there was none.",
            ),
        post("/screening/tests/assign", AdaptiveWrite, assign)
            .within_reach()
            .named("assignScreeningTest")
            .description("Assigns a student a screening test of a subject.")
            .reads::<ScreeningTestRequest>()
            .answers::<Success<ScreeningReply>>(200, "The screening with the test."),
    ]
}

async fn results(context: Context) -> Result<Answer> {
    let (user, reach) = (context.param("userId").to_owned(), context.reach());
    let results = context.app.db.read(move |tx| screening::results(tx, &user, &reach)).await?;
    Ok(Answer::of(&results))
}

async fn session_of(context: Context) -> Result<Answer> {
    let user_id = context.param("userId").to_owned();
    let (user, reach) = (user_id.clone(), context.reach());
    let session = context.app.db.read(move |tx| screening::session(tx, &user, &reach)).await?;
    Ok(Answer::of(&UserSession { user_id, session }))
}

async fn reset(context: Context) -> Result<Answer> {
    let ScreenedUser { user_id } = context.body_as()?;
    let reach = context.reach();
    let reset = context.app.db.write(move |tx| screening::reset(tx, &user_id, &reach)).await?;
    Ok(Answer::of(&Success::of(ScreeningReset { reset })))
}

async fn assign(context: Context) -> Result<Answer> {
    let (test, now) = (context.body_as::<ScreeningTestRequest>()?, context.app.clock.now());
    let reach = context.reach();
    let session = context.app.db.write(move |tx| screening::assign(tx, now, &test, &reach)).await?;
    Ok(Answer::of(&Success::of(ScreeningReply { session })))
}
