//! The console: where people look. A screen a file, with its table of routes. Every page is for whoever is
//! signed in with a role that sees the screen; what changes something is a form with a token.

mod answers;
mod badges;
mod classes;
mod clients;
mod courses;
mod events;
mod home;
mod imports;
mod keys;
mod projects;
mod student;
mod students;
mod system;
mod today;
mod visitor;

use std::time::Duration;

use askama::Template;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use lyceum_access::{Roles, person};
use lyceum_console::{Column, Export, File, List, Screen, assets, words};
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_store::Tx;
use serde_json::json;

use super::docs;
use super::sign_in::Form;
use crate::answer::Answer;
use crate::auth::people::Cookie;
use crate::auth::sign_in;
use crate::context::Context;
use crate::render::Rendering;
use crate::route::{Access, Area, Route, get, post};

pub(super) use visitor::Visitor;
pub(crate) use visitor::turn_away;

const FORM: &[&str] = &["application/x-www-form-urlencoded"];
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// Files of this server alone, nothing inline; no form leads elsewhere, no page shows this one in itself.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
     connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);
const SNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

/// The screens' routes.
pub(super) fn area() -> Area {
    let screens = [
        home::routes(),
        today::routes(),
        students::routes(),
        student::routes(),
        answers::routes(),
        events::routes(),
        projects::routes(),
        keys::routes(),
        clients::routes(),
        system::routes(),
        classes::routes(),
        badges::routes(),
        imports::routes(),
        courses::routes(),
    ];
    let mut routes: Vec<Route> = screens.into_iter().flatten().collect();
    routes.push(
        get("/enter", Access::Public, enter)
            .named("enterConsole")
            .says("Signs the developer of a sandbox in; no other server has it."),
    );
    routes.push(
        get("/assets/{file}", Access::Public, asset)
            .named("getConsoleFile")
            .says("A style or script of the console, by a name that holds a hash of its content.")
            .answers_as(200, "The file.", Some(("text/css", json!({ "type": "string" })))),
    );
    Area {
        name: "console",
        base: "/console",
        rendering: Rendering::Page,
        says: "The pages on which people look at what is here.",
        routes,
    }
}

/// A page of a screen: `path` stands below `/console`. Whoever is not signed in is sent to the sign-in
/// page and comes back; a role that does not see the screen is refused. Problems are told in the frame.
fn page<H, F>(path: &'static str, screen: &'static Screen, handler: H) -> Route
where
    H: Fn(Context, Visitor) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Answer>> + Send + 'static,
{
    let route = get(path, access(screen), move |context| {
        let handler = handler.clone();
        async move {
            let visitor = Visitor::of(&context, screen)?;
            told(&visitor.clone(), handler(context, visitor).await)
        }
    });
    Route { screen: Some(screen), ..route }
}

fn access(screen: &Screen) -> Access {
    Access::Page(Roles::named(screen.roles))
}

/// A change by a form of a page: as [`page`], and only where the form carries the token of this very
/// session and a page of this server sent it.
fn action<H, F>(path: &'static str, screen: &'static Screen, handler: H) -> Route
where
    H: Fn(Context, Visitor, Form) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Answer>> + Send + 'static,
{
    let route = post(path, access(screen), move |context| {
        let handler = handler.clone();
        async move {
            let visitor = Visitor::of(&context, screen)?;
            let told_to = visitor.clone();
            let answer = match Form::read(&context).await {
                Ok(form) => handler(context, visitor, form).await,
                Err(problem) => Err(problem),
            };
            told(&told_to, answer)
        }
    });
    let route = Route { screen: Some(screen), ..route };
    route.reads_as(FORM).reads_up_to(limits::CONSOLE_FORM_MAX_BYTES)
}

/// A view as a page.
fn shown(view: &impl Template) -> Result<Answer> {
    Ok(as_page(lyceum_console::html(view)?))
}

/// A page of a view with a list; the list alone, as a file, where that is asked for.
fn listed(name: &str, list: &List, view: &impl Template) -> Result<Answer> {
    match list.export() {
        Some(export) => Ok(sent(name, export, list.exported(export)?)),
        None => shown(view),
    }
}

