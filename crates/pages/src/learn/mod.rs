//! The pages of students at `/learn`, and what the scripts of these pages read and change at `/api/learn`.
//!
//! Each route has the access [`Access::Student`]. No path, parameter or body names the student: handlers use
//! [`Context::student`], so a student reaches nobody else's records.

pub(crate) mod view;

mod account;
pub(crate) mod class;
mod home;
mod lessons;

use http::{HeaderMap, HeaderName};
use lyceum_access::{AccessDenial, Student, StudentSession, session};
use lyceum_adaptive::attempt::LessonContext;
use lyceum_core::{Problem, ProblemKind, Reach, Result};
use lyceum_store::Tx;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::learn::view::{StudentFrame, StudentProblemPage};

pub(crate) use class::CLASS_PAGE;

use crate::sign_in::{FormGuard, clear_browser};
use lyceum_api::Context;
use lyceum_api::State;
use lyceum_api::adaptive;
use lyceum_api::{Area, Route};
use lyceum_http::answer::Answer;
use lyceum_http::auth;
use lyceum_http::auth::people;
use lyceum_http::auth::people::SessionCookies;
use lyceum_http::render;
use lyceum_http::render::Rendering;
use lyceum_http::render::{as_page, on_to};
use lyceum_http::route::{Access, get, post};

const FORM: &[&str] = &["application/x-www-form-urlencoded"];

pub(super) fn areas() -> Vec<Area> {
    let pages = [home::routes(), lessons::pages(), account::routes(), class::routes()];
    let data = lessons::data();
    vec![
        Area {
            name: "student-pages",
            base: "/learn",
            rendering: Rendering::Page,
            description: "The pages on which students learn.",
            routes: pages.into_iter().flatten().collect(),
        },
        Area {
            name: "learn",
            base: "/api/learn",
            rendering: Rendering::Problem,
            description: "What the signed-in student sees and does. The session cookie of a browser opens it, and changes \
                          are accepted from pages of this server only.",
            routes: data,
        },
    ]
}

/// A page for students with this session or one that opens more; `path` is relative to `/learn`. A visitor without a
/// session is redirected to the sign-in page and comes back after it.
fn page<H, F>(path: &'static str, least: StudentSession, handler: H) -> Route
where
    H: Fn(Context) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Answer>> + Send + 'static,
{
    get(path, Access::Student(least), handler)
}

/// A form of such a page. Handlers read it with [`Form::read`](crate::sign_in::Form::read), which checks its token.
fn form<H, F>(path: &'static str, least: StudentSession, handler: H) -> Route
where
    H: Fn(Context) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Answer>> + Send + 'static,
{
    let route = post(path, Access::Student(least), handler);
    route.reads_as(FORM).reads_up_to(lyceum_api::limits::SIGN_IN_FORM_MAX_BYTES)
}

/// Work on the lessons of the signed-in student, for a transaction. It gets the student's sourcedId. No reach limits it,
/// because the functions for students find everything by this id.
fn of_student<T>(
    context: &Context,
    mut work: impl FnMut(&mut Tx<'_>, &LessonContext<'_>, &str) -> Result<T> + Send + 'static,
) -> Result<impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static> {
    check_page_token(context)?;
    let student = context.student()?;
    Ok(adaptive::within(context, Reach::Everything, move |tx, lesson_context| {
        work(tx, lesson_context, &student)
    }))
}

/// The header in which the script of a page repeats the token of the page's forms.
const PAGE_TOKEN: HeaderName = HeaderName::from_static("page-token");

/// Refuses requests of a page that an earlier session in the same browser opened: another student may have signed in since.
/// Errors: `Unauthorized`.
fn check_page_token(context: &Context) -> Result<()> {
    let Some(token) = context.header(PAGE_TOKEN) else { return Ok(()) };
    let secret = people::session(&context.app, &context.headers).unwrap_or_default();
    if session::is_form_token(secret, token) {
        return Ok(());
    }
    let message = "this page was opened in an earlier session; load it again";
    Err(Problem::new(ProblemKind::Unauthorized, message))
}

/// The frame of a student's page with this title.
fn frame(context: &Context, title: impl Into<String>) -> Result<StudentFrame> {
    let student = context.signed_in_student()?;
    Ok(frame_of(&context.app, &context.headers, student, title))
}

/// The frame for a student whose browser sent these headers, with a session.
fn frame_of(
    app: &State,
    headers: &HeaderMap,
    student: &Student,
    title: impl Into<String>,
) -> StudentFrame {
    StudentFrame {
        name: student.person.name.clone(),
        has_account: student.session == StudentSession::Own,
        environment: auth::environment(app),
        title: title.into(),
        token: FormGuard::of_session(app, headers).token(),
    }
}

/// Shows a problem as a page in the student's frame.
pub(crate) fn refused(
    app: &State,
    headers: &HeaderMap,
    student: &Student,
    problem: &Problem,
) -> Result<Answer> {
    let status = render::status(problem.kind);
    let frame = frame_of(app, headers, student, render::title(status));
    let page = StudentProblemPage { frame: &frame, message: render::sentence(problem) };
    Ok(as_page(lyceum_console::html(&page)?).status(status))
}

/// Answers a browser that has no access to a page of students. Without a session, it is redirected to the sign-in page
/// and comes back, or to the class whose code it has. A session that has ended leaves nothing in it. Errors: `Forbidden` for
/// everybody else.
pub(crate) fn redirect_or_refuse(context: &Context, denied: &AccessDenial) -> Result<Answer> {
    if *denied != AccessDenial::SignedOut {
        return Err(auth::refusal(denied).problem);
    }
    let redirect = match SessionCookies::Class.read(&context.app, &context.headers) {
        Some(_) => on_to(CLASS_PAGE),
        None => {
            let here = context.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
            let next = if context.method == "POST" { "/learn" } else { &here };
            on_to(&format!("/sign-in?next={}", utf8_percent_encode(next, NON_ALPHANUMERIC)))
        }
    };
    Ok(match people::session(&context.app, &context.headers) {
        Some(_) => clear_browser(context, redirect),
        None => redirect,
    })
}
