//! What a handler is given.

use std::any::TypeId;
use std::borrow::Cow;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::RawPathParams;
use axum::http::{HeaderMap, HeaderName, Method, Uri};
use bytes::Bytes;
use lyceum_core::{Dialect, Problem, ProblemKind, Result};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::auth::Grant;
use crate::request_id::RequestId;
use crate::route::Route;
use crate::state::App;

/// One request, routed, authorised and read.
pub struct Context {
    /// The server's state.
    pub app: App,
    /// The route that was matched.
    pub route: Arc<Route>,
    /// The method as sent (`HEAD` for a `GET` route, too).
    pub method: Method,
    /// The address as the caller spelled it, before aliases; links in the answer repeat it.
    pub uri: Uri,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, within the route's limit; empty when none was sent.
    pub body: Bytes,
    /// What the token grants; none on public routes.
    pub grant: Option<Grant>,
    /// The dialect to answer in.
    pub dialect: Dialect,
    /// Who sent it, as far as trusted proxies tell.
    pub address: IpAddr,
    /// The request's id.
    pub request_id: RequestId,
    /// The values of the path's parameters; `None` until access is decided.
    pub(crate) params: Option<RawPathParams>,
}

impl Context {
    /// A path parameter, percent-decoded. The route's path names it.
    pub fn param(&self, name: &str) -> &str {
        let values = self.params.iter().flatten().map(|(_, value)| value);
        let mut values = parameters(&self.route.path).zip(values);
        let found = values.find_map(|(known, value)| (known == name).then_some(value));
        found.expect("the route's path names the parameter")
    }

    /// The query's pairs, decoded, in the order sent.
    pub fn query(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        form_urlencoded::parse(self.uri.query().unwrap_or_default().as_bytes())
    }

    /// The first value that the query has of a parameter, decoded.
    pub fn asked(&self, name: &str) -> Option<String> {
        self.query().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }

    /// The same, read. Errors: `Invalid` with the rule that it breaks.
    pub fn asked_as<T: FromStr>(&self, name: &str, rule: &str) -> Result<Option<T>> {
        let read = self.asked(name).map(|text| text.parse()).transpose();
        read.map_err(|_| Problem::invalid(name, rule))
    }

    /// A header's text; none when it is missing or not text.
    pub fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The JSON body as the type that the route reads. Errors: as [`lyceum_core::body::read`].
    pub fn body_as<T: DeserializeOwned + JsonSchema + 'static>(&self) -> Result<T> {
        debug_assert_eq!(
            self.route.reads.type_id,
            Some(TypeId::of::<T>()),
            "{} reads another type than its table says",
            self.route.name
        );
        lyceum_core::body::read(&self.body)
    }

    /// The body as text. Errors: not UTF-8.
    pub fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.body).map_err(|fault| {
            Problem::new(
                ProblemKind::Malformed,
                format!("the body is not UTF-8: byte {} breaks it", fault.valid_up_to()),
            )
        })
    }

    /// The server's address as its callers know it, without a trailing slash:
    /// `https://lyceum.example.org`.
    pub fn base_url(&self) -> &str {
        &self.app.base_url
    }
}

/// The names of a path's parameters, in order.
pub(crate) fn parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}
