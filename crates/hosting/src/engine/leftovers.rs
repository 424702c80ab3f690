//! Cleans up after a killed server: its processes that are still running, and their sockets.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use lyceum_core::{Problem, ProblemKind, Result, message};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The folder for an engine's sockets and configuration. Only one engine at a time uses a root.
pub(super) struct EngineFolder {
    folder: TempDir,
    /// Locked while the engine lives; its content names the folder.
    _lock: File,
}

impl EngineFolder {
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Claims the root for an engine, and cleans up after the previous one.
///
/// Errors: `Unavailable` while another engine uses this root.
pub(super) fn claim(root: &Path) -> Result<EngineFolder> {
    let lock_and_clean = || -> std::io::Result<Option<EngineFolder>> {
        fs::create_dir_all(root)?;
        let mut lock = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(root.join("engine.run"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(fault)) => return Err(fault),
        }
        let mut before = String::new();
        lock.read_to_string(&mut before)?;
        remove_leftovers(before.trim());
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        lock.set_len(0)?;
        lock.seek(SeekFrom::Start(0))?;
        lock.write_all(folder.path().as_os_str().as_bytes())?;
        Ok(Some(EngineFolder { folder, _lock: lock }))
    };
    match lock_and_clean() {
        Ok(Some(run)) => Ok(run),
        Ok(None) => Err(Problem::new(
            ProblemKind::Unavailable,
            message!(
                "another server already runs the backends of {root}; stop it first",
                root = root.display()
            ),
        )),
        Err(fault) => Err(Problem::internal(format!("engine in {}: {fault}", root.display()))),
    }
}

const PREFIX: &str = "lyceum-engine-";

/// Ends the processes of an earlier run and removes their folder.
fn remove_leftovers(folder: &str) {
    let is_ours = Path::new(folder).file_name().and_then(|name| name.to_str());
    if !is_ours.is_some_and(|name| name.starts_with(PREFIX)) {
        return;
    }
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    for process in processes.filter(|process| is_run_from(process, folder)) {
        let id = process.file_name().and_then(|name| name.to_str()?.parse().ok());
        if let Some(id) = id.and_then(Pid::from_raw) {
            tracing::warn!(id = id.as_raw_nonzero(), "ended a backend that an earlier run left");
            let _ = kill_process(id, Signal::KILL);
        }
    }
    let _ = fs::remove_dir_all(folder);
}

/// Whether the command line of a process names the folder.
fn is_run_from(process: &Path, folder: &str) -> bool {
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).any(|word| word.starts_with(folder.as_bytes()))
}
