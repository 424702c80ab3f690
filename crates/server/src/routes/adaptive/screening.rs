//! Screenings of students.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::screening::{
    self, ScreenedUser, ScreeningResults, ScreeningTestRequest, Session,
};
use lyceum_core::Result;
use schemars::JsonSchema;
use serde::Serialize;

use super::Success;
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Route, get, post};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct UserSession {
    user_id: String,
    session: Option<Session>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Forgotten {
    /// Whether there was one.
    reset: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Assigned {
    session: Session,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/screening/results/{userId}", AdaptiveRead, results)
            .named("getScreeningResults")
            .says("A student's latest screening result of each subject.")
            .answers::<ScreeningResults>(200, "The results by subject; null where there is none."),
        get("/screening/session/{userId}", AdaptiveRead, session_of)
            .named("getScreeningSession")
            .says("A student's screening and its tests.")
            .answers::<UserSession>(200, "The screening; null where none has begun."),
        post("/screening/session/reset", AdaptiveWrite, reset)
            .named("resetScreeningSession")
            .says("Forgets a student's screening; results stay.")
            .reads::<ScreenedUser>()
            .answers::<Success<Forgotten>>(200, "Forgotten, or there was none."),
        post("/screening/tests/assign", AdaptiveWrite, assign)
            .named("assignScreeningTest")
            .says("Assigns a student a screening test of a subject.")
            .reads::<ScreeningTestRequest>()
            .answers::<Success<Assigned>>(200, "The screening with the test."),
    ]
}

async fn results(context: Context) -> Result<Answer> {
    let user = context.param("userId").to_owned();
    let results = context.app.db.read(move |tx| screening::results(tx, &user)).await?;
    Ok(Answer::of(&results))
}

async fn session_of(context: Context) -> Result<Answer> {
    let user = context.param("userId").to_owned();
    let asked = user.clone();
    let session = context.app.db.read(move |tx| screening::session(tx, &asked)).await?;
    Ok(Answer::of(&UserSession { user_id: user, session }))
}

async fn reset(context: Context) -> Result<Answer> {
    let ScreenedUser { user_id } = context.body_as()?;
    let reset = context.app.db.write(move |tx| screening::reset(tx, &user_id)).await?;
    Ok(Answer::of(&Success::of(Forgotten { reset })))
}

async fn assign(context: Context) -> Result<Answer> {
    let (test, now) = (context.body_as::<ScreeningTestRequest>()?, context.app.clock.now());
    let session = context.app.db.write(move |tx| screening::assign(tx, now, &test)).await?;
    Ok(Answer::of(&Success::of(Assigned { session })))
}
