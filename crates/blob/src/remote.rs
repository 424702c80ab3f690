//! An S3 bucket, or one of a compatible service, that stores the blobs, while the disk holds copies.
//!
//! Each call blocks until the bucket answers. The callers are threads that block on files anyway.

use std::fs::File;
use std::future::Future;
use std::io::{Read, Write};
use std::path::Path as FilePath;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use lyceum_core::config::S3Settings;
use lyceum_core::{Problem, ProblemKind, Result, trace};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig};
use tracing::Span;

use crate::installations::{BucketInstallations, EARLIER};
use crate::limits::{S3_ANSWER_MAX_S, S3_PART_BYTES};
use crate::{Digest, failed};

/// Begins the keys of blobs, before the id of the installation that wrote them.
pub(crate) const OBJECTS: &str = "objects";
/// The number of times that a failed request is repeated, after longer and longer pauses.
const RETRIES: usize = 3;

/// The blobs of one store in a bucket.
#[derive(Debug)]
pub(crate) struct Remote {
    store: AmazonS3,
    /// The prefix of all keys.
    prefix: String,
    /// The store, such as `projects/maths`.
    name: String,
    installations: BucketInstallations,
}

impl Remote {
    /// The blobs of the store `name` in the bucket. Sends no request yet.
    pub(crate) fn open(
        s3: &S3Settings,
        name: &str,
        installations: BucketInstallations,
    ) -> Result<Self> {
        let (store, prefix) = (open_bucket(s3)?, s3.prefix.clone());
        Ok(Self { store, prefix, name: name.to_owned(), installations })
    }

    /// Stores a file under its digest. It is durable when this returns.
    pub(crate) fn put(&self, sha256: &Digest, file: &FilePath) -> Result<()> {
        let (path, file) = (self.path(&self.installations.present()?, sha256), File::open(file));
        let mut file = file.map_err(|fault| failed("read a blob", &fault))?;
        let size =
            file.metadata().map_err(|fault| failed("read the size of a blob", &fault))?.len();
        wait(async {
            if size <= S3_PART_BYTES {
                let bytes = next_part(&mut file)?;
                return self
                    .store
                    .put(&path, bytes.into())
                    .await
                    .map(drop)
                    .map_err(|fault| bucket_failed(&fault));
            }
            let mut upload =
                self.store.put_multipart(&path).await.map_err(|fault| bucket_failed(&fault))?;
            match send_parts(&mut *upload, &mut file).await {
                Ok(()) => upload.complete().await.map(drop).map_err(|fault| bucket_failed(&fault)),
                Err(problem) => {
                    // If this fails, a lifecycle rule of the bucket removes the parts.
                    let _ = upload.abort().await;
                    Err(problem)
                }
            }
        })
    }

    /// Whether the present installation has the blob.
    pub(crate) fn has_own(&self, sha256: &Digest) -> Result<bool> {
        Ok(self.head(&self.path(&self.installations.present()?, sha256))?.is_some())
    }

    /// Whether the blob exists. Copies one that only another installation has, because its servers may delete it.
    pub(crate) fn copy_to_own(&self, sha256: &Digest) -> Result<bool> {
        let Some(found) = self.find(sha256)? else { return Ok(false) };
        let own = self.path(&self.installations.present()?, sha256);
        if found.location != own {
            wait(self.store.copy(&found.location, &own)).map_err(|fault| bucket_failed(&fault))?;
        }
        Ok(true)
    }

    /// The time at which the blob was written, in milliseconds since 1970; `None` if the installation does not have it.
    pub(crate) fn written(&self, installation: &str, sha256: &Digest) -> Result<Option<i64>> {
        let found = self.head(&self.path(installation, sha256))?;
        Ok(found.map(|meta| meta.last_modified.timestamp_millis()))
    }

