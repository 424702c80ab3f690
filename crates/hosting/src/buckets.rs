//! Access to projects' buckets for the API and the command line. Backends see the same objects.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use lyceum_blob::Writer;
use lyceum_core::config::S3;
use lyceum_core::limits::{
    BUCKET_MAX_BYTES, R2_KEY_MAX_BYTES, R2_METADATA_MAX_BYTES, R2_OBJECT_MAX_BYTES,
    R2_PAGE_MAX_KEYS,
};
use lyceum_core::text::hex;
use lyceum_core::time::{Clock, Timestamp};
use lyceum_core::{Problem, ProblemKind, Result};
use md5::{Digest, Md5};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bindings::r2::{
    CUSTOM_METADATA, Fault, Field, HTTP_METADATA, ListRequest, Object, Published,
};
use crate::bindings::{Bucket as Index, Stores};
use crate::pieces::BlobsInTurn;

/// A bucket. Cheap to clone.
#[derive(Clone)]
pub struct Bucket(Arc<Index>);

/// Metadata of an object.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BucketObject")]
pub struct Info {
    /// The object's key.
    pub key: String,
    /// Size in bytes.
    pub size: u64,
    /// MD5 in hexadecimal. If the object was uploaded in parts: the MD5 of the parts' MD5s, and the number of parts.
    pub etag: String,
    /// When the object was uploaded.
    pub uploaded: Timestamp,
    /// HTTP metadata such as the media type.
    pub http_metadata: Map<String, Value>,
    /// Custom metadata.
    pub custom_metadata: Map<String, Value>,
}

/// A page of objects.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "BucketPage")]
pub struct Page {
    /// Objects in byte order of their keys.
    pub objects: Vec<Info>,
    /// Groups of keys: their common beginning up to the delimiter.
    pub prefixes: Vec<String>,
    /// Where the next page begins; `None` on the last page.
    pub cursor: Option<String>,
}

/// Which objects are listed.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Only keys with this prefix.
    pub prefix: String,
    /// Keys are grouped up to this delimiter.
    pub delimiter: Option<String>,
    /// The cursor of the page before.
    pub cursor: Option<String>,
    /// Maximum number of objects and prefixes; `None` is the page size.
    pub limit: Option<i64>,
}

/// An object to store.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "BucketObjectDescription")]
pub struct ObjectDescription {
    /// Media type, such as `image/png`.
    pub content_type: Option<String>,
    /// Custom metadata.
    pub custom_metadata: Map<String, Value>,
}

/// An incomplete upload in parts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BucketUpload")]
pub struct Upload {
    /// The upload's id.
    pub id: String,
    /// The parts received so far.
    pub parts: Vec<UploadedPart>,
}

/// A part of an upload.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BucketPart")]
pub struct UploadedPart {
    /// Part number, from 1.
    pub part: i64,
    /// MD5 in hexadecimal.
    pub etag: String,
}

impl Bucket {
    /// The bucket in a folder of this disk. Other processes may use it too.
    pub fn open(folder: &Path, clock: Arc<dyn Clock>) -> Result<Self> {
        Index::open(folder, &S3::default(), clock, BUCKET_MAX_BYTES)
            .map(|index| Self(Arc::new(index)))
    }

    /// The bucket that backends of this engine have open.
    pub(crate) fn shared(stores: &Stores, folder: &Path) -> Result<Self> {
        stores.bucket(folder).map(Self)
    }

    /// An object's metadata; `None` if there is no object with the key.
    pub fn head(&self, key: &str) -> Result<Option<Info>> {
        check_key(key)?;
        Ok(self.0.head(key).map_err(problem_of)?.map(Info::from))
    }

    /// An object with its bytes, as a sequence of blobs.
    pub fn get(&self, key: &str) -> Result<Option<(Info, BlobsInTurn)>> {
        check_key(key)?;
        let found = self.0.open_object(key).map_err(problem_of)?;
        Ok(found.map(|(object, blobs)| (Info::from(object), blobs)))
    }

    /// Stores what the reader returns as an object. It is durable when this returns.
    ///
    /// Errors: `Invalid` if the key or the metadata exceeds its limit; `TooLarge`.
    pub fn put(&self, key: &str, about: &ObjectDescription, reader: impl Read) -> Result<Info> {
        check_key(key)?;
        let (http, custom) = about.fields()?;
        let (writer, md5) = self.written(reader)?;
        let checksums = Map::from_iter([("0".to_owned(), hex(md5).into())]);
        let object = self.0.put(key, writer, checksums, http, custom, None).map_err(problem_of)?;
        Ok(object.into())
    }

    fn written(&self, mut reader: impl Read) -> Result<(Writer, [u8; 16])> {
        let mut writer = self.0.writer()?;
        let (mut md5, mut piece) = (Md5::new(), vec![0; 256 * 1024]);
        loop {
            let count = reader.read(&mut piece).map_err(Problem::internal)?;
            if count == 0 {
                return Ok((writer, md5.finalize().into()));
            }
            md5.update(&piece[..count]);
            writer
                .write_all(&piece[..count])
                .map_err(|fault| lyceum_blob::failed("write", &fault))?;
            if writer.size() > R2_OBJECT_MAX_BYTES {
                let message = format!("an object can have at most {R2_OBJECT_MAX_BYTES} bytes");
                return Err(Problem::new(ProblemKind::TooLarge, message));
            }
        }
    }

