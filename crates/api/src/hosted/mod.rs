//! Serves deployed projects. The host name or the path names the project, and its frontend files or its backend answer.

mod backend;
mod by_path;
mod caching;
mod change;
mod deletion;
mod frontend;
mod node;
mod platform;
mod preview;
pub mod range;

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use http::{HeaderName, HeaderValue, header};
use lyceum_access::CallerPlace;
use lyceum_assessment::files;
use lyceum_blob::{Blobs, SweepReport};
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Result, message};
use lyceum_hosting::deployments::{self, Deployment, FrontendFiles};
use lyceum_hosting::engine::{BackendLogLine, Engine, PausedCalls};
use lyceum_hosting::homes;
use lyceum_http::answer::Answer;
use lyceum_http::dispatch::Dispatch;
use lyceum_http::render::Rendering;
use lyceum_http::request_id::RequestId;
use lyceum_http::{ProjectAddress, Request, Response, cors};
use lyceum_roster::imports;
use lyceum_store::{Db, Tx, run_blocking};
use quick_cache::sync::Cache;
use serde_json::json;

use crate::{App, State, limits};

pub use backend::{engine, folder};
pub use change::{DeployChange, deploy, rehearse, replace_database};
pub use deletion::delete;
use frontend::is_navigation;
pub use node::start_generation;
use preview::PreviewRequest;

/// Caches and processes for serving projects.
pub struct ProjectHosting {
    /// Created when the first backend is needed.
    engine: Mutex<Option<Arc<Engine>>>,
    /// Held while a version is installed.
    installing: tokio::sync::Mutex<()>,
    /// The files of frontends, by the SHA-256 of their zips.
    manifests: Cache<String, Arc<FrontendFiles>>,
    /// Versions by slug and number. They never change.
    versions: Cache<(String, i64), Arc<Deployment>>,
    /// The server's API for backends. It owns the state that contains this.
    dispatch: OnceLock<Weak<Dispatch<State>>>,
}

impl Default for ProjectHosting {
    fn default() -> Self {
        let manifests = Cache::new(limits::FRONTEND_CACHE_ENTRIES);
        let versions = Cache::new(limits::DEPLOYMENT_CACHE_ENTRIES);
        let (engine, installing) = (Mutex::default(), tokio::sync::Mutex::default());
        let dispatch = OnceLock::new();
        Self { engine, installing, manifests, versions, dispatch }
    }
}

impl ProjectHosting {
    /// Sets the API that backends call.
    pub fn lead_to(&self, dispatch: &Arc<Dispatch<State>>) {
        let _ = self.dispatch.set(Arc::downgrade(dispatch));
    }

    /// The lines that a backend printed and the requests that it answered since this server started it, oldest first.
    pub fn logs(&self, slug: &str) -> Vec<BackendLogLine> {
        let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner).clone();
        engine.map(|engine| engine.logs(slug)).unwrap_or_default()
    }

    /// The number of backends that run, and of processes that were started for them.
    pub fn backends(&self) -> (usize, u64) {
        let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner).clone();
        engine.map(|engine| (engine.running(), engine.started())).unwrap_or_default()
    }

    /// Ends all backends.
    pub fn close(&self) {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Gives a page that is reached by a path of the server a separate origin, so that it has none of the server's rights
/// in a browser.
const SANDBOXED: HeaderValue = HeaderValue::from_static(
    "sandbox allow-downloads allow-forms allow-modals allow-pointer-lock allow-popups allow-scripts",
);

/// Answers a request for a project.
pub async fn answer(
    app: &App,
    address: ProjectAddress,
    request: Request,
    caller: &CallerPlace,
    id: &RequestId,
) -> Response {
    let is_by_path = address.is_by_path;
    let slug = address.slug.clone();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let answered = respond(app, address, request, caller, id).await;
    let mut response = answered.unwrap_or_else(|problem| {
        if matches!(problem.kind, ProblemKind::Internal | ProblemKind::Unavailable) {
            let cause = problem.cause.as_ref().map(tracing::field::display);
            tracing::error!(request_id = %id, slug, cause, "{}", problem.message);
        }
        let mut answer = Rendering::Game.answer(&problem, PayloadDialect::Platform);
        // Let the pages that may read the backend's answers also read this problem.
        if let Some(origin) = origin {
            cors::expose(&mut answer.headers, &origin, None, true);
        }
        answer.into()
    });
    if is_by_path {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, SANDBOXED);
    }
    // Add the policy to the project's own. Browsers enforce both.
    response.headers_mut().append(header::CONTENT_SECURITY_POLICY, embedders(app));
    response
}

/// Allows only pages of this server and of the project to show the project in a frame.
fn embedders(app: &App) -> HeaderValue {
    let policy = format!("frame-ancestors 'self' {}", app.base_url);
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("frame-ancestors 'self'"))
}

/// The path at which an app that is not embedded gets the address of the server, so that it can play the demo.
const CONNECTION: &str = "/.well-known/lyceum.json";

