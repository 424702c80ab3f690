//! The courses that games teach, as records of the roster.

use std::future::Future;
use std::sync::Arc;

use http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite, RosterWrite};
use lyceum_core::{Problem, Result};
use lyceum_games::games::Game;
use lyceum_games::levels::Xp;
use lyceum_games::lms::{
    self, CheckedCourse, Integration, IntegrationSetup, LearningOrganization, RecordState,
    TaughtCourse, WritableRecords,
};
use lyceum_http::answer::Answer;
use lyceum_http::auth::Grant;
use lyceum_http::render::game_refusal;
use lyceum_http::route::{Access, HandlerFuture, ParamPlace, delete, get, post};
use lyceum_roster::kinds::ORG;
use lyceum_roster::repository;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::play::{GameRequest, of_game, read, write_for};
use super::remote_setup;
use crate::learning::{Learning, RemoteLearning};
use crate::shape::flag;
use crate::{App, Context, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        learning(integration_route(), remote_setup::check_resources),
        learning(setup_route(), remote_setup::set_up),
        learning(deletion_route(), remote_setup::deleted),
        learning(verification_route(), remote_setup::verified),
        learning(config_route(), remote_setup::config),
    ]
}

fn integration_route() -> Route {
    get("/lms/integrations/{gameId}", Access::player(GamesRead), check_resources)
        .within_reach()
        .named("getIntegration")
        .description("Reads the integration of a game: its organization and courses.")
        .answers::<Integration>(200, "The integration.")
}

async fn check_resources(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let game = play.game(tx)?;
        find_within(tx, play, &game)
    })
    .await
}

/// A setup writes records of the roster for all players of the game, so that limited callers are refused.
fn setup_route() -> Route {
    of_game(post("/lms/setup", GamesWrite, set_up))
        .named("setUpIntegration")
        .description("Sets up the integration of a game: creates or updates the roster records of each course. Changing an existing record that no setup of the game created also needs the scope lyceum/roster.write.")
        .param(ParamPlace::Query, "dryRun", flag(), "A dry run: changes nothing and returns the records that exist already.")
        .reads::<IntegrationSetup>()
        .answers::<SetUp>(200, "The integration.")
}

/// An integration; after a dry run also the records that exist already.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct SetUp {
    #[serde(flatten)]
    pub(super) integration: Integration,
    /// The records that exist already; only after a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) found: Option<Vec<CheckedCourse>>,
}

