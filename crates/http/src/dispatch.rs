//! Handles every request: finds its route, checks access, reads the body, calls the handler, and logs, counts and
//! compresses the answer.
//!
//! The way of a request:
//!
//! 1. [`Dispatch::handle`] opens its span and notes in [`RequestInfo`] what the answer, the log and the limits need of its
//!    head.
//! 2. The application says which node has the files of its project. Another node's answer, and that of a hosted project,
//!    go to step 7.
//! 3. [`Router::find`] finds the route. An unknown path and another method are answered like every problem.
//! 4. [`Call::route`] identifies the caller, counts the request to its limit and decides about access, before the body is
//!    read. A browser without access is
//!    led to where it signs in.
//! 5. The query is checked, the body is read within the route's limit, and the handler gets both as [`Context`]. It may
//!    panic, and it may take too long.
//! 6. [`Dispatch::route`] turns a problem into the error format of the area, or into a page in the reader's frame.
//! 7. [`finish`] adds the request id, logs, counts and compresses.
//!
//! It assumes that a [`Peer`] of a connection was admitted by [`crate::listen`]; the requests of backends have no connection.

mod forwarded;

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use http::request::Parts;
use http::{HeaderValue, Method, Version, header};
use hyper::body::Body as HttpBody;
use lyceum_access::{Access, AccessDenial, CallerPlace, RequestSubject};
use lyceum_console::language::within;
use lyceum_core::language::Language;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Result, message};
use lyceum_hosting::leases::{HeldProject, RequestPlace};
use lyceum_hosting::limits::ANSWER_PIECE_BYTES;
use lyceum_hosting::nodes::FORWARD_HEADER;
use percent_encoding::percent_decode_str;
use tokio::time::timeout;
use tracing::{Instrument, Span};

use crate::answer::Answer;
use crate::auth::{self, Grant, HeaderRefusal};
use crate::connection::{Peer, RunningRequest};
use crate::context::Context;
use crate::metrics::method_label;
use crate::problem_request::ProblemRequest;
use crate::project_address::ProjectAddress;
use crate::render::Rendering;
use crate::request_id::{RequestId, X_REQUEST_ID};
use crate::route::{Area, Route};
use crate::router::{ParamValues, RouteLabels, RouteMatch, Router};
use crate::{
    Application, Body, Http, Request, Response, body, compression, cors, etag, language, limits,
    notice, parameters, proxy, trace,
};

/// Answers requests with the routes of the areas.
pub struct Dispatch<A> {
    app: Arc<A>,
    router: Router<A>,
}

/// A request for a route while it is handled.
struct Call<'a, A> {
    app: &'a Arc<A>,
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

/// All projects share one label in the log and the counters.
const OF_PROJECTS: RouteLabels<'static> =
    RouteLabels { area: "hosted", rendering: Rendering::Game, pattern: "/_projects/{slug}" };

impl<A: Application> Dispatch<A> {
    /// Serves only these areas.
    pub fn new(app: Arc<A>, areas: Vec<Area<A>>) -> Arc<Self> {
        Arc::new(Self { app, router: Router::new(areas) })
    }

    /// Answers a request of the peer. Never fails: every problem is an answer.
    pub async fn handle(&self, request: Request, peer: Peer) -> Response {
        let span = trace::request(method_label(request.method()), request.headers());
        // Pinned here, because `instrument` would copy this large future.
        let answer = pin!(self.dispatch(request, peer, span.clone()));
        answer.instrument(span).await
    }

    async fn dispatch(&self, request: Request, peer: Peer, span: Span) -> Response {
        let (mut parts, body) = request.into_parts();
        let project = ProjectAddress::of(&self.app, &parts);
        let project = project.filter(|_| check_page(&self.app, &parts).is_ok());
        let mut info = RequestInfo::of(&self.app, &parts, peer, span);
        let slug = project.as_ref().map(|project| project.slug.as_str());
        match self.app.place_of(slug, &parts).await {
            Ok(RequestPlace::Here(held)) => info.held = held,
            Ok(RequestPlace::At(node, slug)) => {
                let request = Request::from_parts(parts, body);
                return Box::pin(self.forward(node, slug, request, info)).await;
            }
            Err(problem) => return self.not_forwarded(&problem, &parts, info).await,
        }
        parts.headers.remove(FORWARD_HEADER);
        match project {
            // Boxed, because its large future would make that of every API request larger.
            Some(project) => {
                Box::pin(self.project(project, Request::from_parts(parts, body), info)).await
            }
            None => self.route(parts, body, info).await,
        }
    }

    /// Answers a request for a hosted project.
    async fn project(
        &self,
        project: ProjectAddress,
        request: Request,
        info: RequestInfo,
    ) -> Response {
        let running = info.peer.running.as_deref();
        let reading =
            running.filter(|_| !request.body().is_end_stream()).map(RunningRequest::reads_body);
        let response = self.app.answer_of_project(project, request, (&info.place, &info.id)).await;
        drop(reading);
        // The body is streamed, so its length does not matter for memory.
        let bytes = bytes_of(response.body()).min(ANSWER_PIECE_BYTES);
        let checked = match self.app.check_held(info.held.as_ref()) {
            Ok(()) => info.peer.reserve_memory(bytes).await,
            Err(problem) => Err(problem),
        };
        let response = match checked {
            Ok(()) => response,
            Err(problem) => OF_PROJECTS.rendering.answer(&problem, PayloadDialect::Platform).into(),
        };
        finish(&self.app, response, OF_PROJECTS, info, None).await
    }

