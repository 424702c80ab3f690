//! The page on which people play a deployed project. It signs them in, embeds the app from its own host and gives it a
//! game token.
//!
//! Page and app each send to and listen to one exact origin, and no cookie is involved. A token in the app's address
//! would stay in histories and logs.

pub(crate) mod view;

use std::sync::Arc;

use lyceum_access::{Person, Player, StudentSession, TokenHolder};
use lyceum_adaptive::student_lessons;
use lyceum_api::games::catalogue::{GameToken, issued_to};
use lyceum_api::projects::project_location;
use lyceum_api::shape::one_of;
use lyceum_api::{Area, Context, Route};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_games::games::{self, Game};
use lyceum_games::visitors;
use lyceum_hosting::{class_apps, deployments, homes};
use lyceum_http::answer::Answer;
use lyceum_http::auth::{self, Grant, people};
use lyceum_http::render::{Rendering, as_page_with_frame, on_to};
use lyceum_http::route::{Access, ParamPlace, get, post};
use lyceum_roster::repository;
use lyceum_store::Tx;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use crate::play::view::{PlayMode, PlayPage};

pub(super) fn area() -> Area {
    let page = |route: Route| {
        route.answers_as(200, "The page.", Some(("text/html", json!({ "type": "string" }))))
    };
    Area {
        name: "play",
        base: "/play",
        rendering: Rendering::Page,
        description: "The pages on which people play deployed projects.",
        routes: vec![
            page(get("/{slug}", Access::Public, show))
                .named("getPlayPage")
                .description("Signs a visitor in and shows the app from its own host; `mode=demo` shows it to everybody.")
                .param(ParamPlace::Query, "mode", one_of(&["demo"]), "The demo, without an account.")
                .answers_empty(303, "The visitor signs in first."),
            post("/{slug}/token", Access::SignedIn, token_of)
                .of_no_organization()
                .named("createPlayToken")
                .description("A token of the signed-in person for this game alone. It is valid for ten minutes, and the page gets the next one before.")
                .answers::<GameToken>(200, "The token."),
        ],
    }
}

/// The address of the app's demo, if the path is the page of an app.
pub(super) fn demo_of(path: &str) -> Option<String> {
    let slug = path.strip_prefix("/play/")?.split(['/', '?']).next()?;
    games::is_slug(slug).then(|| format!("/play/{slug}?mode=demo"))
}

async fn show(context: Context) -> Result<Answer> {
    let slug = context.param("slug").to_owned();
    let game = deployed(&context, slug.clone()).await?;
    let is_demo = match context.query_value("mode").as_deref() {
        None => false,
        Some("demo") => true,
        Some(other) => {
            let message = message!("must be demo or left out (got {other})");
            return Err(Problem::invalid("mode", message));
        }
    };
    let grant = people::open_page(&context.app, &context.headers).await?;
    let holder = grant.as_ref().and_then(Grant::holder);
    let mut token_path = format!("/play/{slug}/token");
    if let (Some(TokenHolder::Student(student)), false) = (holder, is_demo) {
        check_student(&context, &student.user, &slug).await?;
        token_path = format!("/api/learn/apps/{slug}/token");
    }
    let person = holder.map(TokenHolder::name);
    let is_sandbox = context.app.sandbox.is_some();
    if !is_demo && person.is_none() && !is_sandbox {
        let next = format!("/play/{slug}");
        let next = utf8_percent_encode(&next, NON_ALPHANUMERIC);
        return Ok(on_to(&format!("/sign-in?next={next}")));
    }
    let app_url = project_location(&context.app, &slug).frontend_url;
    let mode = if is_demo { PlayMode::Demo } else { PlayMode::Platform };
    let page = PlayPage {
        mode,
        name: game.display_name,
        emoji: game.emoji.unwrap_or_default(),
        who: person.filter(|_| !is_demo).unwrap_or_default().to_owned(),
        environment: auth::environment(&context.app),
        base_url: context.app.base_url.clone(),
        app_url: app_url.clone(),
        token_path,
        slug,
    };
    as_page_with_frame(lyceum_console::html(&page)?, &app_url)
}

