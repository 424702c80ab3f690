//! The requests of the runtime's R2 client, and the descriptions of objects that it receives.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value as Json};

/// A request; the value of `put` and `uploadPart` follows it.
#[derive(Deserialize)]
#[serde(tag = "method", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum R2Request {
    Head {
        object: String,
    },
    Get {
        object: String,
        range: Option<RangeRequest>,
        range_header: Option<String>,
        only_if: Option<Condition>,
    },
    List(ListRequest),
    Put(PutRequest),
    Delete {
        object: Option<String>,
        objects: Option<Vec<String>>,
    },
    CreateMultipartUpload {
        object: String,
        #[serde(default)]
        http_fields: Map<String, Json>,
        custom_fields: Option<Vec<MetadataField>>,
    },
    UploadPart {
        object: String,
        upload_id: String,
        part_number: i64,
    },
    CompleteMultipartUpload {
        object: String,
        upload_id: String,
        parts: Vec<CompletedPart>,
    },
    AbortMultipartUpload {
        object: String,
        upload_id: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PutRequest {
    pub(crate) object: String,
    #[serde(default)]
    pub(crate) http_fields: Map<String, Json>,
    pub(crate) custom_fields: Option<Vec<MetadataField>>,
    pub(crate) only_if: Option<Condition>,
    /// Base64.
    pub(crate) md5: Option<String>,
    /// Hexadecimal, like the following ones.
    pub(crate) sha1: Option<String>,
    pub(crate) sha256: Option<String>,
    pub(crate) sha384: Option<String>,
    pub(crate) sha512: Option<String>,
}

/// The number of the HTTP metadata in [`ListRequest::include`].
pub(crate) const HTTP_METADATA: u8 = 0;
/// The number of the custom metadata there.
pub(crate) const CUSTOM_METADATA: u8 = 1;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListRequest {
    pub(crate) limit: Option<i64>,
    #[serde(default)]
    pub(crate) prefix: String,
    pub(crate) cursor: Option<String>,
    pub(crate) delimiter: Option<String>,
    pub(crate) start_after: Option<String>,
    /// [`HTTP_METADATA`] and [`CUSTOM_METADATA`], if they are to be listed.
    #[serde(default)]
    pub(crate) include: Vec<u8>,
}

/// An entry of the custom metadata.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct MetadataField {
    pub(crate) k: String,
    pub(crate) v: String,
}

/// A part as the caller names it when an upload is completed.
#[derive(Deserialize)]
pub(crate) struct CompletedPart {
    pub(crate) part: i64,
    pub(crate) etag: String,
}

#[derive(Clone, Copy, Default, Deserialize)]
pub(crate) struct RangeRequest {
    #[serde(default, deserialize_with = "whole_number")]
    pub(crate) offset: Option<i64>,
    #[serde(default, deserialize_with = "whole_number")]
    pub(crate) length: Option<i64>,
    #[serde(default, deserialize_with = "whole_number")]
    pub(crate) suffix: Option<i64>,
}

/// Conditions for carrying out the request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Condition {
    pub(crate) etag_matches: Option<Vec<Etag>>,
    pub(crate) etag_does_not_match: Option<Vec<Etag>>,
    /// Milliseconds since 1970.
    #[serde(default, deserialize_with = "whole_number")]
    pub(crate) uploaded_before: Option<i64>,
    #[serde(default, deserialize_with = "whole_number")]
    pub(crate) uploaded_after: Option<i64>,
    #[serde(default)]
    pub(crate) seconds_granularity: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Etag {
    Strong { value: String },
    Weak { value: String },
    Wildcard,
}

/// Metadata of an object, without its bytes.
#[derive(Clone)]
pub(crate) struct R2Object {
    pub(crate) key: String,
    pub(crate) version: String,
    pub(crate) size: u64,
    pub(crate) etag: String,
    /// Milliseconds since 1970.
    pub(crate) uploaded: i64,
    /// By number: 0 MD5, 1 SHA-1, 2 SHA-256, 3 SHA-384, 4 SHA-512; hexadecimal.
    pub(crate) checksums: Map<String, Json>,
    pub(crate) http: Map<String, Json>,
    pub(crate) custom: Vec<MetadataField>,
}

impl R2Object {
    /// In the form that the runtime reads, with the range that is sent.
    pub(crate) fn to_json(&self, range: Option<(u64, u64)>) -> Json {
        let mut object = serde_json::json!({
            "name": self.key,
            "version": self.version,
            "size": self.size,
            "etag": self.etag,
            "uploaded": self.uploaded,
            "httpFields": self.http,
            "customFields": self.custom,
            "checksums": self.checksums,
        });
        if let Some((offset, length)) = range {
            object["range"] = serde_json::json!({ "offset": offset, "length": length });
        }
        object
    }
}

/// Whole numbers are sent as strings, because JSON numbers are not precise enough.
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Whole(i64),
        Broken(f64),
        Text(String),
    }
    Ok(match Option::<Number>::deserialize(deserializer)? {
        None => None,
        Some(Number::Whole(number)) => Some(number),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a time or a size; far below the bound"
        )]
        Some(Number::Broken(number)) => Some(number as i64),
        Some(Number::Text(text)) => Some(text.parse().map_err(D::Error::custom)?),
    })
}
