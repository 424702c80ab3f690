//! How the engine treats its processes.

use std::path::PathBuf;
use std::time::Duration;

use lyceum_core::config::S3;
use lyceum_core::limits;
use tokio::sync::mpsc::UnboundedSender;

use super::LogLine;

/// What one process may take. [`EngineSettings::default`] is what [`limits`] says.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// The program; none: backends cannot be started.
    pub workerd: Option<PathBuf>,
    /// Bytes of JavaScript's heap; the runtime counts whole mebibytes.
    pub heap_bytes: u64,
    /// Bytes of memory altogether.
    pub memory_bytes: u64,
    /// Bytes of a project's database.
    pub database_bytes: u64,
    /// Bytes of all objects of a project's bucket.
    pub bucket_bytes: u64,
    /// Time that JavaScript may run without a pause.
    pub spin: Duration,
    /// Time until an answer begins.
    pub patience: Duration,
    /// Time without a request after which a process ends.
    pub idle: Duration,
    /// Time that a process that is replaced has for what it began.
    pub drain: Duration,
    /// Where the files of buckets are; without a name on disk.
    pub s3: S3,
    /// Who hears what backends print, line by line.
    pub echo: Option<UnboundedSender<LogLine>>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            workerd: None,
            heap_bytes: limits::BACKEND_HEAP_MAX_BYTES,
            memory_bytes: limits::BACKEND_MEMORY_MAX_BYTES,
            database_bytes: limits::D1_DATABASE_MAX_BYTES,
            bucket_bytes: limits::BUCKET_MAX_BYTES,
            spin: Duration::from_millis(limits::BACKEND_SPIN_MAX_MS),
            patience: Duration::from_millis(limits::BACKEND_ANSWER_MAX_MS),
            idle: Duration::from_secs(limits::BACKEND_IDLE_S),
            drain: Duration::from_millis(limits::BACKEND_DRAIN_MAX_MS),
            s3: S3::default(),
            echo: None,
        }
    }
}
