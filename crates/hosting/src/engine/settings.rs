//! Limits of processes, and what the engine needs to run them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lyceum_blob::BucketInstallations;
use lyceum_core::config::S3Settings;
use lyceum_store::SqlDialect;
use tokio::sync::mpsc::UnboundedSender;

use super::BackendLogLine;
use crate::leases::NodeLease;
use crate::limits;
use crate::replicas::Replicas;

/// Limits of one process. [`EngineSettings::default`] takes them from [`limits`].
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// The workerd program; without it, backends cannot start.
    pub workerd: Option<PathBuf>,
    /// Bytes of JavaScript's heap, rounded to whole mebibytes by the runtime.
    pub heap_bytes: u64,
    /// Total bytes of memory.
    pub memory_bytes: u64,
    /// Bytes of a project's database.
    pub database_bytes: u64,
    /// Bytes of all objects of a project's bucket.
    pub bucket_bytes: u64,
    /// The maximum time that JavaScript may run without a pause.
    pub busy_timeout: Duration,
    /// The maximum time until an answer begins.
    pub answer_timeout: Duration,
    /// The time without a request after which a process is ended.
    pub idle_timeout: Duration,
    /// The time that a replaced process gets to finish its requests.
    pub drain_timeout: Duration,
    /// Where the files of buckets are stored; on disk if it has no bucket name.
    pub s3: S3Settings,
    /// The installations whose objects of that bucket are used.
    pub installations: BucketInstallations,
    /// The lease by which the node holds its projects.
    pub lease: Arc<NodeLease>,
    /// Replicates the files of projects; without it, they are on this machine only.
    pub replicas: Option<Arc<Replicas>>,
    /// Receives the output of backends, line by line.
    pub log_subscriber: Option<UnboundedSender<BackendLogLine>>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            workerd: None,
            heap_bytes: limits::BACKEND_HEAP_MAX_BYTES,
            memory_bytes: limits::BACKEND_MEMORY_MAX_BYTES,
            database_bytes: limits::D1_DATABASE_MAX_BYTES,
            bucket_bytes: limits::BUCKET_MAX_BYTES,
            busy_timeout: Duration::from_millis(limits::BACKEND_SPIN_MAX_MS),
            answer_timeout: Duration::from_millis(limits::BACKEND_ANSWER_MAX_MS),
            idle_timeout: Duration::from_secs(limits::BACKEND_IDLE_S),
            drain_timeout: Duration::from_millis(limits::BACKEND_DRAIN_MAX_MS),
            s3: S3Settings::default(),
            installations: BucketInstallations::default(),
            lease: Arc::new(NodeLease::new(SqlDialect::Sqlite)),
            replicas: None,
            log_subscriber: None,
        }
    }
}
