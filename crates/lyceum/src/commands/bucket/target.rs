//! The bucket that a command works on: the local one, or that of the deployed project.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use lyceum_core::messages::io_reason;
use lyceum_core::time::SystemClock;
use lyceum_deploy::{Objects, Server};
use lyceum_hosting::BlobsInTurn;
use lyceum_hosting::buckets::{Bucket, BucketListing, BucketObjectDescription};
use lyceum_project::{Binding, folder_of};
use serde_json::{Map, Value, json};

use super::{missing, pour};
use crate::failure::{Failure, Result};
use crate::printer::Printer;
use crate::project::ProjectDataArgs;

/// A bucket.
pub(super) enum Target {
    Here(Bucket),
    There { server: Server, slug: String, env: &'static str },
}

impl Target {
    pub(super) fn open(project_data: &ProjectDataArgs, printer: &Printer) -> Result<Self> {
        if let Some((server, slug)) = project_data.deployed(printer)? {
            return Ok(Self::There { server, slug, env: project_data.env.name() });
        }
        let folder = folder_of(&project_data.config).join(Binding::Bucket.names().local);
        Ok(Self::Here(Bucket::open(&folder, Arc::new(SystemClock))?))
    }

    /// The bucket's name in messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Here(_) => "the local bucket",
            Self::There { env, .. } => env,
        }
    }

    pub(super) fn list(
        &self,
        prefix: &str,
        cursor: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Value> {
        Ok(match self {
            Self::Here(bucket) => json!(bucket.list(&BucketListing {
                prefix: prefix.to_owned(),
                delimiter: None,
                cursor: cursor.map(str::to_owned),
                limit: limit.map(i64::from),
            })?),
            Self::There { server, slug, .. } => {
                Objects::of(server, slug).list(prefix, cursor, limit)?
            }
        })
    }

    /// The `ETag`s of all objects by key.
    pub(super) fn all(&self, prefix: &str) -> Result<BTreeMap<String, String>> {
        let mut all = BTreeMap::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = self.list(prefix, cursor.as_deref(), None)?;
            for object in page["objects"].as_array().into_iter().flatten() {
                let text = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
                all.insert(text("key"), text("etag"));
            }
            cursor = page["cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                return Ok(all);
            }
        }
    }

    pub(super) fn metadata(&self, key: &str) -> Result<Option<Value>> {
        Ok(match self {
            Self::Here(bucket) => bucket.head(key)?.map(|info| json!(info)),
            Self::There { server, slug, .. } => Objects::of(server, slug).metadata(key)?,
        })
    }

    pub(super) fn get(&self, key: &str, to: &Path) -> Result<u64> {
        match self {
            Self::Here(bucket) => {
                let (size, mut from) = read(bucket, key)?;
                let copy = |mut file: File| std::io::copy(&mut from, &mut file);
                let written = File::create(to).and_then(copy);
                written.map_err(|error| {
                    Failure::failed(format!("'{}' cannot be written: {error}", to.display()))
                })?;
                Ok(size)
            }
            Self::There { server, slug, .. } => Ok(Objects::of(server, slug).get(key, to)?),
        }
    }

    /// Writes the bytes to standard output.
    pub(super) fn print(&self, key: &str) -> Result {
        match self {
            Self::Here(bucket) => pour(read(bucket, key)?.1),
            Self::There { .. } => {
                let failed = |error: std::io::Error| {
                    Failure::failed(format!("cannot create a temporary file: {error}"))
                };
                let folder = tempfile::tempdir().map_err(failed)?;
                let file = folder.path().join("object");
                self.get(key, &file)?;
                pour(File::open(&file).map_err(failed)?)
            }
        }
    }

    pub(super) fn put(
        &self,
        key: &str,
        file: &Path,
        about: &BucketObjectDescription,
        mut progress: impl FnMut(u64),
    ) -> Result<u64> {
        match self {
            Self::Here(bucket) => {
                let opened = File::open(file).map_err(|error| {
                    Failure::failed(format!(
                        "'{}' cannot be read: {}",
                        file.display(),
                        io_reason(&error)
                    ))
                })?;
                let size = bucket.put(key, about, opened)?.size;
                progress(size);
                Ok(size)
            }
            Self::There { server, slug, .. } => {
                Ok(Objects::of(server, slug).put(key, file, &members(about), progress)?)
            }
        }
    }

    pub(super) fn delete(&self, keys: &[String]) -> Result {
        match self {
            Self::Here(bucket) => bucket.delete(keys)?,
            Self::There { server, slug, .. } => Objects::of(server, slug).delete(keys)?,
        }
        Ok(())
    }
}

/// A description as the API reads it.
fn members(about: &BucketObjectDescription) -> Map<String, Value> {
    let known = [("contentType", &about.content_type), ("cacheControl", &about.cache_control)];
    let known = known.into_iter().filter_map(|(name, value)| Some((name, json!(value.as_ref()?))));
    let custom = Some(("customMetadata", Value::Object(about.custom_metadata.clone())));
    let custom = custom.filter(|_| !about.custom_metadata.is_empty());
    known.chain(custom).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Size and bytes of a local object.
fn read(bucket: &Bucket, key: &str) -> Result<(u64, Box<dyn Read>)> {
    let (info, blobs) = bucket.get(key)?.ok_or_else(|| missing(key))?;
    Ok((info.size, Box::new(InTurn { blobs, open: None })))
}

/// Reads blobs one after another and opens each only when it is needed.
struct InTurn {
    blobs: BlobsInTurn,
    open: Option<File>,
}

impl Read for InTurn {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(open) = &mut self.open {
                match open.read(bytes)? {
                    0 => self.open = None,
                    count => return Ok(count),
                }
            }
            match self.blobs.next() {
                Some(blob) => self.open = Some(blob.map_err(io::Error::other)?.file),
                None => return Ok(0),
            }
        }
    }
}
