//! Problems as pages in the frame of the person or student who is signed in.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Uri, header};
use futures_util::FutureExt;
use lyceum_access::TokenHolder;
use lyceum_console::Screen;
use lyceum_console::language::within;
use lyceum_core::{Problem, ProblemKind};
use tokio::time::timeout;

use crate::answer::Answer;
use crate::auth::{Grant, people};
use crate::render::Rendering;
use crate::request_id::RequestId;
use crate::routes;
use crate::routes::console::Visitor;
use crate::state::App;
use crate::{language, limits};

/// What the page of a problem needs from a request for a page of the console or of students.
pub(crate) struct ProblemPage {
    uri: Uri,
    /// The headers with the cookies and the languages of the browser.
    headers: HeaderMap,
}

impl ProblemPage {
    /// `None` for a request for anything but a page.
    pub(crate) fn of(rendering: Rendering, parts: &Parts) -> Option<Self> {
        let of_browser =
            |name: &HeaderName| matches!(*name, header::COOKIE | header::ACCEPT_LANGUAGE);
        let headers = || parts.headers.iter().filter(|(name, _)| of_browser(name));
        (rendering == Rendering::Page).then(|| Self {
            uri: parts.uri.clone(),
            headers: headers().map(|(name, value)| (name.clone(), value.clone())).collect(),
        })
    }

    /// The problem in the frame. `None` if nobody is signed in, if the server is too busy for a frame, and if the store
    /// does not answer in time. `grant` holds the rights of the caller, if they are known.
    pub(crate) async fn framed(
        &self,
        app: &App,
        id: &RequestId,
        grant: Option<&Grant>,
        problem: &Problem,
    ) -> Option<Answer> {
        if matches!(problem.kind, ProblemKind::TooManyRequests | ProblemKind::Unavailable) {
            return None;
        }
        let page = AssertUnwindSafe(self.page(app, id, grant, problem)).catch_unwind();
        timeout(Duration::from_millis(limits::PROBLEM_PAGE_MAX_MS), page).await.ok()?.ok()?
    }

    async fn page(
        &self,
        app: &App,
        id: &RequestId,
        grant: Option<&Grant>,
        problem: &Problem,
    ) -> Option<Answer> {
        let internal = (problem.kind == ProblemKind::Internal).then(|| {
            let message = format!(
                "the server could not do this because of an internal error; try again, and if that does not help, tell an \
                 administrator the number {id}, under which the server's log has the cause"
            );
            Problem::new(problem.kind, message)
        });
        let problem = internal.as_ref().unwrap_or(problem);
        let grant = match grant {
            Some(grant) => grant.clone(),
            None => people::open_page(app, &self.headers).await.ok()??,
        };
        let language = language::of(app, grant.holder(), &self.headers);
        within(language, || match grant.holder()? {
            TokenHolder::Person(person) => {
                let screen = Screen::at(self.uri.path());
                let visitor = Visitor::with_session(app, &self.headers, person, screen);
                visitor.refused(problem).ok()
            }
            TokenHolder::Student(student) => {
                routes::learn::refused(app, &self.headers, student, problem).ok()
            }
            TokenHolder::Key(_) => None,
        })
    }
}
