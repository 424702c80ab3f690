//! The way of every request: found, authorised, read, handled, told, counted, logged.

use std::future::poll_fn;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Request, Response, Version, header};
use bytes::Bytes;
use hyper::body::Body as HttpBody;
use lyceum_access::{Access, Subject};
use lyceum_core::{Dialect, Problem, ProblemKind, Result, limits};
use lyceum_hosting::engine::BoxError;
use tokio::time::timeout;

use crate::answer::Answer;
use crate::auth::{self, Grant, Refusal};
use crate::connection::{Peer, Running};
use crate::context::Context;
use crate::render::Rendering;
use crate::request_id::{RequestId, X_REQUEST_ID};
use crate::route::{Area, Pending, Route};
use crate::state::App;
use crate::table::{Place, Table};
use crate::{body, compression, cors, etag, hosted, parameters, proxy, routes};

/// Answers requests by the tables of the areas.
pub(crate) struct Dispatch {
    app: App,
    table: Table,
}

/// One request on its way.
struct Call<'a, B> {
    app: &'a App,
    parts: Parts,
    body: B,
    /// Whether the sender waits for `100 Continue` and so has not sent a body yet.
    body_waits: bool,
    /// Whether the answer was decided without the body.
    leaves_body: bool,
    id: &'a RequestId,
    address: IpAddr,
    peer: Peer<'a>,
    /// Who calls, once that is known.
    grant: Option<Grant>,
}

impl Dispatch {
    /// Serves the areas and nothing else.
    pub(crate) fn new(app: App, areas: Vec<Area>) -> Arc<Self> {
        Arc::new(Self { app, table: Table::new(areas) })
    }

    /// Answers a request of the peer. Never fails: every problem is an answer.
    pub(crate) async fn handle<B>(&self, request: Request<B>, peer: Peer<'_>) -> Response<Body>
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<BoxError>,
    {
        let started = Instant::now();
        let (parts, body) = request.into_parts();
        let id = RequestId::of(&parts.headers);
        let stranger = self.app.sandbox.as_ref().and_then(|sandbox| sandbox.check(&parts).err());
        if let Some(project) = hosted::Address::of(&self.app, &parts)
            && stranger.is_none()
        {
            return self.project(project, (parts, body), id, peer, started).await;
        }
        let method = parts.method.clone();
        let asked = Asked::of(&parts);
        let address =
            proxy::caller(peer.address, &parts.headers, &self.app.config.server.trusted_proxies);
        let path = parts.uri.path();
        let (place, lead) = match self.table.find(path) {
            Some((endpoint, params)) => {
                match endpoint.route(&method) {
                    Some(route) => (endpoint.place(), Lead::Route(route, params)),
                    // A path that any word fits says nothing of what was meant.
                    None if endpoint.fits_any_word() && method != Method::OPTIONS => {
                        (self.table.nowhere(path), Lead::Nowhere)
                    }
                    None => (endpoint.place(), Lead::Other(&endpoint.allow)),
                }
            }
            None => (self.table.nowhere(path), Lead::Nowhere),
        };
        let mut call = Call {
            app: &self.app,
            body_waits: parts.headers.contains_key(header::EXPECT),
            parts,
            body,
            leaves_body: false,
            id: &id,
            address,
            peer,
            grant: None,
        };
        // Games run on pages of any origin; their tokens are in headers, which no page sends for another.
        let is_open = (place.rendering == Rendering::Game || self.app.sandbox.is_some())
            && stranger.is_none();
        let dialect_asked = auth::dialect_asked(&call.parts.headers);
        let patience = Duration::from_secs(self.app.config.server.request_timeout_s);
        let way = Way { lead, rendering: place.rendering, is_open };
        let result = match stranger {
            Some(problem) => Err(problem.into()),
            None => match timeout(patience, call.answer(way)).await {
                Ok(result) => result,
                Err(_) => Err(too_slow(patience).into()),
            },
        };
        if call.leaves_body && !call.body_waits {
            body::drain(call.body);
        }
        let grant = call.grant;
        let result = held(result, peer).await;
        let mut answer = result.unwrap_or_else(|refusal| {
            report(&refusal.problem, &id, place);
            let dialect = dialect_asked.or(grant.as_ref().map(Grant::dialect));
            refusal.answer(place.rendering, dialect.unwrap_or(Dialect::Platform))
        });
        if let Some(origin) = &asked.origin {
            cors::expose(&mut answer.headers, origin, grant.as_ref(), is_open);
        }
        let client = grant.as_ref().map(Grant::client_id);
        self.tell(answer.into(), place, asked, (&id, client, address), (peer, started)).await
    }

    /// Answers a request for a hosted project.
    async fn project<B>(
        &self,
        project: hosted::Address,
        (parts, body): (Parts, B),
        id: RequestId,
        peer: Peer<'_>,
        started: Instant,
    ) -> Response<Body>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let asked = Asked::of(&parts);
        let address =
            proxy::caller(peer.address, &parts.headers, &self.app.config.server.trusted_proxies);
        let place = hosted::PLACE;
        let reading = peer.running.filter(|_| !body.is_end_stream()).map(Running::reads_body);
        let response = hosted::answer(&self.app, project, (parts, body), address, &id).await;
        drop(reading);
        // It is sent piece by piece, whatever its length is.
        let bytes = bytes_of(response.body()).min(limits::ANSWER_PIECE_BYTES);
        let response = match hold(peer, bytes).await {
            Ok(()) => response,
            Err(problem) => place.rendering.answer(&problem, Dialect::Platform).into(),
        };
        self.tell(response, place, asked, (&id, None, address), (peer, started)).await
    }

