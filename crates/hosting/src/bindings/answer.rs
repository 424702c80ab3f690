//! Responses of bindings.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::ext::ReasonPhrase;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use crate::engine::Body;

/// A status, headers and a body.
pub(super) struct Answer(Box<Response<Body>>);

impl Answer {
    pub(super) fn empty() -> Self {
        Self::bytes(Bytes::new())
    }

    pub(super) fn bytes(bytes: Bytes) -> Self {
        Self::body(Full::new(bytes).map_err(|never| match never {}).boxed_unsync())
    }

    pub(super) fn body(body: Body) -> Self {
        Self(Box::new(Response::new(body)))
    }

    pub(super) fn json(value: &impl serde::Serialize) -> Self {
        let text = serde_json::to_vec(value).expect("answers of bindings are JSON");
        Self::bytes(text.into()).with(CONTENT_TYPE, "application/json")
    }

    /// A refusal. Its text is also sent as the HTTP reason, which some bindings show.
    pub(super) fn refusal(status: StatusCode, message: &str) -> Self {
        let mut answer = Self::bytes(Bytes::copy_from_slice(message.as_bytes())).status(status);
        let line: String = message.chars().filter(|c| !c.is_control()).collect();
        if let Ok(reason) = ReasonPhrase::try_from(line) {
            answer.0.extensions_mut().insert(reason);
        }
        answer
    }

    pub(super) fn status(mut self, status: StatusCode) -> Self {
        *self.0.status_mut() = status;
        self
    }

    /// Adds the header, unless the value is not allowed in a header.
    pub(super) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            self.0.headers_mut().insert(name, value);
        }
        self
    }
}

impl From<Answer> for Response<Body> {
    fn from(answer: Answer) -> Self {
        *answer.0
    }
}
