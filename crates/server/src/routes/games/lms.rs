//! What games teach: their courses as records of the roster.

use std::future::Future;
use std::sync::Arc;

use axum::http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite, RosterWrite};
use lyceum_core::{Problem, Result};
use lyceum_games::games::Game;
use lyceum_games::levels::Xp;
use lyceum_games::lms::{
    self, CheckedResources, Integration, Organization, Setup, State, Taught, Writable,
};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::elsewhere;
use super::play::{Play, of_game, read, write_for};
use crate::answer::Answer;
use crate::auth::Grant;
use crate::context::Context;
use crate::learning::{Elsewhere, Learning};
use crate::render::game_refusal;
use crate::route::{Access, ParamPlace, Pending, Route, delete, get, post};
use crate::state::App;

/// An integration, of a dry run with what is there of it.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct SetUp {
    #[serde(flatten)]
    pub(super) integration: Integration,
    /// What is there already, of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) found: Option<Vec<CheckedResources>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct Verification {
    game_id: String,
    /// Whether everything is there.
    status: Completeness,
    courses: Vec<CheckedResources>,
    /// What is missing, in words.
    missing: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Completeness {
    Ok,
    Incomplete,
}

/// What a game teaches, as a project's config says it.
#[derive(Serialize, JsonSchema)]
pub(super) struct IntegrationConfig {
    base: ConfiguredBase,
    courses: Vec<ConfiguredCourse>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ConfiguredBase {
    organization: Organization,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct ConfiguredCourse {
    subject: String,
    grade: String,
    total_xp: Xp,
    masterable_units: Xp,
    title: String,
    course_code: String,
}

pub(super) fn routes() -> Vec<Route> {
    let integration = get("/lms/integrations/{gameId}", Access::player(GamesRead), found)
        .named("getIntegration")
        .says("What a game teaches: organization and courses.")
        .answers::<Integration>(200, "The integration.");
    vec![
        learning(integration, elsewhere::found),
        learning(setup(), elsewhere::set_up),
        learning(deletion(), elsewhere::deleted),
        learning(verify(), elsewhere::verified),
        learning(configuration(), elsewhere::config),
    ]
}

fn setup() -> Route {
    let dry = json!({ "type": "boolean" });
    of_game(post("/lms/setup", GamesWrite, set_up))
        .named("setUpIntegration")
        .says("Sets up what a game teaches: for each course the records of the roster, made or brought up to date. A record that exists and that no setup of the game created needs the scope lyceum/roster.write, too.")
        .param(ParamPlace::Query, "dryRun", dry, "Changes nothing; the answer tells what is there already.")
        .reads::<Setup>()
        .answers::<SetUp>(200, "The integration.")
}

fn deletion() -> Route {
    delete("/lms/integrations/{gameId}", GamesWrite, deleted)
        .named("deleteIntegration")
        .says("Ends what a game teaches; the records that its setups created are marked 'tobedeleted', what players did stays.")
        .answers_empty(204, "Ended.")
}

fn verify() -> Route {
    get("/lms/verify/{gameId}", GamesRead, verified)
        .named("verifyIntegration")
        .says("Looks for each record of the roster that a game's courses need, and names what is missing.")
        .answers::<Verification>(200, "What was found.")
}

fn configuration() -> Route {
    get("/lms/config/{gameId}", Access::player(GamesRead), config)
        .named("getIntegrationConfig")
        .says("What a game teaches, as a project's config says it.")
        .answers::<IntegrationConfig>(200, "The member 'integrations.lms'.")
}

/// The roster records that a setup by this caller may write. In a sandbox these are all records, because its roster
/// belongs to the developer.
pub(crate) fn writable(grant: Option<&Grant>) -> Writable {
    let may_write_all =
        |grant: &Grant| grant.rights().allow(RosterWrite) || grant.is_developer_of_sandbox();
    match grant.is_some_and(may_write_all) {
        true => Writable::All,
        false => Writable::Created,
    }
}

/// The other server that records learning, if there is one.
pub(super) fn other(app: &App) -> Option<Arc<Elsewhere>> {
    match &app.sandbox.as_ref()?.learning {
        Learning::Elsewhere(other) => Some(Arc::clone(other)),
        Learning::Here | Learning::Nowhere => None,
    }
}

/// Whether learning is not recorded anywhere.
pub(super) fn is_off(app: &App) -> bool {
    let sandbox = app.sandbox.as_ref();
    sandbox.is_some_and(|sandbox| matches!(sandbox.learning, Learning::Nowhere))
}

/// A route that is sent to the other server if learning is recorded there, and refused if learning is not recorded.
pub(super) fn learning<H, F>(mut route: Route, elsewhere: H) -> Route
where
    H: Fn(Context, Arc<Elsewhere>) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Answer>> + Send + 'static,
{
    let here = Arc::clone(&route.handler);
    route.handler = Arc::new(move |context: Context| -> Pending {
        if is_off(&context.app) {
            return Box::pin(async { Ok(off()) });
        }
        match other(&context.app) {
            Some(other) => Box::pin(elsewhere(context, other)),
            None => here(context),
        }
    });
    route
}

fn off() -> Answer {
    let message = "this project has no learning integration; add 'integrations.lms' to its config \
                   and start the sandbox again";
    game_refusal(StatusCode::SERVICE_UNAVAILABLE, "LMS_DISABLED", message)
}

/// Whether a setup is a dry run. Errors: `Invalid` if the value is neither true nor false.
pub(super) fn is_dry(context: &Context) -> Result<bool> {
    match context.asked("dryRun").as_deref() {
        None | Some("false") => Ok(false),
        Some("true" | "") => Ok(true),
        Some(_) => Err(Problem::invalid("dryRun", "must be true or false")),
    }
}

async fn found(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let game = play.game(tx)?;
        lms::find(tx, &game)
    })
    .await
}

