//! The place of replicas: a folder, or a bucket of S3.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path as FilePath;
use std::sync::Arc;

use futures_util::TryStreamExt;
use lyceum_blob::limits::S3_PART_BYTES;
use lyceum_blob::wait;
use lyceum_core::config::S3Settings;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use object_store::aws::AmazonS3;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt};
use tempfile::NamedTempFile;

use crate::folder::Folder;

/// A folder or bucket with replicas. Cheap to clone. Each call blocks until the object is durable or read.
#[derive(Clone, Debug)]
pub struct ReplicaStore(Arc<ReplicaPlace>);

#[derive(Debug)]
enum ReplicaPlace {
    Folder(Folder),
    Bucket(Bucket),
}

#[derive(Debug)]
pub(crate) struct Bucket {
    objects: AmazonS3,
    /// The prefix of all keys.
    prefix: String,
}

impl ReplicaStore {
    /// Replicas in a folder, which should be on another disk than the files.
    ///
    /// Errors: `Invalid` if the folder does not exist, because its disk may not be mounted.
    pub fn in_folder(folder: &FilePath) -> Result<Self> {
        let folder =
            folder.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
                let message = message!(
                    "the folder '{folder}' for replicas does not exist; create it",
                    folder = folder.display()
                );
                Problem::new(ProblemKind::Invalid, message)
            })?;
        Ok(Self(Arc::new(ReplicaPlace::Folder(Folder(folder)))))
    }

    /// Replicas below `name` in the bucket of the settings.
    ///
    /// Errors: `Invalid` if the settings do not name a usable bucket.
    pub fn in_s3(s3: &S3Settings, name: &str) -> Result<Self> {
        let (objects, prefix) =
            (lyceum_blob::open_bucket(s3)?, lyceum_blob::key_prefix(&s3.prefix, name));
        Ok(Self(Arc::new(ReplicaPlace::Bucket(Bucket { objects, prefix }))))
    }

    /// The store of the replicas below a folder of this one.
    #[must_use]
    pub fn below(&self, folder: &str) -> Self {
        Self(Arc::new(match &*self.0 {
            ReplicaPlace::Folder(Folder(root)) => ReplicaPlace::Folder(Folder(root.join(folder))),
            ReplicaPlace::Bucket(Bucket { objects, prefix }) => ReplicaPlace::Bucket(Bucket {
                objects: objects.clone(),
                prefix: [prefix.as_str(), folder].join("/"),
            }),
        }))
    }

    /// Stores a small object.
    pub(crate) fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        match &*self.0 {
            ReplicaPlace::Folder(folder) => folder.put(key, &bytes).map_err(|fault| failed(&fault)),
            ReplicaPlace::Bucket(bucket) => bucket.put(key, bytes).map_err(|fault| failed(&fault)),
        }
    }

    /// A writer for an object of any size. The object exists once [`ObjectWriter::finish`] returns.
    pub(crate) fn writer(&self, key: &str) -> Result<ObjectWriter<'_>> {
        let draft = match &*self.0 {
            ReplicaPlace::Folder(folder) => {
                Draft::File(folder, folder.draft(key).map_err(|fault| failed(&fault))?)
            }
            ReplicaPlace::Bucket(bucket) => {
                Draft::Upload { bucket, buffer: Vec::new(), upload: None }
            }
        };
        Ok(ObjectWriter { key: key.to_owned(), draft })
    }

    /// Reads a small object; `None` if it does not exist.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let Some(mut reader) = self.reader(key)? else { return Ok(None) };
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(problem_of)?;
        Ok(Some(bytes))
    }

    /// A reader for an object of any size; `None` if it does not exist.
    pub(crate) fn reader(&self, key: &str) -> Result<Option<ObjectReader<'_>>> {
        match &*self.0 {
            ReplicaPlace::Folder(folder) => {
                let file = folder.open(key).map_err(|fault| failed(&fault))?;
                Ok(file.map(ObjectReader::File))
            }
            ReplicaPlace::Bucket(bucket) => {
                let path = bucket.path(key);
                match wait(bucket.objects.head(&path)) {
                    Ok(meta) => {
                        let part = VecDeque::new();
                        let (at, size) = (0, meta.size);
                        Ok(Some(ObjectReader::Object { bucket, path, at, size, part }))
                    }
                    Err(object_store::Error::NotFound { .. }) => Ok(None),
                    Err(fault) => Err(failed(&fault)),
                }
            }
        }
    }

    /// The keys of all objects below a prefix, with their size in bytes, in no order.
    pub(crate) fn list(&self, below: &str) -> Result<Vec<(String, u64)>> {
        match &*self.0 {
            ReplicaPlace::Folder(folder) => folder.list(below).map_err(|fault| failed(&fault)),
            ReplicaPlace::Bucket(bucket) => bucket.list(below).map_err(|fault| failed(&fault)),
        }
    }

    /// The names of the folders in a folder.
    pub fn folders(&self, below: &str) -> Result<Vec<String>> {
        match &*self.0 {
            ReplicaPlace::Folder(folder) => folder.folders(below).map_err(|fault| failed(&fault)),
            ReplicaPlace::Bucket(bucket) => {
                let listed = wait(bucket.objects.list_with_delimiter(Some(&bucket.path(below))));
                let folders = listed.map_err(|fault| failed(&fault))?.common_prefixes;
                Ok(folders.iter().filter_map(|path| Some(path.filename()?.to_owned())).collect())
            }
        }
    }

    /// Deletes what uploads left unfinished that were interrupted before `until`.
    pub(crate) fn delete_unfinished(&self, until: Timestamp) -> Result<()> {
        match &*self.0 {
            ReplicaPlace::Folder(folder) => {
                folder.delete_unfinished(until).map_err(|fault| failed(&fault))
            }
            // A lifecycle rule of the bucket removes them.
            ReplicaPlace::Bucket(_) => Ok(()),
        }
    }

    /// Deletes an object. A missing object is ignored.
    pub(crate) fn delete(&self, key: &str) -> Result<()> {
        match &*self.0 {
            ReplicaPlace::Folder(folder) => folder.delete(key).map_err(|fault| failed(&fault)),
            ReplicaPlace::Bucket(bucket) => match wait(bucket.objects.delete(&bucket.path(key))) {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                Err(fault) => Err(failed(&fault)),
            },
        }
    }
}

