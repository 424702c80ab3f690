//! Snapshots: the whole database as one compressed object.

use std::fs::File;
use std::io;
use std::path::Path;

use lyceum_core::{Problem, Result};

use crate::chain::{Destination, SnapshotState};
use crate::objects::problem_of;

/// Copies the state beside its file, and sends the copy.
pub(crate) fn send(file: &Path, snapshot: SnapshotState, to: &Destination<'_>) -> Result<()> {
    let folder = tempfile::tempdir_in(file.parent().unwrap_or(Path::new(".")));
    let folder = folder.map_err(Problem::internal)?;
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
