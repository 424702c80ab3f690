//! The pages on which people sign in, set a password with a link, and give a program access. They work without scripts.
//! Each form contains a token that other sites do not know.

pub(crate) mod view;

mod device;
mod first;
mod oidc;
mod page;
mod welcome;

use http::{HeaderName, HeaderValue, StatusCode, header};
use lyceum_access::limits::PAGE_SESSION_LIFETIME_S;
use lyceum_access::{Person, Role, StudentSession, TokenHolder, guess, person, session};
use lyceum_api::shape::text;
use lyceum_api::{Area, Context, Route};
use lyceum_console::language::ProblemText;
use lyceum_core::{Problem, Result};
use lyceum_http::answer::Answer;
use lyceum_http::auth::people::{self, SessionCookies};
use lyceum_http::auth::sign_in;
use lyceum_http::render::{self, Rendering, sentence};
use lyceum_http::route::{Access, ParamPlace, get, post};
use lyceum_store::Tx;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::learn::CLASS_PAGE;
use crate::sign_in::view::SignInPage;
use crate::{calendar, limits};
use page::show_page;
pub(crate) use page::{Form, FormGuard, GuardedForm};

const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");

pub(crate) const FORM: &[&str] = &["application/x-www-form-urlencoded"];

pub(super) fn area() -> Area {
    let routes = [
        sign_in_routes(),
        oidc::routes(),
        first::routes(),
        vec![sign_out_route(), calendar::language_route()],
        welcome::routes(),
        device::routes(),
    ];
    Area {
        name: "sign-in",
        base: "",
        rendering: Rendering::Problem,
        description: "The pages on which people sign in and give programs access.",
        routes: routes.into_iter().flatten().collect(),
    }
}

fn page_route(route: Route) -> Route {
    route.answers_as(200, "The page.", Some(("text/html", text())))
}

fn form_route(route: Route) -> Route {
    page_route(route.reads_as(FORM).reads_up_to(lyceum_api::limits::SIGN_IN_FORM_MAX_BYTES))
        .answers_empty(303, "Leads to the next page.")
}

fn sign_in_routes() -> Vec<Route> {
    vec![
        get("/", Access::Public, start)
            .named("getStart")
            .description(
                "Redirects from the server's address to the console, or a student to the lessons.",
            )
            .answers_empty(303, "The page is there."),
        page_route(get("/sign-in", Access::Public, show))
            .named("getSignInPage")
            .description("Shows the sign-in form, or how to create the first account.")
            .param(ParamPlace::Query, "next", text(), "The path to go on to."),
        form_route(post("/sign-in", Access::Public, begin))
            .reads::<GuardedForm<SignInForm>>()
            .named("postSignInPage")
            .description("Starts a session and redirects to the next page."),
    ]
}

/// The fields of the sign-in page.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct SignInForm {
    /// The e-mail address.
    email: String,
    /// The password.
    password: String,
    /// The path of the page that follows.
    next: String,
}

async fn start(context: Context) -> Result<Answer> {
    let grant = people::open_page(&context.app, &context.headers).await?;
    let role = grant.as_ref().and_then(|grant| grant.holder()).map(TokenHolder::role);
    Ok(elsewhere(home(role.unwrap_or(Role::Administrator))))
}

async fn show(context: Context) -> Result<Answer> {
    let next = context.query_value("next");
    let next = local(next.as_deref().unwrap_or_default());
    let signed_in = people::open_page(&context.app, &context.headers).await?;
    let name = signed_in.as_ref().and_then(|grant| grant.holder()).map(TokenHolder::name);
    page(&context, "", next, None, name).await
}

async fn begin(context: Context) -> Result<Answer> {
    let SignInForm { email, password, next } = Form::read(&context).await?.fields();
    let next = local(&next);
    match sign_in::sign_in(&context, &email, password).await {
        Ok((person, session)) => Ok(onward(&context, &person, next, &session)),
        Err(problem) if problem.cause.is_some() => Err(problem),
        Err(problem) => refuse(&context, &email, next, &problem).await,
    }
}

fn sign_out_route() -> Route {
    form_route(post("/sign-out", Access::Public, end))
        .reads::<GuardedForm<SignOutForm>>()
        .named("postSignOutPage")
        .description("Ends the browser's session.")
}

/// The sign-out form has no fields but its token.
#[derive(JsonSchema)]
struct SignOutForm {}

