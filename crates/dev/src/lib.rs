//! A project's backend under development. Its files are watched, bundled and run by the same engine as deployed
//! backends, with a local database, keys and bucket.
//!
//! A saved file is served a moment later. If the new code does not start, the last version that did keeps running and
//! the errors are shown.
//!
//! | what | where |
//! |---|---|
//! | reading and bundling the backend | `source` |
//! | noticing changes of its files | `watched`, `folders` |
//! | the address that serves it | `front` |
//! | the sandbox that it talks to | `platform` |
//! | places in sources, failures, what to do about them | `traces`, `failure`, `hints` |
//! | answers with failures, as pages and JSON | `answers` |
//! | TypeScript types of its environment | `types` |

mod answers;
mod failure;
mod folders;
mod front;
mod hints;
mod platform;
mod source;
mod traces;
mod types;
mod watched;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use lyceum_core::origins::Origins;
use lyceum_core::time::Clock;
use lyceum_core::{Problem, Result};
use lyceum_deploy::Evaluator;
use lyceum_hosting::engine::{BackendLogLine, Engine, EngineSettings, LogStream};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use answers::BuildState;
pub use failure::DevFailure;
use hints::ProjectFacts;
use platform::Platform;
pub use source::slug_at;
pub use traces::SourcePlace;
use traces::{Traces, module_name};
use watched::WatchedFiles;

/// The settings of the development server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The project's config file, or the folder that it is in.
    pub path: PathBuf,
    /// The slug of the backend as long as it runs, even if the config's name changes; [`slug_at`] reads it.
    pub slug: String,
    /// The sandbox that `env.LYCEUM` calls, such as `http://localhost:4321`; without it, the binding does not exist.
    pub platform: Option<String>,
    /// The workerd program.
    pub workerd: Option<PathBuf>,
    /// Whether changed files are served again.
    pub reloads: bool,
    /// Host names under which it may be called, besides those of this machine.
    pub origins: Origins,
}

/// An event of the running backend.
#[derive(Debug)]
pub enum DevMessage {
    /// A version is served from now on.
    Serves {
        /// Paths with their methods.
        routes: Vec<(String, Vec<String>)>,
        /// Time since the change was noticed.
        took: Duration,
        /// The part of that time that bundling took. The rest was for starting and probing.
        bundled: Duration,
        /// Whether an earlier version was served before.
        again: bool,
    },
    /// Why the saved files are not served.
    NotServed(DevFailure),
    /// A request was answered.
    Answered {
        /// Such as `GET`.
        method: String,
        /// Without its query.
        path: String,
        /// Such as `200 OK`.
        status: String,
        /// Time until the response began.
        took: Duration,
        /// The path that was probably meant, if no route has this one.
        similar_path: Option<String>,
    },
    /// Why changed files may be noticed late, and what to do.
    NoticesLate(String),
    /// A record of the backend's output, with places in sources.
    Output {
        /// The record.
        line: BackendLogLine,
        /// The remedy for the error that it prints.
        hint: Option<String>,
    },
}

/// Receives the events.
pub type MessageHandler = Arc<dyn Fn(DevMessage) + Send + Sync>;

/// State that the parts share.
struct Dev {
    settings: Settings,
    evaluator: Evaluator,
    engine: Engine,
    platform: Option<Platform>,
    /// Requests wait for the first attempt.
    builds: watch::Sender<BuildState>,
    traces: Traces,
    /// The project as it was last read.
    project: Mutex<ProjectFacts>,
    /// The paths of the version that is served.
    paths: Mutex<Vec<String>>,
    on_message: MessageHandler,
}

/// Serves the backend on the listener until `stop` is done.
///
/// Errors: another process already serves this folder's backend; a folder cannot be created.
pub async fn run(
    settings: Settings,
    listener: TcpListener,
    clock: Arc<dyn Clock>,
    on_message: MessageHandler,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let (echo, mut lines) = mpsc::unbounded_channel();
    let engine = EngineSettings {
        workerd: settings.workerd.clone(),
        log_subscriber: Some(echo),
        // A debugger may pause for a long time.
        idle_timeout: Duration::from_hours(24),
        // Requests to the old code need not be finished.
        drain_timeout: Duration::from_secs(1),
        ..EngineSettings::default()
    };
    let engine = Engine::new(source::data(&settings.path)?.join("backend"), engine, clock)?;
    let address = listener.local_addr().map_err(Problem::internal)?;
    let platform = settings.platform.as_deref().map(Platform::at);
    let evaluator = Evaluator { workerd: settings.workerd.clone() };
    let dev = Arc::new(Dev {
        settings,
        evaluator,
        engine,
        platform,
        builds: watch::Sender::default(),
        traces: Traces::default(),
        project: Mutex::default(),
        paths: Mutex::default(),
        on_message,
    });
    let hear = async {
        while let Some(line) = lines.recv().await {
            dev.print(line);
        }
    };
    tokio::select! {
        () = dev.follow(address) => {}
        () = front::serve(&dev, listener) => {}
        () = hear => {}
        () = stop => {}
    }
    Ok(())
}

