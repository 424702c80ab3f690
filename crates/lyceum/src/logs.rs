//! The log of a running server, on standard error.
//!
//! Each request writes a line. A system call per line would cost more than a point read, so lines are
//! written in batches: at once if there is a warning, otherwise within [`BATCH`].

use std::io::{self, IsTerminal, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use lyceum_core::config::{self, LogFormat};
use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::failure::{Code, Failure, Result};

/// How long a line waits for more lines.
const BATCH: Duration = Duration::from_millis(50);
/// A batch of this size is written at once.
const BATCH_BYTES: usize = 64 * 1024;

/// Starts logging. Waiting lines are written when the returned value is dropped. Errors: `server.log_level` is not a level or a list of directives.
pub(crate) fn start(loaded: &config::Loaded) -> Result<Lines> {
    let server = &loaded.config.server;
    let filter = EnvFilter::builder().parse(&server.log_level).map_err(|error| {
        let origin = loaded.origin("server.log_level");
        let message = format!("{origin}: 'server.log_level': {error}");
        Failure::new(Code::Usage, message).hint(
            "use error, warn, info, debug or trace, or directives such as info,lyceum_store=debug",
        )
    })?;
    let lines = Lines::default();
    lines.write_batches();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(lines.clone());
    match server.log_format {
        LogFormat::Json => log.json().flatten_event(true).init(),
        LogFormat::Text => {
            log.with_ansi(io::stderr().is_terminal() && !config::no_color()).init();
        }
    }
    Ok(lines)
}

/// Lines on their way to standard error.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<WaitingLines>);

#[derive(Default)]
struct WaitingLines {
    lines: Mutex<Vec<u8>>,
    some: Condvar,
}

impl Lines {
    fn write_batches(&self) {
        let waiting = Arc::clone(&self.0);
        let write = move || {
            loop {
                let lines = waiting.lock();
                let some = waiting.some.wait_while(lines, |lines| lines.is_empty());
                drop(some);
                thread::sleep(BATCH);
                waiting.write();
            }
        };
        // If the thread cannot be started, full batches and warnings are still written.
        let _ = thread::Builder::new().name("lyceum-log".to_owned()).spawn(write);
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.0.write();
    }
}

impl WaitingLines {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) {
        // Taken while standard error is locked, so that batches stay in order.
        let mut out = io::stderr().lock();
        let lines = mem::take(&mut *self.lock());
        let _ = out.write_all(&lines);
    }
}

/// Collects the bytes of one event.
pub(crate) struct Line<'a> {
    waiting: &'a WaitingLines,
    urgent: bool,
}

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut lines = self.waiting.lock();
        if lines.is_empty() {
            self.waiting.some.notify_one();
        }
        lines.extend_from_slice(line);
        let full = lines.len() >= BATCH_BYTES;
        drop(lines);
        if self.urgent || full {
            self.waiting.write();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { waiting: &self.0, urgent: true }
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> Line<'a> {
        Line { waiting: &self.0, urgent: *event.level() <= Level::WARN }
    }
}