/// A list as a file. It is sent when all of it is made, with its length, so that what broke off never looks whole.
fn sent(name: &str, export: Export, file: Vec<u8>) -> Answer {
    let media = match export {
        Export::Csv => HeaderValue::from_static("text/csv; charset=utf-8"),
        Export::Json => HeaderValue::from_static("application/json"),
    };
    let name = format!("attachment; filename=\"{name}.{export}\"");
    Answer::typed(media, Body::from(file))
        .header(header::CONTENT_DISPOSITION, name)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .header(SNIFF, HeaderValue::from_static("nosniff"))
}

/// Sends a list that has no end as a file: its first rows, by a name that says so where there are more. `read`
/// adds so many rows at most, and answers whether there are more.
async fn first_rows(
    context: &Context,
    name: &str,
    (columns, export): (&'static [Column], Export),
    mut read: impl FnMut(&mut Tx<'_>, &mut File, i64) -> Result<bool> + Send + 'static,
) -> Result<Answer> {
    let most = limits::CONSOLE_EXPORT_MAX_ROWS;
    let made = context.app.db.scan(longest_export(), move |tx| {
        let mut file = File::new(columns, export)?;
        let is_cut = read(tx, &mut file, most)?;
        Ok((file.end()?, is_cut))
    });
    let (file, is_cut) = made.await?;
    let name = if is_cut { format!("{name}-first-{most}") } else { name.to_owned() };
    Ok(sent(&name, export, file))
}

/// What is said below a list of which one file does not hold all rows.
fn cut(total: i64) -> String {
    let most = limits::CONSOLE_EXPORT_MAX_ROWS;
    if total <= most {
        return String::new();
    }
    format!("A CSV or JSON file has the first {} of these rows.", words::count(most))
}

/// What is said below a list for which as many rows were read as there may be: there may be more.
fn at_most(found: usize, most: impl TryInto<usize>) -> String {
    match most.try_into() {
        Ok(most) if found >= most => format!("This list has at most {most} rows."),
        _ => String::new(),
    }
}

/// How long the reads of a page may take.
fn deadline() -> Duration {
    Duration::from_millis(limits::CONSOLE_READ_MAX_MS)
}

/// How long the reads of a file may take.
fn longest_export() -> Duration {
    Duration::from_millis(limits::CONSOLE_EXPORT_MAX_MS)
}

/// On to another page, after a form.
pub(super) fn on_to(path: &str) -> Answer {
    Answer::empty(axum::http::StatusCode::SEE_OTHER)
        .header(header::LOCATION, path)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

/// HTML with what every page is sent with; nobody but its reader keeps it.
pub(crate) fn as_page(html: String) -> Answer {
    Answer::typed(HTML, Body::from(html))
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .header(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"))
        .header(SNIFF, HeaderValue::from_static("nosniff"))
}

/// Signs in by the link that a sandbox prints.
async fn enter(context: Context) -> Result<Answer> {
    if context.app.sandbox.is_none() {
        let message = "only a sandbox has sign-in links; sign in at /sign-in";
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    let link = context.asked("link").unwrap_or_default();
    let now = context.app.clock.now();
    let person = context.app.db.write(move |tx| person::enter(tx, now, &link)).await?;
    let session = sign_in::begin(&context, &person).await?;
    let cookie = Cookie::Session.set(&context.app, &session, limits::PAGE_SESSION_LIFETIME_S);
    Ok(on_to("/console").header(header::SET_COOKIE, cookie))
}

async fn asset(context: Context) -> Result<Answer> {
    let name = context.param("file");
    let found = if assets::is_hashed(name) { docs::asset(&context, name)? } else { None };
    let Some(answer) = found else {
        return Err(Problem::new(ProblemKind::NotFound, format!("there is no file '{name}' here")));
    };
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    Ok(answer.header(header::CACHE_CONTROL, forever))
}

/// The answer; a problem as a page in the visitor's frame, unless the fault is the server's.
fn told(visitor: &Visitor, answer: Result<Answer>) -> Result<Answer> {
    match answer {
        Err(problem) if problem.cause.is_none() => visitor.refused(&problem),
        answer => answer,
    }
}
