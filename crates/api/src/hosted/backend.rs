//! Requests for the backend of a project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use http::uri::InvalidUri;
use http::{HeaderValue, Request, Response, header};
use http_body_util::Limited;
use hyper::body::Body as HttpBody;
use lyceum_access::CallerPlace;
use lyceum_blob::Blobs;
use lyceum_core::config::variable;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_hosting::deployments::{self, Deployment};
use lyceum_hosting::engine::{
    Engine, EngineSettings, SCHEME_HEADER, StartedVersion, Worker, find_workerd,
};
use lyceum_hosting::user::USER_HEADER;
use lyceum_hosting::{databases, leases, limits, projects, secrets};
use lyceum_http::request_id::{RequestId, X_REQUEST_ID};
use lyceum_http::{Body, trace};
use lyceum_project::{Backend, Binding, Plan, Step, Uses};
use lyceum_store::run_blocking;
use tracing::Instrument;

use super::{ProjectAddress, X_FORWARDED_FOR, by_path, platform};
use crate::App;

/// Sends the request to the process of the version, and starts the process if necessary.
pub(super) async fn answer(
    app: &App,
    (deployment, key): (&Deployment, &str),
    address: &ProjectAddress,
    mut request: Request<Body>,
    from: (&CallerPlace, &RequestId),
) -> Result<Response<Body>> {
    if deployment.backend.is_none() {
        let message = message!("the project '{address.slug}' has no backend");
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    let engine = engine(app)?;
    if engine.version(key) != Some(deployment.version.to_string()) {
        install(app, &engine, (deployment, key)).await?;
    }
    let (slug, learns) = (&address.slug, deployment.uses.lms);
    let user = platform::user(app, slug, learns, request.headers()).await?;
    // Remove these headers, so that callers cannot claim an identity.
    request.headers_mut().remove(USER_HEADER);
    if let Some(user) = user {
        request.headers_mut().insert(USER_HEADER, user.header());
    }
    let mut request = forwarded(app, address, request, from)?;
    let span = trace::outgoing("backend", request.method().as_str(), None);
    span.record("lyceum.project", slug.as_str());
    trace::write(&span, request.headers_mut());
    let called = engine.call(key, request).instrument(span.clone()).await;
    trace::ended(&span, called.as_ref().ok().map(|response| response.status().as_u16()));
    // The version was installed above, so it is missing only if the project moves to or from this node at this moment.
    let missing = |problem: Problem| match problem.kind {
        ProblemKind::NotFound => leases::moved(slug),
        _ => problem,
    };
    let mut response = called.map_err(missing)?.map(Body::new);
    if address.is_by_path {
        by_path::keep_allowed(response.headers_mut());
    }
    Ok(response)
}

/// Starts the version that a plan creates and waits until it answers, before the plan is applied. `database` is the new
/// database file, if the plan changes it. `None` if there is no backend, or the plan does not change it, its secrets or
/// its bindings.
///
/// Errors: `Invalid`, with what the backend printed.
pub(super) async fn rehearse(
    app: &App,
    plan: &Plan,
    pushed: &BTreeMap<String, String>,
    database: Option<&Path>,
) -> Result<Option<RehearsedVersion>> {
    if database.is_none() && !plan.steps.contains(&Step::StartBackend) {
        return Ok(None);
    }
    let (slug, master) = (plan.slug.clone(), app.gate.keyring().master().clone());
    let kept = app.db.read(move |tx| match deployments::active(tx, &slug)? {
        Some(active) => {
            let values = secrets::values(tx, &master, &slug, active.version)?;
            Ok((active.backend, values))
        }
        None => Ok((None, BTreeMap::new())),
    });
    let (kept, mut values) = kept.await?;
    let Some(backend) = plan.backend.as_ref().map(|change| &change.new).or(kept.as_ref()) else {
        return Ok(None);
    };
    if let Some(wanted) = &plan.desired.secrets {
        values.retain(|name, _| wanted.contains_key(name));
    }
    values.extend(pushed.clone());
    let engine = engine(app)?;
    let mut worker = worker(app, &plan.slug, backend, plan.desired.uses, values).await?;
    if let Some(database) = database {
        worker.stores.insert(Binding::Database, database.to_owned());
    }
    let running = engine.start(worker).await?;
    Ok(Some(RehearsedVersion { engine, running }))
}

/// A running version that is not served yet.
pub(super) struct RehearsedVersion {
    engine: Arc<Engine>,
    running: StartedVersion,
}

impl RehearsedVersion {
    /// Serves the version from now on, as the version that the database names.
    pub(super) fn serve(mut self, slug: &str, version: i64) {
        self.running.set_version(version.to_string());
        self.engine.swap(slug, self.running);
    }
}

/// The engine of the backends, which is started when it is first needed. Errors: no workerd was found.
pub fn engine(app: &App) -> Result<Arc<Engine>> {
    let mut made = app.hosted.engine.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = &*made {
        return Ok(Arc::clone(engine));
    }
    let here = std::env::current_dir().ok();
    let beside = std::env::current_exe().ok();
    let folders: Vec<PathBuf> = here.into_iter().chain(beside).collect();
    let named = variable("LYCEUM_WORKERD");
    let workerd = find_workerd(named.as_deref(), &folders, variable("PATH").as_deref());
    let (s3, lease) = (app.config.s3.clone(), Arc::clone(&app.cluster.lease));
    let replicas =
        app.cluster.replication.as_ref().map(|replication| Arc::clone(&replication.projects));
    let installations = app.bucket.clone();
    let settings =
        EngineSettings { workerd, s3, installations, lease, replicas, ..EngineSettings::default() };
    let root = app.config.store.data.join("hosting");
    let engine = Arc::new(Engine::new(root, settings, Arc::clone(&app.clock))?);
    *made = Some(Arc::clone(&engine));
    Ok(engine)
}

/// Installs in the engine, with this key, the version that the database names as served, or another stored version.
async fn install(app: &App, engine: &Engine, (kept, key): (&Deployment, &str)) -> Result<()> {
    let _installing = app.hosted.installing.lock().await;
    let slug = kept.slug.as_str();
    // Another version may be served by now.
    let served =
        if key == slug { Some(super::require_served_version(app, slug).await?) } else { None };
    let deployment = served.as_deref().unwrap_or(kept);
    if engine.version(key) == Some(deployment.version.to_string()) {
        return Ok(());
    }
    put(app, engine, (deployment, key)).await
}

/// Like [`install`], but also if the version is the same, because its files have changed.
pub(super) async fn reinstall(app: &App, engine: &Engine, slug: &str) -> Result<()> {
    let _installing = app.hosted.installing.lock().await;
    let deployment = super::require_served_version(app, slug).await?;
    put(app, engine, (&deployment, slug)).await
}

async fn put(app: &App, engine: &Engine, (deployment, key): (&Deployment, &str)) -> Result<()> {
    let Some(backend) = &deployment.backend else { return Ok(()) };
    let slug = deployment.slug.as_str();
    let (sought, master) = (slug.to_owned(), app.gate.keyring().master().clone());
    let version = deployment.version;
    let values = app.db.read(move |tx| secrets::values(tx, &master, &sought, version)).await?;
    let mut worker = worker(app, slug, backend, deployment.uses, values).await?;
    worker.version = version.to_string();
    key.clone_into(&mut worker.slug);
    engine.install(worker)
}

/// The configuration of the process, with the project's data files, which all versions share.
async fn worker(
    app: &App,
    slug: &str,
    backend: &Backend,
    uses: Uses,
    secrets: BTreeMap<String, String>,
) -> Result<Worker> {
    let blobs = app.blobs.clone();
    let backend = backend.clone();
    let (modules, backend) =
        run_blocking(move || Ok((modules(&blobs, &backend)?, backend))).await?;
    let folder = folder(app, slug);
    let sought = slug.to_owned();
    let project = app.db.read(move |tx| projects::lookup(tx, &sought)).await?;
    let path = |binding: Binding| match binding {
        Binding::Database => databases::file_of(&folder, project.as_ref()),
        other => folder.join(other.names().on_server),
    };
    let variables = [("GAME_ID", slug), ("LYCEUM_BASE_URL", &app.base_url)];
    Ok(Worker {
        slug: slug.to_owned(),
        modules,
        main: backend.main,
        compatibility_date: backend.compatibility_date,
        stores: uses.bindings().map(|binding| (binding, path(binding))).collect(),
        api: platform::api(app, slug),
        secrets,
        variables: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..Worker::default()
    })
}

/// The folder with a project's data: database, key-value store and bucket.
pub fn folder(app: &App, slug: &str) -> PathBuf {
    app.cluster.node.folder_of(slug)
}

fn modules(blobs: &Blobs, backend: &Backend) -> Result<Vec<(String, Vec<u8>)>> {
    let read = backend.modules.iter().map(|module| {
        let bytes = blobs.read(&module.sha256.parse()?)?;
        let bytes = bytes.ok_or_else(|| {
            Problem::internal(format!(
                "the module '{}' ({}) does not exist",
                module.name, module.sha256
            ))
        });
        Ok((module.name.clone(), bytes?))
    });
    read.collect()
}

/// Rewrites the request for the process: the path within the project, headers about the caller, and the request id of
/// the server's log.
fn forwarded(
    app: &App,
    address: &ProjectAddress,
    request: Request<Body>,
    (caller, id): (&CallerPlace, &RequestId),
) -> Result<Request<Limited<Body>>> {
    let (mut parts, body) = request.into_parts();
    if body.size_hint().lower() > limits::BACKEND_BODY_MAX_BYTES as u64 {
        let most = limits::BACKEND_BODY_MAX_BYTES;
        let message = message!("the body is larger than {most} bytes; send it in parts");
        return Err(Problem::new(ProblemKind::TooLarge, message));
    }
    if address.is_by_path {
        for name in by_path::CREDENTIALS {
            parts.headers.remove(name);
        }
    }
    let query = parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    if let Some(host) = parts.uri.host()
        && let Ok(host) =
            HeaderValue::from_str(parts.uri.authority().map_or(host, |whole| whole.as_str()))
    {
        parts.headers.insert(header::HOST, host);
    }
    let target = format!("{}{query}", address.path);
    parts.uri = target.parse().map_err(|fault: InvalidUri| {
        Problem::new(ProblemKind::Malformed, message!("'{target}' is not a valid path: {fault}"))
    })?;
    parts.version = http::Version::HTTP_11;
    let scheme = app.base_url.split_once("://").map_or("http", |(scheme, _)| scheme);
    if let Ok(scheme) = HeaderValue::from_str(scheme) {
        parts.headers.insert(SCHEME_HEADER, scheme);
    }
    parts.headers.insert(X_REQUEST_ID, id.header());
    if let Ok(caller) = HeaderValue::from_str(&caller.address().to_string()) {
        parts.headers.insert(X_FORWARDED_FOR, caller);
    }
    let body = Limited::new(body, limits::BACKEND_BODY_MAX_BYTES);
    Ok(Request::from_parts(parts, body))
}