    /// What all answers share: request id, log, count, compression, no body for `HEAD`.
    async fn tell(
        &self,
        mut answer: Response<Body>,
        place: Place<'_>,
        asked: Asked,
        (id, client, address): (&RequestId, Option<&str>, IpAddr),
        (peer, started): (Peer<'_>, Instant),
    ) -> Response<Body> {
        answer.headers_mut().insert(X_REQUEST_ID, id.header());
        if self.app.draining.load(Relaxed) && asked.version < Version::HTTP_2 {
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        let (method_name, status) = (bounded(&asked.method), answer.status().as_u16());
        let took = started.elapsed();
        self.app.metrics.answered(place.area, method_name, status, took);
        tracing::info!(
            target: "lyceum::request",
            request_id = %id,
            method = method_name,
            route = place.pattern,
            status,
            us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            client,
            address = %address,
        );
        let encodings = asked.encodings.filter(|_| self.app.config.server.compression);
        let place =
            || self.app.admission.compression(peer.running.is_some_and(Running::is_anonymous));
        let response = compression::negotiate(answer, encodings, place).await;
        if asked.method == Method::HEAD { without_body(response) } else { response }
    }
}

/// Takes memory for an answer that is all in memory. An answer that never changes is there once for all.
async fn held(result: Result<Answer, Refusal>, peer: Peer<'_>) -> Result<Answer, Refusal> {
    let answer = result?;
    if answer.fixed.is_none() {
        hold(peer, bytes_of(&answer.body)).await?;
    }
    Ok(answer)
}

async fn hold(peer: Peer<'_>, bytes: usize) -> Result<()> {
    match peer.running {
        Some(running) if bytes > limits::ANSWER_FREE_BYTES => running.hold(bytes).await,
        _ => Ok(()),
    }
}

/// The bytes of an answer that are in memory, as far as they are known before.
fn bytes_of(body: &Body) -> usize {
    let bytes = body.size_hint().exact().unwrap_or(limits::ANSWER_PIECE_BYTES as u64);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Where a request goes.
struct Way<'a> {
    lead: Lead<'a>,
    rendering: Rendering,
    /// Whether pages of any origin may call.
    is_open: bool,
}

/// Where a path leads.
enum Lead<'a> {
    Route(&'a Arc<Route>, Result<Vec<String>>),
    /// The path is there, the method is `OPTIONS` or one that the path does not have.
    Other(&'a HeaderValue),
    Nowhere,
}

impl<B: HttpBody<Data = Bytes> + Unpin> Call<'_, B> {
    async fn answer(&mut self, way: Way<'_>) -> Result<Answer, Refusal> {
        let Way { lead, rendering, is_open } = way;
        let answer = match lead {
            Lead::Route(route, params) => self.route(route, rendering, params).await,
            Lead::Other(allow) if self.parts.method == Method::OPTIONS => {
                return Ok(cors::options(self.app, &self.parts.headers, allow, is_open));
            }
            Lead::Other(allow) => Err(self.wrong_method(allow)),
            Lead::Nowhere => Err(Problem::new(
                ProblemKind::NotFound,
                format!(
                    "there is nothing at '{}'; /openapi.json lists what is",
                    self.parts.uri.path()
                ),
            )
            .into()),
        };
        self.leaves_body |= answer.is_err();
        answer
    }

    async fn route(
        &mut self,
        route: &Arc<Route>,
        rendering: Rendering,
        params: Result<Vec<String>>,
    ) -> Result<Answer, Refusal> {
        auth::check_environment(self.app, &self.parts.headers)?;
        self.grant = auth::identify(self.app, route.access, &self.parts).await?;
        let decided = auth::decide(self.grant.as_ref(), route.access, Subject::Route);
        let mut context = self.context(route);
        if let Err(denied) = decided {
            let Some(screen) = route.screen else { return Err(auth::refusal(&denied)) };
            self.leaves_body = true;
            return Ok(routes::console::turn_away(&context, screen, &denied)?);
        }
        // From here on what the request holds counts as its client's.
        if let (Some(running), Some(grant)) = (self.peer.running, &self.grant) {
            running.show(grant)?;
        }
        context.params = params?;
        parameters::check(route, rendering, context.uri.query())?;
        etag::check(route, &context.headers)?;
        if route.access == Access::Public && !route.reads.media.is_empty() {
            hold(self.peer, limits::PUBLIC_BODY_MAX_BYTES).await?;
        }
        let usual_bytes = self.app.config.server.body_max_bytes;
        let has_body = !self.body.is_end_stream();
        let reading = self.peer.running.filter(|_| has_body).map(Running::reads_body);
        context.body =
            body::read(&route.reads, usual_bytes, &context.headers, &mut self.body).await?;
        drop(reading);
        let _turn = match (route.access, &self.grant) {
            (Access::Optional(_), None) => Some(self.app.admission.anonymous_read().await?),
            _ => None,
        };
        Ok(without_panic((route.handler)(context)).await?)
    }

    /// What the handler is given, still without the body and the values of the path's parameters.
    fn context(&mut self, route: &Arc<Route>) -> Context {
        let asked = auth::dialect_asked(&self.parts.headers);
        Context {
            app: Arc::clone(self.app),
            route: Arc::clone(route),
            method: self.parts.method.clone(),
            uri: std::mem::take(&mut self.parts.uri),
            headers: std::mem::take(&mut self.parts.headers),
            body: Bytes::new(),
            dialect: asked.or(self.grant.as_ref().map(Grant::dialect)).unwrap_or(Dialect::Platform),
            grant: self.grant.clone(),
            address: self.address,
            request_id: self.id.clone(),
            params: Vec::new(),
        }
    }

    fn wrong_method(&self, allow: &HeaderValue) -> Refusal {
        let allowed = allow.to_str().unwrap_or_default();
        let problem = Problem::new(
            ProblemKind::MethodNotAllowed,
            format!("{} is not served here, {allowed} are", self.parts.method),
        );
        Refusal::with(problem, header::ALLOW, allow.clone())
    }
}

/// A panic of a handler is a failure of ours like any other.
async fn without_panic(mut pending: Pending) -> Result<Answer> {
    poll_fn(move |cx| {
        catch_unwind(AssertUnwindSafe(|| pending.as_mut().poll(cx))).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            let cause = format!("a handler panicked: {}", text.unwrap_or("no message"));
            Poll::Ready(Err(Problem::internal(cause)))
        })
    })
    .await
}