async fn set_up(context: Context) -> Result<Answer> {
    let setup: Setup = context.body_as()?;
    if is_dry(&context)? {
        return read(context, move |tx, play| {
            let game = play.game_or(tx, setup.game_id.as_deref())?;
            let may_write = writable(play.context.grant.as_ref());
            let planned = lms::writable(tx, &game, &setup, may_write)?;
            let found = Some(lms::check(tx, &planned)?);
            Ok(SetUp { integration: planned, found })
        })
        .await;
    }
    let named = (setup.game_id.clone(), None);
    write_for(context, StatusCode::OK, named, move |tx, play| {
        let game = play.game_or(tx, setup.game_id.as_deref())?;
        let may_write = writable(play.context.grant.as_ref());
        let former = lms::lookup(tx, &game)?;
        let integration = lms::set_up(tx, play.now, &game, &setup, may_write)?;
        // In a sandbox, the caller of the setup is the student.
        let sandbox = play.context.app.sandbox.as_ref();
        if let Some(user) = sandbox.and_then(|sandbox| sandbox.demo_user()) {
            lms::enrol(tx, play.now, user, former.as_ref(), &integration)?;
        }
        Ok(SetUp { integration, found: None })
    })
    .await
}

async fn deleted(context: Context) -> Result<Answer> {
    let play = Play::of(context)?;
    let db = play.context.app.db.clone();
    let delete = move |tx: &mut Tx<'_>| {
        let game = play.game(tx)?;
        lms::delete(tx, play.now, &game)
    };
    db.write(delete).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn verified(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let game = play.game(tx)?;
        let courses = lms::verify(tx, &game)?;
        Ok(verification(&game, courses))
    })
    .await
}

/// The state of an integration's records.
pub(super) fn verification(game: &Game, courses: Vec<CheckedResources>) -> Verification {
    let missing = missing(&courses);
    let status = if missing.is_empty() { Completeness::Ok } else { Completeness::Incomplete };
    Verification { game_id: game.id.clone(), status, courses, missing }
}

/// Describes the missing records. An organization that several courses need is named once.
fn missing(courses: &[CheckedResources]) -> Vec<String> {
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
        Ok(config_of(lms::find(tx, &game)?))
    })
    .await
}

/// An integration in the form of a project's config.
pub(super) fn config_of(integration: Integration) -> IntegrationConfig {
    let course = |course: Taught| ConfiguredCourse {
        subject: course.subject,
        grade: course.grade,
        total_xp: course.total_xp,
        masterable_units: course.masterable_units,
        title: course.title,
        course_code: course.course_code,
    };
    IntegrationConfig {
        base: ConfiguredBase { organization: integration.organization },
        courses: integration.courses.into_iter().map(course).collect(),
    }
}