    /// The object with the blob, of the first installation that has it.
    fn find(&self, sha256: &Digest) -> Result<Option<ObjectMeta>> {
        for installation in self.installations.readable() {
            if let Some(found) = self.head(&self.path(&installation, sha256))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The keys of the blob in installations whose objects this process never deletes.
    pub(crate) fn read_only_keys(&self, sha256: &Digest) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        for installation in self.installations.read_only() {
            let path = self.path(&installation, sha256);
            if self.head(&path)?.is_some() {
                keys.push(path.to_string());
            }
        }
        Ok(keys)
    }

    fn head(&self, path: &Path) -> Result<Option<ObjectMeta>> {
        match wait(self.store.head(path)) {
            Ok(meta) => Ok(Some(meta)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(fault) => Err(bucket_failed(&fault)),
        }
    }

    /// Writes the blob's bytes to `to`; returns whether the blob exists.
    pub(crate) fn read(&self, sha256: &Digest, mut to: impl Write + Send) -> Result<bool> {
        let Some(ObjectMeta { location, size, .. }) = self.find(sha256)? else { return Ok(false) };
        let mut offset = 0;
        while offset < size {
            let end = size.min(offset + S3_PART_BYTES);
            let bytes = wait(self.store.get_range(&location, offset..end))
                .map_err(|fault| bucket_failed(&fault))?;
            to.write_all(&bytes).map_err(|fault| failed("write a copy of a blob", &fault))?;
            offset += bytes.len() as u64;
        }
        Ok(true)
    }

    /// Removes the blob of an installation. A missing blob is ignored.
    pub(crate) fn remove(&self, installation: &str, sha256: &Digest) -> Result<()> {
        match wait(self.store.delete(&self.path(installation, sha256))) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(fault) => Err(bucket_failed(&fault)),
        }
    }

    /// The installations whose blobs may be deleted now.
    pub(crate) fn deletable(&self) -> Vec<String> {
        self.installations.deletable()
    }

    /// All blobs of an installation, with the time at which each was written, in milliseconds since 1970.
    pub(crate) fn list(&self, installation: &str) -> Result<Vec<(Digest, i64)>> {
        let prefix = Path::from(store_prefix(&self.prefix, installation, &self.name));
        let listed = wait(self.store.list_with_delimiter(Some(&prefix)))
            .map_err(|fault| bucket_failed(&fault))?
            .objects;
        let digest_and_time = |meta: ObjectMeta| {
            let digest = meta.location.filename()?.parse().ok()?;
            Some((digest, meta.last_modified.timestamp_millis()))
        };
        Ok(listed.into_iter().filter_map(digest_and_time).collect())
    }

    fn path(&self, installation: &str, sha256: &Digest) -> Path {
        let store = store_prefix(&self.prefix, installation, &self.name);
        Path::from(format!("{store}/{sha256}"))
    }
}

/// The prefix of the blobs of an installation in a store, below the prefix of all keys.
fn store_prefix(prefix: &str, installation: &str, name: &str) -> String {
    match installation {
        EARLIER => key_prefix(prefix, name),
        _ => key_prefix(prefix, &format!("{OBJECTS}/{installation}/{name}")),
    }
}

/// The bucket that the settings name. Sends no request yet.
///
/// Errors: `Invalid` if the settings do not name a usable bucket.
pub fn open_bucket(s3: &S3Settings) -> Result<AmazonS3> {
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&s3.bucket)
        .with_region(&s3.region)
        .with_allow_http(s3.endpoint.starts_with("http://"))
        .with_http_connector(Connector)
        .with_retry(RetryConfig {
            max_retries: RETRIES,
            retry_timeout: Duration::from_secs(S3_ANSWER_MAX_S),
            ..RetryConfig::default()
        });
    if !s3.endpoint.is_empty() {
        builder = builder.with_endpoint(s3.endpoint.trim_end_matches('/'));
    }
    match (&s3.access_key, &s3.secret_key) {
        (Some(id), Some(secret)) => {
            builder = builder.with_access_key_id(id.reveal());
            builder = builder.with_secret_access_key(secret.reveal());
        }
        _ => builder = builder.with_skip_signature(true),
    }
    builder.build().map_err(|fault| {
        let message = "[s3] in the settings does not name a usable bucket";
        Problem::new(ProblemKind::Invalid, message).because(fault.to_string())
    })
}

