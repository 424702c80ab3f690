//! A project's backend under development. Its files are watched, bundled and run by the same engine as deployed
//! backends, with a local database, keys and bucket.
//!
//! A saved file is served a moment later. If the new code does not start, the last version that did keeps running and
//! the errors are shown.
//!
//! | what | where |
//! |---|---|
//! | reading and bundling the backend; noticing changes | `source`, `watched` |
//! | the address that serves it | `front` |
//! | the sandbox that it talks to | `platform` |
//! | TypeScript types of its environment | `types` |

mod front;
mod platform;
mod source;
mod types;
mod watched;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use lyceum_core::origins::Origins;
use lyceum_core::time::Clock;
use lyceum_core::{Problem, Result};
use lyceum_deploy::Evaluator;
use lyceum_hosting::engine::{Engine, EngineSettings, LogLine};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use platform::Platform;
pub use source::slug_at;
use watched::Watched;

/// What is served, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The project's config file, or the folder that it is in.
    pub path: PathBuf,
    /// The sandbox that `env.LYCEUM` asks, as `http://localhost:4321`; none: there is no such binding.
    pub platform: Option<String>,
    /// The runtime.
    pub workerd: Option<PathBuf>,
    /// Whether what is saved is served.
    pub reloads: bool,
    /// The names under which it is called, beside those of this machine.
    pub origins: Origins,
}

/// What happens.
#[derive(Debug)]
pub enum Told {
    /// This is served from now on.
    Serves {
        /// Paths with their methods.
        routes: Vec<(String, Vec<String>)>,
        /// From the moment that a change was seen.
        took: Duration,
        /// Of that, until the code was bundled; then it was started and asked.
        bundled: Duration,
        /// Something was served before.
        again: bool,
    },
    /// What is saved is not served, and why.
    Fault(String),
    /// A request.
    Answered {
        /// Such as `GET`.
        method: String,
        /// Without its query.
        path: String,
        /// Such as `200 OK`.
        status: String,
        /// Until the answer began.
        took: Duration,
    },
    /// A line that the backend printed.
    Line(LogLine),
}

/// Hears what happens.
pub type Tell = Arc<dyn Fn(Told) + Send + Sync>;

/// What the parts share.
struct Dev {
    settings: Settings,
    evaluator: Evaluator,
    engine: Engine,
    /// The name that the engine knows the backend by, whatever the config's becomes.
    slug: String,
    platform: Option<Platform>,
    /// Why nothing is served yet.
    fault: Mutex<Option<String>>,
    /// Whether what is there was tried; until then requests wait.
    tried: watch::Sender<bool>,
    tell: Tell,
}

/// Serves the backend on the listener until `stop` is done.
///
/// Errors: another process serves this folder's backend; a folder that cannot be made.
pub async fn run(
    settings: Settings,
    listener: TcpListener,
    clock: Arc<dyn Clock>,
    tell: Tell,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let (echo, mut lines) = mpsc::unbounded_channel();
    let engine = EngineSettings {
        workerd: settings.workerd.clone(),
        echo: Some(echo),
        // Whoever debugs may think for long.
        idle: Duration::from_hours(24),
        // Nobody waits for what the old code had begun.
        drain: Duration::from_secs(1),
        ..EngineSettings::default()
    };
    let engine = Engine::new(source::data(&settings.path)?.join("backend"), engine, clock)?;
    let address = listener.local_addr().map_err(Problem::internal)?;
    let platform = settings.platform.as_deref().map(Platform::at);
    let evaluator = Evaluator { workerd: settings.workerd.clone() };
    let (path, of_path) = (settings.path.clone(), evaluator.clone());
    let slug = tokio::task::spawn_blocking(move || slug_at(&path, &of_path)).await;
    let slug = slug.map_err(Problem::internal)??;
    let (fault, tried) = (Mutex::default(), watch::Sender::new(false));
    let dev = Arc::new(Dev { settings, evaluator, engine, slug, platform, fault, tried, tell });
    let hear = async {
        while let Some(line) = lines.recv().await {
            (dev.tell)(Told::Line(line));
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
    /// Serves what is saved, again with every change. Has no end of its own.
    async fn follow(&self, address: SocketAddr) {
        let mut watched = Watched::of(&self.settings.path);
        let mut again = false;
        loop {
            let begun = Instant::now();
            match self.renew(address, &mut watched).await {
                Ok((routes, bundled)) => {
                    *self.fault() = None;
                    let took = begun.elapsed();
                    (self.tell)(Told::Serves { routes, took, bundled, again });
                    again = true;
                }
                Err(problem) => {
                    if !again {
                        *self.fault() = Some(problem.message.clone());
                    }
                    (self.tell)(Told::Fault(problem.message));
                }
            }
            self.tried.send_replace(true);
            if !self.settings.reloads {
                return std::future::pending().await;
            }
            watched.changed().await;
        }
    }

    /// Bundles, starts, swaps. Answers the paths with their methods, and how long bundling took.
    async fn renew(
        &self,
        address: SocketAddr,
        watched: &mut Watched,
    ) -> Result<(Vec<(String, Vec<String>)>, Duration)> {
        let begun = Instant::now();
        let (path, evaluator) = (self.settings.path.clone(), self.evaluator.clone());
        let read = tokio::task::spawn_blocking(move || source::read(&path, &evaluator)).await;
        let source = read.map_err(Problem::internal)??;
        let bundled = begun.elapsed();
        watched.also(source.inputs, source.folder);
        let mut worker = source.worker;
        let base = match &self.platform {
            Some(platform) => platform.base().to_owned(),
            None => format!("http://{address}"),
        };
        worker.variables.insert("LYCEUM_BASE_URL".to_owned(), base);
        worker.api = self.platform.as_ref().map(|platform| platform.api(&worker.slug));
        worker.slug.clone_from(&self.slug);
        let running = self.engine.start(worker).await?;
        self.engine.swap(&self.slug, running);
        Ok((self.routes().await?, bundled))
    }

    /// The index that the backend itself has.
    async fn routes(&self) -> Result<Vec<(String, Vec<String>)>> {
        let request = Request::builder().uri("/api").header("host", "localhost");
        let request = request.body(Empty::<Bytes>::new()).expect("nothing to go wrong");
        let answer = self.engine.call(&self.slug, request).await?.into_body().collect().await;
        let bytes = answer.map_err(Problem::internal)?.to_bytes();
        // A route of the project's own may answer there.
        let index: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let routes = index["routes"].as_array().into_iter().flatten().map(|route| {
            let methods = route["methods"].as_array().into_iter().flatten();
            (text(&route["path"]), methods.map(text).collect())
        });
        Ok(routes.collect())
    }

    fn fault(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