impl Bucket {
    fn path(&self, key: &str) -> Path {
        Path::from([self.prefix.as_str(), key].join("/"))
    }

    fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), object_store::Error> {
        wait(self.objects.put(&self.path(key), bytes.into())).map(drop)
    }

    fn list(&self, below: &str) -> Result<Vec<(String, u64)>, object_store::Error> {
        let (path, root) = (self.path(below), self.path(""));
        let listed = wait(self.objects.list(Some(&path)).try_collect::<Vec<_>>())?;
        let key = |location: &Path| {
            let parts = location.prefix_match(&root)?;
            Some(parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/"))
        };
        Ok(listed.iter().filter_map(|meta| Some((key(&meta.location)?, meta.size))).collect())
    }
}

/// Writes an object of any size.
pub(crate) struct ObjectWriter<'a> {
    key: String,
    draft: Draft<'a>,
}

enum Draft<'a> {
    File(&'a Folder, NamedTempFile),
    /// The upload begins when the first part is full.
    Upload {
        bucket: &'a Bucket,
        buffer: Vec<u8>,
        upload: Option<Box<dyn MultipartUpload>>,
    },
}

impl ObjectWriter<'_> {
    /// Completes the object.
    pub(crate) fn finish(self) -> Result<()> {
        match self.draft {
            Draft::File(folder, draft) => {
                folder.keep(&self.key, draft).map_err(|fault| failed(&fault))
            }
            Draft::Upload { bucket, buffer, upload: None } => {
                bucket.put(&self.key, buffer).map_err(|fault| failed(&fault))
            }
            Draft::Upload { buffer, upload: Some(mut upload), .. } => {
                let done = wait(async {
                    upload.put_part(buffer.into()).await?;
                    upload.complete().await
                });
                // A lifecycle rule of the bucket removes the parts of an upload that failed.
                done.map(drop).map_err(|fault| failed(&fault))
            }
        }
    }
}

impl Write for ObjectWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.draft {
            Draft::File(_, draft) => draft.write(bytes),
            Draft::Upload { bucket, buffer, upload } => {
                buffer.extend_from_slice(bytes);
                if buffer.len() as u64 >= S3_PART_BYTES {
                    let (part, path) = (std::mem::take(buffer), bucket.path(&self.key));
                    let sent = wait(async {
                        if upload.is_none() {
                            *upload = Some(bucket.objects.put_multipart(&path).await?);
                        }
                        let upload = upload.as_mut().expect("it was begun above");
                        upload.put_part(part.into()).await
                    });
                    sent.map_err(|fault| io::Error::other(failed(&fault)))?;
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads an object of any size.
pub(crate) enum ObjectReader<'a> {
    File(File),
    Object { bucket: &'a Bucket, path: Path, at: u64, size: u64, part: VecDeque<u8> },
}

impl Read for ObjectReader<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(to),
            Self::Object { bucket, path, at, size, part } => {
                if part.is_empty() && at < size {
                    let end = (*size).min(*at + S3_PART_BYTES);
                    let read = wait(bucket.objects.get_range(path, *at..end));
                    let read = read.map_err(|fault| io::Error::other(failed(&fault)))?;
                    (*part, *at) = (read.to_vec().into(), end);
                }
                part.read(to)
            }
        }
    }
}

/// The problem in an error of a reader or writer.
pub(crate) fn problem_of(fault: io::Error) -> Problem {
    fault.downcast::<Problem>().unwrap_or_else(Problem::internal)
}

/// The problem of a request that the store of replicas did not carry out.
fn failed(fault: &impl ToString) -> Problem {
    let message = "the store of replicas failed; it is tried again";
    Problem::new(ProblemKind::Unavailable, message).because(fault.to_string())
}
