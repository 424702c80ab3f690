//! The page of a one-time link, on which a person sets a password.

use lyceum_access::{password, person};
use lyceum_api::shape::text;
use lyceum_api::{Context, Route};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_http::answer::Answer;
use lyceum_http::auth::{people, sign_in};
use lyceum_http::render;
use lyceum_http::route::{Access, ParamPlace, get, post};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Deserialize;

use super::page::{Form, FormGuard, GuardedForm, show_page};
use super::{check_link, form_route, onward, page_route, sentence};
use crate::sign_in::view::WelcomePage;

pub(super) fn routes() -> Vec<Route> {
    vec![
        page_route(get("/welcome", Access::Public, show))
            .named("getWelcomePage")
            .description("Asks the owner of a one-time link for a password.")
            .param(ParamPlace::Query, "link", text(), "The secret of the link."),
        form_route(post("/welcome", Access::Public, set))
            .reads::<GuardedForm<PasswordForm>>()
            .named("postWelcomePage")
            .description("Sets the password, invalidates the link and starts a session."),
    ]
}

async fn show(context: Context) -> Result<Answer> {
    let link = context.query_value("link");
    page(&context, link.as_deref().unwrap_or_default(), None).await
}

/// The fields of the page of a one-time link.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct PasswordForm {
    /// The secret of the link.
    link: String,
    /// The new password.
    password: String,
}

async fn set(context: Context) -> Result<Answer> {
    let PasswordForm { link, password } = Form::read(&context).await?.fields();
    if let Err(problem) = password::check(&password) {
        return page(&context, &link, Some(&problem)).await;
    }
    let (now, wanted) = (context.app.clock.now(), link.clone());
    let works = move |tx: &mut Tx<'_>| Ok(person::of_link(tx, now, &wanted)?.is_some());
    if let Err(problem) = check_link(&context, works, person::no_link).await {
        return match problem.cause {
            None => page(&context, &link, Some(&problem)).await,
            Some(_) => Err(problem),
        };
    }
    let hash = sign_in::hashing(&context.app, move || password::hash(&password)).await?;
    let (now, wanted) = (context.app.clock.now(), link.clone());
    let set = context.app.db.write(move |tx| person::use_link(tx, now, &wanted, &hash)).await;
    match set {
        Ok(person) => {
            let session = sign_in::begin_session(&context, &person).await?;
            Ok(onward(&context, &person, "", &session))
        }
        Err(problem) if problem.kind == ProblemKind::NotFound => {
            page(&context, &link, Some(&problem)).await
        }
        Err(problem) => Err(problem),
    }
}

async fn page(context: &Context, link: &str, problem: Option<&Problem>) -> Result<Answer> {
    let (now, wanted) = (context.app.clock.now(), link.to_owned());
    let owner = context.app.db.read(move |tx| person::of_link(tx, now, &wanted)).await?;
    let signed_in = people::open_page(&context.app, &context.headers).await?;
    let guard = FormGuard::of(context, signed_in.is_some());
    let answer = show_page(&WelcomePage {
        token: guard.token(),
        link,
        problem: problem.map(sentence),
        owner: owner.as_ref().map(|owner| (owner.name.as_str(), owner.email.as_str())),
    })?;
    let nobody = owner.is_none().then_some(ProblemKind::NotFound);
    let kind = problem.map(|problem| problem.kind).or(nobody);
    guard.add_cookie(match kind {
        Some(kind) => answer.status(render::status(kind)),
        None => answer,
    })
}
