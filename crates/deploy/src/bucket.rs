//! The bucket of a deployed project, as a client of the server's API.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use lyceum_core::text::{hex, segment};
use lyceum_core::{Problem, ProblemKind, Result, message};
use md5::{Digest, Md5};
use serde_json::{Map, Value, json};

use crate::limits::UPLOAD_PIECE_MAX_BYTES;
use crate::{Server, unreadable};

/// Bytes per part. Larger files are uploaded in parts.
const PART_BYTES: u64 = UPLOAD_PIECE_MAX_BYTES as u64;

/// The objects of a deployed project.
pub struct Objects<'s> {
    server: &'s Server,
    base: String,
}

impl<'s> Objects<'s> {
    /// The objects of that project.
    pub fn of(server: &'s Server, slug: &str) -> Self {
        Self { server, base: format!("/api/projects/{slug}/bucket") }
    }

    /// A page of objects, with groups up to the delimiter and the cursor of the next page.
    pub fn list(&self, prefix: &str, cursor: Option<&str>, limit: Option<u32>) -> Result<Value> {
        self.server.page(&self.base, prefix, cursor, limit)
    }

    /// An object's metadata; `None` if it does not exist.
    pub fn metadata(&self, key: &str) -> Result<Option<Value>> {
        match self.server.get(&format!("{}/metadata?key={}", self.base, segment(key))) {
            Ok(found) => Ok(Some(found)),
            Err(problem) if problem.kind == ProblemKind::NotFound => {
                // Distinguishes a missing object from a missing bucket, which is an error.
                self.list("", None, Some(1)).map(|_| None)
            }
            Err(problem) => Err(problem),
        }
    }

    /// Downloads an object to a file and returns its size. An interrupted download continues where it stopped.
    ///
    /// Errors: `NotFound`.
    pub fn get(&self, key: &str, to: &Path) -> Result<u64> {
        let Some(found) = self.metadata(key)? else {
            let message = message!("the bucket has no object with the key '{key}'");
            return Err(Problem::new(ProblemKind::NotFound, message));
        };
        let etag = found["etag"].as_str().unwrap_or_default();
        // Compares the object's own tag: if the object changed, the download starts again.
        let part_file = PathBuf::from(format!("{}.{etag}.part", to.display()));
        let path = format!("{}/object?key={}", self.base, segment(key));
        self.server.fetch_on(&path, &part_file, found["size"].as_u64().unwrap_or_default())?;
        let size = fs::metadata(&part_file).map_err(|error| unreadable(&part_file, &error))?.len();
        fs::rename(&part_file, to).map_err(|error| unreadable(to, &error))?;
        Ok(size)
    }

    /// Uploads a file and returns the bytes sent. An interrupted upload continues where it stopped. `progress` is called
    /// with the number of further bytes on the server. `about` has the members `contentType`, `cacheControl` and
    /// `customMetadata`, each if it is set.
    pub fn put(
        &self,
        key: &str,
        file: &Path,
        about: &Map<String, Value>,
        mut progress: impl FnMut(u64),
    ) -> Result<u64> {
        let failed = |error: std::io::Error| unreadable(file, &error);
        let mut opened = File::open(file).map_err(failed)?;
        let size = opened.metadata().map_err(failed)?.len();
        let key_of = format!("key={}", segment(key));
        if size <= PART_BYTES {
            let mut bytes = Vec::new();
            opened.read_to_end(&mut bytes).map_err(failed)?;
            let mut path = format!("{}/object?{key_of}", self.base);
            for (name, value) in about {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let _ = write!(path, "&{name}={}", segment(&text));
            }
            self.server.put_bytes(&path, &bytes)?;
            progress(size);
            return Ok(size);
        }
        let mut begin = about.clone();
        begin.insert("key".to_owned(), key.into());
        let begin = Value::Object(begin);
        let upload = self.server.post(&format!("{}/uploads", self.base), &begin)?;
        let path = format!("{}/uploads/{}", self.base, upload["id"].as_str().unwrap_or_default());
        let known = upload["parts"].as_array().cloned().unwrap_or_default();
        let (mut parts, mut sent) = (Vec::new(), 0);
        for number in 1..=size.div_ceil(PART_BYTES) {
            let mut bytes = Vec::new();
            opened.seek(SeekFrom::Start((number - 1) * PART_BYTES)).map_err(failed)?;
            opened.by_ref().take(PART_BYTES).read_to_end(&mut bytes).map_err(failed)?;
            let part = json!({ "part": number, "etag": hex(Md5::digest(&bytes)) });
            if known.contains(&part) {
                parts.push(part);
            } else {
                parts.push(self.server.put_bytes(&format!("{path}/{number}?{key_of}"), &bytes)?);
                sent += bytes.len() as u64;
            }
            progress(bytes.len() as u64);
        }
        self.server.post(&path, &json!({ "key": key, "parts": parts }))?;
        Ok(sent)
    }

    /// Deletes objects. Missing objects are ignored.
    pub fn delete(&self, keys: &[String]) -> Result<()> {
        self.server.post(&format!("{}/delete", self.base), &json!({ "keys": keys })).map(drop)
    }
}

/// Whether a file has the content that an etag describes.
pub fn is_same(file: &Path, etag: &str) -> Result<bool> {
    let failed = |error: std::io::Error| unreadable(file, &error);
    let mut opened = File::open(file).map_err(failed)?;
    let (mut whole, mut parts, mut count) = (Md5::new(), Md5::new(), 0);
    loop {
        let mut bytes = Vec::new();
        opened.by_ref().take(PART_BYTES).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.is_empty() {
            break;
        }
        whole.update(&bytes);
        parts.update(Md5::digest(&bytes));
        count += 1;
    }
    let found = match etag.contains('-') {
        true => format!("{}-{count}", hex(parts.finalize())),
        false => hex(whole.finalize()),
    };
    Ok(found == etag)
}

/// The media type for a file name.
pub fn media_of(name: &str) -> String {
    mime_guess::from_path(name).first_or_octet_stream().to_string()
}
