//! Runs the backends of projects, each in its own workerd process. The engine starts a process at the first request,
//! watches it, ends it when it is idle, and answers callers when it fails.
//!
//! A backend runs code that the server does not trust. It reaches its own data over one socket, and public addresses.
//! An endless loop or a full heap ends only its own process.

mod api;
mod app;
mod binary;
mod compatibility;
mod config;
mod connections;
mod leftovers;
mod logs;
mod once;
mod process;
mod progress;
mod record;
mod settings;
mod slices;
mod start;
mod upgrade;
mod watch;
mod worker;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::{Request, Response};
use lyceum_core::time::Clock;
use lyceum_core::{Problem, ProblemKind, Result, message};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};

pub use api::{BACKEND_HEADER, PlatformApi, ResponseInProgress};
pub use binary::find_workerd;
pub use config::SCHEME_HEADER;
pub use connections::{Body, BoxError};
pub use logs::{BackendLogLine, LogStream};
pub use once::run_once;
pub use settings::EngineSettings;
pub use slices::use_answering_slice;
pub use worker::Worker;

use crate::bindings::Stores;
use crate::buckets::Bucket;
use crate::kv::Kv;
use crate::limits::{D1_RUN_MAX_MS, DEPLOY_PAUSE_MAX_MS};
use app::App;
use process::Process;

/// The backends of a server. Dropping the engine ends them all.
pub struct Engine {
    apps: Mutex<HashMap<String, Arc<App>>>,
    /// A lock for each slug: calls hold it for reading, and wait while [`Engine::pause_calls`] has locked it.
    gates: Mutex<HashMap<String, Arc<RwLock<()>>>>,
    shared: Arc<EngineShared>,
}

/// State that all processes share.
struct EngineShared {
    settings: EngineSettings,
    clock: Arc<dyn Clock>,
    stores: Stores,
    /// Has a folder with sockets and configuration for each process. Its path is short, because the path of a socket
    /// is limited.
    run: leftovers::EngineFolder,
    /// Counts started processes, to name their folders.
    started: AtomicU64,
    /// Numbers the lines of all logs.
    last_line: logs::LastLineId,
}

/// A running version that answers, but does not receive calls yet. Dropping it ends it.
pub struct StartedVersion {
    app: Arc<App>,
}

impl StartedVersion {
    /// Names the version as it will be called when it is served.
    pub fn set_version(&mut self, version: String) {
        let app = Arc::get_mut(&mut self.app).expect("it receives no calls yet");
        Arc::make_mut(&mut app.worker).version = version;
    }
}

/// A slug whose calls wait until this value is dropped.
pub struct PausedCalls {
    _gate: OwnedRwLockWriteGuard<()>,
}

impl Engine {
    /// An engine that stores what it must remember of its processes below `root`. Ends processes that a killed engine
    /// left running in this folder.
    pub fn new(
        root: impl Into<PathBuf>,
        settings: EngineSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        let run = leftovers::claim(&root.into())?;
        let stores = Stores::new(Arc::clone(&clock), &settings);
        let started = AtomicU64::new(0);
        let last_line = logs::LastLineId::default();
        let shared = Arc::new(EngineShared { settings, clock, stores, run, started, last_line });
        Ok(Self { apps: Mutex::default(), gates: Mutex::default(), shared })
    }

    /// Starts the version next to the one that serves, and requests `/health`. Any response is accepted.
    ///
    /// Errors: `Invalid`, with the backend's output, if it does not start or does not answer.
    pub async fn start(&self, worker: Worker) -> Result<StartedVersion> {
        let app = Arc::new(App::new(worker, Arc::clone(&self.shared))?);
        app.probe().await?;
        Ok(StartedVersion { app })
    }

    /// Sends the slug's calls to this version from now on. The previous version finishes the calls that it began.
    pub fn swap(&self, slug: &str, running: StartedVersion) {
        self.replace(slug, Some(running.app));
    }

    /// Sends the slug's calls to this version from now on. The first call starts it.
    ///
    /// Errors: an impossible worker, such as one with an unknown compatibility date.
    pub fn install(&self, worker: Worker) -> Result<()> {
        let slug = worker.slug.clone();
        let app = App::new(worker, Arc::clone(&self.shared))?;
        self.replace(&slug, Some(Arc::new(app)));
        Ok(())
    }

    /// The version that receives the slug's calls; `None` without a backend.
    pub fn version(&self, slug: &str) -> Option<String> {
        self.app(slug).map(|app| app.worker.version.clone())
    }

