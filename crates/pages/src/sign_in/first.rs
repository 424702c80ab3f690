//! The link that creates the first administrator. The server prints it at its start as long as there is no
//! administrator.

use lyceum_access::{first_administrator, password};
use lyceum_api::shape::text;
use lyceum_api::{Context, Route};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_http::answer::Answer;
use lyceum_http::auth::sign_in;
use lyceum_http::render::{self, sentence};
use lyceum_http::route::{Access, ParamPlace, get, post};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Deserialize;

use super::page::{Form, FormGuard, GuardedForm, show_page};
use super::{check_link, form_route, onward, page_route};
use crate::sign_in::view::FirstAdministratorPage;

pub(super) fn routes() -> Vec<Route> {
    vec![
        page_route(get("/first", Access::Public, show))
            .named("getFirstAccountPage")
            .description(
                "Asks for the account of the first administrator, as long as the server has none.",
            )
            .param(ParamPlace::Query, "link", text(), "The secret of the link."),
        form_route(post("/first", Access::Public, make))
            .reads::<GuardedForm<FirstAccountForm>>()
            .named("postFirstAccountPage")
            .description("Creates the first administrator and begins a session."),
    ]
}

async fn show(context: Context) -> Result<Answer> {
    let link = context.query_value("link");
    page(&context, &link.unwrap_or_default(), ("", ""), None).await
}

/// The fields of the page that creates the first administrator.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct FirstAccountForm {
    /// The secret of the link.
    link: String,
    /// The e-mail address.
    email: String,
    /// The name.
    name: String,
    /// The new password.
    password: String,
}

async fn make(context: Context) -> Result<Answer> {
    let FirstAccountForm { link, email, name, password } = Form::read(&context).await?.fields();
    if let Err(problem) = password::check(&password) {
        return page(&context, &link, (&email, &name), Some(&problem)).await;
    }
    let (master, sent) = (context.app.gate.keyring().master().clone(), link.clone());
    let works = move |tx: &mut Tx<'_>| first_administrator::is_open(tx, &master, &sent);
    if let Err(problem) = check_link(&context, works, first_administrator::setup_closed).await {
        return match problem.cause {
            None => page(&context, &link, (&email, &name), Some(&problem)).await,
            Some(_) => Err(problem),
        };
    }
    let hash = sign_in::hashing(&context.app, move || password::hash(&password)).await?;
    let (now, master) = (context.app.clock.now(), context.app.gate.keyring().master().clone());
    let wanted = (link.clone(), email.clone(), name.clone());
    let created = context.app.db.write(move |tx| {
        let (link, email, name) = &wanted;
        first_administrator::create_by_link(tx, now, &master, link, (email, name, &hash))
    });
    match created.await {
        Ok(person) => {
            let session = sign_in::begin_session(&context, &person).await?;
            Ok(onward(&context, &person, "", &session))
        }
        Err(problem) if problem.cause.is_some() => Err(problem),
        Err(problem) => page(&context, &link, (&email, &name), Some(&problem)).await,
    }
}

async fn page(
    context: &Context,
    link: &str,
    (email, name): (&str, &str),
    problem: Option<&Problem>,
) -> Result<Answer> {
    let (master, sent) = (context.app.gate.keyring().master().clone(), link.to_owned());
    let is_open =
        context.app.db.read(move |tx| first_administrator::is_open(tx, &master, &sent)).await?;
    let guard = FormGuard::of(context, false);
    let problem_text = problem.map(sentence);
    let view = FirstAdministratorPage {
        token: guard.token(),
        link,
        email,
        name,
        problem: problem_text,
        is_open,
    };
    let closed = (!is_open).then_some(ProblemKind::NotFound);
    let kind = problem.map(|problem| problem.kind).or(closed);
    let answer = show_page(&view)?;
    guard.add_cookie(match kind {
        Some(kind) => answer.status(render::status(kind)),
        None => answer,
    })
}
