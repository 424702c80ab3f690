//! Subject tracks, and the enrollments that result from them.

use std::time::Duration;

use http::StatusCode;
use lyceum_access::Scope::{BridgeRead, BridgeWrite};
use lyceum_bridge::settle::{self, SettledUsers};
use lyceum_bridge::tracks::{self, SubjectTrack, SubjectTrackGroup, SubjectTrackInput, Track};
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_http::route::{delete, get, put};
use lyceum_http::trace;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{App, Context, Route, limits};

/// A track, or a list of them.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Tracks<T> {
    subject_track: T,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Groups {
    groups: Vec<SubjectTrackGroup>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/subject-track", BridgeRead, list_tracks)
            .within_reach()
            .named("getSubjectTracks")
            .description("Lists all subject tracks by subject and grade.")
            .answers::<Tracks<Vec<SubjectTrack>>>(200, "The tracks."),
        put("/subject-track", BridgeWrite, replace)
            .within_reach()
            .named("putSubjectTrack")
            .description("Sets the course of a subject in a grade, for all students or those of one organization, and enrolls the students to whom it applies.")
            .reads::<SubjectTrackInput>()
            .answers::<Tracks<SubjectTrack>>(200, "It was replaced.")
            .answers::<Tracks<SubjectTrack>>(201, "It was created."),
        get("/subject-track/groups", BridgeRead, group_tracks)
            .within_reach()
            .named("getSubjectTrackGroups")
            .description("The tracks by subject.")
            .answers::<Groups>(200, "The groups."),
        delete("/subject-track/{id}", BridgeWrite, remove)
            .within_reach()
            .named("deleteSubjectTrack")
            .description("Removes a track. Its enrollments stay.")
            .answers_empty(204, "It was removed."),
    ]
}

async fn list_tracks(context: Context) -> Result<Answer> {
    let reach = context.reach();
    let tracks = context.app.db.read(move |tx| tracks::all(tx, &reach)).await?;
    Ok(Answer::of(&Tracks { subject_track: tracks }))
}

async fn group_tracks(context: Context) -> Result<Answer> {
    let reach = context.reach();
    let groups = context.app.db.read(move |tx| tracks::groups(tx, &reach)).await?;
    Ok(Answer::of(&Groups { groups }))
}

async fn replace(context: Context) -> Result<Answer> {
    let track = Track::from(context.body_as::<SubjectTrackInput>()?);
    let users_to_settle = SettledUsers::Grade(track.grade_value.clone());
    let reach = context.reach();
    let (shown, is_new) = context.app.db.write(move |tx| tracks::put(tx, &track, &reach)).await?;
    settle_users(&context.app, &users_to_settle).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::of(&Tracks { subject_track: shown }).status(status))
}

async fn remove(context: Context) -> Result<Answer> {
    let (id, reach) = (context.param("id").to_owned(), context.reach());
    context.app.db.write(move |tx| tracks::delete(tx, &id, &reach)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

/// Settles enrollments page by page. Pages on which nothing is due are only read.
pub async fn settle_users(app: &App, users_to_settle: &SettledUsers) -> Result<()> {
    let now = app.clock.now();
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    let mut after = 0;
    loop {
        let users = users_to_settle.clone();
        let look = move |tx: &mut lyceum_store::Tx<'_>| settle::find_due(tx, now, &users, after);
        let (is_due, next) = app.db.scan(deadline, look).await?;
        if is_due {
            let users = users_to_settle.clone();
            app.db.write(move |tx| settle::settle(tx, now, &users, after)).await?;
        }
        match next {
            Some(next) => after = next,
            None => return Ok(()),
        }
    }
}

/// Periodically settles the enrollments of all users, including those whom no request concerns.
pub async fn settle_periodically(app: App) {
    let pause = Duration::from_secs(app.config.roster.settle_interval_s.max(1));
    loop {
        tokio::time::sleep(pause).await;
        let settled = settle_users(&app, &SettledUsers::Everybody);
        if let Err(problem) = trace::job("settle enrollments", settled).await {
            tracing::warn!(%problem, "not all due enrollments were made; trying again later");
        }
    }
}
