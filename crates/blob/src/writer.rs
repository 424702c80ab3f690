//! A blob that is written at once.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use lyceum_core::Result;
use lyceum_core::random::secret_id;

use crate::digest::Hasher;
use crate::{Blobs, Digest, failed};

/// Writes the bytes of a blob. If it is dropped before [`Writer::store`], the bytes are deleted.
#[derive(Debug)]
pub struct Writer {
    blobs: Blobs,
    path: PathBuf,
    file: File,
    hash: Hasher,
    size: u64,
    /// Whether the bytes were sent to the bucket.
    is_sent: bool,
}

impl Writer {
    pub(crate) fn new(blobs: Blobs) -> Result<Self> {
        // Names of uploads never begin with a dot.
        let name = format!(".{}", secret_id());
        let path = blobs.uploads().join(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(|fault| failed("begin a blob", &fault))?;
        Ok(Self { blobs, path, file, hash: Hasher::default(), size: 0, is_sent: false })
    }

    /// The digest of the bytes written so far.
    pub fn digest(&self) -> Digest {
        self.hash.digest()
    }

    /// The number of bytes written so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Makes the bytes durable without making them a blob yet: the slow half of [`Writer::store`].
    pub fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|fault| failed("sync a blob", &fault))?;
        self.blobs.send(&self.path, &self.digest())?;
        self.is_sent = true;
        Ok(())
    }

    /// Makes the bytes a local copy of a blob that is in the bucket.
    pub(crate) fn copy(self) -> Result<()> {
        // The name may survive a power failure that the bytes do not survive.
        self.file.sync_data().map_err(|fault| failed("sync a copy", &fault))?;
        self.blobs.adopt(&self.path, &self.digest())
    }

    /// Makes the bytes a blob. It is durable when this returns.
    pub fn store(self) -> Result<Digest> {
        self.file.sync_data().map_err(|fault| failed("sync a blob", &fault))?;
        let digest = self.digest();
        if self.is_sent {
            // The same blob may have been removed from the bucket since it was uploaded.
            self.blobs.send_missing(&self.path, &digest)?;
        } else {
            // A blob that is already there may be old. If it stayed old, the sweep of another server could remove it
            // before a row names it.
            self.blobs.send(&self.path, &digest)?;
        }
        self.blobs.adopt(&self.path, &digest)?;
        Ok(digest)
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hash.write_all(&bytes[..count])?;
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The file was moved if it became a blob. A sweep removes what a crash leaves.
        let _ = fs::remove_file(&self.path);
    }
}
