//! The answer of a handler.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use lyceum_core::Detail;
use serde::Serialize;

use crate::Body;
use crate::fixed::FixedAnswer;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A status, headers and a body. [`crate::dispatch`] adds the parts that all answers share, such as the request id,
/// CORS headers and compression.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body: bytes or a stream.
    pub body: Body,
    /// The same body if it never changes. It has compressed copies.
    pub fixed: Option<Arc<FixedAnswer>>,
    /// Notices for the header `X-Lyceum-Notice` about what the server did otherwise than asked, besides the notices of
    /// [`Context`](crate::context::Context).
    pub notices: Vec<Detail>,
}

impl Answer {
    /// 200 with JSON text. This is the cheapest way if the text already exists.
    pub fn json(text: impl Into<Bytes>) -> Self {
        Self::typed(JSON, Body::from(text.into()))
    }

    /// 200 with the value as JSON.
    pub fn of(value: &impl Serialize) -> Self {
        Self::json(serde_json::to_vec(value).expect("serialized types have string keys"))
    }

    /// A status without a body.
    pub fn empty(status: StatusCode) -> Self {
        let headers = HeaderMap::new();
        Self { status, headers, body: Body::empty(), fixed: None, notices: Vec::new() }
    }

    /// 200 with a body of the media type.
    pub fn typed(media: HeaderValue, body: Body) -> Self {
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(header::CONTENT_TYPE, media);
        Self { status: StatusCode::OK, headers, body, fixed: None, notices: Vec::new() }
    }

    /// 200 with a body of the media type. The body never changes.
    pub fn fixed(media: HeaderValue, fixed: Arc<FixedAnswer>) -> Self {
        let body = Body::from(fixed.plain());
        Self { fixed: Some(fixed), ..Self::typed(media, body) }
    }

    /// The same answer with notices.
    #[must_use]
    pub fn noting(mut self, notices: impl IntoIterator<Item = Detail>) -> Self {
        self.notices.extend(notices);
        self
    }

    /// The same answer with another status.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The same answer with a header. The header is left out if its value is not valid in a header.
    #[must_use]
    pub fn header<V: TryInto<HeaderValue>>(mut self, name: HeaderName, value: V) -> Self {
        if let Ok(value) = value.try_into() {
            self.headers.insert(name, value);
        }
        self
    }
}

impl From<Answer> for Response<Body> {
    fn from(answer: Answer) -> Self {
        let mut response = Response::new(answer.body);
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        if let Some(fixed) = answer.fixed {
            response.extensions_mut().insert(fixed);
        }
        response
    }
}