/// The prefix of all keys below `name`, without slashes at its ends.
pub fn key_prefix(prefix: &str, name: &str) -> String {
    [prefix.trim_matches('/'), name].join("/").trim_matches('/').to_owned()
}

async fn send_parts(upload: &mut dyn MultipartUpload, file: &mut File) -> Result<()> {
    loop {
        let bytes = next_part(file)?;
        if bytes.is_empty() {
            return Ok(());
        }
        upload.put_part(bytes.into()).await.map_err(|fault| bucket_failed(&fault))?;
    }
}

/// The next bytes of a file.
fn next_part(file: &mut File) -> Result<Bytes> {
    let mut bytes = Vec::new();
    let read = file.take(S3_PART_BYTES).read_to_end(&mut bytes);
    read.map_err(|fault| failed("read a blob", &fault))?;
    Ok(bytes.into())
}

/// The problem of a request that the bucket did not carry out.
pub(crate) fn bucket_failed(fault: &object_store::Error) -> Problem {
    let message = "the S3 bucket of the server failed; try again";
    Problem::new(ProblemKind::Unavailable, message).because(fault.to_string())
}

/// Runs a request to a bucket to its end on a new thread, because the calling thread may belong to a runtime that must
/// not block.
pub fn wait<T: Send>(work: impl Future<Output = T> + Send) -> T {
    // The requests are a part of what the caller does, also in its trace.
    let span = Span::current();
    thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let _span = span.entered();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            runtime.expect("a runtime without I/O can always be built").block_on(work)
        });
        waits.join().expect("requests to a bucket do not panic")
    })
}

/// Sends requests with the program's HTTP client, so that it needs only one TLS implementation.
#[derive(Debug)]
struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(Duration::from_secs(10)))
            .timeout_global(Some(Duration::from_secs(S3_ANSWER_MAX_S)))
            .build();
        Ok(HttpClient::new(Http(Arc::new(config.new_agent()))))
    }
}

#[derive(Debug)]
struct Http(Arc<ureq::Agent>);

/// The span of a request to the bucket, if the current request or job is traced. The key of the object is not in it.
fn span_of(request: &ureq::http::request::Parts) -> Span {
    if Span::current().is_none() {
        return Span::none();
    }
    let method = request.method.as_str();
    trace::outgoing(&format!("{method} bucket"), method, request.uri.host())
}

#[async_trait::async_trait]
impl HttpService for Http {
    async fn call(&self, request: HttpRequest) -> std::result::Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let span = span_of(&parts);
        let bytes = body.collect().await?.to_bytes();
        // Methods without a body must not send a length or a content type.
        let sent = match bytes.is_empty() && parts.method != "PUT" && parts.method != "POST" {
            true => self.0.run(ureq::http::Request::from_parts(parts, ())),
            false => self.0.run(ureq::http::Request::from_parts(parts, &bytes[..])),
        };
        match &sent {
            // That an object is not there is an answer like any other.
            Ok(answer) => trace::record_status(&span, answer.status().as_u16(), 500),
            Err(_) => trace::ended(&span, None),
        }
        let broken = |fault: ureq::Error| {
            let kind = match &fault {
                ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
                ureq::Error::Io(_) => HttpErrorKind::Interrupted,
                _ => HttpErrorKind::Connect,
            };
            HttpError::new(kind, fault)
        };
        let (parts, mut body) = sent.map_err(broken)?.into_parts();
        let bytes = body.with_config().limit(u64::MAX).read_to_vec().map_err(broken)?;
        let body = http_body_util::Full::new(Bytes::from(bytes));
        let body = HttpResponseBody::new(body.map_err(|never| match never {}));
        Ok(HttpResponse::from_parts(parts, body))
    }
}
