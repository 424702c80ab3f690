//! Ctrl-C during a command: what is half written goes away, and the exit code says it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, PoisonError};
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Code, Failure};
use crate::printer::Printer;

/// The file or folder that is written and not whole yet.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Names the file or folder that an interruption leaves half written; `None` once there is none.
pub(crate) fn unfinished(path: Option<&Path>) {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = path.map(Path::to_owned);
}

/// From now on SIGINT ends the process with exit code 130. A transaction that is open then is
/// undone by its store. Where signals cannot be waited for, they end the process in the plain way.
pub(crate) fn ends(printer: Printer) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    // Listened for before the command begins, and not whenever the thread gets to it.
    let listening = runtime.enter();
    let interrupts = signal(SignalKind::interrupt());
    drop(listening);
    if let Ok(mut interrupts) = interrupts {
        thread::spawn(move || {
            runtime.block_on(interrupts.recv());
            end(&printer);
        });
    }
}

#[expect(clippy::exit, reason = "the command is busy on another thread")]
fn end(printer: &Printer) -> ! {
    // Held to the end, so that no command takes the file for whole.
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = &*unfinished {
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    printer.failure(&Failure::new(Code::Interrupted, "interrupted"));
    process::exit(Code::Interrupted as i32)
}
