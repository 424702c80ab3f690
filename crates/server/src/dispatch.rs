//! Handles every request: finds its route, checks access, reads the body, calls the handler, and logs, counts and
//! compresses the answer.

mod forwarded;

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Uri, Version, header};
use axum::response::Response;
use axum::{RequestPartsExt, Router};
use bytes::Bytes;
use futures_util::FutureExt;
use hyper::body::Body as HttpBody;
use lyceum_access::{Access, AccessDenial, CallerPlace, RequestSubject};
use lyceum_console::language::within;
use lyceum_core::language::Language;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Result};
use lyceum_hosting::leases::HeldProject;
use lyceum_hosting::limits::ANSWER_PIECE_BYTES;
use percent_encoding::percent_decode_str;
use tokio::time::timeout;
use tower::Service;
use tracing::{Instrument, Span};

use crate::answer::Answer;
use crate::auth::{self, Grant, HeaderRefusal};
use crate::connection::{Peer, RunningRequest};
use crate::context::Context;
use crate::forward::Destination;
use crate::hop;
use crate::limits;
use crate::metrics::method_label;
use crate::problem_page::ProblemPage;
use crate::render::Rendering;
use crate::request_id::{RequestId, X_REQUEST_ID};
use crate::route::{Area, Route};
use crate::router::{self, Endpoint, RouteDestination, RouteLabels};
use crate::state::App;
use crate::{
    body, compression, cors, etag, hosted, language, notice, parameters, proxy, routes, trace,
};

/// Answers requests with the routes of the areas.
pub(crate) struct Dispatch {
    app: App,
    router: Router,
}

/// A request while it is handled.
struct Call<'a> {
    app: &'a App,
    info: &'a RequestInfo,
    parts: Parts,
    body: Body,
    /// The payload dialect that the request names.
    requested_dialect: Option<PayloadDialect>,
    /// Whether the answer was decided without the body.
    leaves_body: bool,
    /// The caller's rights, once they are known.
    grant: Option<Grant>,
    /// The language of pages.
    language: Language,
}

impl Dispatch {
    /// Serves only these areas.
    pub(crate) fn new(app: App, areas: Vec<Area>) -> Arc<Self> {
        let router = router::build(&app, areas);
        Arc::new(Self { app, router })
    }

    /// Answers a request of the peer. Never fails: every problem is an answer.
    pub(crate) async fn handle(&self, request: Request, peer: Peer) -> Response {
        let span = trace::request(method_label(request.method()), request.headers());
        // Pinned here, because `instrument` would copy this large future.
        let answer = pin!(self.dispatch(request, peer, span.clone()));
        answer.instrument(span).await
    }

    async fn dispatch(&self, request: Request, peer: Peer, span: Span) -> Response {
        let (mut parts, body) = request.into_parts();
        let project = hosted::ProjectAddress::of(&self.app, &parts);
        let project = project.filter(|_| check_page(&self.app, &parts).is_ok());
        let mut info = RequestInfo::of(&self.app, &parts, peer, span);
        if self.app.lease.is_needed() || parts.headers.contains_key(hop::HEADER) {
            match self.destination(project.as_ref(), &parts).await {
                Ok(Destination::Here(held)) => info.held = held,
                Ok(Destination::At(node, slug)) => {
                    let request = Request::from_parts(parts, body);
                    return Box::pin(self.forward(node, slug, request, info)).await;
                }
                Err(problem) => return self.not_forwarded(&problem, &parts, info).await,
            }
        }
        parts.headers.remove(hop::HEADER);
        if let Some(project) = project {
            let request = Request::from_parts(parts, body);
            // Boxed, because its large future would make that of every API request larger.
            return Box::pin(self.project(project, request, info)).await;
        }
        info.uri = router::use_canonical_path(&mut parts.uri);
        parts.extensions.insert(info);
        let answered = self.router.clone().call(Request::from_parts(parts, body)).await;
        answered.unwrap_or_else(|never| match never {})
    }

    /// Answers a request for a hosted project.
    async fn project(
        &self,
        project: hosted::ProjectAddress,
        request: Request,
        info: RequestInfo,
    ) -> Response {
        let running = info.peer.running.as_deref();
        let reading =
            running.filter(|_| !request.body().is_end_stream()).map(RunningRequest::reads_body);
        let response = hosted::answer(&self.app, project, request, &info.place, &info.id).await;
        drop(reading);
        let response = match self.app.lease.check(info.held.as_ref()) {
            Ok(()) => response,
            Err(problem) => {
                hosted::LABELS.rendering.answer(&problem, PayloadDialect::Platform).into()
            }
        };
        // The body is streamed, so its length does not matter for memory.
        let bytes = bytes_of(response.body()).min(ANSWER_PIECE_BYTES);
        let response = match info.peer.reserve_memory(bytes).await {
            Ok(()) => response,
            Err(problem) => {
                hosted::LABELS.rendering.answer(&problem, PayloadDialect::Platform).into()
            }
        };
        finish(&self.app, response, hosted::LABELS, info, None).await
    }
}

