//! The lock of a data folder: all commands that open the data share it, and a restore holds it alone.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use crate::failure::{Code, Failure, Result};

/// The file in the data folder that is locked.
const FILE: &str = "in-use.lock";

/// The shared lock of this process, which works on one data folder.
static SHARED: OnceLock<File> = OnceLock::new();

/// Shares the data folder until the process ends. Errors: `Conflict` while a backup is being restored into it.
pub(crate) fn share(data: &Path) -> Result {
    if SHARED.get().is_some() {
        return Ok(());
    }
    let file = open(data)?;
    match file.try_lock_shared() {
        Ok(()) => {
            let _ = SHARED.set(file);
            Ok(())
        }
        Err(TryLockError::WouldBlock) => {
            let message = format!("a backup is being restored into '{}'", data.display());
            Err(Failure::new(Code::Conflict, message).hint("wait until the restore has ended"))
        }
        Err(TryLockError::Error(error)) => Err(failed(data, &error)),
    }
}

/// Holds the data folder alone, until the answer is dropped. Errors: `Conflict` while another process uses it.
pub(crate) fn alone(data: &Path) -> Result<File> {
    let file = open(data)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = format!("the data folder '{}' is in use", data.display());
            Err(Failure::new(Code::Conflict, message).hint("stop the server that serves it first"))
        }
        Err(TryLockError::Error(error)) => Err(failed(data, &error)),
    }
}

fn open(data: &Path) -> Result<File> {
    let file = File::options().create(true).append(true).open(data.join(FILE));
    file.map_err(|error| failed(data, &error))
}

fn failed(data: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("'{}' cannot be locked: {error}", data.join(FILE).display()))
}