    /// Deletes those of the keys that exist.
    pub fn delete(&self, keys: &[String]) -> Result<()> {
        keys.iter().try_for_each(|key| check_key(key))?;
        self.0.delete(keys).map_err(problem_of)
    }

    /// A page of objects with their metadata. Errors: `Invalid` if the cursor or the limit is invalid.
    pub fn list(&self, listing: &Listing) -> Result<Page> {
        let list = ListRequest {
            limit: listing.limit,
            prefix: listing.prefix.clone(),
            cursor: listing.cursor.clone(),
            delimiter: listing.delimiter.clone(),
            start_after: None,
            include: vec![HTTP_METADATA, CUSTOM_METADATA],
        };
        let listed = self.0.list(&list, R2_PAGE_MAX_KEYS).map_err(problem_of)?;
        Ok(Page {
            objects: listed.objects.into_iter().map(Info::from).collect(),
            prefixes: listed.prefixes,
            cursor: listed.cursor,
        })
    }

    /// Resumes the interrupted upload of the key, or begins a new one.
    pub fn begin(&self, key: &str, about: &ObjectDescription) -> Result<Upload> {
        check_key(key)?;
        let (http, custom) = about.fields()?;
        if let Some((id, parts)) = self.0.unfinished(key, &http, &custom).map_err(problem_of)? {
            let parts = parts.into_iter().map(|(part, md5)| UploadedPart { part, etag: hex(md5) });
            return Ok(Upload { id, parts: parts.collect() });
        }
        let id = self.0.begin_upload(key, &http, &custom).map_err(problem_of)?;
        Ok(Upload { id, parts: Vec::new() })
    }

    /// Stores a part of an upload.
    pub fn put_part(&self, key: &str, id: &str, number: i64, bytes: &[u8]) -> Result<UploadedPart> {
        let (writer, md5) = self.written(bytes)?;
        let etag =
            self.0.put_part(key, (id.to_owned(), number), writer, md5).map_err(problem_of)?;
        Ok(UploadedPart { part: number, etag })
    }

    /// Combines the parts into the object.
    pub fn complete(&self, key: &str, id: &str, parts: Vec<UploadedPart>) -> Result<Info> {
        let named = parts.into_iter().map(|UploadedPart { part, etag }| Published { part, etag });
        let object = self.0.complete(key, id, &named.collect::<Vec<_>>()).map_err(problem_of)?;
        Ok(object.into())
    }
}

impl ObjectDescription {
    fn fields(&self) -> Result<(Map<String, Value>, Vec<Field>)> {
        let mut http = Map::new();
        if let Some(media) = &self.content_type {
            http.insert("contentType".to_owned(), media.as_str().into());
        }
        let field = |(k, v): (&String, &Value)| {
            let v = v.as_str().ok_or_else(|| {
                Problem::invalid(format!("customMetadata.{k}"), "must be a string")
            })?;
            Ok(Field { k: k.clone(), v: v.to_owned() })
        };
        let custom = self.custom_metadata.iter().map(field).collect::<Result<Vec<_>>>()?;
        let bytes: usize = custom.iter().map(|field| field.k.len() + field.v.len()).sum();
        if bytes > R2_METADATA_MAX_BYTES {
            let message = format!("has {bytes} bytes; the limit is {R2_METADATA_MAX_BYTES}");
            return Err(Problem::invalid("customMetadata", message));
        }
        Ok((http, custom))
    }
}

impl From<Object> for Info {
    fn from(object: Object) -> Self {
        let custom = object.custom.into_iter().map(|field| (field.k, field.v.into()));
        Self {
            key: object.key,
            size: object.size,
            etag: object.etag,
            uploaded: Timestamp::from_milliseconds(object.uploaded),
            http_metadata: object.http,
            custom_metadata: custom.collect(),
        }
    }
}

fn check_key(key: &str) -> Result<()> {
    if (1..=R2_KEY_MAX_BYTES).contains(&key.len()) {
        return Ok(());
    }
    let message = format!("has {} bytes; a key must have 1 to {R2_KEY_MAX_BYTES}", key.len());
    Err(Problem::invalid("key", message))
}

fn problem_of(fault: Fault) -> Problem {
    match fault {
        Fault::Internal(problem) => problem,
        Fault::BadLimit => Problem::invalid("limit", "must be from 1 to 1000"),
        Fault::BadRequest(message) => Problem::invalid("cursor", message),
        Fault::NoSuchUpload => Problem::new(
            ProblemKind::NotFound,
            "there is no such upload, or it is already complete; begin a new one",
        ),
        Fault::NoSuchPart => Problem::invalid(
            "parts",
            "a listed part was not uploaded, or its etag differs; upload it again",
        ),
        Fault::PartTooSmall => {
            Problem::invalid("parts", "all parts except the last must have at least 5 MiB")
        }
        Fault::UnevenParts => {
            Problem::invalid("parts", "all parts except the last must have the same size")
        }
        Fault::TooLarge => Problem::new(
            ProblemKind::TooLarge,
            format!("an object can have at most {R2_OBJECT_MAX_BYTES} bytes"),
        ),
        Fault::Full(most) => Problem::new(
            ProblemKind::TooLarge,
            format!(
                "the bucket is full: its limit is {most} bytes; delete objects that are no longer needed"
            ),
        ),
        Fault::NoSuchKey
        | Fault::BadName
        | Fault::MetadataTooLarge
        | Fault::Condition(_)
        | Fault::BadDigest { .. }
        | Fault::BadRange => Problem::invalid("key", "the bucket refused the request"),
    }
}