impl Dev {
    /// Serves the current files, and again after every change. Never returns.
    async fn follow(&self, address: SocketAddr) {
        let watch = || WatchedFiles::of(&self.settings.path, Arc::clone(&self.on_message));
        let mut watched = self.settings.reloads.then(watch);
        let mut again = false;
        loop {
            let start = Instant::now();
            let version = self.builds.borrow().count + 1;
            let failure = match self.renew(address, version, watched.as_mut()).await {
                Ok((routes, bundled)) => {
                    *lock(&self.paths) = routes.iter().map(|(path, _)| path.clone()).collect();
                    let took = start.elapsed();
                    (self.on_message)(DevMessage::Serves { routes, took, bundled, again });
                    again = true;
                    None
                }
                Err(problem) => {
                    let failure = self.failure(&problem);
                    (self.on_message)(DevMessage::NotServed(failure.clone()));
                    Some(failure)
                }
            };
            self.builds.send_replace(BuildState { count: version, failure });
            match &mut watched {
                Some(watched) => watched.changed().await,
                None => return std::future::pending().await,
            }
        }
    }

    /// Bundles the backend, starts it and lets it replace the running version. Returns the paths with their methods,
    /// and how long bundling took.
    async fn renew(
        &self,
        address: SocketAddr,
        version: u64,
        watched: Option<&mut WatchedFiles>,
    ) -> Result<(Vec<(String, Vec<String>)>, Duration)> {
        let start = Instant::now();
        let (path, evaluator) = (self.settings.path.clone(), self.evaluator.clone());
        let read = tokio::task::spawn_blocking(move || source::read(&path, &evaluator)).await;
        let source = read.map_err(Problem::internal)??;
        let bundled = start.elapsed();
        if let Some(watched) = watched {
            watched.also(source.inputs, source.folder);
        }
        let mut worker = source.worker;
        *lock(&self.project) = ProjectFacts {
            uses: source.uses,
            secrets: worker.secrets.keys().cloned().collect(),
            has_platform: self.platform.is_some(),
        };
        // Each version's module has its own name, so that its traces are mapped by its own source map.
        worker.main = module_name(version);
        worker.modules.iter_mut().for_each(|(name, _)| name.clone_from(&worker.main));
        self.traces.add(worker.main.clone(), &source.map)?;
        let base = match &self.platform {
            Some(platform) => platform.base().to_owned(),
            None => format!("http://{address}"),
        };
        worker.variables.insert("LYCEUM_BASE_URL".to_owned(), base);
        worker.api = self.platform.as_ref().map(|platform| platform.api(&worker.slug));
        worker.slug.clone_from(&self.settings.slug);
        let running = self.engine.start(worker).await?;
        self.engine.swap(&self.settings.slug, running);
        Ok((self.routes().await?, bundled))
    }

    /// The index of routes that the backend serves itself.
    async fn routes(&self) -> Result<Vec<(String, Vec<String>)>> {
        let request = Request::builder().uri("/api/__lyceum/routes").header("host", "localhost");
        let request = request.body(Empty::<Bytes>::new()).expect("the request is valid");
        let answer =
            self.engine.call(&self.settings.slug, request).await?.into_body().collect().await;
        let bytes = answer.map_err(Problem::internal)?.to_bytes();
        let index: Value = serde_json::from_slice(&bytes).map_err(Problem::internal)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let routes = index["routes"].as_array().into_iter().flatten().map(|route| {
            let methods = route["methods"].as_array().into_iter().flatten();
            (text(&route["path"]), methods.map(text).collect())
        });
        Ok(routes.collect())
    }

    /// Passes on a record of the backend's output.
    fn print(&self, mut line: BackendLogLine) {
        let mapped = self.traces.map(&line.text);
        let source = mapped.place.map(|place| place.text).unwrap_or_default();
        let hint = match line.stream {
            LogStream::Error => hints::hint(&mapped.text, &source, &lock(&self.project)),
            _ => None,
        };
        line.text = mapped.text;
        (self.on_message)(DevMessage::Output { line, hint });
    }

    /// A problem of the whole backend.
    fn failure(&self, problem: &Problem) -> DevFailure {
        let root = source::root(&self.settings.path);
        let message = problem.message.to_string();
        DevFailure::of_message(&message, &root, &self.traces, &lock(&self.project))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