/// Refuses a student who has the app neither in a class nor in a lesson. Errors: `Forbidden`.
async fn check_student(context: &Context, student: &str, slug: &str) -> Result<()> {
    let (now, student, slug) = (context.app.clock.now(), student.to_owned(), slug.to_owned());
    let read = move |tx: &mut Tx<'_>| {
        let is_approved =
            class_apps::of_student(tx, now, &student)?.iter().any(|app| app.slug == slug);
        Ok(is_approved || student_lessons::include_app(tx, now, &student, &slug)?)
    };
    if context.app.db.read(read).await? {
        return Ok(());
    }
    let message = "this app is not approved for your classes; your apps and lessons are at /learn";
    Err(Problem::new(ProblemKind::Forbidden, message))
}

/// The route of a student's token. It is below `/api/learn`.
pub(super) fn student_token_route() -> Route {
    post("/apps/{slug}/token", Access::Student(StudentSession::Class), token_of_student)
        .reads_as(&[])
        .named("createStudentPlayToken")
        .description("A token of the student for an app that is approved for a class or part of a course, for ten minutes: the page of the app asks for it again and again.")
        .answers::<GameToken>(200, "The token.")
}

async fn token_of_student(context: Context) -> Result<Answer> {
    let (slug, user) = (context.param("slug").to_owned(), context.student()?);
    check_student(&context, &user, &slug).await?;
    let game = deployed(&context, slug).await?;
    let grant = context.grant.as_ref().expect("the route requires a session");
    let player = Player { user, game: game.id };
    Ok(issued(&context, grant.client_id(), &player))
}

/// The game of a project that has a frontend. Errors: `NotFound`.
async fn deployed(context: &Context, slug: String) -> Result<Game> {
    let node = Arc::clone(&context.app.cluster.node);
    let read = move |tx: &mut Tx<'_>| {
        homes::admit(tx, &node, &slug)?;
        let served = deployments::active(tx, &slug)?;
        let game = games::lookup(tx, &slug)?;
        match (served.and_then(|served| served.frontend), game) {
            (Some(_), Some(game)) => Ok(game),
            _ => Err(class_apps::not_deployed(&slug)),
        }
    };
    context.app.db.read(read).await
}

async fn token_of(context: Context) -> Result<Answer> {
    let slug = context.param("slug").to_owned();
    let game = deployed(&context, slug).await?;
    let (app, now) = (&context.app, context.app.clock.now());
    let grant = context.grant.as_ref().expect("the route requires a session");
    let (client, player) = match (grant.holder(), &app.sandbox) {
        (Some(TokenHolder::Person(person)), _) => {
            let person = person.clone();
            let find = move |tx: &mut Tx<'_>| {
                let user = player_of(tx, now, &person)?;
                Ok(Player { user, game: game.id.clone() })
            };
            (grant.client_id(), app.db.write(find).await?)
        }
        (_, Some(sandbox)) => {
            let user = sandbox.player().user.clone();
            (grant.client_id(), Player { user, game: game.id })
        }
        _ => {
            let message = "only people play; a client gets tokens for players from \
                           POST /api/games/{gameId}/token";
            return Err(Problem::new(ProblemKind::Forbidden, message));
        }
    };
    Ok(issued(&context, client, &player))
}

fn issued(context: &Context, client: &str, player: &Player) -> Answer {
    let (keyring, now) = (context.app.gate.keyring(), context.app.clock.now());
    let issued = keyring.issue_game(client, player, now, lyceum_api::limits::PLAY_TOKEN_LIFETIME_S);
    Answer::of(&issued_to(&issued, player, now))
}

/// The player of a person: the roster user with the account's e-mail address, otherwise a visitor.
fn player_of(tx: &mut Tx<'_>, now: Timestamp, person: &Person) -> Result<String> {
    // Accounts store their e-mail addresses in lower case.
    let email = person.email.as_str();
    if let Some(user) = repository::users_with_emails(tx, &[email])?.remove(email) {
        return Ok(user);
    }
    let visitor = visitors::of_person(tx, now, &person.id, (&person.name, &person.email))?;
    Ok(visitor.id)
}
