//! The lock of a data folder. Commands that open the data share it, and a restore holds it exclusively.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use crate::failure::{Code, Failure, Result};

/// The lock file in the data folder.
const FILE: &str = "in-use.lock";

/// This process's shared lock. A process works on one data folder.
static SHARED: OnceLock<File> = OnceLock::new();

/// Locks the data folder, shared with others, until the process ends. Errors: `Conflict` while a backup is being restored into it.
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
            Err(Failure::new(Code::Conflict, message).hint("wait until the restore is finished"))
        }
        Err(TryLockError::Error(error)) => Err(failed(data, &error)),
    }
}

/// Locks the data folder exclusively until the returned file is dropped. Errors: `Conflict` while another process uses it.
pub(crate) fn alone(data: &Path) -> Result<File> {
    let file = open(data)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = format!("the data folder '{}' is in use", data.display());
            Err(Failure::new(Code::Conflict, message).hint("stop the server that uses it first"))
        }
        Err(TryLockError::Error(error)) => Err(failed(data, &error)),
    }
}

fn open(data: &Path) -> Result<File> {
    let file = File::options().create(true).append(true).open(data.join(FILE));
    file.map_err(|error| failed(data, &error))
}

fn failed(data: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("cannot lock '{}': {error}", data.join(FILE).display()))
}
