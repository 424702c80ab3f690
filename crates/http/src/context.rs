//! The request that a handler receives.

use std::any::TypeId;
use std::borrow::Cow;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, Uri};
use lyceum_access::{CallerPlace, LimitedCallers, Student, TokenHolder};
use lyceum_core::{Detail, Message, PayloadDialect, Problem, ProblemKind, Reach, Result, message};
use lyceum_store::ScanLimits;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::Application;
use crate::auth::Grant;
use crate::request_id::RequestId;
use crate::route::Route;

/// A request after routing, the access check and reading its body.
pub struct Context<A> {
    /// The application.
    pub app: Arc<A>,
    /// The matched route.
    pub route: Arc<Route<A>>,
    /// The method as sent. It may be `HEAD` for a `GET` route.
    pub method: Method,
    /// The address as the caller sent it, before aliases were replaced. Links in the answer use it.
    pub uri: Uri,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, within the route's limit; empty if there is none.
    pub body: Bytes,
    /// The caller's rights; `None` on public routes.
    pub grant: Option<Grant>,
    /// The payload dialect of the answer.
    pub dialect: PayloadDialect,
    /// The sender: a backend, or an address as far as trusted proxies name it.
    pub place: CallerPlace,
    /// The id of the request.
    pub request_id: RequestId,
    /// Notices about the query, which the answer's header repeats. A body with the member `warnings` has them too.
    pub notices: Vec<Detail>,
    /// The values of path parameters; `None` until access is decided.
    pub(crate) params: Option<Vec<String>>,
}

impl<A: Application> Context<A> {
    /// The part of the roster that the caller has access to, for every query of the handler. It is everything on a route
    /// that refuses limited callers.
    ///
    /// # Panics
    /// Panics if the route's line in its table says that limits do not affect it.
    pub fn reach(&self) -> Reach {
        assert_ne!(
            self.route.limited_callers,
            LimitedCallers::Unaffected,
            "the table says that limits do not affect '{}'",
            self.route.name
        );
        self.grant.as_ref().map_or(Reach::Everything, |grant| grant.reach().clone())
    }

    /// The limits of a scan for a report to the caller, which may be delayed. If the caller is limited to a part of the
    /// roster, it may not: the statement itself decides what the caller sees, and what was withdrawn a second ago must not
    /// be in the report.
    pub fn report_limits(&self, deadline: Duration) -> ScanLimits {
        match self.grant.as_ref().is_some_and(|grant| grant.reach().is_limited()) {
            true => deadline.into(),
            false => ScanLimits::delayed(deadline),
        }
    }

    /// The sourcedId of the signed-in student in the roster. Every handler of a student route finds what it shows and
    /// changes by this id alone. Errors: `Internal` on a route that others than students may call.
    pub fn student(&self) -> Result<String> {
        self.signed_in_student().map(|student| student.user.clone())
    }

    /// The signed-in student. Errors: as of [`Context::student`].
    pub fn signed_in_student(&self) -> Result<&Student> {
        match self.grant.as_ref().and_then(Grant::holder) {
            Some(TokenHolder::Student(student)) => Ok(student),
            _ => Err(Problem::internal(
                "a route that others than students may call asks for the student",
            )),
        }
    }

    /// A percent-decoded path parameter of the route.
    pub fn param(&self, name: &str) -> &str {
        let values = self.params.iter().flatten().map(String::as_str);
        let mut values = parameters(&self.route.path).zip(values);
        let found = values.find_map(|(known, value)| (known == name).then_some(value));
        found.expect("the route's path names the parameter")
    }

    /// The decoded pairs of the query, in the order in which they were sent.
    pub fn query(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        form_urlencoded::parse(self.uri.query().unwrap_or_default().as_bytes())
    }

    /// The first value of a query parameter, decoded.
    pub fn query_value(&self, name: &str) -> Option<String> {
        self.query().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }

    /// A query parameter, parsed. Errors: `Invalid` with the rule that the value breaks.
    pub fn parsed_query_value<T: FromStr>(
        &self,
        name: &str,
        rule: impl Into<Message>,
    ) -> Result<Option<T>> {
        let read = self.query_value(name).map(|text| text.parse()).transpose();
        read.map_err(|_| Problem::invalid(name, rule))
    }

    /// The text of a header; `None` if the header is missing or is not text.
    pub fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Parses the JSON body as the type that the route reads. Errors: those of [`lyceum_core::body::read`].
    pub fn body_as<T: DeserializeOwned + JsonSchema + 'static>(&self) -> Result<T> {
        debug_assert_eq!(
            self.route.reads.type_id,
            Some(TypeId::of::<T>()),
            "{} reads another type than its table says",
            self.route.name
        );
        lyceum_core::body::read(&self.body)
    }

    /// The body as text. Errors: the body is not UTF-8.
    pub fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.body).map_err(|fault| {
            Problem::new(
                ProblemKind::Malformed,
                message!(
                    "the body must be UTF-8: byte {place} is not valid",
                    place = fault.valid_up_to()
                ),
            )
        })
    }

    /// The public address of the server without a trailing slash, such as `https://lyceum.example.org`.
    pub fn base_url(&self) -> &str {
        &self.app.base_url
    }
}

/// The names of a path's parameters, in order. A last one such as `{*path}` takes the rest of the path.
pub fn parameters(path: &str) -> impl Iterator<Item = &str> {
    let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| name.trim_start_matches('*'))
}
