//! Files by name: in a folder, or below a prefix of an S3 bucket. A file exists completely or not at all.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use lyceum_core::config::S3Settings;
use lyceum_core::{Problem, ProblemKind, Result, message};
use object_store::aws::AmazonS3;
use object_store::path::Path as Key;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt};

use crate::disk::{ignore_missing, sync_folder};
use crate::failed;
use crate::limits::{S3_LARGE_PART_BYTES, S3_PART_BYTES};
use crate::remote::{bucket_failed, open_bucket, wait};

/// The beginning of the address of a place in a bucket.
const S3: &str = "s3://";
/// The end of the name of a file that is being written.
const PARTIAL: &str = ".partial";

/// A folder, or a prefix of an S3 bucket, whose files have names.
#[derive(Clone, Debug)]
pub enum FileLocation {
    /// A folder. The first file creates it.
    Folder(PathBuf),
    /// A part of a bucket.
    Bucket(BucketPrefix),
}

/// The objects of a bucket whose keys begin with a prefix.
#[derive(Clone, Debug)]
pub struct BucketPrefix {
    store: Arc<AmazonS3>,
    bucket: String,
    prefix: String,
}

/// A file that is open for reading.
pub struct OpenFile {
    /// The bytes, from the first on.
    pub reader: Box<dyn Read + Send>,
    /// The number of bytes.
    pub size: u64,
}

impl FileLocation {
    /// The location that a text names: `s3://BUCKET/PREFIX` at the service of the settings, or a folder. Sends no
    /// request yet. Errors: `Invalid` if the bucket or the service is not usable.
    pub fn parse(text: &str, s3: &S3Settings) -> Result<Self> {
        let Some(address) = text.strip_prefix(S3) else { return Ok(Self::Folder(text.into())) };
        let (bucket, prefix) = address.split_once('/').unwrap_or((address, ""));
        if bucket.is_empty() {
            let message = message!("'{text}' names no bucket; write s3://BUCKET/PREFIX");
            return Err(Problem::new(ProblemKind::Invalid, message));
        }
        let store = Arc::new(open_bucket(&S3Settings { bucket: bucket.to_owned(), ..s3.clone() })?);
        let (bucket, prefix) = (bucket.to_owned(), prefix.trim_matches('/').to_owned());
        Ok(Self::Bucket(BucketPrefix { store, bucket, prefix }))
    }

    /// Splits the path of a file, or its `s3://` address, into its location and its name. Errors: those of
    /// [`FileLocation::parse`]; `Invalid` without a name.
    pub fn parse_file(text: &str, s3: &S3Settings) -> Result<(Self, String)> {
        let (folder, name) = match text.rsplit_once('/') {
            Some(("", name)) => ("/", name),
            Some((folder, name)) => (folder, name),
            None => (".", text),
        };
        if name.is_empty() || format!("{folder}/") == S3 {
            let message = message!("'{text}' does not end with the name of a file");
            return Err(Problem::new(ProblemKind::Invalid, message));
        }
        Ok((Self::parse(folder, s3)?, name.to_owned()))
    }

    /// Begins a file, which replaces another one of that name when it is finished.
    pub fn create(&self, name: &str) -> Result<NewFile> {
        let target = match self {
            Self::Folder(folder) => {
                let partial = folder.join(format!("{name}{PARTIAL}"));
                let file = fs::create_dir_all(folder).and_then(|()| private(&partial));
                let file = file.map_err(|fault| failed("create a file", &fault))?;
                NewFileTarget::Disk { file, partial, to: folder.join(name) }
            }
            Self::Bucket(bucket) => {
                let key = bucket.key(name);
                let upload = wait(bucket.store.put_multipart(&key));
                let upload = upload.map_err(|fault| bucket_failed(&fault))?;
                NewFileTarget::Bucket { upload, part: Vec::new() }
            }
        };
        Ok(NewFile { target: Some(target), bytes: 0 })
    }

    /// Opens a file; `None` if it does not exist.
    pub fn open(&self, name: &str) -> Result<Option<OpenFile>> {
        match self {
            Self::Folder(folder) => {
                let opened = File::open(folder.join(name));
                match opened.and_then(|file| Ok((file.metadata()?.len(), file))) {
                    Ok((size, file)) => Ok(Some(OpenFile { reader: Box::new(file), size })),
                    Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
                    Err(fault) => Err(failed("open a file", &fault)),
                }
            }
            Self::Bucket(bucket) => {
                let (store, key) = (Arc::clone(&bucket.store), bucket.key(name));
                let size = match wait(store.head(&key)) {
                    Ok(meta) => meta.size,
                    Err(object_store::Error::NotFound { .. }) => return Ok(None),
                    Err(fault) => return Err(bucket_failed(&fault)),
                };
                let reader = BucketReader { store, key, size, offset: 0, piece: Bytes::new() };
                Ok(Some(OpenFile { reader: Box::new(reader), size }))
            }
        }
    }

    /// The names of all files, in no order. A file that is being written has no name yet.
    pub fn names(&self) -> Result<Vec<String>> {
        let mut names = self.all_names()?;
        names.retain(|name| !name.ends_with(PARTIAL));
        Ok(names)
    }

