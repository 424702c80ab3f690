//! Buckets of projects, for members of the project and administrators.

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use lyceum_access::Scope::{ProjectsRead, ProjectsWrite};
use lyceum_core::messages::MUST_BE_OBJECT;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_deploy::limits::UPLOAD_PIECE_MAX_BYTES;
use lyceum_hosting::buckets::{
    Bucket, BucketListing, BucketObject, BucketObjectDescription, BucketPage, BucketPart,
    BucketUpload,
};
use lyceum_hosting::limits::{self, R2_PAGE_MAX_KEYS};
use lyceum_hosting::{BlobStream, deployments, homes};
use lyceum_http::Body;
use lyceum_http::answer::Answer;
use lyceum_http::route::ParamPlace::{Header, Query};
use lyceum_http::route::{get, post, put};
use lyceum_store::run_blocking;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

use super::members;
use crate::shape::{some_text, text};
use crate::{Context, Route, hosted};

const BYTES: &[&str] = &["application/octet-stream"];

/// Objects to delete.
#[derive(Deserialize, JsonSchema)]
struct ObjectsToDelete {
    /// Their keys.
    #[schemars(length(max = limits::R2_DELETE_MAX_KEYS))]
    keys: Vec<String>,
}

/// An object that arrives in parts.
#[derive(Deserialize, JsonSchema)]
struct NewObjectInParts {
    /// Its key.
    #[schemars(length(min = 1))]
    key: String,
    #[serde(flatten)]
    about: BucketObjectDescription,
}

/// The parts that become an object.
#[derive(Deserialize, JsonSchema)]
struct CompletedParts {
    /// The object's key.
    #[schemars(length(min = 1))]
    key: String,
    /// All parts, in order.
    parts: Vec<BucketPart>,
}

pub(super) fn routes() -> Vec<Route> {
    let limit = json!({ "type": "integer", "minimum": 1, "maximum": R2_PAGE_MAX_KEYS });
    let key = |route: Route| route.param(Query, "key", some_text(), "The object's key.");
    let file = json!({ "type": "string", "format": "binary" });
    vec![
        get("/{slug}/bucket", ProjectsRead, members(list_objects))
            .named("listBucket")
            .description("Lists a page of the bucket's objects in byte order of their keys.")
            .param(Query, "prefix", text(), "The prefix of the keys.")
            .param(Query, "delimiter", text(), "The delimiter that ends a group of keys. Each group is listed once.")
            .param(Query, "cursor", text(), "The cursor of the previous page.")
            .param(Query, "limit", limit, "Objects and groups at most, from 1 to 1000.")
            .answers::<BucketPage>(200, "The page; without a cursor it is the last."),
        key(get("/{slug}/bucket/metadata", ProjectsRead, members(describe_object)))
            .named("getObjectMetadata")
            .description("Reads the metadata of an object.")
            .answers::<BucketObject>(200, "The object."),
        key(get("/{slug}/bucket/object", ProjectsRead, members(read)))
            .named("getObject")
            .description("An object's bytes.")
            .param(Header, "Range", text(), "The first byte to return, such as `bytes=100-`.")
            .answers_as(200, "The bytes.", Some((BYTES[0], file.clone())))
            .answers_as(206, "The bytes from the requested one on.", Some((BYTES[0], file))),
        key(put("/{slug}/bucket/object", ProjectsWrite, members(write_object)))
            .named("putObject")
            .description("Stores an object. Upload large objects in parts.")
            .reads_as(BYTES)
            .reads_up_to(UPLOAD_PIECE_MAX_BYTES)
            .param(Query, "contentType", text(), "Its media type.")
            .param(Query, "cacheControl", text(), "How long browsers may keep it: `max-age=3600`.")
            .param(Query, "customMetadata", text(), "Its custom metadata: a JSON object of strings.")
            .answers::<BucketObject>(200, "The object."),
        post("/{slug}/bucket/delete", ProjectsWrite, members(deleted))
            .named("deleteObjects")
            .description("Deletes objects. Missing objects are ignored.")
            .reads::<ObjectsToDelete>()
            .answers_empty(204, "The objects do not exist."),
        post("/{slug}/bucket/uploads", ProjectsWrite, members(start_upload))
            .named("beginObject")
            .description("Starts an upload in parts, or returns the parts of an interrupted one.")
            .reads::<NewObjectInParts>()
            .answers::<BucketUpload>(200, "The upload with its received parts."),
        key(put("/{slug}/bucket/uploads/{id}/{part}", ProjectsWrite, members(part_put)))
            .named("putObjectPart")
            .description("Stores a part, and replaces a part with the same number. All parts except the last one have the same size.")
            .reads_as(BYTES)
            .reads_up_to(UPLOAD_PIECE_MAX_BYTES)
            .answers::<BucketPart>(200, "The part."),
        post("/{slug}/bucket/uploads/{id}", ProjectsWrite, members(completed))
            .named("completeObject")
            .description("Completes the upload: the parts become the object.")
            .reads::<CompletedParts>()
            .answers::<BucketObject>(200, "The object."),
    ]
}

