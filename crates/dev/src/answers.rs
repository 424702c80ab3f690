//! Answers with failures: a page for people, JSON for programs. The page and the Vite plugin follow the builds, so
//! that they notice when a failure is fixed.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::stream::unfold;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderValue, ORIGIN,
};
use hyper::{Method, Request, Response};
use lyceum_core::origins::Origins;
use lyceum_hosting::engine::{Body, BoxError};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::failure::DevFailure;

/// Streams the state of the builds as server-sent events. No route has this path, because routes do not begin with
/// `_`.
pub(crate) const EVENTS: &str = "/api/__lyceum/builds";
const PAGE: &str = include_str!("failure.html");
/// Is replaced in the page by the failure.
const PLACEHOLDER: &str = "__FAILURE__";

/// The attempts to serve the saved files.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuildState {
    /// The number of complete attempts.
    pub(crate) count: u64,
    /// Why the latest failed.
    pub(crate) failure: Option<DevFailure>,
}

impl BuildState {
    fn json(&self) -> Value {
        json!({ "build": self.count, "failure": self.failure })
    }
}

/// The sender of a request, by what it may read of a failure and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A browser that opens the address. It can be opened again if the method was `GET`.
    Browser { is_get: bool },
    /// A program, or a page of this machine.
    Program,
    /// A page of another site. Routes allow every page to read their answers, but not the project's sources.
    OtherSite,
}

impl Reader {
    pub(crate) fn of(request: &Request<Incoming>, origins: &Origins) -> Self {
        let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
        let is_other = |origin: &str| !origins.takes_page(origin, text(HOST));
        if request.headers().contains_key(ORIGIN) && text(ORIGIN).is_none_or(is_other) {
            return Self::OtherSite;
        }
        match text(ACCEPT).is_some_and(|types| types.contains("text/html")) {
            true => Self::Browser { is_get: request.method() == Method::GET },
            false => Self::Program,
        }
    }
}

/// Replaces the body of an answer by a failure.
pub(crate) fn with_failure(
    mut answer: Response<Body>,
    reader: Reader,
    code: &str,
    failure: &DevFailure,
    build: u64,
) -> Response<Body> {
    let error = |message: &str| json!({ "code": code, "message": message, "details": [] });
    let (sort, text) = match reader {
        Reader::Browser { is_get } => {
            let facts = json!({ "build": build, "failure": failure, "isGet": is_get }).to_string();
            // The text is inside a script element, which `</script>` would end.
            let page = PAGE.replacen(PLACEHOLDER, &facts.replace('<', "\\u003c"), 1);
            ("text/html; charset=utf-8", page)
        }
        Reader::Program => {
            let mut error = error(&failure.message);
            error["failure"] = json!(failure);
            ("application/json", json!({ "error": error }).to_string())
        }
        Reader::OtherSite => {
            let message = "the backend failed; the log of `lyceum dev` has the reason";
            ("application/json", json!({ "error": error(message) }).to_string())
        }
    };
    let headers = answer.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(sort));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let body = Full::new(Bytes::from(text)).map_err(|never: Infallible| match never {});
    *answer.body_mut() = body.boxed_unsync();
    answer
}

/// The state of the builds now, and again after each attempt.
pub(crate) fn events(builds: watch::Receiver<BuildState>) -> Response<Body> {
    let events = unfold((builds, true), |(mut builds, is_first)| async move {
        if !is_first {
            builds.changed().await.ok()?;
        }
        let event = format!("data: {}\n\n", builds.borrow_and_update().json());
        Some((Ok::<_, BoxError>(Frame::data(Bytes::from(event))), (builds, false)))
    });
    let mut answer = Response::new(StreamBody::new(events).boxed_unsync());
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