fn connection(app: &App, slug: &str) -> Answer {
    let described = json!({
        "baseUrl": format!("{}/api", app.base_url), "server": app.base_url, "gameId": slug,
        "play": format!("{}/play/{slug}", app.base_url),
    });
    Answer::of(&described).header(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"))
}

async fn respond(
    app: &App,
    mut address: ProjectAddress,
    request: Request,
    caller: &CallerPlace,
    id: &RequestId,
) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let kept = match preview::preview_request(app, &mut address, &parts)? {
        PreviewRequest::Redirect(answer) => return Ok(answer.into()),
        PreviewRequest::Version(version) => cached_version(app, &address.slug, version).await?,
        PreviewRequest::VersionOfCookie(version) => {
            cached_version(app, &address.slug, version).await.ok().flatten()
        }
        PreviewRequest::Current => None,
    };
    let (deployment, key) = match kept {
        Some(deployment) => {
            let key = format!("{}@{}", deployment.slug, deployment.version);
            (deployment, key)
        }
        None => (require_served_version(app, &address.slug).await?, address.slug.clone()),
    };
    let path = address.path.as_str();
    if path == CONNECTION && deployment.frontend.is_some() {
        return Ok(connection(app, &address.slug).into());
    }
    if path == "/api" || path.starts_with("/api/") {
        let request = Request::from_parts(parts, body);
        let version = (&*deployment, key.as_str());
        return backend::answer(app, version, &address, request, (caller, id)).await;
    }
    frontend::answer(app, &deployment, path, &parts).await.map(Answer::into)
}

/// A stored version that is not served.
async fn cached_version(app: &App, slug: &str, version: i64) -> Result<Option<Arc<Deployment>>> {
    match active_version(app, slug).await? {
        Some(active) if active != version => find(app, slug, version).await.map(Some),
        _ => Ok(None),
    }
}

/// The number of the served version. It is read at every request, because another server with the same database may
/// have changed it.
async fn active_version(app: &App, slug: &str) -> Result<Option<i64>> {
    let slug = slug.to_owned();
    let node = Arc::clone(&app.cluster.node);
    app.db.read(move |tx| homes::active_version(tx, &node, &slug)).await
}

async fn find(app: &App, slug: &str, version: i64) -> Result<Arc<Deployment>> {
    let key = (slug.to_owned(), version);
    if let Some(known) = app.hosted.versions.get(&key) {
        return Ok(known);
    }
    let slug = slug.to_owned();
    let found = app.db.read(move |tx| deployments::find(tx, &slug, version)).await?;
    let found = Arc::new(found);
    app.hosted.versions.insert(key, Arc::clone(&found));
    Ok(found)
}

/// Ends the backends of a project, and makes requests for them wait until the returned value is dropped.
pub async fn retire(app: &App, slug: &str) -> Result<PausedCalls> {
    engine(app)?.retire(slug, &folder(app, slug)).await
}

/// Rounds of the removal of unused files after which old replicas are removed, too.
const REPLICA_SWEEP_EVERY_ROUNDS: u64 = 12;

/// Removes unused files periodically.
pub async fn sweep_periodically(app: App) {
    for round in 0_u64.. {
        tokio::time::sleep(Duration::from_secs(limits::BLOB_SWEEP_EVERY_S)).await;
        // A moment ago is not recent enough: a server with a copy of the database may have started since.
        if let Some(replication) = &app.cluster.replication
            && let Err(problem) = replication.check(&app.db, &*app.clock).await
        {
            tracing::warn!("unused files in the S3 bucket stay: {problem}");
        }
        if app.blobs.may_delete()
            && let Err(problem) = deletion::resume(&app).await
        {
            tracing::warn!("cannot delete the files of deleted projects: {problem}");
        }
        match swept(&app, Duration::from_secs(limits::BLOB_SPARED_S)).await {
            Ok(swept) if swept == SweepReport::default() => {}
            Ok(swept) => tracing::info!(?swept, "removed unused files"),
            Err(problem) => tracing::warn!("cannot remove unused files: {problem}"),
        }
        // Lists all objects, so a few times a day are enough.
        if round % REPLICA_SWEEP_EVERY_ROUNDS == 0
            && let Err(problem) = remove_expired_replicas(&app).await
        {
            tracing::warn!("cannot remove old replicas: {problem}");
        }
    }
}

/// Removes files that neither a stored version nor an item nor an import needs.
async fn swept(app: &App, spared: Duration) -> Result<SweepReport> {
    let (db, blobs, now) = (app.db.clone(), app.blobs.clone(), app.clock.now());
    run_blocking(move || lyceum_hosting::sweep(&db, &blobs, now, spared, files_of_no_project)).await
}

/// Removes what is older than `replica.keep_days` from the replicas.
async fn remove_expired_replicas(app: &App) -> Result<()> {
    let Some(replication) = &app.cluster.replication else { return Ok(()) };
    replication.remove_expired(&app.db, &*app.clock, app.config.replica.keep_days).await
}

/// The files of imports and items, by SHA-256.
pub fn files_of_no_project(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    Ok([imports::files(tx)?, files::digests(tx)?].concat())
}

/// Removes files of imports, by SHA-256, except those that items have too. Returns the keys of those that stay in the S3
/// bucket, because another installation wrote them.
pub async fn remove_files(db: &Db, blobs: &Blobs, unneeded: Vec<String>) -> Result<Vec<String>> {
    let (of_items, blobs) = (db.read(files::digests).await?, blobs.clone());
    let removing = move || {
        let mut left = Vec::new();
        for digest in unneeded.iter().filter(|digest| !of_items.contains(digest)) {
            let digest = digest.parse()?;
            blobs.remove(&digest)?;
            left.extend(blobs.read_only_keys(&digest)?);
        }
        Ok(left)
    };
    run_blocking(removing).await
}

/// The served version.
async fn require_served_version(app: &App, slug: &str) -> Result<Arc<Deployment>> {
    match active_version(app, slug).await? {
        Some(version) => find(app, slug, version).await,
        None => {
            let message =
                message!("no project '{slug}' is deployed here; `lyceum deploy` creates one");
            Err(Problem::new(ProblemKind::NotFound, message))
        }
    }
}

/// The header that tells a project's backend the caller.
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
