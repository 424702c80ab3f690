//! Ctrl-C during a command: it deletes the incomplete file and exits with code 130.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, PoisonError};
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Code, Failure};
use crate::printer::Printer;

/// The file or folder that is being written and is not complete yet.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Sets the file or folder to delete on Ctrl-C; `None` if there is none.
pub(crate) fn unfinished(path: Option<&Path>) {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = path.map(Path::to_owned);
}

/// From now on SIGINT ends the process with exit code 130. The store rolls back a transaction that is
/// open then. If signals cannot be handled, SIGINT ends the process in the default way.
pub(crate) fn ends(printer: Printer) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    // Registered before the command begins, not when the thread first runs.
    let listening = runtime.enter();
    let interrupts = signal(SignalKind::interrupt());
    drop(listening);
    if let Ok(mut interrupts) = interrupts {
        thread::spawn(move || {
            runtime.block_on(interrupts.recv());
            exit(&printer);
        });
    }
}

#[expect(clippy::exit, reason = "the command is busy on another thread")]
fn exit(printer: &Printer) -> ! {
    // Locked until the end, so that the command cannot declare the file complete meanwhile.
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = &*unfinished {
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    // The terminal shows ^C in the current line.
    if io::stderr().is_terminal() {
        printer.note("");
    }
    printer.failure(&Failure::new(Code::Interrupted, "interrupted"));
    process::exit(Code::Interrupted as i32)
}