/// Answers a request that the router leads to the endpoint.
pub(crate) async fn answer(endpoint: &Endpoint, request: Request) -> Response {
    let app = &endpoint.app;
    let (mut parts, body) = request.into_parts();
    let mut info: RequestInfo = parts.extensions.remove().expect("`Dispatch::handle` inserts it");
    if let Some(spelled) = info.uri.take() {
        parts.uri = spelled;
    }
    let body_waits = parts.headers.contains_key(header::EXPECT);
    let (labels, destination) = endpoint.destination(&info.method, parts.uri.path());
    let requested_dialect = auth::requested_dialect(&parts.headers);
    let checked = check_page(app, &parts);
    // Games run on pages of any origin; their tokens are in headers, which no page sends for another.
    let is_open = (labels.rendering == Rendering::Game || app.sandbox.is_some()) && checked.is_ok();
    let page = ProblemPage::of(labels.rendering, &parts);
    let language = language::of(app, None, &parts.headers);
    let mut call = Call {
        app,
        info: &info,
        parts,
        body,
        requested_dialect,
        leaves_body: false,
        grant: None,
        language,
    };
    // tower-http's `TimeoutLayer` and `CatchPanicLayer` know neither the area's format for problems nor the client,
    // and what they answer is in neither the log nor the metrics.
    let patience = Duration::from_secs(app.config.server.request_timeout_s);
    let result = match checked {
        Err(problem) => Err(problem.into()),
        Ok(()) => {
            // Pinned here, because `timeout` would copy this large future.
            let answer = pin!(call.answer(destination, labels.rendering, is_open));
            match timeout(patience, answer).await {
                Ok(result) => result,
                Err(_) => Err(too_slow(patience).into()),
            }
        }
    };
    // A client that waits for `100 Continue` has not sent its body yet.
    if call.leaves_body && !body_waits {
        body::drain(call.body);
    }
    let (grant, language) = (call.grant, call.language);
    let mut answer = match reserve_memory(result, &info.peer).await {
        Ok(answer) => answer,
        Err(refusal) => {
            report(&refusal.problem, &info.id, labels);
            let framed = match page {
                Some(page) => page.framed(app, &info.id, grant.as_ref(), &refusal.problem).await,
                None => None,
            };
            let dialect = requested_dialect.or(grant.as_ref().map(Grant::dialect));
            let dialect = dialect.unwrap_or(PayloadDialect::Platform);
            within(language, || refusal.answer(labels.rendering, dialect, framed))
        }
    };
    if let Some(origin) = &info.origin {
        cors::expose(&mut answer.headers, origin, grant.as_ref(), is_open);
    }
    finish(app, answer.into(), labels, info, grant.as_ref().map(Grant::client_id)).await
}

/// In a sandbox, refuses requests from pages of other sites. Errors: `Forbidden`.
fn check_page(app: &App, parts: &Parts) -> Result<()> {
    app.sandbox.as_ref().map_or(Ok(()), |sandbox| sandbox.check(parts))
}

