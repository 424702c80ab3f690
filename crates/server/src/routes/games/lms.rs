//! What games teach: courses as records of the roster.

use std::sync::Arc;

use axum::http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_core::Result;
use lyceum_games::lms::{self, Setup, State};
use lyceum_games::{games, lms::Checked};
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::lms_schema as schema;
use super::play::{read, write};
use crate::answer::Answer;
use crate::context::Context;
use crate::render::game_refusal;
use crate::route::{Access, Pending, Route, delete, get, post};
use crate::state::App;

pub(super) fn routes() -> Vec<Route> {
    let routes = vec![
        get("/lms/integrations/{gameId}", Access::player(GamesRead), found)
            .named("getIntegration")
            .says("What a game teaches: organization and courses.")
            .answers(200, "The integration.", schema::integration()),
        post("/lms/setup", GamesWrite, set_up)
            .named("setUpIntegration")
            .says("Sets up what a game teaches: for each course the records of the roster, made or brought up to date.")
            .reads(schema::setup())
            .answers(200, "The integration.", schema::integration()),
        delete("/lms/integrations/{gameId}", GamesWrite, deleted)
            .named("deleteIntegration")
            .says("Ends what a game teaches; its records are marked 'tobedeleted', what players did stays.")
            .answers_empty(204, "Ended."),
        get("/lms/verify/{gameId}", GamesRead, verified)
            .named("verifyIntegration")
            .says("Looks for each record of the roster that a game's courses need, and names what is missing.")
            .answers(200, "What was found.", schema::verified()),
        get("/lms/config/{gameId}", Access::player(GamesRead), config)
            .named("getIntegrationConfig")
            .says("What a game teaches, as a project's config says it.")
            .answers(200, "The member 'integrations.lms'.", schema::config()),
    ];
    routes.into_iter().map(guarded).collect()
}

/// Whether there is nobody to learn with.
pub(super) fn is_off(app: &App) -> bool {
    app.sandbox.as_ref().is_some_and(|sandbox| !sandbox.learns)
}

/// The route, refused where there is nobody to learn with.
pub(super) fn guarded(mut route: Route) -> Route {
    let handler = Arc::clone(&route.handler);
    route.handler = Arc::new(move |context: Context| -> Pending {
        if is_off(&context.app) {
            return Box::pin(async { Ok(off()) });
        }
        handler(context)
    });
    route
}

fn off() -> Answer {
    let message = "this project has no learning integration; add 'integrations.lms' to its config \
                   and start the sandbox again";
    game_refusal(StatusCode::SERVICE_UNAVAILABLE, "LMS_DISABLED", message)
}

async fn found(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let game = play.game(tx)?;
        lms::find(tx, &game)
    })
    .await
}

async fn set_up(context: Context) -> Result<Answer> {
    let setup: Setup = lyceum_games::read(&context.body)?;
    write(context, StatusCode::OK, move |tx, play| {
        let game = play.game_or(tx, setup.game_id.as_deref())?;
        lms::set_up(tx, play.now, &game, &setup)
    })
    .await
}

async fn deleted(context: Context) -> Result<Answer> {
    let (game, now) = (context.param("gameId").to_owned(), context.app.clock.now());
    let delete = move |tx: &mut Tx<'_>| {
        let game = games::find(tx, &game)?;
        lms::delete(tx, now, &game)
    };
    context.app.db.write(delete).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn verified(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let game = play.game(tx)?;
        let courses = lms::verify(tx, &game)?;
        let missing = missing(&courses);
        let status = if missing.is_empty() { "ok" } else { "incomplete" };
        Ok(json!({
            "gameId": game.id, "status": status, "courses": courses, "missing": missing,
        }))
    })
    .await
}

/// What is missing, in words; an organization that several courses need once.
fn missing(courses: &[Checked]) -> Vec<String> {
    let mut told = Vec::new();
    for resource in courses.iter().flat_map(|course| &course.resources) {
        let why = match resource.state {
            State::Ok => continue,
            State::Missing => "is missing",
            State::Deleted => "was deleted",
        };
        let text = format!("the {} '{}' {why}", resource.kind, resource.id);
        if !told.contains(&text) {
            told.push(text);
        }
    }
    told
}

async fn config(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let game = play.game(tx)?;
        let integration = lms::find(tx, &game)?;
        let courses: Vec<Value> = integration
            .courses
            .iter()
            .map(|course| {
                json!({
                    "subject": course.subject, "grade": course.grade, "totalXp": course.total_xp,
                    "masterableUnits": course.masterable_units, "title": course.title,
                    "courseCode": course.course_code,
                })
            })
            .collect();
        Ok(json!({ "base": { "organization": integration.organization }, "courses": courses }))
    })
    .await
}
