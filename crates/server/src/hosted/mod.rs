//! Deployed projects: found by the name of the host or by a path, answered from the files of their
//! frontend or by their backend.

mod address;
mod backend;
mod caching;
mod frontend;
mod range;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Request, Response, header};
use bytes::Bytes;
use hyper::body::Body as HttpBody;
use lyceum_core::{Dialect, Problem, ProblemKind, Result, limits};
use lyceum_hosting::deployments::{self, Deployment, Manifest};
use lyceum_hosting::engine::{BoxError, Engine};
use quick_cache::sync::Cache;

use crate::answer::Answer;
use crate::render::Rendering;
use crate::state::App;
use crate::table::Place;

pub(crate) use address::Address;
pub(crate) use backend::rehearse;

/// What serving projects remembers between requests.
pub(crate) struct Hosted {
    /// Made when the first backend is needed.
    engine: Mutex<Option<Arc<Engine>>>,
    /// Held by who installs a version.
    installing: tokio::sync::Mutex<()>,
    /// The files of frontends, by the SHA-256 of their zips.
    manifests: Cache<String, Arc<Manifest>>,
}

impl Default for Hosted {
    fn default() -> Self {
        let manifests = Cache::new(limits::FRONTEND_CACHE_ENTRIES);
        Self { engine: Mutex::default(), installing: tokio::sync::Mutex::default(), manifests }
    }
}

impl Hosted {
    /// Ends all backends.
    pub(crate) fn close(&self) {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// A page that is reached by a path of the server has none of the server's rights in a browser: its
/// origin is its own.
const SANDBOXED: HeaderValue = HeaderValue::from_static(
    "sandbox allow-downloads allow-forms allow-modals allow-pointer-lock allow-popups allow-scripts",
);

/// All projects are one place of the log and the counters.
pub(crate) const PLACE: Place<'static> =
    Place { area: "hosted", rendering: Rendering::Game, pattern: "/_projects/{slug}" };

/// Answers a request for a project.
pub(crate) async fn answer<B>(
    app: &App,
    address: Address,
    parts: Parts,
    body: B,
    caller: IpAddr,
) -> Response<Body>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let is_by_path = address.is_by_path;
    let answered = respond(app, &address, parts, body, caller).await;
    let mut response = answered.unwrap_or_else(|problem| {
        if matches!(problem.kind, ProblemKind::Internal | ProblemKind::Unavailable) {
            let cause = problem.cause.as_ref().map(tracing::field::display);
            tracing::error!(slug = address.slug, cause, "{}", problem.message);
        }
        Rendering::Game.answer(&problem, Dialect::Platform).into()
    });
    if is_by_path {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, SANDBOXED);
    }
    response
}

async fn respond<B>(
    app: &App,
    address: &Address,
    parts: Parts,
    body: B,
    caller: IpAddr,
) -> Result<Response<Body>>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let deployment = deployment(app, &address.slug).await?;
    let path = address.path.as_str();
    if path == "/api" || path.starts_with("/api/") {
        return backend::answer(
            app,
            &deployment,
            address,
            Request::from_parts(parts, body),
            caller,
        )
        .await;
    }
    frontend::answer(app, &deployment, path, &parts).await.map(Answer::into)
}

/// The version that is served.
async fn deployment(app: &App, slug: &str) -> Result<Deployment> {
    let sought = slug.to_owned();
    let found = app.db.read(move |tx| deployments::active(tx, &sought)).await?;
    found.ok_or_else(|| {
        let message = format!("no project '{slug}' is deployed here; `lyceum deploy` makes one");
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// The header that tells a project who called.
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