async fn set_up(context: Context) -> Result<Answer> {
    let setup: IntegrationSetup = context.body_as()?;
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

/// Whether a setup is a dry run. Errors: `Invalid` if the value is neither true nor false.
pub(super) fn is_dry(context: &Context) -> Result<bool> {
    match context.query_value("dryRun").as_deref() {
        None | Some("false") => Ok(false),
        Some("true" | "") => Ok(true),
        Some(_) => Err(Problem::invalid("dryRun", "must be true or false")),
    }
}

/// As [`setup_route`], for all callers with a limit.
fn deletion_route() -> Route {
    delete("/lms/integrations/{gameId}", GamesWrite, deleted)
        .named("deleteIntegration")
        .description("Removes the integration of a game. The records that its setups created are marked 'tobedeleted'; the events of players stay.")
        .answers_empty(204, "It has ended.")
}

async fn deleted(context: Context) -> Result<Answer> {
    let play = GameRequest::of(context)?;
    let db = play.context.app.db.clone();
    let delete = move |tx: &mut Tx<'_>| {
        let game = play.game(tx)?;
        lms::delete(tx, play.now, &game)
    };
    db.write(delete).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

fn verification_route() -> Route {
    get("/lms/verify/{gameId}", GamesRead, verified)
        .within_reach()
        .named("verifyIntegration")
        .description("Checks whether the roster has each record that a game's courses need, and lists the missing ones.")
        .answers::<Verification>(200, "The records with their states.")
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct Verification {
    game_id: String,
    /// Whether all records exist.
    status: Completeness,
    courses: Vec<CheckedCourse>,
    /// A description of each missing record.
    missing: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Completeness {
    Ok,
    Incomplete,
}

async fn verified(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let game = play.game(tx)?;
        find_within(tx, play, &game)?;
        let courses = lms::verify(tx, &game)?;
        Ok(verification(&game, courses))
    })
    .await
}

/// The state of an integration's records.
pub(super) fn verification(game: &Game, courses: Vec<CheckedCourse>) -> Verification {
    let missing = missing(&courses);
    let status = if missing.is_empty() { Completeness::Ok } else { Completeness::Incomplete };
    Verification { game_id: game.id.clone(), status, courses, missing }
}

/// Describes the missing records. An organization that several courses need is named once.
fn missing(courses: &[CheckedCourse]) -> Vec<String> {
    let mut missing = Vec::new();
    for resource in courses.iter().flat_map(|course| &course.resources) {
        let why = match resource.state {
            RecordState::Ok => continue,
            RecordState::Missing => "is missing",
            RecordState::Deleted => "was deleted",
        };
        let text = format!("the {} '{}' {why}", resource.kind, resource.id);
        if !missing.contains(&text) {
            missing.push(text);
        }
    }
    missing
}

fn config_route() -> Route {
    get("/lms/config/{gameId}", Access::player(GamesRead), config)
        .within_reach()
        .named("getIntegrationConfig")
        .description("The integration of a game, in the format of a project's config.")
        .answers::<IntegrationConfig>(200, "The member 'integrations.lms'.")
}

/// The integration of a game, in the format of a project's config.
#[derive(Serialize, JsonSchema)]
pub(super) struct IntegrationConfig {
    base: ConfiguredBase,
    courses: Vec<ConfiguredCourse>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ConfiguredBase {
    organization: LearningOrganization,
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

async fn config(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let game = play.game(tx)?;
        Ok(config_of(find_within(tx, play, &game)?))
    })
    .await
}

/// An integration in the form of a project's config.
pub(super) fn config_of(integration: Integration) -> IntegrationConfig {
    let course = |course: TaughtCourse| ConfiguredCourse {
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

/// A route that is sent to the other server if learning is recorded there, and refused if learning is not recorded.
pub(super) fn learning<H, F>(mut route: Route, elsewhere: H) -> Route
where
    H: Fn(Context, Arc<RemoteLearning>) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Answer>> + Send + 'static,
{
    let local_handler = Arc::clone(&route.handler);
    route.handler = Arc::new(move |context: Context| -> HandlerFuture {
        if is_off(&context.app) {
            return Box::pin(async { Ok(off()) });
        }
        match other_server(&context.app) {
            Some(other) => Box::pin(elsewhere(context, other)),
            None => local_handler(context),
        }
    });
    route
}

fn off() -> Answer {
    let message = "this project has no learning integration; add 'integrations.lms' to its config \
                   and start the sandbox again";
    game_refusal(StatusCode::SERVICE_UNAVAILABLE, "LMS_DISABLED", message)
}

/// Whether learning is not recorded anywhere.
pub(super) fn is_off(app: &App) -> bool {
    matches!(app.learning, Some(Learning::Nowhere))
}

/// The other server that records learning, if there is one.
pub(super) fn other_server(app: &App) -> Option<Arc<RemoteLearning>> {
    match app.learning.as_ref()? {
        Learning::Elsewhere(other) => Some(Arc::clone(other)),
        Learning::Here | Learning::Nowhere => None,
    }
}

/// The roster records that a setup by this caller may write. In a sandbox these are all records, because its roster
/// belongs to the developer.
pub fn writable(grant: Option<&Grant>) -> WritableRecords {
    let may_write_all =
        |grant: &Grant| grant.rights().allow(RosterWrite) || grant.is_developer_of_sandbox();
    match grant.is_some_and(may_write_all) {
        true => WritableRecords::All,
        false => WritableRecords::Created,
    }
}

/// The integration of a game, if its organization lies within the caller's reach.
///
/// Errors: `NotFound`.
fn find_within(tx: &mut Tx<'_>, play: &GameRequest, game: &Game) -> Result<Integration> {
    let reach = play.context.reach();
    let integration = lms::find(tx, game)?;
    match repository::is_within(tx, &ORG, &integration.organization.id, &reach)? {
        true => Ok(integration),
        false => Err(lms::without_courses(game)),
    }
}
