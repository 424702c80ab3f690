//! An engine for tests, and workers for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, StatusCode};
use lyceum_core::Problem;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_hosting::engine::{Engine, EngineSettings, Worker, find_workerd};
use lyceum_project::Binding;
use tempfile::TempDir;

/// The folder of the workers, the oracle and their npm packages.
pub(crate) fn packages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosting").canonicalize().unwrap()
}

/// Settings with the runtime of the tests' npm packages.
pub(crate) fn settings() -> EngineSettings {
    let workerd = find_workerd(None, &[packages()], None);
    assert!(workerd.is_some(), "workerd was not found; run `npm ci` in tests/hosting");
    EngineSettings { workerd, ..EngineSettings::default() }
}

/// An engine and the folder of its projects.
pub(crate) struct Host {
    pub(crate) engine: Engine,
    folder: PathBuf,
    /// Deleted with the host, if the host created it.
    _own: Option<TempDir>,
}

impl Host {
    pub(crate) fn new(settings: EngineSettings) -> Self {
        Self::timed(settings, Arc::new(SystemClock))
    }

    /// A host with that clock.
    pub(crate) fn timed(settings: EngineSettings, clock: Arc<dyn Clock>) -> Self {
        let own = tempfile::tempdir().unwrap();
        let engine = Engine::new(own.path(), settings, clock).unwrap();
        Self { engine, folder: own.path().to_owned(), _own: Some(own) }
    }

    pub(crate) fn within(folder: &Path, settings: EngineSettings) -> Self {
        let engine = Engine::new(folder, settings, Arc::new(SystemClock)).unwrap();
        Self { engine, folder: folder.to_owned(), _own: None }
    }

    /// A worker with one module and all bindings.
    pub(crate) fn worker(&self, slug: &str, code: &str) -> Worker {
        let path = |binding: Binding| self.folder.join(slug).join(binding.names().on_server);
        Worker {
            slug: slug.into(),
            version: "1".into(),
            modules: vec![("worker.js".into(), code.into())],
            main: "worker.js".into(),
            compatibility_date: "2025-01-01".into(),
            stores: Binding::ALL.map(|binding| (binding, path(binding))).into(),
            ..Worker::default()
        }
    }

    /// The status and text of the answer to `GET path`.
    pub(crate) async fn get(
        &self,
        slug: &str,
        path: &str,
    ) -> Result<(StatusCode, String), Problem> {
        let request = Request::builder().uri(path).header("host", format!("{slug}.localhost"));
        let request = request.body(Full::new(Bytes::new())).unwrap();
        let response = self.engine.call(slug, request).await?;
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        Ok((status, String::from_utf8(body.into()).unwrap()))
    }
}