    /// Sends a request to the slug's backend, and starts it if it is not running.
    ///
    /// Errors: `NotFound` without a backend; `Unavailable`, with the reason, if it does not start, crashed, ran an
    /// endless loop or answered too late.
    pub async fn call<B>(&self, slug: &str, request: Request<B>) -> Result<Response<Body>>
    where
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let permit = self.gate(slug).read_owned().await;
        let app = self.app(slug).ok_or_else(|| {
            Problem::new(ProblemKind::NotFound, message!("'{slug}' has no backend"))
        })?;
        app.call(connections::boxed(request), permit).await
    }

    /// Stops the slug's backend and those of its stored versions, and makes calls wait until the returned value is
    /// dropped, so that nothing uses the files in the folder meanwhile.
    ///
    /// Errors: those of [`Engine::pause_calls`].
    pub async fn retire(&self, slug: &str, folder: &Path) -> Result<PausedCalls> {
        let versions = format!("{slug}@");
        let names: Vec<String> = {
            let apps = self.apps.lock().unwrap_or_else(PoisonError::into_inner);
            apps.keys().filter(|name| name.starts_with(&versions)).cloned().collect()
        };
        for name in &names {
            self.stop(name);
        }
        let paused = self.pause_calls(slug, folder).await?;
        self.stop(slug);
        Ok(paused)
    }

    /// Ends the slug's process and makes calls wait until the returned value is dropped, so that nothing uses the
    /// database file meanwhile. Calls that already began have [`crate::limits::DEPLOY_PAUSE_MAX_MS`] to finish.
    ///
    /// Errors: `Unavailable` if the file stays in use.
    pub async fn pause_calls(&self, slug: &str, database: &Path) -> Result<PausedCalls> {
        let gate = self.gate(slug).write_owned().await;
        if let Some(process) = self.app(slug).and_then(|app| app.retire()) {
            process.drain_within(Duration::from_millis(DEPLOY_PAUSE_MAX_MS)).await;
        }
        let closed = async {
            while self.shared.stores.has_open(database) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let close_timeout = Duration::from_millis(D1_RUN_MAX_MS);
        tokio::time::timeout(close_timeout, closed).await.map_err(|_| {
            let message = message!("the database of '{slug}' is still in use; try again");
            Problem::new(ProblemKind::Unavailable, message)
        })?;
        Ok(PausedCalls { _gate: gate })
    }

    fn gate(&self, slug: &str) -> Arc<RwLock<()>> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        match gates.get(slug) {
            Some(gate) => Arc::clone(gate),
            None => Arc::clone(gates.entry(slug.to_owned()).or_default()),
        }
    }

    /// Stops the slug's backend. Calls that began are finished, and later calls get `NotFound`.
    pub fn stop(&self, slug: &str) {
        self.replace(slug, None);
    }

    /// The latest output and requests of the slug's backend, oldest first, across restarts and versions.
    pub fn logs(&self, slug: &str) -> Vec<BackendLogLine> {
        self.app(slug).map(|app| app.logs.lines()).unwrap_or_default()
    }

    /// The bucket in a folder, as backends see it.
    pub fn bucket(&self, folder: &Path) -> Result<Bucket> {
        Bucket::shared(&self.shared.stores, folder)
    }

    /// The key-value store in a file, as backends see it.
    pub fn kv(&self, file: &Path) -> Result<Kv> {
        Kv::shared(&self.shared.stores, file)
    }

    /// The number of backends that run.
    pub fn running(&self) -> usize {
        let apps = self.apps.lock().unwrap_or_else(PoisonError::into_inner);
        apps.values().filter(|app| app.running().is_some()).count()
    }

    /// The number of processes that were started, also those that ended.
    pub fn started(&self) -> u64 {
        self.shared.started.load(Relaxed)
    }

    /// The process of the slug's backend; `None` if it is not running.
    pub fn process_id(&self, slug: &str) -> Option<u32> {
        self.app(slug)?.running().map(|process| process.id())
    }

    fn app(&self, slug: &str) -> Option<Arc<App>> {
        self.apps.lock().unwrap_or_else(PoisonError::into_inner).get(slug).cloned()
    }

    fn replace(&self, slug: &str, app: Option<Arc<App>>) {
        let mut apps = self.apps.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match app {
            Some(app) => {
                if let Some(before) = apps.get(slug) {
                    app.logs.continue_from(&before.logs);
                }
                apps.insert(slug.to_owned(), app)
            }
            None => apps.remove(slug),
        };
        drop(apps);
        if let Some(process) = before.and_then(|app| app.retire()) {
            tokio::spawn(Process::drain(process));
        }
    }
}

impl EngineShared {
    /// A new folder for a process.
    fn folder(&self) -> PathBuf {
        self.run.path().join(self.started.fetch_add(1, Relaxed).to_string())
    }
}
