//! A blob that arrives in pieces, possibly over days.

use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{MutexGuard, PoisonError};

use lyceum_core::{Problem, ProblemKind, Result, message};

use crate::digest::Hasher;
use crate::disk::{UPLOADS, ignore_missing, not_those, sync_folder};
use crate::limits::UPLOAD_ID_MAX_BYTES;
use crate::{Blobs, Digest, failed};

impl Blobs {
    /// Durable bytes of the upload; `None` if it has not begun.
    pub fn upload_size(&self, upload: &str) -> Result<Option<u64>> {
        match fs::metadata(self.upload(upload)?) {
            Ok(data) => Ok(Some(data.len())),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(failed("read the size of an upload", &fault)),
        }
    }

    /// Appends bytes to the upload and returns its new size. They are durable when this returns. The first piece, at
    /// offset 0, begins the upload.
    ///
    /// Errors: `Conflict`, with the upload's size, if the offset is different; `Invalid` if the id has characters
    /// other than letters, digits, `-` and `_`.
    pub fn append(&self, upload: &str, offset: u64, bytes: &[u8]) -> Result<u64> {
        let path = self.upload(upload)?;
        let _alone = self.alone(upload);
        let size = self.upload_size(upload)?;
        if offset != size.unwrap_or_default() {
            let size = size.unwrap_or_default();
            let message =
                message!("the upload has {size} bytes; continue at {size}, not at {offset}");
            return Err(Problem::new(ProblemKind::Conflict, message));
        }
        let written = || -> io::Result<()> {
            let mut file =
                OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            file.seek(SeekFrom::Start(offset))?;
            let written = file.write_all(bytes).and_then(|()| file.sync_data());
            if written.is_err() {
                // Remove the rest of a piece that was written only in part, so that it does not count.
                file.set_len(offset)?;
            }
            written?;
            if size.is_none() { sync_folder(&self.uploads()) } else { Ok(()) }
        };
        written().map_err(|fault| failed("write an upload", &fault))?;
        Ok(offset + bytes.len() as u64)
    }

    /// Makes the upload a blob and returns its size.
    ///
    /// Errors: `NotFound` if the upload has not begun; `Invalid` if its bytes do not match the digest. The upload is
    /// deleted then.
    pub fn finish(&self, upload: &str, sha256: &Digest) -> Result<u64> {
        let path = self.upload(upload)?;
        let _alone = self.alone(upload);
        let mut hash = Hasher::default();
        let read = File::open(&path).and_then(|mut file| io::copy(&mut file, &mut hash));
        let size = read.map_err(|fault| match fault.kind() {
            io::ErrorKind::NotFound => {
                let message =
                    message!("the upload '{upload}' does not exist; start it at offset 0");
                Problem::new(ProblemKind::NotFound, message)
            }
            _ => failed("read an upload", &fault),
        })?;
        let found = hash.digest();
        if found != *sha256 {
            self.discard(upload)?;
            return Err(not_those(sha256, &found));
        }
        self.send(&path, sha256)?;
        self.adopt(&path, sha256)?;
        Ok(size)
    }

    /// Deletes the upload. A missing upload is ignored.
    pub fn discard(&self, upload: &str) -> Result<()> {
        ignore_missing(fs::remove_file(self.upload(upload)?))
    }

    /// Locks the upload while it is written or completed, so that the bytes that were hashed become the blob.
    fn alone(&self, upload: &str) -> MutexGuard<'_, ()> {
        let mut hash = DefaultHasher::new();
        upload.hash(&mut hash);
        let at = usize::try_from(hash.finish() % UPLOADS as u64).expect("it is below a usize");
        self.writing[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn upload(&self, upload: &str) -> Result<PathBuf> {
        let is_plain = upload.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if upload.is_empty() || upload.len() > UPLOAD_ID_MAX_BYTES || !is_plain {
            return Err(Problem::new(
                ProblemKind::Invalid,
                "the id of an upload may contain only letters, digits, '-' and '_'",
            ));
        }
        Ok(self.uploads().join(upload))
    }
}
