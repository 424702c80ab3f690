//! Runs a worker for one request: a script.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use lyceum_core::time::Clock;
use lyceum_core::{Problem, ProblemKind, Result, message};

use super::{BackendLogLine, Engine, EngineSettings, Worker};

/// Starts a worker, sends it `POST /`, ends it, and returns what it printed. Nothing else may use the folder `root`.
///
/// Errors: `Invalid` with the response if its status is not a success; those of [`Engine::call`].
pub async fn run_once(
    root: &Path,
    settings: EngineSettings,
    clock: Arc<dyn Clock>,
    worker: Worker,
) -> Result<Vec<BackendLogLine>> {
    let slug = worker.slug.clone();
    let engine = Engine::new(root, settings, clock)?;
    engine.install(worker)?;
    let request = Request::post("/").header("host", "localhost").body(Empty::<Bytes>::new());
    let answer = engine.call(&slug, request.map_err(Problem::internal)?).await?;
    let status = answer.status();
    let body = answer.into_body().collect().await.map_err(|error| {
        Problem::new(ProblemKind::Unavailable, message!("the script was interrupted: {error}"))
    })?;
    if !status.is_success() {
        let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        return Err(Problem::new(ProblemKind::Invalid, message!("the script failed: {text}")));
    }
    let printed = engine.logs(&slug).into_iter();
    Ok(printed.filter(|line| line.stream != super::LogStream::Request).collect())
}
