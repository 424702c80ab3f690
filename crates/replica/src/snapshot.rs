//! Snapshots: the whole database as one compressed object.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use lyceum_core::{Problem, Result};
use tempfile::TempDir;

use crate::chain::{Destination, SnapshotState};
use crate::objects::problem_of;

/// Copies the state beside its file, and sends the copy.
pub(crate) fn send(file: &Path, snapshot: SnapshotState, to: &Destination<'_>) -> Result<()> {
    let folder = copy_folder(file).map_err(Problem::internal)?;
    let copy = folder.path().join("copy.sqlite");
    let place = snapshot.place();
    snapshot.state.copy(&copy)?;
    let writer = to.store.writer(&to.key(&snapshot.key))?;
    let packed = || -> io::Result<_> {
        let mut copy = File::open(&copy)?;
        let mut packed = zstd::Encoder::new(writer, zstd::DEFAULT_COMPRESSION_LEVEL)?;
        packed.include_checksum(true)?;
        io::copy(&mut copy, &mut packed)?;
        packed.finish()
    };
    packed().map_err(problem_of)?.finish()?;
    match place {
        Some((key, header)) => to.store.put(&to.key(&key), header.encode(&[])?),
        None => Ok(()),
    }
}

/// A folder of its own beside the file: two snapshots of a file may be made at the same time.
fn copy_folder(file: &Path) -> io::Result<TempDir> {
    let (beside, prefix) = place(file);
    tempfile::Builder::new().prefix(&prefix).tempdir_in(beside)
}

/// Removes copies of the file that a crash left, before the file is replicated.
pub(crate) fn remove_leftovers(file: &Path) {
    let (beside, prefix) = place(file);
    let Ok(entries) = fs::read_dir(beside) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // The next start tries it again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The folder of the copies of a file, and how their names begin.
fn place(file: &Path) -> (&Path, String) {
    let beside = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let name = file.file_name().unwrap_or_default().display();
    (beside.unwrap_or(Path::new(".")), format!(".replica-{name}-"))
}