/// The project's bucket. Errors: `NotFound` if it has none.
pub async fn bucket(context: &Context) -> Result<Bucket> {
    let slug = context.param("slug").to_owned();
    let folder = hosted::folder(&context.app, &slug).join(homes::BUCKET);
    let sought = slug.clone();
    let served = context.app.db.read(move |tx| deployments::active(tx, &sought)).await?;
    if !served.is_some_and(|served| served.uses.bucket) {
        let message = message!(
            "the project '{slug}' has no bucket here; write `bucket: true` below `integrations` in \
             its config and deploy"
        );
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    let engine = hosted::engine(&context.app)?;
    run_blocking(move || engine.bucket(&folder)).await
}

fn key(context: &Context) -> Result<String> {
    context.query_value("key").ok_or_else(|| Problem::invalid("key", "is required"))
}

/// The problem for a key without an object.
pub fn missing(key: &str) -> Problem {
    Problem::new(ProblemKind::NotFound, message!("the bucket has no object '{key}'"))
}

async fn list_objects(context: Context) -> Result<Answer> {
    let listing = BucketListing {
        prefix: context.query_value("prefix").unwrap_or_default(),
        delimiter: context.query_value("delimiter"),
        cursor: context.query_value("cursor"),
        limit: context.parsed_query_value("limit", "must be from 1 to 1000")?,
    };
    let bucket = bucket(&context).await?;
    Ok(Answer::of(&run_blocking(move || bucket.list(&listing)).await?))
}

async fn describe_object(context: Context) -> Result<Answer> {
    let (bucket, key) = (bucket(&context).await?, key(&context)?);
    let (found, key) = run_blocking(move || Ok((bucket.head(&key)?, key))).await?;
    found.map(|info| Answer::of(&info)).ok_or_else(|| missing(&key))
}

async fn read(context: Context) -> Result<Answer> {
    let from = match context.header(header::RANGE) {
        None => 0,
        Some(range) => {
            let from = range.strip_prefix("bytes=").and_then(|range| range.strip_suffix('-'));
            from.and_then(|from| from.parse().ok())
                .ok_or_else(|| Problem::invalid("Range", "must have the form 'bytes=100-'"))?
        }
    };
    send_object(bucket(&context).await?, key(&context)?, from).await
}

/// The bytes of an object, beginning at an offset.
pub async fn send_object(bucket: Bucket, key: String, from: u64) -> Result<Answer> {
    let (found, key) = run_blocking(move || Ok((bucket.get(&key)?, key))).await?;
    let (BucketObject { size, etag, .. }, blobs) = found.ok_or_else(|| missing(&key))?;
    if from > size {
        return Err(Problem::invalid("Range", message!("the object has {size} bytes")));
    }
    let length = size - from;
    let body = Body::new(BlobStream::new(Bytes::new(), blobs, from, length));
    // Never send the object's own media type, because a browser would run it with the server's origin.
    let answer = Answer::typed(HeaderValue::from_static(BYTES[0]), body)
        .header(header::CONTENT_LENGTH, length)
        .header(header::CONTENT_DISPOSITION, "attachment")
        .header(header::ETAG, format!("\"{etag}\""));
    Ok(match from {
        0 => answer,
        _ => answer.status(StatusCode::PARTIAL_CONTENT).header(
            header::CONTENT_RANGE,
            format!("bytes {from}-{}/{size}", size.saturating_sub(1)),
        ),
    })
}

async fn write_object(context: Context) -> Result<Answer> {
    let (bucket, key) = (bucket(&context).await?, key(&context)?);
    let custom_metadata = match context.query_value("customMetadata") {
        Some(text) => serde_json::from_str(&text)
            .map_err(|_| Problem::invalid("customMetadata", MUST_BE_OBJECT))?,
        None => Map::new(),
    };
    let about = BucketObjectDescription {
        content_type: context.query_value("contentType"),
        cache_control: context.query_value("cacheControl"),
        custom_metadata,
    };
    let body = context.body;
    Ok(Answer::of(&run_blocking(move || bucket.put(&key, &about, &body[..])).await?))
}

async fn deleted(context: Context) -> Result<Answer> {
    let ObjectsToDelete { keys } = context.body_as()?;
    let bucket = bucket(&context).await?;
    run_blocking(move || bucket.delete(&keys)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn start_upload(context: Context) -> Result<Answer> {
    let NewObjectInParts { key, about } = context.body_as()?;
    let bucket = bucket(&context).await?;
    Ok(Answer::of(&run_blocking(move || bucket.begin(&key, &about)).await?))
}

async fn part_put(context: Context) -> Result<Answer> {
    let (bucket, key) = (bucket(&context).await?, key(&context)?);
    let number = context.param("part").parse().ok().filter(|part| (1..=10_000).contains(part));
    let number = number.ok_or_else(|| Problem::invalid("part", "must be from 1 to 10000"))?;
    let (id, body) = (context.param("id").to_owned(), context.body);
    Ok(Answer::of(&run_blocking(move || bucket.put_part(&key, &id, number, &body)).await?))
}

async fn completed(context: Context) -> Result<Answer> {
    let CompletedParts { key, parts } = context.body_as()?;
    let (bucket, id) = (bucket(&context).await?, context.param("id").to_owned());
    Ok(Answer::of(&run_blocking(move || bucket.complete(&key, &id, parts)).await?))
}
