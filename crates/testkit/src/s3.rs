//! A bucket of S3, served by `s3s-fs`, which checks signatures.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use lyceum_core::config::{S3Settings, Secret};
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// The longest key with whose attributes the server can deal.
const SERVER_KEY_MAX_BYTES: usize = 160;

/// A server with one bucket. It lives until the tests end.
pub struct Bucket {
    /// The folder of the server. The objects are in its folder `files`.
    pub folder: TempDir,
    /// The settings with which a server uses the bucket.
    pub settings: S3Settings,
    faults: Faults,
}

/// The faults of the server: what it does instead of answering a request at once.
#[derive(Clone, Default)]
pub struct Faults {
    is_down: Arc<AtomicBool>,
    delay_ms: Arc<AtomicU64>,
    /// Objects whose key has this text are not stored.
    refused: Arc<Mutex<Option<String>>>,
    /// Objects whose key has this text wait before they are stored.
    held: Arc<Mutex<Option<String>>>,
    reads: Arc<AtomicU64>,
}

impl Bucket {
    /// Starts the server.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (endpoint, faults) = serve(folder.path(), "127.0.0.1:0");
        Self { folder, settings: settings(endpoint, "secret"), faults }
    }

    /// Makes the server refuse to store objects whose key has this text.
    pub fn refuse_writes_to(&self, key: Option<&str>) {
        set(&self.faults.refused, key);
    }

    /// Makes the server wait before it stores objects whose key has this text, until it may store them.
    pub fn hold_writes_to(&self, key: Option<&str>) {
        set(&self.faults.held, key);
    }

    /// Makes the server refuse all requests, or serve them again.
    pub fn set_down(&self, is_down: bool) {
        self.faults.set_down(is_down);
    }

    /// Makes the server wait before it handles a request.
    pub fn set_delay(&self, delay: Duration) {
        self.faults.set_delay(delay);
    }

    /// The number of requests that read or listed objects so far.
    pub fn reads(&self) -> u64 {
        self.faults.reads.load(SeqCst)
    }
}

fn set(text: &Mutex<Option<String>>, key: Option<&str>) {
    *text.lock().unwrap_or_else(PoisonError::into_inner) = key.map(str::to_owned);
}

/// Whether the path of a write has the text.
fn is_write_to(text: &Mutex<Option<String>>, path: Option<&str>) -> bool {
    let text = text.lock().unwrap_or_else(PoisonError::into_inner);
    text.as_ref().zip(path).is_some_and(|(text, path)| path.contains(text))
}

impl Faults {
    /// Makes the server refuse all requests, or serve them again.
    pub fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, SeqCst);
    }

    /// Makes the server wait before it handles a request.
    pub fn set_delay(&self, delay: Duration) {
        let delay_ms = u64::try_from(delay.as_millis()).expect("a delay is short");
        self.delay_ms.store(delay_ms, SeqCst);
    }
}

/// Serves the bucket of a folder at HOST:PORT, until the process ends. Returns the address.
pub fn serve(folder: &Path, listen: &str) -> (String, Faults) {
    fs::create_dir_all(folder.join("files")).expect("a folder for the objects");
    let files = s3s_fs::FileSystem::new(folder).expect("the folder exists");
    let mut builder = S3ServiceBuilder::new(files);
    builder.set_auth(SimpleAuth::from_single("key", "secret"));
    let service = builder.build();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let listener = runtime.block_on(TcpListener::bind(listen)).expect("a free port");
    let endpoint = format!("http://{}", listener.local_addr().expect("it is bound"));
    let faults = Faults::default();
    let own = faults.clone();
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                let (service, faults) = (service.clone(), own.clone());
                let service = service_fn(move |request: hyper::Request<Incoming>| {
                    let (service, faults) = (service.clone(), faults.clone());
                    let is_read = matches!(request.method().as_str(), "GET" | "HEAD");
                    let written = (!is_read).then(|| request.uri().path().to_owned());
                    faults.reads.fetch_add(u64::from(is_read), SeqCst);
                    async move {
                        while is_write_to(&faults.held, written.as_deref()) {
                            tokio::time::sleep(Duration::from_millis(20)).await;
                        }
                        let delay_ms = faults.delay_ms.load(SeqCst);
                        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
                        let is_refused = is_write_to(&faults.refused, written.as_deref());
                        if is_refused || faults.is_down.load(SeqCst) {
                            let mut refused = hyper::Response::new(s3s::Body::empty());
                            *refused.status_mut() = hyper::StatusCode::SERVICE_UNAVAILABLE;
                            return Ok(refused);
                        }
                        let answer = Service::call(&service, request).await;
                        answer.map(|answer| answered_long_key(answer, written.as_deref()))
                    }
                });
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                tokio::spawn(async { drop(connection.await) });
            }
        });
    });
    (endpoint, faults)
}

/// The server stores an object and then its attributes, in a file whose name has the key in base64. For a long key that name
/// is too long, so it answers 500 although it has the object, which is then read without attributes. S3 allows 1024 bytes.
fn answered_long_key(
    answer: hyper::Response<s3s::Body>,
    written: Option<&str>,
) -> hyper::Response<s3s::Body> {
    let is_long = written.is_some_and(|path| path.len() > SERVER_KEY_MAX_BYTES);
    if !is_long || answer.status() != hyper::StatusCode::INTERNAL_SERVER_ERROR {
        return answer;
    }
    let stored = hyper::Response::builder().header("etag", "\"stored\"").body(s3s::Body::empty());
    stored.expect("a header")
}

/// The settings for a bucket at that address.
pub fn settings(endpoint: String, secret: &str) -> S3Settings {
    S3Settings {
        bucket: "files".into(),
        endpoint,
        region: "us-east-1".into(),
        prefix: "school".into(),
        access_key: Some(Secret::new("key".to_owned())),
        secret_key: Some(Secret::new(secret.to_owned())),
    }
}
