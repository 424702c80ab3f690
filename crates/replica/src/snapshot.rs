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
    snapshot.state.copy(&copy)?;
    let writer = to.store.writer(&to.key(&snapshot.key))?;
    let packed = || -> io::Result<_> {
        let mut copy = File::open(&copy)?;
        let mut packed = zstd::Encoder::new(writer, zstd::DEFAULT_COMPRESSION_LEVEL)?;
        packed.include_checksum(true)?;
        io::copy(&mut copy, &mut packed)?;
        packed.finish()
    };
    packed().map_err(problem_of)?.finish()
}

/// A folder beside the file. It has always the same name, so that a copy that a crash left is removed.
fn copy_folder(file: &Path) -> io::Result<TempDir> {
    let beside = file.parent().unwrap_or(Path::new("."));
    let name = format!(".replica-{}", file.file_name().unwrap_or_default().display());
    if let Err(fault) = fs::remove_dir_all(beside.join(&name))
        && fault.kind() != io::ErrorKind::NotFound
    {
        return Err(fault);
    }
    tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(beside)
}
