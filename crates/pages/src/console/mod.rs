//! The console. Each screen is one file with its table of routes. A page requires a session of a person whose role has
//! the screen's scope: it shows what the API shows this role. Every change is a form with a token against forged requests.

mod answers;
mod badges;
mod class_access;
mod classes;
mod clients;
mod courses;
mod events;
mod home;
mod imports;
mod item;
mod keys;
mod people;
mod personal_data;
mod profile;
mod projects;
mod reasons;
mod school_hours;
mod search;
mod student;
mod students;
mod system;
mod teaching;
mod today;
mod visitor;
mod webhooks;

use std::time::Duration;

use askama::Template;
use http::{HeaderValue, header};
use lyceum_access::limits::PAGE_SESSION_LIFETIME_S;
use lyceum_access::{Role, Roles, Scopes, person};
use lyceum_api::{Area, Context, Route};
use lyceum_console::{Column, ExportFile, ExportFormat, Frame, List, SCREENS, Screen, assets, t};
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_hosting::limits::CONSOLE_EXPORT_MAX_ROWS;
use lyceum_http::Body;
use lyceum_http::answer::Answer;
use lyceum_http::auth::people::SessionCookies;
use lyceum_http::auth::sign_in;
use lyceum_http::render::{NO_STORE, PAGE_POLICY, Rendering, SNIFF, as_page, on_to};
use lyceum_http::route::{Access, get, post};
use lyceum_store::Tx;
use serde_json::json;

use crate::sign_in::Form;
use crate::{docs, limits};

pub(crate) use visitor::Visitor;
pub(crate) use visitor::{redirect_or_refuse, zone};

const FORM: &[&str] = &["application/x-www-form-urlencoded"];

/// The routes of all screens.
pub(super) fn area() -> Area {
    let screens = [
        home::routes(),
        today::routes(),
        students::routes(),
        student::routes(),
        people::routes(),
        profile::routes(),
        search::routes(),
        personal_data::routes(),
        answers::routes(),
        events::routes(),
        projects::routes(),
        keys::routes(),
        clients::routes(),
        system::routes(),
        school_hours::routes(),
        classes::routes(),
        class_access::routes(),
        teaching::routes(),
        badges::routes(),
        imports::routes(),
        courses::routes(),
        item::routes(),
        webhooks::routes(),
        vec![enter_route(), asset_route()],
    ];
    Area {
        name: "console",
        base: "/console",
        rendering: Rendering::Page,
        description: "The pages of the console.",
        routes: screens.into_iter().flatten().collect(),
    }
}

fn enter_route() -> Route {
    get("/enter", Access::Public, enter)
        .named("enterConsole")
        .description("Signs the owner of a sandbox or demo in, once, with the link that it prints.")
}

/// Signs a person in with the link that a sandbox or a demo prints.
async fn enter(context: Context) -> Result<Answer> {
    let link = context.query_value("link").unwrap_or_default();
    let now = context.app.clock.now();
    let wanted = link.clone();
    // Nobody makes the server write with a link that does not work.
    let owner = context.app.db.read(move |tx| person::of_entry_link(tx, now, &wanted)).await?;
    if owner.is_none() {
        return Err(person::no_entry_link());
    }
    let person = context.app.db.write(move |tx| person::enter(tx, now, &link)).await?;
    let session = sign_in::begin_session(&context, &person).await?;
    let cookie = SessionCookies::Session.set(&context.app, &session, PAGE_SESSION_LIFETIME_S);
    Ok(on_to("/console").header(header::SET_COOKIE, cookie))
}

fn asset_route() -> Route {
    get("/assets/{file}", Access::Public, asset)
        .named("getConsoleFile")
        .description(
            "A style or script of the console, by a name that holds a hash of its content.",
        )
        .answers_as(200, "The file.", Some(("text/css", json!({ "type": "string" }))))
}

async fn asset(context: Context) -> Result<Answer> {
    let name = context.param("file");
    let found = if assets::is_hashed(name) { docs::asset(&context, name)? } else { None };
    let Some(answer) = found else {
        return Err(Problem::new(ProblemKind::NotFound, message!("there is no file '{name}'")));
    };
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    Ok(answer.header(header::CACHE_CONTROL, forever))
}

/// A page of a screen; `path` is relative to `/console`. A visitor without a session is redirected to the sign-in page
/// and comes back after it. A role that does not see the screen is refused. Problems are shown in the frame.
fn page<H, F>(path: &'static str, screen: &'static Screen, handler: H) -> Route
where
    H: Fn(Context, Visitor) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Answer>> + Send + 'static,
{
    let route = get(path, access(screen), move |context| {
        let handler = handler.clone();
        async move {
            let visitor = Visitor::of(&context, screen)?;
            show_problem(&visitor.clone(), handler(context, visitor).await)
        }
    });
    Route { screen: Some(screen), ..route }
}