/// Finishes every answer: adds the request id, logs, counts, compresses, and removes the body for `HEAD`. tower-http's
/// `TraceLayer` knows neither the route nor the client.
async fn finish(
    app: &App,
    mut answer: Response,
    labels: RouteLabels<'_>,
    info: RequestInfo,
    client: Option<&str>,
) -> Response {
    answer.headers_mut().insert(X_REQUEST_ID, info.id.header());
    if app.draining.load(Relaxed) && info.version < Version::HTTP_2 {
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let (method, status) = (method_label(&info.method), answer.status().as_u16());
    let took = info.started.elapsed();
    app.metrics.count_answer(labels, method, status, took);
    trace::record_answer(&info.span, labels, method, status, &info.id);
    tracing::info!(
        target: "lyceum::request",
        request_id = %info.id,
        method,
        route = labels.pattern,
        status,
        us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        client,
        address = %info.place,
        trace_id = trace::id(&info.span),
    );
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let slow_from_ms = app.config.server.slow_request_ms;
    if slow_from_ms > 0 && ms >= slow_from_ms {
        let (request_id, route) = (&info.id, labels.pattern);
        tracing::warn!(target: "lyceum::slow", %request_id, method, route, status, ms, "a request was slow");
    }
    let is_anonymous = || info.peer.running.as_ref().is_some_and(|running| running.is_anonymous());
    let space = || app.admission.compression(is_anonymous());
    let response = compression::negotiate(answer, info.encodings, space).await;
    if info.method == Method::HEAD { without_body(response) } else { response }
}

fn unknown_page(path: &str) -> Problem {
    let message = format!("no page has the address '{path}'; check it, or follow a link");
    Problem::new(ProblemKind::NotFound, message)
}

fn unknown_path(path: &str, meant: Option<String>) -> Problem {
    let message = match meant {
        Some(meant) => {
            let message = format!("no route has the path '{path}'; did you mean '{meant}'?");
            tracing::warn!("{message}");
            message
        }
        None => format!("no route has the path '{path}'; /openapi.json lists all routes"),
    };
    Problem::new(ProblemKind::NotFound, message)
}

/// Reserves memory for an answer that is completely in memory. Constant answers share their memory, so they need none.
async fn reserve_memory(
    result: Result<Answer, HeaderRefusal>,
    peer: &Peer,
) -> Result<Answer, HeaderRefusal> {
    let answer = result?;
    if answer.fixed.is_none() {
        peer.reserve_memory(bytes_of(&answer.body)).await?;
    }
    Ok(answer)
}

/// How many bytes of an answer are in memory; one piece for an answer of unknown length.
fn bytes_of(body: &Body) -> usize {
    let bytes = body.size_hint().exact().unwrap_or(ANSWER_PIECE_BYTES as u64);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl Call<'_> {
    async fn answer(
        &mut self,
        destination: RouteDestination<'_>,
        rendering: Rendering,
        is_open: bool,
    ) -> Result<Answer, HeaderRefusal> {
        let answer = match destination {
            RouteDestination::Route(route) => self.route(route, rendering).await,
            RouteDestination::OtherMethod(allow) if self.info.method == Method::OPTIONS => {
                return Ok(cors::options(self.app, &self.parts.headers, allow, is_open));
            }
            RouteDestination::OtherMethod(allow) => Err(self.wrong_method(allow)),
            RouteDestination::UnknownPath { .. } if rendering == Rendering::Page => {
                Err(unknown_page(self.parts.uri.path()).into())
            }
            RouteDestination::UnknownPath { meant } => {
                Err(unknown_path(self.parts.uri.path(), meant).into())
            }
        };
        self.leaves_body |= answer.is_err();
        answer
    }

    async fn route(
        &mut self,
        route: &Arc<Route>,
        rendering: Rendering,
    ) -> Result<Answer, HeaderRefusal> {
        auth::check_environment(self.app, &self.parts.headers)?;
        self.grant = auth::identify(self.app, route.access, &self.parts, &self.info.place).await?;
        let holder = self.grant.as_ref().and_then(Grant::holder);
        self.language = match language::is_file(self.parts.uri.query()) {
            true => Language::English,
            false => language::of(self.app, holder, &self.parts.headers),
        };
        let decided = auth::decide(
            self.grant.as_ref(),
            route.access,
            RequestSubject::Route(route.limited_callers),
        );
        let params = self.parts.extract::<RawPathParams>().await;
        let mut context = self.context(route);
        if let Err(denied) = decided {
            self.leaves_body = true;
            return match (route.screen, route.access, rendering) {
                (Some(screen), ..) => Ok(within(self.language, || {
                    routes::console::redirect_or_refuse(&context, screen, &denied)
                })?),
                (None, Access::Student(_), Rendering::Page) => {
                    Ok(routes::learn::redirect_or_refuse(&context, &denied)?)
                }
                (None, Access::Student(_), _) if denied == AccessDenial::SignedOut => {
                    let message = "this needs the session of a student; sign in at /sign-in in the same browser";
                    Err(Problem::new(ProblemKind::Unauthorized, message).into())
                }
                _ => Err(auth::refusal(&denied)),
            };
        }
        let peer = &self.info.peer;
        // From here on, the request's memory counts for its client.
        if let (Some(running), Some(grant)) = (&peer.running, &self.grant) {
            running.show(grant)?;
        }
        context.params = Some(params.map_err(|_| undecodable(context.uri.path()))?);
        let mut notices = parameters::check(route, rendering, context.uri.query())?;
        context.notices.clone_from(&notices);
        etag::check(route, &context.headers)?;
        if route.access == Access::Public && !route.reads.media.is_empty() {
            peer.reserve_memory(limits::PUBLIC_BODY_MAX_BYTES).await?;
        }
        let usual_bytes = self.app.config.server.body_max_bytes;
        let has_body = !self.body.is_end_stream();
        let reading = peer.running.as_deref().filter(|_| has_body).map(RunningRequest::reads_body);
        context.body =
            body::read(&route.reads, usual_bytes, &context.headers, &mut self.body).await?;
        drop(reading);
        let _turn = match (route.access, &self.grant) {
            (Access::Optional(_), None) => Some(self.app.admission.anonymous_read().await?),
            _ => None,
        };
        let pending = language::within(self.language, (route.handler)(context));
        let mut answer = without_panic(pending).await?;
        if !route.ends_project {
            self.app.lease.check(self.info.held.as_ref())?;
        }
        notices.append(&mut answer.notices);
        notice::set(&mut answer.headers, &notices);
        Ok(answer)
    }

    /// The handler's context, without the body and the values of path parameters.
    fn context(&mut self, route: &Arc<Route>) -> Context {
        Context {
            app: Arc::clone(self.app),
            route: Arc::clone(route),
            method: self.info.method.clone(),
            uri: std::mem::take(&mut self.parts.uri),
            headers: std::mem::take(&mut self.parts.headers),
            body: Bytes::new(),
            dialect: self
                .requested_dialect
                .or(self.grant.as_ref().map(Grant::dialect))
                .unwrap_or(PayloadDialect::Platform),
            grant: self.grant.clone(),
            place: self.info.place.clone(),
            request_id: self.info.id.clone(),
            notices: Vec::new(),
            params: None,
        }
    }

    fn wrong_method(&self, allow: &HeaderValue) -> HeaderRefusal {
        let allowed = allow.to_str().unwrap_or_default();
        let problem = Problem::new(
            ProblemKind::MethodNotAllowed,
            format!("this path has no {} route; it has {allowed}", self.info.method),
        );
        HeaderRefusal::with(problem, header::ALLOW, allow.clone())
    }
}

/// Turns a panic of a handler into an internal error.
async fn without_panic(pending: impl Future<Output = Result<Answer>>) -> Result<Answer> {
    AssertUnwindSafe(pending).catch_unwind().await.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let cause = format!("a handler panicked: {}", text.unwrap_or("no message"));
        Err(Problem::internal(cause))
    })
}

