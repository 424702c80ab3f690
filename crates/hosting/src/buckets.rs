//! Access to projects' buckets for the API and the command line. Backends see the same objects.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lyceum_blob::{BucketInstallations, Writer};
use lyceum_core::config::S3Settings;
use lyceum_core::text::hex;
use lyceum_core::time::{Clock, Timestamp};
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use md5::{Digest, Md5};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bindings::Stores;
use crate::bindings::stores::r2::{
    CUSTOM_METADATA, CompletedPart, HTTP_METADATA, ListRequest, MetadataField, R2Bucket as Index,
    R2Fault, R2Object,
};
use crate::limits::{
    BUCKET_MAX_BYTES, R2_KEY_MAX_BYTES, R2_METADATA_MAX_BYTES, R2_OBJECT_MAX_BYTES,
    R2_PAGE_MAX_KEYS,
};
use crate::pieces::BlobsInTurn;

/// A bucket. Cheap to clone.
#[derive(Clone)]
pub struct Bucket(Arc<Index>);

/// Metadata of an object.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BucketObject {
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
pub struct BucketPage {
    /// Objects in byte order of their keys.
    pub objects: Vec<BucketObject>,
    /// Groups of keys, each as the common prefix up to the delimiter.
    pub prefixes: Vec<String>,
    /// The cursor of the next page; `None` on the last page.
    pub cursor: Option<String>,
}

/// The objects to list.
#[derive(Clone, Debug, Default)]
pub struct BucketListing {
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
pub struct BucketObjectDescription {
    /// Media type, such as `image/png`.
    pub content_type: Option<String>,
    /// The time for which browsers may keep it, such as `max-age=3600`.
    pub cache_control: Option<String>,
    /// Custom metadata.
    pub custom_metadata: Map<String, Value>,
}

/// An incomplete upload in parts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BucketUpload {
    /// The upload's id.
    pub id: String,
    /// The parts received so far.
    pub parts: Vec<BucketPart>,
}

/// A part of an upload.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BucketPart {
    /// Part number, from 1.
    pub part: i64,
    /// MD5 in hexadecimal.
    pub etag: String,
}

impl Bucket {
    /// The bucket in a folder of this disk. Other processes may use it too.
    pub fn open(folder: &Path, clock: Arc<dyn Clock>) -> Result<Self> {
        let (s3, spared) = (S3Settings::default(), Duration::ZERO);
        let place = (&s3, BucketInstallations::default());
        let index = Index::open(folder, place, clock, BUCKET_MAX_BYTES, spared, false)?;
        Ok(Self(Arc::new(index)))
    }

    /// The bucket that backends of this engine have open.
    pub(crate) fn shared(stores: &Stores, folder: &Path) -> Result<Self> {
        stores.bucket(folder).map(Self)
    }

    /// An object's metadata; `None` if there is no object with the key.
    pub fn head(&self, key: &str) -> Result<Option<BucketObject>> {
        check_key(key)?;
        Ok(self.0.head(key).map_err(problem_of)?.map(BucketObject::from))
    }

    /// An object with its bytes, as a sequence of blobs.
    pub fn get(&self, key: &str) -> Result<Option<(BucketObject, BlobsInTurn)>> {
        check_key(key)?;
        let found = self.0.open_object(key).map_err(problem_of)?;
        Ok(found.map(|(object, blobs)| (BucketObject::from(object), blobs)))
    }

    /// Stores what the reader returns as an object. It is durable when this returns.
    ///
    /// Errors: `Invalid` if the key or the metadata exceeds its limit; `TooLarge`.
    pub fn put(
        &self,
        key: &str,
        about: &BucketObjectDescription,
        reader: impl Read,
    ) -> Result<BucketObject> {
        check_key(key)?;
        let (http, custom) = about.fields()?;
        let (writer, md5) = self.write_with_digest(reader)?;
        let checksums = Map::from_iter([("0".to_owned(), hex(md5).into())]);
        let object = self.0.put(key, writer, checksums, http, custom, None).map_err(problem_of)?;
        Ok(object.into())
    }