/// A form that changes something. The rules of [`page`] apply. The form must also contain the token of the current
/// session and come from a page of this server.
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
            show_problem(&told_to, answer)
        }
    });
    let route = Route { screen: Some(screen), ..route };
    route.reads_as(FORM).reads_up_to(limits::CONSOLE_FORM_MAX_BYTES)
}

/// Returns the answer. A problem becomes a page in the visitor's frame, unless the server caused it.
fn show_problem(visitor: &Visitor, answer: Result<Answer>) -> Result<Answer> {
    match answer {
        Err(problem) if problem.cause.is_none() => visitor.refused(&problem),
        answer => answer,
    }
}

fn access(screen: &Screen) -> Access {
    Access::Page(scopes(screen))
}

fn scopes(screen: &Screen) -> Scopes {
    screen.scope.parse().expect("a screen names a scope that exists")
}

/// Whether the role sees the screen.
fn sees(role: Role, screen: &Screen) -> bool {
    Roles::with(scopes(screen)).contain(role)
}

/// The screens of the navigation that the role sees.
fn screens_of(role: Role) -> Vec<&'static Screen> {
    SCREENS.iter().copied().filter(|screen| sees(role, screen)).collect()
}

/// Renders a view as a page.
fn show_page(view: &impl Template) -> Result<Answer> {
    Ok(as_page(lyceum_console::html(view)?))
}

/// Renders a view with a list, or only the list if it was requested as a file.
fn show_list(name: &str, list: &List, view: &impl Template) -> Result<Answer> {
    match list.export() {
        Some(export) => Ok(download(name, export, list.exported(export)?)),
        None => show_page(view),
    }
}

/// A page that has only a list.
#[derive(Template)]
#[template(path = "console/list.html")]
struct ListPage {
    frame: Frame,
    list: List,
}

/// Renders a page that has only a list, or only the list if it was requested as a file.
fn show_list_page(name: &str, frame: Frame, list: List) -> Result<Answer> {
    let page = ListPage { frame, list };
    show_list(name, &page.list, &page)
}

/// Sends a list as a file. The file is complete before it is sent, so that its length is known and an interrupted
/// download never looks complete.
fn download(name: &str, export: ExportFormat, file: Vec<u8>) -> Answer {
    let media = match export {
        ExportFormat::Csv => HeaderValue::from_static("text/csv; charset=utf-8"),
        ExportFormat::Json => HeaderValue::from_static("application/json"),
    };
    let name = format!("attachment; filename=\"{name}.{export}\"");
    Answer::typed(media, Body::from(file))
        .header(header::CONTENT_DISPOSITION, name)
        .header(header::CACHE_CONTROL, NO_STORE)
        .header(SNIFF, HeaderValue::from_static("nosniff"))
}

/// Sends the first rows of a list of any length as a file. If there are more rows, the file's name says so. `read`
/// adds at most the given number of rows and returns whether there are more.
async fn first_rows(
    context: &Context,
    name: &str,
    (columns, export): (&'static [Column], ExportFormat),
    mut read: impl FnMut(&mut Tx<'_>, &mut ExportFile, i64) -> Result<bool> + Send + 'static,
) -> Result<Answer> {
    let most = CONSOLE_EXPORT_MAX_ROWS;
    let limits = context.report_limits(longest_export());
    let file_of_rows = context.app.db.scan(limits, move |tx| {
        let mut file = ExportFile::new(columns, export)?;
        let is_cut = read(tx, &mut file, most)?;
        Ok((file.end()?, is_cut))
    });
    let (file, is_cut) = file_of_rows.await?;
    let name = if is_cut { format!("{name}-first-{most}") } else { name.to_owned() };
    Ok(download(&name, export, file))
}

/// The note below a list that has more rows than an exported file.
fn cut_notice(total: i64) -> String {
    let most = CONSOLE_EXPORT_MAX_ROWS;
    if total <= most {
        return String::new();
    }
    t!("A CSV or JSON file has the first {n} of these rows.", n = most)
}

/// The note below a list whose query reached its limit of rows, so that there may be more.
fn at_most(found: usize, most: impl TryInto<usize>) -> String {
    match most.try_into() {
        Ok(most) if found >= most => {
            t!("This list has at most {n} rows.", n = i64::try_from(most).unwrap_or(i64::MAX))
        }
        _ => String::new(),
    }
}

/// The time limit for the reads of a page.
pub(super) fn deadline() -> Duration {
    Duration::from_millis(limits::CONSOLE_READ_MAX_MS)
}

/// The time limit for the reads of a file.
fn longest_export() -> Duration {
    Duration::from_millis(limits::CONSOLE_EXPORT_MAX_MS)
}