    /// Removes what was left of files that were not finished, if `is_ours` says so of the name that they would have
    /// got. A bucket does not show these; a rule of the bucket ends uploads that were not completed.
    pub fn remove_unfinished(&self, is_ours: impl Fn(&str) -> bool) -> Result<()> {
        for name in self.all_names()? {
            if name.strip_suffix(PARTIAL).is_some_and(&is_ours) {
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    fn all_names(&self) -> Result<Vec<String>> {
        match self {
            Self::Folder(folder) => {
                let listed = match fs::read_dir(folder) {
                    Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                    listed => listed.and_then(|entries| {
                        let name = |entry: fs::DirEntry| entry.file_name().into_string().ok();
                        entries.filter_map(|entry| entry.map(name).transpose()).collect()
                    }),
                };
                listed.map_err(|fault| failed("list a folder", &fault))
            }
            Self::Bucket(bucket) => {
                let prefix = Key::from(bucket.prefix.as_str());
                let listed = wait(bucket.store.list_with_delimiter(Some(&prefix)));
                let listed = listed.map_err(|fault| bucket_failed(&fault))?.objects;
                let name =
                    |meta: &object_store::ObjectMeta| meta.location.filename().map(str::to_owned);
                Ok(listed.iter().filter_map(name).collect())
            }
        }
    }

    /// Removes a file. A missing one is ignored.
    pub fn remove(&self, name: &str) -> Result<()> {
        match self {
            Self::Folder(folder) => ignore_missing(fs::remove_file(folder.join(name))),
            Self::Bucket(bucket) => match wait(bucket.store.delete(&bucket.key(name))) {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                Err(fault) => Err(bucket_failed(&fault)),
            },
        }
    }

    /// The path or address of a file.
    pub fn path_of(&self, name: &str) -> String {
        match self {
            Self::Folder(folder) if folder == Path::new(".") => name.to_owned(),
            Self::Folder(folder) => folder.join(name).display().to_string(),
            Self::Bucket(bucket) => format!("{S3}{}/{}", bucket.bucket, bucket.key(name)),
        }
    }
}

impl BucketPrefix {
    fn key(&self, name: &str) -> Key {
        Key::from([self.prefix.as_str(), name].join("/"))
    }
}

/// A file that is being written. It gets its name when it is finished; dropping it earlier removes it.
pub struct NewFile {
    /// `None` once it is finished.
    target: Option<NewFileTarget>,
    bytes: u64,
}

enum NewFileTarget {
    Disk {
        file: File,
        partial: PathBuf,
        to: PathBuf,
    },
    Bucket {
        upload: Box<dyn MultipartUpload>,
        /// The bytes that were written since the last part.
        part: Vec<u8>,
    },
}

impl NewFile {
    /// Makes the file durable under its name, and returns its size in bytes.
    pub fn finish(mut self) -> Result<u64> {
        let finished = match &mut self.target {
            Some(NewFileTarget::Disk { file, partial, to }) => {
                let named = || -> io::Result<()> {
                    file.sync_all()?;
                    fs::rename(&*partial, &*to)?;
                    sync_folder(to.parent().unwrap_or(Path::new(".")))
                };
                named().map_err(|fault| failed("finish a file", &fault))
            }
            Some(NewFileTarget::Bucket { upload, part }) => {
                let last = std::mem::take(part);
                let completed = wait(async {
                    upload.put_part(last.into()).await?;
                    upload.complete().await
                });
                completed.map(drop).map_err(|fault| bucket_failed(&fault))
            }
            None => Ok(()),
        };
        finished?;
        self.target = None;
        Ok(self.bytes)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.target {
            Some(NewFileTarget::Disk { file, .. }) => file.write(bytes)?,
            Some(NewFileTarget::Bucket { upload, part }) => {
                part.extend_from_slice(bytes);
                if part.len() >= S3_LARGE_PART_BYTES {
                    let full = std::mem::take(part);
                    wait(upload.put_part(full.into())).map_err(io::Error::other)?;
                }
                bytes.len()
            }
            None => 0,
        };
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        match self.target.take() {
            Some(NewFileTarget::Disk { partial, .. }) => drop(fs::remove_file(partial)),
            // If this fails, a rule of the bucket removes the parts.
            Some(NewFileTarget::Bucket { mut upload, .. }) => drop(wait(upload.abort())),
            None => {}
        }
    }
}

impl fmt::Debug for NewFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewFile({} bytes)", self.bytes)
    }
}

/// A new file that only its owner can read. It replaces one that an interrupted process left.
fn private(file: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).create(true).truncate(true).mode(0o600).open(file)
}

/// Reads an object piece by piece.
struct BucketReader {
    store: Arc<AmazonS3>,
    key: Key,
    size: u64,
    /// Where the next piece begins.
    offset: u64,
    piece: Bytes,
}

impl Read for BucketReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() && self.offset < self.size {
            let end = self.size.min(self.offset + S3_PART_BYTES);
            let read = wait(self.store.get_range(&self.key, self.offset..end));
            self.piece = read.map_err(io::Error::other)?;
            self.offset += self.piece.len() as u64;
        }
        let count = buffer.len().min(self.piece.len());
        buffer[..count].copy_from_slice(&self.piece.split_to(count));
        Ok(count)
    }
}