async fn end(context: Context) -> Result<Answer> {
    Form::read(&context).await?;
    let grant = people::open_page(&context.app, &context.headers).await?;
    let next = match grant.as_ref().and_then(|grant| grant.holder()) {
        Some(TokenHolder::Student(student)) if student.session == StudentSession::Class => {
            CLASS_PAGE
        }
        _ => "/sign-in",
    };
    if let Some(text) = people::session(&context.app, &context.headers).map(str::to_owned) {
        context.app.db.write(move |tx| session::end(tx, &text)).await?;
    }
    Ok(clear_browser(&context, elsewhere(next)))
}

async fn page(
    context: &Context,
    email: &str,
    next: &str,
    problem: Option<ProblemText>,
    name: Option<&str>,
) -> Result<Answer> {
    let guard = FormGuard::of(context, name.is_some());
    let has_accounts = context.app.db.read(person::has_sign_in).await?;
    let oidc = &context.app.config.oidc;
    let page = SignInPage {
        token: guard.token(),
        next,
        next_encoded: utf8_percent_encode(next, NON_ALPHANUMERIC).to_string(),
        email,
        problem,
        has_accounts,
        signed_in: name,
        provider: oidc.issuer.is_some().then_some(oidc.name.as_str()),
        demo: crate::play::demo_of(next),
    };
    guard.add_cookie(show_page(&page)?)
}

/// Shows the page again with the problem.
async fn refuse(context: &Context, email: &str, next: &str, problem: &Problem) -> Result<Answer> {
    let answer = page(context, email, next, Some(sentence(problem)), None).await?;
    Ok(answer.status(render::status(problem.kind)))
}

/// Redirects to the next page and sets the session cookie. Students go to their own pages only, and find nothing of a former
/// session.
fn onward(context: &Context, person: &Person, next: &str, session: &str) -> Answer {
    let cookie = SessionCookies::Session.set(&context.app, session, PAGE_SESSION_LIFETIME_S);
    let home = home(person.role);
    let is_elsewhere = person.role == Role::Student && !next.starts_with(home);
    let next = if next.is_empty() || is_elsewhere { home } else { next };
    let answer = elsewhere(next).header(header::SET_COOKIE, cookie);
    let had_session = people::session(&context.app, &context.headers).is_some();
    if had_session && person.role == Role::Student { clear_stored_data(answer) } else { answer }
}

/// The first page of a role.
fn home(role: Role) -> &'static str {
    if role == Role::Student { "/learn" } else { "/console" }
}

/// Lets the browser remove its session and all that pages stored: nothing of a person stays on a device that somebody else
/// uses next.
pub(crate) fn clear_browser(context: &Context, answer: Answer) -> Answer {
    let no_session = SessionCookies::Session.set(&context.app, "", 0);
    clear_stored_data(answer.header(header::SET_COOKIE, no_session))
}

/// Lets the browser remove all that pages stored, but not its cookies.
pub(crate) fn clear_stored_data(answer: Answer) -> Answer {
    answer.header(CLEAR_SITE_DATA, HeaderValue::from_static("\"cache\", \"storage\""))
}

fn elsewhere(path: &str) -> Answer {
    Answer::empty(StatusCode::SEE_OTHER)
        .header(header::LOCATION, path)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

/// The path if it leads to a page of this server, otherwise an empty text.
pub(crate) fn local(next: &str) -> &str {
    let plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let leads_here = next.starts_with('/') && !next.starts_with("//") && plain;
    if leads_here { next } else { "" }
}

/// Refuses an invalid link before the password is hashed. Such tries are counted by address.
///
/// Errors: `refused`; too many tries.
async fn check_link(
    context: &Context,
    works: impl Fn(&mut Tx<'_>) -> Result<bool> + Send + 'static,
    refused: fn() -> Problem,
) -> Result<()> {
    let now = context.app.clock.now();
    let tries = [guess::from_place("link", &context.place, limits::GUESSES_LINK_COUNT)];
    let checked = context.app.db.write(move |tx| {
        guess::count(tx, now, &tries)?;
        let works = works(tx)?;
        if works {
            guess::take_back(tx, &tries)?;
        }
        Ok(works)
    });
    if checked.await? { Ok(()) } else { Err(refused()) }
}

#[cfg(test)]
mod tests {
    use super::local;

    #[test]
    fn a_redirect_after_sign_in_stays_on_this_site() {
        for path in ["/device", "/device?user_code=BCDF-GHJK", "/console"] {
            assert_eq!(local(path), path);
        }
        for path in
            ["//evil.test", "https://evil.test", "/\\evil.test", "evil", "/ x", "/\r\nx", ""]
        {
            assert_eq!(local(path), "");
        }
    }
}
