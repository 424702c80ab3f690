//! The request of a page that failed: as much as the page of its problem needs.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Uri, header};
use lyceum_core::{Problem, ProblemKind};
use tokio::time::timeout;

use crate::answer::Answer;
use crate::auth::Grant;
use crate::request_id::RequestId;
use crate::{Application, limits};

/// A request for a page of the console or of students.
pub struct ProblemRequest {
    /// The address.
    pub uri: Uri,
    /// The headers with the cookies and the languages of the browser.
    pub headers: HeaderMap,
    /// The id of the request.
    pub id: RequestId,
}

impl ProblemRequest {
    pub(crate) fn of(parts: &Parts, id: &RequestId) -> Self {
        let of_browser =
            |name: &HeaderName| matches!(*name, header::COOKIE | header::ACCEPT_LANGUAGE);
        let headers = parts.headers.iter().filter(|(name, _)| of_browser(name));
        Self {
            uri: parts.uri.clone(),
            headers: headers.map(|(name, value)| (name.clone(), value.clone())).collect(),
            id: id.clone(),
        }
    }

    /// The problem in the frame. `None` if nobody is signed in, if the server is too busy for a frame, and if the store
    /// does not answer in time.
    pub(crate) async fn framed<A: Application>(
        &self,
        app: &A,
        grant: Option<&Grant>,
        problem: &Problem,
    ) -> Option<Answer> {
        if matches!(problem.kind, ProblemKind::TooManyRequests | ProblemKind::Unavailable) {
            return None;
        }
        let frame = app.page_problems().frame;
        let page = AssertUnwindSafe(frame(app, self, grant, problem)).catch_unwind();
        timeout(Duration::from_millis(limits::PROBLEM_PAGE_MAX_MS), page).await.ok()?.ok()?
    }
}