    fn write_with_digest(&self, mut reader: impl Read) -> Result<(Writer, [u8; 16])> {
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
                let message = message!("an object can have at most {R2_OBJECT_MAX_BYTES} bytes");
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
    pub fn list(&self, listing: &BucketListing) -> Result<BucketPage> {
        let list = ListRequest {
            limit: listing.limit,
            prefix: listing.prefix.clone(),
            cursor: listing.cursor.clone(),
            delimiter: listing.delimiter.clone(),
            start_after: None,
            include: vec![HTTP_METADATA, CUSTOM_METADATA],
        };
        let listed = self.0.list(&list, R2_PAGE_MAX_KEYS).map_err(problem_of)?;
        Ok(BucketPage {
            objects: listed.objects.into_iter().map(BucketObject::from).collect(),
            prefixes: listed.prefixes,
            cursor: listed.cursor,
        })
    }

    /// Resumes the interrupted upload of the key, or begins a new one.
    pub fn begin(&self, key: &str, about: &BucketObjectDescription) -> Result<BucketUpload> {
        check_key(key)?;
        let (http, custom) = about.fields()?;
        if let Some((id, parts)) = self.0.unfinished(key, &http, &custom).map_err(problem_of)? {
            let parts = parts.into_iter().map(|(part, md5)| BucketPart { part, etag: hex(md5) });
            return Ok(BucketUpload { id, parts: parts.collect() });
        }
        let id = self.0.begin_upload(key, &http, &custom).map_err(problem_of)?;
        Ok(BucketUpload { id, parts: Vec::new() })
    }

    /// Stores a part of an upload.
    pub fn put_part(&self, key: &str, id: &str, number: i64, bytes: &[u8]) -> Result<BucketPart> {
        let (writer, md5) = self.write_with_digest(bytes)?;
        let etag =
            self.0.put_part(key, (id.to_owned(), number), writer, md5).map_err(problem_of)?;
        Ok(BucketPart { part: number, etag })
    }

    /// Combines the parts into the object.
    pub fn complete(&self, key: &str, id: &str, parts: Vec<BucketPart>) -> Result<BucketObject> {
        let named = parts.into_iter().map(|BucketPart { part, etag }| CompletedPart { part, etag });
        let object = self.0.complete(key, id, &named.collect::<Vec<_>>()).map_err(problem_of)?;
        Ok(object.into())
    }
}

impl BucketObjectDescription {
    fn fields(&self) -> Result<(Map<String, Value>, Vec<MetadataField>)> {
        let mut http = Map::new();
        let known = [("contentType", &self.content_type), ("cacheControl", &self.cache_control)];
        for (name, value) in known {
            if let Some(value) = value {
                http.insert(name.to_owned(), value.as_str().into());
            }
        }
        let field = |(k, v): (&String, &Value)| {
            let v = v.as_str().ok_or_else(|| {
                Problem::invalid(format!("customMetadata.{k}"), "must be a string")
            })?;
            Ok(MetadataField { k: k.clone(), v: v.to_owned() })
        };
        let custom = self.custom_metadata.iter().map(field).collect::<Result<Vec<_>>>()?;
        let bytes: usize = custom.iter().map(|field| field.k.len() + field.v.len()).sum();
        if bytes > R2_METADATA_MAX_BYTES {
            let message = message!("has {bytes} bytes; the limit is {R2_METADATA_MAX_BYTES}");
            return Err(Problem::invalid("customMetadata", message));
        }
        Ok((http, custom))
    }
}

impl From<R2Object> for BucketObject {
    fn from(object: R2Object) -> Self {
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
    let message = message!("has {n} bytes; a key must have 1 to {R2_KEY_MAX_BYTES}", n = key.len());
    Err(Problem::invalid("key", message))
}

fn problem_of(fault: R2Fault) -> Problem {
    match fault {
        R2Fault::Internal(problem) => problem,
        R2Fault::BadLimit => Problem::invalid("limit", "must be from 1 to 1000"),
        R2Fault::BadRequest(message) => Problem::invalid("cursor", Message::untranslated(message)),
        R2Fault::NoSuchUpload => Problem::new(
            ProblemKind::NotFound,
            "there is no such upload, or it is already complete; begin a new one",
        ),
        R2Fault::NoSuchPart => Problem::invalid(
            "parts",
            "a listed part was not uploaded, or its etag differs; upload it again",
        ),
        R2Fault::PartTooSmall => {
            Problem::invalid("parts", "all parts except the last must have at least 5 MiB")
        }
        R2Fault::UnevenParts => {
            Problem::invalid("parts", "all parts except the last must have the same size")
        }
        R2Fault::TooLarge => Problem::new(
            ProblemKind::TooLarge,
            message!("an object can have at most {R2_OBJECT_MAX_BYTES} bytes"),
        ),
        R2Fault::Full(most) => Problem::new(
            ProblemKind::TooLarge,
            message!(
                "the bucket is full: its limit is {most} bytes; delete objects that are no longer needed"
            ),
        ),
        R2Fault::NoSuchKey
        | R2Fault::BadName
        | R2Fault::MetadataTooLarge
        | R2Fault::Condition(_)
        | R2Fault::BadDigest { .. }
        | R2Fault::BadRange => Problem::invalid("key", "the bucket refused the request"),
    }
}
