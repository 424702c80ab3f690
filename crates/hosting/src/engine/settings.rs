//! How the engine treats its processes.

use std::path::PathBuf;
use std::time::Duration;

use lyceum_core::limits;

/// What one process may take. [`EngineSettings::default`] is what [`limits`] says.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// The program; none: backends cannot be started.
    pub workerd: Option<PathBuf>,
    /// Bytes of JavaScript's heap; the runtime counts whole mebibytes.
    pub heap_bytes: u64,
    /// Bytes of memory altogether.
    pub memory_bytes: u64,
    /// Time that JavaScript may run without a pause.
    pub spin: Duration,
    /// Time until an answer begins.
    pub patience: Duration,
    /// Time without a request after which a process ends.
    pub idle: Duration,
    /// Time that a process that is replaced has for what it began.
    pub drain: Duration,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            workerd: None,
            heap_bytes: limits::BACKEND_HEAP_MAX_BYTES,
            memory_bytes: limits::BACKEND_MEMORY_MAX_BYTES,
            spin: Duration::from_millis(limits::BACKEND_SPIN_MAX_MS),
            patience: Duration::from_millis(limits::BACKEND_ANSWER_MAX_MS),
            idle: Duration::from_secs(limits::BACKEND_IDLE_S),
            drain: Duration::from_millis(limits::BACKEND_DRAIN_MAX_MS),
        }
    }
}