fn too_slow(patience: Duration) -> Problem {
    let mut problem = Problem::new(
        ProblemKind::Unavailable,
        format!("the request took longer than {} s; a write may still be done", patience.as_secs()),
    );
    problem.retry_after_s = Some(1);
    problem
}

/// Tells the log what the caller is not told.
fn report(problem: &Problem, id: &RequestId, place: Place<'_>) {
    if matches!(problem.kind, ProblemKind::Internal | ProblemKind::Unavailable) {
        let cause = problem.cause.as_ref().map(tracing::field::display);
        tracing::error!(request_id = %id, route = place.pattern, cause, "{}", problem.message);
    }
}

/// What the request's headers ask of the answer as a whole.
struct Asked {
    origin: Option<HeaderValue>,
    encodings: Option<HeaderValue>,
    method: Method,
    version: Version,
}

impl Asked {
    fn of(parts: &Parts) -> Self {
        Self {
            origin: parts.headers.get(header::ORIGIN).cloned(),
            encodings: parts.headers.get(header::ACCEPT_ENCODING).cloned(),
            method: parts.method.clone(),
            version: parts.version,
        }
    }
}

/// `HEAD` answers like `GET`, the length too, but for the body.
fn without_body(response: Response<Body>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    if let Some(bytes) = body.size_hint().exact()
        && !parts.headers.contains_key(header::CONTENT_LENGTH)
    {
        parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
    }
    Response::from_parts(parts, Body::empty())
}

/// Methods that clients make up share one label.
fn bounded(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}
