//! The place of replicas: a folder, or a bucket of S3.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::path::Path as FilePath;
use std::sync::Arc;

use futures_util::TryStreamExt;
use lyceum_blob::limits::S3_PART_BYTES;
use lyceum_blob::wait;
use lyceum_core::config::S3Settings;
use lyceum_core::{Problem, ProblemKind, Result};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt};

/// A folder or bucket with replicas. Cheap to clone. Each call blocks until the object is durable or read.
#[derive(Clone, Debug)]
pub struct ReplicaStore {
    objects: Arc<dyn ObjectStore>,
    /// The prefix of all keys.
    prefix: String,
}

impl ReplicaStore {
    /// Replicas in a folder, which should be on another disk than the files.
    ///
    /// Errors: `Invalid` if the folder does not exist, because its disk may not be mounted.
    pub fn in_folder(folder: &FilePath) -> Result<Self> {
        let objects = LocalFileSystem::new_with_prefix(folder).map_err(|fault| {
            let folder = folder.display();
            let message = format!("the folder for replicas '{folder}' cannot be used; create it");
            Problem::new(ProblemKind::Invalid, message).because(fault.to_string())
        })?;
        let objects = objects.with_fsync(true).with_automatic_cleanup(true);
        Ok(Self { objects: Arc::new(objects), prefix: String::new() })
    }

    /// Replicas below `name` in the bucket of the settings.
    ///
    /// Errors: `Invalid` if the settings do not name a usable bucket.
    pub fn in_s3(s3: &S3Settings, name: &str) -> Result<Self> {
        let objects = Arc::new(lyceum_blob::open_bucket(s3)?);
        Ok(Self { objects, prefix: lyceum_blob::key_prefix(s3, name) })
    }

    /// Stores a small object.
    pub(crate) fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        let path = self.path(key);
        wait(self.objects.put(&path, bytes.into())).map(drop).map_err(|fault| failed(&fault))
    }

    /// A writer for an object of any size. The object exists once [`ObjectWriter::finish`] returns.
    pub(crate) fn writer(&self, key: &str) -> ObjectWriter<'_> {
        let buffer = Vec::new();
        ObjectWriter { store: self, key: key.to_owned(), buffer, upload: None, bytes: 0 }
    }

    /// Reads a small object; `None` if it does not exist.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let path = self.path(key);
        let read = wait(async { self.objects.get(&path).await?.bytes().await });
        match read {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(fault) => Err(failed(&fault)),
        }
    }

    /// A reader for an object of any size, with its size in bytes; `None` if it does not exist.
    pub(crate) fn reader(&self, key: &str) -> Result<Option<ObjectReader<'_>>> {
        let path = self.path(key);
        match wait(self.objects.head(&path)) {
            Ok(meta) => Ok(Some(ObjectReader {
                store: self,
                path,
                at: 0,
                size: meta.size,
                part: VecDeque::new(),
            })),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(fault) => Err(failed(&fault)),
        }
    }

    /// The keys of all objects below a prefix, with their size in bytes, in no order.
    pub(crate) fn list(&self, below: &str) -> Result<Vec<(String, u64)>> {
        let (path, root) = (self.path(below), self.path(""));
        let listed = wait(self.objects.list(Some(&path)).try_collect::<Vec<_>>());
        let listed = listed.map_err(|fault| failed(&fault))?;
        let key = |location: &Path| {
            let parts = location.prefix_match(&root)?;
            Some(parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/"))
        };
        Ok(listed.iter().filter_map(|meta| Some((key(&meta.location)?, meta.size))).collect())
    }

    /// Deletes an object. A missing object is ignored.
    pub(crate) fn delete(&self, key: &str) -> Result<()> {
        let path = self.path(key);
        match wait(self.objects.delete(&path)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(fault) => Err(failed(&fault)),
        }
    }

    fn path(&self, key: &str) -> Path {
        Path::from([self.prefix.as_str(), key].join("/"))
    }
}

/// Writes an object in parts.
pub(crate) struct ObjectWriter<'a> {
    store: &'a ReplicaStore,
    key: String,
    buffer: Vec<u8>,
    upload: Option<Box<dyn MultipartUpload>>,
    bytes: u64,
}

impl ObjectWriter<'_> {
    /// Completes the object, and returns its size in bytes.
    pub(crate) fn finish(mut self) -> Result<u64> {
        let rest = std::mem::take(&mut self.buffer);
        let size = self.bytes + rest.len() as u64;
        let Some(mut upload) = self.upload.take() else {
            return self.store.put(&self.key, rest).map(|()| size);
        };
        let done = wait(async {
            upload.put_part(rest.into()).await?;
            upload.complete().await
        });
        done.map(|_| size).map_err(|fault| {
            // If this fails, a lifecycle rule of the bucket removes the parts.
            let _ = wait(upload.abort());
            failed(&fault)
        })
    }

    fn send_part(&mut self) -> Result<(), object_store::Error> {
        let path = self.store.path(&self.key);
        let part = std::mem::take(&mut self.buffer);
        self.bytes += part.len() as u64;
        wait(async {
            if self.upload.is_none() {
                self.upload = Some(self.store.objects.put_multipart(&path).await?);
            }
            let upload = self.upload.as_mut().expect("it was begun above");
            upload.put_part(part.into()).await
        })
    }
}

impl Write for ObjectWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() as u64 >= S3_PART_BYTES {
            self.send_part().map_err(|fault| io::Error::other(failed(&fault)))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ObjectWriter<'_> {
    fn drop(&mut self) {
        if let Some(mut upload) = self.upload.take() {
            let _ = wait(upload.abort());
        }
    }
}

/// Reads an object in parts.
pub(crate) struct ObjectReader<'a> {
    store: &'a ReplicaStore,
    path: Path,
    at: u64,
    size: u64,
    part: VecDeque<u8>,
}

impl Read for ObjectReader<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.part.is_empty() && self.at < self.size {
            let end = self.size.min(self.at + S3_PART_BYTES);
            let read = wait(self.store.objects.get_range(&self.path, self.at..end));
            self.part = read.map_err(|fault| io::Error::other(failed(&fault)))?.to_vec().into();
            self.at = end;
        }
        self.part.read(to)
    }
}

/// The problem of a request that the store of replicas did not carry out.
fn failed(fault: &object_store::Error) -> Problem {
    let message = "the store of replicas failed; it is tried again";
    Problem::new(ProblemKind::Unavailable, message).because(fault.to_string())
}
