//! Requests for the backend of a project.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, header};
use bytes::Bytes;
use http_body_util::Limited;
use hyper::body::Body as HttpBody;
use lyceum_blob::Blobs;
use lyceum_core::config::variable;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_hosting::deployments::Deployment;
use lyceum_hosting::engine::{
    BoxError, Engine, EngineSettings, Running, SCHEME_HEADER, Worker, find_workerd,
};
use lyceum_hosting::{deployments, secrets};
use lyceum_project::{Backend, Plan, Uses};

use super::{Address, X_FORWARDED_FOR};
use crate::routes::credentials::apart;
use crate::state::App;

/// Sends the request to the version's process, which is started if it must be.
pub(super) async fn answer<B>(
    app: &App,
    deployment: &Deployment,
    address: &Address,
    request: Request<B>,
    caller: IpAddr,
) -> Result<Response<Body>>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    if deployment.backend.is_none() {
        let message = format!("the project '{}' has no backend", address.slug);
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    let engine = engine(app)?;
    if engine.version(&address.slug) != Some(deployment.version.to_string()) {
        install(app, &engine, &address.slug).await?;
    }
    let request = forwarded(app, address, request, caller)?;
    Ok(engine.call(&address.slug, request).await?.map(Body::new))
}

/// Starts the version that a plan makes and sees it answer, before anything of the plan is applied.
/// None: the plan leaves the backend as it is.
///
/// Errors: `Invalid`, with what the backend printed.
pub(crate) async fn rehearse(
    app: &App,
    plan: &Plan,
    pushed: &BTreeMap<String, String>,
) -> Result<Option<Rehearsed>> {
    let Some(change) = &plan.backend else { return Ok(None) };
    let (slug, master) = (plan.slug.clone(), app.gate.keyring().master().clone());
    let kept = app.db.read(move |tx| match deployments::active_version(tx, &slug)? {
        Some(version) => secrets::values(tx, &master, &slug, version),
        None => Ok(BTreeMap::new()),
    });
    let mut values = kept.await?;
    if let Some(wanted) = &plan.desired.secrets {
        values.retain(|name, _| wanted.contains_key(name));
    }
    values.extend(pushed.clone());
    let engine = engine(app)?;
    let worker = worker(app, &plan.slug, &change.new, plan.desired.uses, values).await?;
    let running = engine.start(worker).await?;
    Ok(Some(Rehearsed { engine, running }))
}

/// A version that answers and is not yet served.
pub(crate) struct Rehearsed {
    engine: Arc<Engine>,
    running: Running,
}

impl Rehearsed {
    /// From now on it is served, as the version that the database knows.
    pub(crate) fn serve(mut self, slug: &str, version: i64) {
        self.running.set_version(version.to_string());
        self.engine.swap(slug, self.running);
    }
}

fn engine(app: &App) -> Result<Arc<Engine>> {
    let mut made = app.hosted.engine.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = &*made {
        return Ok(Arc::clone(engine));
    }
    let here = std::env::current_dir().ok();
    let beside = std::env::current_exe().ok();
    let folders: Vec<PathBuf> = here.into_iter().chain(beside).collect();
    let named = variable("LYCEUM_WORKERD");
    let workerd = find_workerd(named.as_deref(), &folders, variable("PATH").as_deref());
    let settings = EngineSettings { workerd, ..EngineSettings::default() };
    let root = app.config.store.data.join("hosting");
    let engine = Arc::new(Engine::new(root, settings, Arc::clone(&app.clock))?);
    *made = Some(Arc::clone(&engine));
    Ok(engine)
}

/// Makes the engine know the version that the database says is served.
async fn install(app: &App, engine: &Engine, slug: &str) -> Result<()> {
    let _installing = app.hosted.installing.lock().await;
    let deployment = super::deployment(app, slug).await?;
    let Some(backend) = &deployment.backend else { return Ok(()) };
    if engine.version(slug) == Some(deployment.version.to_string()) {
        return Ok(());
    }
    let (sought, master) = (slug.to_owned(), app.gate.keyring().master().clone());
    let version = deployment.version;
    let values = app.db.read(move |tx| secrets::values(tx, &master, &sought, version)).await?;
    let mut worker = worker(app, slug, backend, deployment.uses, values).await?;
    worker.version = version.to_string();
    engine.install(worker)
}

/// What is run, with the files that it may use: those of the project, whatever its version.
async fn worker(
    app: &App,
    slug: &str,
    backend: &Backend,
    uses: Uses,
    secrets: BTreeMap<String, String>,
) -> Result<Worker> {
    let blobs = app.blobs.clone();
    let backend = backend.clone();
    let (modules, backend) = apart(move || Ok((modules(&blobs, &backend)?, backend))).await?;
    let folder = app.config.store.data.join("hosting/projects").join(slug);
    let file = |is_used: bool, name: &str| is_used.then(|| folder.join(name));
    let variables = [("GAME_ID", slug), ("LYCEUM_BASE_URL", &app.base_url)];
    Ok(Worker {
        slug: slug.to_owned(),
        modules,
        main: backend.main,
        compatibility_date: backend.compatibility_date,
        d1: file(uses.database, "d1.sqlite"),
        kv: file(uses.kv, "kv.sqlite"),
        bucket: file(uses.bucket, "bucket"),
        secrets,
        variables: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..Worker::default()
    })
}

fn modules(blobs: &Blobs, backend: &Backend) -> Result<Vec<(String, Vec<u8>)>> {
    let read = backend.modules.iter().map(|module| {
        let bytes = blobs.read(&module.sha256.parse()?)?;
        let bytes = bytes.ok_or_else(|| {
            Problem::internal(format!("the module '{}' ({}) is gone", module.name, module.sha256))
        });
        Ok((module.name.clone(), bytes?))
    });
    read.collect()
}

/// The request as the process sees it: the path within the project, who called and how.
fn forwarded<B>(
    app: &App,
    address: &Address,
    request: Request<B>,
    caller: IpAddr,
) -> Result<Request<impl HttpBody<Data = Bytes, Error = BoxError> + Send + 'static>>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (mut parts, body) = request.into_parts();
    let query = parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    if let Some(host) = parts.uri.host()
        && let Ok(host) =
            HeaderValue::from_str(parts.uri.authority().map_or(host, |whole| whole.as_str()))
    {
        parts.headers.insert(header::HOST, host);
    }
    let target = format!("{}{query}", address.path);
    parts.uri = target.parse().map_err(|fault| {
        Problem::new(ProblemKind::Malformed, format!("'{target}' is no path: {fault}"))
    })?;
    parts.version = axum::http::Version::HTTP_11;
    let scheme = app.base_url.split_once("://").map_or("http", |(scheme, _)| scheme);
    if let Ok(scheme) = HeaderValue::from_str(scheme) {
        parts.headers.insert(SCHEME_HEADER, scheme);
    }
    if let Ok(caller) = HeaderValue::from_str(&caller.to_string()) {
        parts.headers.insert(X_FORWARDED_FOR, caller);
    }
    let body = Limited::new(body, limits::BACKEND_BODY_MAX_BYTES);
    Ok(Request::from_parts(parts, body))
}
