//! Buckets of projects, for members of the project and administrators.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use bytes::Bytes;
use lyceum_access::Scope::{ProjectsRead, ProjectsWrite};
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_hosting::buckets::{
    Bucket, Info, Listing, ObjectDescription, Page, Upload, UploadedPart,
};
use lyceum_hosting::{Pieces, deployments, homes};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::members;
use crate::answer::Answer;
use crate::apart::apart;
use crate::context::Context;
use crate::hosted;
use crate::route::ParamPlace::{Header, Query};
use crate::route::{Route, get, post, put};
use crate::routes::adaptive::shape::{some_text, text, whole};

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
    about: ObjectDescription,
}

/// The parts that become an object.
#[derive(Deserialize, JsonSchema)]
struct CompletedParts {
    /// The object's key.
    #[schemars(length(min = 1))]
    key: String,
    /// All parts.
    parts: Vec<UploadedPart>,
}

pub(super) fn routes() -> Vec<Route> {
    let key = |route: Route| route.param(Query, "key", some_text(), "The object's key.");
    let file = json!({ "type": "string", "format": "binary" });
    vec![
        get("/{slug}/bucket", ProjectsRead, members(listed))
            .named("listBucket")
            .says("A page of the bucket's objects, by the bytes of their keys.")
            .param(Query, "prefix", text(), "What keys begin with.")
            .param(Query, "delimiter", text(), "What ends a group of keys, which is then told once.")
            .param(Query, "cursor", text(), "Where the page before ended.")
            .param(Query, "limit", whole(), "Objects and groups at most, from 1 to 1000.")
            .answers::<Page>(200, "The page; without a cursor it is the last."),
        key(get("/{slug}/bucket/metadata", ProjectsRead, members(shown)))
            .named("getObjectMetadata")
            .says("What is known of an object.")
            .answers::<Info>(200, "The object."),
        key(get("/{slug}/bucket/object", ProjectsRead, members(read)))
            .named("getObject")
            .says("An object's bytes.")
            .param(Header, "Range", text(), "From which byte on: `bytes=100-`.")
            .answers_as(200, "The bytes.", Some((BYTES[0], file.clone())))
            .answers_as(206, "The bytes from that one on.", Some((BYTES[0], file))),
        key(put("/{slug}/bucket/object", ProjectsWrite, members(written)))
            .named("putObject")
            .says("Keeps an object; larger ones arrive in parts.")
            .reads_as(BYTES)
            .reads_up_to(limits::UPLOAD_PIECE_MAX_BYTES)
            .param(Query, "contentType", text(), "Its media type.")
            .answers::<Info>(200, "The object."),
        post("/{slug}/bucket/delete", ProjectsWrite, members(deleted))
            .named("deleteObjects")
            .says("Deletes objects; it is no fault that one is not there.")
            .reads::<ObjectsToDelete>()
            .answers_empty(204, "They are not there."),
        post("/{slug}/bucket/uploads", ProjectsWrite, members(begun))
            .named("beginObject")
            .says("Begins an object that arrives in parts, or finds the parts of one that broke off.")
            .reads::<NewObjectInParts>()
            .answers::<Upload>(200, "The upload and the parts that are there."),
        key(put("/{slug}/bucket/uploads/{id}/{part}", ProjectsWrite, members(part_put)))
            .named("putObjectPart")
            .says("Keeps a part, in the place of one with its number. All but the last are of one size.")
            .reads_as(BYTES)
            .reads_up_to(limits::UPLOAD_PIECE_MAX_BYTES)
            .answers::<UploadedPart>(200, "The part."),
        post("/{slug}/bucket/uploads/{id}", ProjectsWrite, members(completed))
            .named("completeObject")
            .says("Makes the parts the object.")
            .reads::<CompletedParts>()
            .answers::<Info>(200, "The object."),
    ]
}

/// The project's bucket. Errors: `NotFound` if it has none.
pub(crate) async fn bucket(context: &Context) -> Result<Bucket> {
    let slug = context.param("slug").to_owned();
    let folder = hosted::folder(&context.app, &slug).join(homes::BUCKET);
    let sought = slug.clone();
    let served = context.app.db.read(move |tx| deployments::active(tx, &sought)).await?;
    if !served.is_some_and(|served| served.uses.bucket) {
        let message = format!(
            "the project '{slug}' has no bucket here; write `bucket: true` below `integrations` in \
             its config and deploy"
        );
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    let engine = hosted::engine(&context.app)?;
    apart(move || engine.bucket(&folder)).await
}

fn key(context: &Context) -> Result<String> {
    context.asked("key").ok_or_else(|| Problem::invalid("key", "is required"))
}

pub(crate) fn missing(key: &str) -> Problem {
    Problem::new(ProblemKind::NotFound, format!("the bucket has no object '{key}'"))
}

async fn listed(context: Context) -> Result<Answer> {
    let listing = Listing {
        prefix: context.asked("prefix").unwrap_or_default(),
        delimiter: context.asked("delimiter"),
        cursor: context.asked("cursor"),
        limit: context.asked_as("limit", "must be from 1 to 1000")?,
    };
    let bucket = bucket(&context).await?;
    Ok(Answer::of(&apart(move || bucket.list(&listing)).await?))
}

async fn shown(context: Context) -> Result<Answer> {
    let (bucket, key) = (bucket(&context).await?, key(&context)?);
    let (found, key) = apart(move || Ok((bucket.head(&key)?, key))).await?;
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
    sent(bucket(&context).await?, key(&context)?, from).await
}

/// The bytes of an object, beginning at an offset.
pub(crate) async fn sent(bucket: Bucket, key: String, from: u64) -> Result<Answer> {
    let (found, key) = apart(move || Ok((bucket.get(&key)?, key))).await?;
    let (Info { size, etag, .. }, blobs) = found.ok_or_else(|| missing(&key))?;
    if from > size {
        return Err(Problem::invalid("Range", format!("the object has {size} bytes")));
    }
    let length = size - from;
    let body = Body::new(Pieces::new(Bytes::new(), blobs, from, length));
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

async fn written(context: Context) -> Result<Answer> {
    let (bucket, key) = (bucket(&context).await?, key(&context)?);
    let about = ObjectDescription {
        content_type: context.asked("contentType"),
        ..ObjectDescription::default()
    };
    let body = context.body;
    Ok(Answer::of(&apart(move || bucket.put(&key, &about, &body[..])).await?))
}

async fn deleted(context: Context) -> Result<Answer> {
    let ObjectsToDelete { keys } = context.body_as()?;
    let bucket = bucket(&context).await?;
    apart(move || bucket.delete(&keys)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn begun(context: Context) -> Result<Answer> {
    let NewObjectInParts { key, about } = context.body_as()?;
    let bucket = bucket(&context).await?;
    Ok(Answer::of(&apart(move || bucket.begin(&key, &about)).await?))
}

async fn part_put(context: Context) -> Result<Answer> {
    let (bucket, key) = (bucket(&context).await?, key(&context)?);
    let number = context.param("part").parse().ok().filter(|part| (1..=10_000).contains(part));
    let number = number.ok_or_else(|| Problem::invalid("part", "must be from 1 to 10000"))?;
    let (id, body) = (context.param("id").to_owned(), context.body);
    Ok(Answer::of(&apart(move || bucket.put_part(&key, &id, number, &body)).await?))
}

async fn completed(context: Context) -> Result<Answer> {
    let CompletedParts { key, parts } = context.body_as()?;
    let (bucket, id) = (bucket(&context).await?, context.param("id").to_owned());
    Ok(Answer::of(&apart(move || bucket.complete(&key, &id, parts)).await?))
}