/// The problem for a path that the router cannot decode.
fn undecodable(path: &str) -> Problem {
    let is_broken = |segment: &&str| percent_decode_str(segment).decode_utf8().is_err();
    let segment = path.split('/').find(is_broken).unwrap_or_default();
    let message = format!("the path segment '{segment}' is not percent-encoded UTF-8");
    Problem::new(ProblemKind::Malformed, message)
}

fn too_slow(patience: Duration) -> Problem {
    let mut problem = Problem::new(
        ProblemKind::Unavailable,
        format!(
            "the request took longer than {} s; a write may still complete",
            patience.as_secs()
        ),
    );
    problem.retry_after_s = Some(1);
    problem
}

/// Logs the cause of a server error, which the caller does not see.
fn report(problem: &Problem, id: &RequestId, labels: RouteLabels<'_>) {
    if matches!(problem.kind, ProblemKind::Internal | ProblemKind::Unavailable) {
        let cause = problem.cause.as_ref().map(tracing::field::display);
        tracing::error!(request_id = %id, route = labels.pattern, cause, "{}", problem.message);
    }
}

/// What the answer's headers, logs and limits need from the request's head.
#[derive(Clone)]
struct RequestInfo {
    id: RequestId,
    peer: Peer,
    /// The span of the request in its trace.
    span: Span,
    /// Where the request comes from. Behind a proxy, the caller's address differs from the peer's.
    place: CallerPlace,
    started: Instant,
    method: Method,
    version: Version,
    /// The address as the caller sent it, if the router gets a canonical one.
    uri: Option<Uri>,
    /// The project that this node must still hold when it answers.
    held: Option<HeldProject>,
    origin: Option<HeaderValue>,
    encodings: Option<HeaderValue>,
}

impl RequestInfo {
    fn of(app: &App, parts: &Parts, peer: Peer, span: Span) -> Self {
        let (headers, server) = (&parts.headers, &app.config.server);
        let encodings = headers.get(header::ACCEPT_ENCODING).filter(|_| server.compression);
        Self {
            id: RequestId::of(headers),
            place: proxy::place(parts, peer.address, &server.trusted_proxies),
            peer,
            span,
            started: Instant::now(),
            method: parts.method.clone(),
            version: parts.version,
            uri: None,
            held: None,
            origin: headers.get(header::ORIGIN).cloned(),
            encodings: encodings.cloned(),
        }
    }
}

/// The answer to `HEAD`: the headers of `GET`, including the length, without the body.
fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(bytes) = body.size_hint().exact() {
        parts.headers.entry(header::CONTENT_LENGTH).or_insert_with(|| bytes.into());
    }
    Response::from_parts(parts, Body::empty())
}