    /// Answers a request that the routes of the areas handle.
    async fn route(&self, parts: Parts, body: Body, info: RequestInfo) -> Response {
        let app = &self.app;
        let (labels, found, params) = self.router.find(&info.method, parts.uri.path());
        let body_waits = parts.headers.contains_key(header::EXPECT);
        let requested_dialect = auth::requested_dialect(&parts.headers);
        let checked = check_page(app, &parts);
        // Games run on pages of any origin; their tokens are in headers, which no page sends for another.
        let is_open =
            (labels.rendering == Rendering::Game || app.sandbox.is_some()) && checked.is_ok();
        let is_page = labels.rendering == Rendering::Page;
        let page = is_page.then(|| ProblemRequest::of(&parts, &info.id));
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
                let answer = pin!(call.answer(&self.router, (found, params), labels, is_open));
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
                    Some(page) => page.framed(&**app, grant.as_ref(), &refusal.problem).await,
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
}

/// In a sandbox, refuses requests from pages of other sites. Errors: `Forbidden`.
fn check_page(app: &Http, parts: &Parts) -> Result<()> {
    app.sandbox.as_ref().map_or(Ok(()), |sandbox| sandbox.check(parts))
}

/// Finishes every answer: adds the request id, logs, counts, compresses, and removes the body for `HEAD`. tower-http's
/// `TraceLayer` knows neither the route nor the client.
async fn finish(
    app: &Http,
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
    let message = message!("no page has the address '{path}'; check it, or follow a link");
    Problem::new(ProblemKind::NotFound, message)
}

fn unknown_path(path: &str, meant: Option<String>) -> Problem {
    let message = match meant {
        Some(meant) => {
            let message = message!("no route has the path '{path}'; did you mean '{meant}'?");
            tracing::warn!("{message}");
            message
        }
        None => message!("no route has the path '{path}'; /openapi.json lists all routes"),
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

impl<A: Application> Call<'_, A> {
    async fn answer(
        &mut self,
        router: &Router<A>,
        (found, params): (RouteMatch<'_, A>, ParamValues),
        labels: RouteLabels<'_>,
        is_open: bool,
    ) -> Result<Answer, HeaderRefusal> {
        let answer = match found {
            RouteMatch::Route(route) => self.route(route, params, labels.rendering).await,
            RouteMatch::OtherMethod(allow) if self.info.method == Method::OPTIONS => {
                return Ok(cors::options(self.app, &self.parts.headers, allow, is_open));
            }
            RouteMatch::OtherMethod(allow) => Err(self.wrong_method(allow)),
            RouteMatch::UnknownPath if labels.rendering == Rendering::Page => {
                Err(unknown_page(self.parts.uri.path()).into())
            }
            RouteMatch::UnknownPath => {
                let path = self.parts.uri.path();
                let meant = self.app.sandbox.as_ref().and_then(|_| router.near_path(path));
                Err(unknown_path(path, meant).into())
            }
        };
        self.leaves_body |= answer.is_err();
        answer
    }

    async fn route(
        &mut self,
        route: &Arc<Route<A>>,
        params: ParamValues,
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
        let mut context = self.context(route);
        if let Err(denied) = decided {
            self.leaves_body = true;
            return match route.access {
                _ if rendering == Rendering::Page => {
                    let refuse = self.app.page_problems().refuse;
                    within(self.language, || refuse(&context, &denied))
                }
                Access::Student(_) if denied == AccessDenial::SignedOut => {
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
        context.params = Some(params.ok_or_else(|| undecodable(context.uri.path()))?);
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
            self.app.check_held(self.info.held.as_ref())?;
        }
        notices.append(&mut answer.notices);
        notice::set(&mut answer.headers, &notices);
        Ok(answer)
    }

    /// The handler's context, without the body and the values of path parameters.
    fn context(&mut self, route: &Arc<Route<A>>) -> Context<A> {
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
            message!("this path has no {self.info.method} route; it has {allowed}"),
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
    let message = message!("the path segment '{segment}' is not percent-encoded UTF-8");
    Problem::new(ProblemKind::Malformed, message)
}

fn too_slow(patience: Duration) -> Problem {
    let mut problem = Problem::new(
        ProblemKind::Unavailable,
        message!(
            "the request took longer than {n} s; a write may still complete",
            n = patience.as_secs()
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

/// The parts of a request's head that the answer's headers, logs and limits need.
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
    /// The project that this node must still hold when it answers.
    held: Option<HeldProject>,
    origin: Option<HeaderValue>,
    encodings: Option<HeaderValue>,
}

impl RequestInfo {
    fn of(app: &Http, parts: &Parts, peer: Peer, span: Span) -> Self {
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
