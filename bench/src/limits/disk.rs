//! What a durable write costs the disk.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::{Limit, measure};

const BLOCK: [u8; 4096] = [1; 4096];
/// Bytes of the file that is overwritten in place.
const FILE_BYTES: usize = 4 << 20;

/// A sync after growing a file, and one after changing it in place (what a reused WAL does).
pub(super) fn measure_in(folder: &Path, time: Duration) -> Result<Vec<Limit>> {
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(&vec![0; FILE_BYTES])?;
    file.sync_all()?;
    Ok(vec![append(&mut file, time)?, overwrite(&mut file, time)?])
}

fn append(file: &mut File, time: Duration) -> Result<Limit> {
    measure("fsync after a 4 KiB append", time, || {
        file.write_all(&BLOCK)?;
        file.sync_all()?;
        Ok(1)
    })
}

fn overwrite(file: &mut File, time: Duration) -> Result<Limit> {
    measure("fdatasync after a 4 KiB overwrite", time, || {
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&BLOCK)?;
        file.sync_data()?;
        Ok(1)
    })
}
