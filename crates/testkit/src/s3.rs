//! A bucket of S3, served by `s3s-fs`, which checks signatures.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use lyceum_core::config::{S3Settings, Secret};
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// A server with one bucket. It lives until the tests end.
pub struct Bucket {
    /// The folder of the server. The objects are in its folder `files`.
    pub folder: TempDir,
    /// The settings with which a server uses the bucket.
    pub settings: S3Settings,
    is_down: Arc<AtomicBool>,
}

impl Bucket {
    /// Starts the server.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("files")).expect("a folder in it");
        let files = s3s_fs::FileSystem::new(folder.path()).expect("the folder exists");
        let mut builder = S3ServiceBuilder::new(files);
        builder.set_auth(SimpleAuth::from_single("key", "secret"));
        let service = builder.build();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let endpoint = format!("http://{}", listener.local_addr().expect("it is bound"));
        let is_down = Arc::<AtomicBool>::default();
        let down = Arc::clone(&is_down);
        thread::spawn(move || {
            runtime.block_on(async {
                loop {
                    let (stream, _) = listener.accept().await.expect("a connection");
                    let (service, down) = (service.clone(), Arc::clone(&down));
                    let service = service_fn(move |request: hyper::Request<Incoming>| {
                        let (service, down) = (service.clone(), Arc::clone(&down));
                        async move {
                            if down.load(SeqCst) {
                                let mut refused = hyper::Response::new(s3s::Body::empty());
                                *refused.status_mut() = hyper::StatusCode::SERVICE_UNAVAILABLE;
                                return Ok(refused);
                            }
                            Service::call(&service, request).await
                        }
                    });
                    let connection =
                        http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                    tokio::spawn(async { drop(connection.await) });
                }
            });
        });
        Self { folder, settings: settings(endpoint, "secret"), is_down }
    }

    /// Makes the server refuse all requests, or serve them again.
    pub fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, SeqCst);
    }
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
