//! The page on which a person gives a program access (RFC 8628, 3.3).

use http::StatusCode;
use lyceum_access::{Person, TokenHolder, device, guess};
use lyceum_api::shape::text;
use lyceum_api::{Context, Route};
use lyceum_console::language::{self, ProblemText, within};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_http::answer::Answer;
use lyceum_http::auth::{self, people};
use lyceum_http::render::{self, sentence};
use lyceum_http::route::{Access, ParamPlace, get, post};
use lyceum_store::Tx;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::Deserialize;

use super::page::{Form, FormGuard, GuardedForm, show_page};
use super::{elsewhere, form_route, page_route};
use crate::limits;
use crate::sign_in::view::{DevicePage, DeviceStep};

pub(super) fn routes() -> Vec<Route> {
    vec![
        page_route(get("/device", Access::Public, show))
            .named("getDevicePage")
            .description(
                "Asks the signed-in person whether the program with this code may act for them.",
            )
            .param(ParamPlace::Query, "user_code", text(), "The code that the program shows."),
        form_route(post("/device", Access::Public, decide))
            .reads::<GuardedForm<DeviceForm>>()
            .named("postDevicePage")
            .description("Gives the program access, or refuses it."),
    ]
}

async fn show(context: Context) -> Result<Answer> {
    let typed =
        context.query_value("user_code").map(|code| code.trim().to_owned()).unwrap_or_default();
    let Some(person) = reader(&context).await? else { return Ok(sign_in_first(&typed)) };
    if typed.is_empty() {
        return page(&context, &person, DeviceStep::EnterCode, None, StatusCode::OK);
    }
    match look_up(&context, &person, &typed).await {
        Ok(Some(code)) => page(&context, &person, DeviceStep::Decide(&code), None, StatusCode::OK),
        Ok(None) => unknown(&context, &person),
        Err(problem) => refused(&context, &person, problem),
    }
}

/// The fields of the page on which a person gives a program access.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct DeviceForm {
    /// The code that the program shows.
    user_code: String,
    /// "approve" or "deny"; anything else asks again.
    decision: String,
}

async fn decide(context: Context) -> Result<Answer> {
    let DeviceForm { user_code: typed, decision } = Form::read(&context).await?.fields();
    let Some(person) = reader(&context).await? else { return Ok(sign_in_first(&typed)) };
    let approve = match decision.as_str() {
        "approve" => true,
        "deny" => false,
        _ => return Ok(elsewhere(&format!("/device?user_code={}", encoded(&typed)))),
    };
    let (now, environment) = (context.app.clock.now(), context.app.config.server.env);
    let by = person.clone();
    let decided = context.app.db.write(move |tx| {
        counted(tx, now, &by, |tx| {
            let is_decided = device::decide(tx, now, environment, &typed, &by, approve)?;
            Ok(is_decided.then_some(()))
        })
    });
    match decided.await {
        Ok(Some(())) => page(&context, &person, DeviceStep::Decided(approve), None, StatusCode::OK),
        Ok(None) => unknown(&context, &person),
        Err(problem) => refused(&context, &person, problem),
    }
}

fn refused(context: &Context, person: &Person, problem: Problem) -> Result<Answer> {
    if problem.cause.is_some() {
        return Err(problem);
    }
    let status = render::status(problem.kind);
    page(context, person, DeviceStep::EnterCode, Some(sentence(&problem)), status)
}

/// Finds the request with a code that a person typed. Wrong codes are counted.
fn counted<T>(
    tx: &mut Tx<'_>,
    now: Timestamp,
    person: &Person,
    find: impl FnOnce(&mut Tx<'_>) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let guesses =
        vec![(format!("device code of {}", person.id), limits::GUESSES_DEVICE_CODE_COUNT)];
    guess::count(tx, now, &guesses)?;
    let found = find(tx)?;
    if found.is_some() {
        guess::take_back(tx, &guesses)?;
    }
    Ok(found)
}

/// The signed-in person, if any.
async fn reader(context: &Context) -> Result<Option<Person>> {
    let grant = people::open_page(&context.app, &context.headers).await?;
    Ok(match grant.as_ref().and_then(auth::Grant::holder) {
        Some(TokenHolder::Person(person)) => Some(person.clone()),
        _ => None,
    })
}

/// The code in the form in which it is shown, if it waits for a decision. Wrong codes are counted.
async fn look_up(context: &Context, person: &Person, typed: &str) -> Result<Option<String>> {
    let (now, environment) = (context.app.clock.now(), context.app.config.server.env);
    let (typed, by) = (typed.to_owned(), person.clone());
    let looked_up = context
        .app
        .db
        .write(move |tx| counted(tx, now, &by, |tx| device::waiting(tx, now, environment, &typed)));
    looked_up.await
}

fn unknown(context: &Context, person: &Person) -> Result<Answer> {
    let message = "no program waits with this code; a code works once and for ten minutes: check the terminal, \
                   or start again there";
    let problem = ProblemText::of(message);
    page(context, person, DeviceStep::EnterCode, Some(problem), StatusCode::NOT_FOUND)
}

fn page(
    context: &Context,
    person: &Person,
    step: DeviceStep<'_>,
    problem: Option<ProblemText>,
    status: StatusCode,
) -> Result<Answer> {
    let guard = FormGuard::of(context, true);
    let view = DevicePage {
        token: guard.token(),
        name: &person.name,
        email: &person.email,
        environment: auth::environment(&context.app),
        step,
        problem,
    };
    // The route is public, so the page is not yet in the language of the account.
    let language = person.language.unwrap_or_else(language::reader);
    let page = within(language, || show_page(&view))?;
    guard.add_cookie(page.status(status))
}

fn sign_in_first(code: &str) -> Answer {
    let here = if code.is_empty() {
        "/device".to_owned()
    } else {
        format!("/device?user_code={}", encoded(code))
    };
    elsewhere(&format!("/sign-in?next={}", encoded(&here)))
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
