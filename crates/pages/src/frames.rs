//! The page for a browser that has no access to a page, or whose page failed.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use lyceum_access::{AccessDenial, TokenHolder};
use lyceum_api::{Context, State};
use lyceum_console::Screen;
use lyceum_console::language::within;
use lyceum_core::{Problem, ProblemKind, message};
use lyceum_http::answer::Answer;
use lyceum_http::auth::{Grant, HeaderRefusal, people};
use lyceum_http::{PageProblems, ProblemRequest, language};

use crate::console::{self, Visitor};
use crate::learn;

/// The problems of all pages.
pub const PAGE_PROBLEMS: PageProblems<State> = PageProblems { refuse, frame };

/// Answers a browser without access to a screen of the console or to a page of students.
fn refuse(context: &Context, denied: &AccessDenial) -> Result<Answer, HeaderRefusal> {
    Ok(match context.route.screen {
        Some(screen) => console::redirect_or_refuse(context, screen, denied)?,
        None => learn::redirect_or_refuse(context, denied)?,
    })
}

fn frame<'a>(
    app: &'a State,
    request: &'a ProblemRequest,
    grant: Option<&'a Grant>,
    problem: &'a Problem,
) -> BoxFuture<'a, Option<Answer>> {
    framed(app, request, grant, problem).boxed()
}

async fn framed(
    app: &State,
    request: &ProblemRequest,
    grant: Option<&Grant>,
    problem: &Problem,
) -> Option<Answer> {
    let internal = (problem.kind == ProblemKind::Internal).then(|| {
        let id = &request.id;
        let message = message!(
            "the server could not do this because of an internal error; try again, and if that does not help, tell an \
             administrator the number {id}, under which the server's log has the cause"
        );
        Problem::new(problem.kind, message)
    });
    let problem = internal.as_ref().unwrap_or(problem);
    let grant = match grant {
        Some(grant) => grant.clone(),
        None => people::open_page(app, &request.headers).await.ok()??,
    };
    let language = language::of(app, grant.holder(), &request.headers);
    within(language, || match grant.holder()? {
        TokenHolder::Person(person) => {
            let screen = Screen::at(request.uri.path());
            let visitor = Visitor::with_session(app, &request.headers, person, screen);
            visitor.refused(problem).ok()
        }
        TokenHolder::Student(student) => {
            learn::refused(app, &request.headers, student, problem).ok()
        }
        TokenHolder::Key(_) => None,
    })
}
