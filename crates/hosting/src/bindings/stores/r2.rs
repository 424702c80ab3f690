//! `env.BUCKET`: requests of the runtime's R2 client, and the responses.

mod condition;
mod digests;
mod fault;
mod request;
mod sql;
mod stream;

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request};
use lyceum_core::Problem;
use serde_json::{Value as Json, json};

pub(crate) use fault::R2Fault;
pub(crate) use request::{
    CUSTOM_METADATA, CompletedPart, Condition, HTTP_METADATA, ListRequest, MetadataField, R2Object,
};
pub(crate) use sql::R2Bucket;

use crate::bindings::answer::Answer;
use crate::bindings::blocking;
use crate::limits::{
    R2_DELETE_MAX_KEYS, R2_KEY_MAX_BYTES, R2_METADATA_MAX_BYTES, R2_OBJECT_MAX_BYTES,
    R2_PAGE_MAX_KEYS, R2_PAGE_WITH_METADATA_MAX_KEYS, R2_PARTS_MAX_COUNT, R2_REQUEST_MAX_BYTES,
};
use crate::pieces::{BlobStream, BlobsInTurn};
use digests::Digests;
use request::{PutRequest, R2Request};

const METADATA_SIZE: HeaderName = HeaderName::from_static("cf-r2-metadata-size");
const REQUEST: HeaderName = HeaderName::from_static("cf-r2-request");

type R2Result = Result<Answer, R2Fault>;

/// `GET /` reads: the request is in a header. `PUT /` writes: the body has the request and then the value.
pub(super) async fn answer(bucket: &Arc<R2Bucket>, request: Request<Incoming>) -> Answer {
    let bucket = Arc::clone(bucket);
    let answered = match *request.method() {
        Method::GET => read(bucket, request.headers()).await,
        Method::PUT => change(bucket, request).await,
        _ => Err(R2Fault::BadRequest("not a request of R2".into())),
    };
    answered.unwrap_or_else(Answer::from)
}

/// Sends JSON, with its length in a header, followed by the value.
fn json_answer(value: &Json, pieces: Option<(BlobsInTurn, u64, u64)>) -> Answer {
    let head = Bytes::from(value.to_string());
    let size = head.len().to_string();
    let answer = match pieces {
        Some((blobs, offset, length)) if length > 0 => {
            Answer::body(BlobStream::new(head, blobs, offset, length).boxed_unsync())
        }
        _ => Answer::bytes(head),
    };
    answer.with(METADATA_SIZE, &size).with(CONTENT_TYPE, "application/json")
}

async fn read(bucket: Arc<R2Bucket>, headers: &HeaderMap) -> R2Result {
    let asked = headers.get(REQUEST).map_or(&[][..], HeaderValue::as_bytes);
    match parsed(asked)? {
        R2Request::Head { object } => {
            check_key(&object)?;
            let found = work(move || bucket.head(&object)).await?.ok_or(R2Fault::NoSuchKey)?;
            Ok(json_answer(&found.to_json(Some((0, found.size))), None))
        }
        R2Request::Get { object: key, range, range_header, only_if } => {
            check_key(&key)?;
            let found = work(move || bucket.open_object(&key)).await?.ok_or(R2Fault::NoSuchKey)?;
            let (object, blobs) = found;
            if only_if.is_some_and(|condition| !condition.holds(Some(&object))) {
                return Err(R2Fault::Condition(Some(Box::new(object))));
            }
            let (offset, length) = condition::range(range, range_header.as_deref(), object.size)?;
            Ok(json_answer(&object.to_json(Some((offset, length))), Some((blobs, offset, length))))
        }
        R2Request::List(list) => {
            let most = match list.include.is_empty() {
                true => R2_PAGE_MAX_KEYS,
                false => R2_PAGE_WITH_METADATA_MAX_KEYS,
            };
            let page = work(move || bucket.list(&list, most)).await?;
            let objects = page.objects.iter().map(|object| object.to_json(None));
            let mut answer = json!({
                "objects": objects.collect::<Vec<_>>(),
                "truncated": page.cursor.is_some(),
                "delimitedPrefixes": page.prefixes,
            });
            if let Some(cursor) = page.cursor {
                answer["cursor"] = cursor.into();
            }
            Ok(json_answer(&answer, None))
        }
        _ => Err(R2Fault::BadRequest("this request changes data; send it with PUT".into())),
    }
}

async fn change(bucket: Arc<R2Bucket>, request: Request<Incoming>) -> R2Result {
    let number = |name: HeaderName| request.headers().get(name)?.to_str().ok()?.parse::<u64>().ok();
    let (size, total) = (number(METADATA_SIZE), number(CONTENT_LENGTH));
    let unsized_metadata = || R2Fault::BadRequest("Metadata missing or invalid".into());
    let size = size.filter(|size| *size <= R2_REQUEST_MAX_BYTES).ok_or_else(unsized_metadata)?;
    let value_size =
        total.and_then(|total| total.checked_sub(size)).ok_or_else(unsized_metadata)?;
    let mut body = request.into_body();
    let head = usize::try_from(size).expect("below a limit");
    let (head, first) = stream::prefix(&mut body, head).await.map_err(|fault| broke(&fault))?;
    match parsed(&head)? {
        R2Request::Put(put) => put_object(bucket, put, first, body, value_size).await,
        R2Request::UploadPart { object, upload_id, part_number } => {
            let is_number = (1..=R2_PARTS_MAX_COUNT).contains(&part_number);
            let numbered = if is_number { Ok(()) } else { Err(R2Fault::NoSuchPart) };
            let body = unless(check_key(&object).and(numbered), body).await?;
            let (writer, digests) =
                write_value(&bucket, first, body, value_size, Digests::md5()).await?;
            let md5 = digests.md5_bytes();
            let part = (upload_id, part_number);
            let etag = work(move || bucket.put_part(&object, part, writer, md5)).await?;
            Ok(json_answer(&json!({ "etag": etag }), None))
        }
        R2Request::Delete { object, objects } => {
            let keys = objects.unwrap_or_else(|| object.into_iter().collect());
            if keys.len() > R2_DELETE_MAX_KEYS {
                let message = format!("delete takes at most {R2_DELETE_MAX_KEYS} keys");
                return Err(R2Fault::BadRequest(message));
            }
            keys.iter().try_for_each(|key| check_key(key))?;
            work(move || bucket.delete(&keys)).await?;
            Ok(Answer::empty())
        }
        R2Request::CreateMultipartUpload { object, http_fields, custom_fields } => {
            check_key(&object)?;
            let custom = custom_fields.unwrap_or_default();
            check_metadata(&custom)?;
            let upload = work(move || bucket.begin_upload(&object, &http_fields, &custom)).await?;
            Ok(json_answer(&json!({ "uploadId": upload }), None))
        }
        R2Request::CompleteMultipartUpload { object, upload_id, parts } => {
            check_key(&object)?;
            let object = work(move || bucket.complete(&object, &upload_id, &parts)).await?;
            Ok(json_answer(&object.to_json(None), None))
        }
        R2Request::AbortMultipartUpload { object, upload_id } => {
            check_key(&object)?;
            work(move || bucket.abort(&object, &upload_id)).await?;
            Ok(Answer::empty())
        }
        _ => Err(R2Fault::BadRequest("this request changes nothing; send it with GET".into())),
    }
}

async fn put_object(
    bucket: Arc<R2Bucket>,
    put: PutRequest,
    first: Bytes,
    body: Incoming,
    size: u64,
) -> R2Result {
    let custom = put.custom_fields.clone().unwrap_or_default();
    let checked = check_key(&put.object).and_then(|()| check_metadata(&custom));
    let body = unless(checked, body).await?;
    let (writer, digests) =
        write_value(&bucket, first, body, size, Digests::requested_by(&put)?).await?;
    let checksums = digests.checked()?;
    let stored = work(move || {
        bucket.put(&put.object, writer, checksums, put.http_fields, custom, put.only_if)
    });
    Ok(json_answer(&stored.await?.to_json(None), None))
}

/// Reads the value, unless the request is refused.
async fn unless(checked: Result<(), R2Fault>, body: Incoming) -> Result<Incoming, R2Fault> {
    match checked {
        Ok(()) => Ok(body),
        Err(fault) => {
            stream::discard(body).await;
            Err(fault)
        }
    }
}

/// Writes a value durably to disk. It is not an object yet.
async fn write_value(
    bucket: &Arc<R2Bucket>,
    first: Bytes,
    body: Incoming,
    size: u64,
    digests: Digests,
) -> Result<(lyceum_blob::Writer, Digests), R2Fault> {
    if size > R2_OBJECT_MAX_BYTES {
        return Err(R2Fault::TooLarge);
    }
    let writer = bucket.writer()?;
    let digests = Arc::new(std::sync::Mutex::new(digests));
    let updated = Arc::clone(&digests);
    let update = move |chunk: &[u8]| {
        updated.lock().unwrap_or_else(std::sync::PoisonError::into_inner).update(chunk);
    };
    let written =
        stream::write(first, body, size, writer, update).await.map_err(|fault| broke(&fault))?;
    let writer = stream::sync(written).await?;
    let digests = Arc::into_inner(digests).expect("the writer is done");
    Ok((writer, digests.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)))
}

/// Runs blocking access to the index outside the threads that serve requests.
async fn work<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, R2Fault> + Send + 'static,
) -> Result<T, R2Fault> {
    let worked = blocking(work).await;
    worked.unwrap_or_else(|_| Err(R2Fault::Internal(Problem::internal("a bucket panicked"))))
}

fn parsed(bytes: &[u8]) -> Result<R2Request, R2Fault> {
    serde_json::from_slice(bytes)
        .map_err(|fault| R2Fault::BadRequest(format!("Metadata missing or invalid: {fault}")))
}

fn broke(fault: &std::io::Error) -> R2Fault {
    R2Fault::Internal(Problem::internal(format!("a value did not arrive: {fault}")))
}

fn check_key(key: &str) -> Result<(), R2Fault> {
    if key.len() > R2_KEY_MAX_BYTES { Err(R2Fault::BadName) } else { Ok(()) }
}

/// R2 counts two bytes a character once one of them needs two.
fn check_metadata(custom: &[MetadataField]) -> Result<(), R2Fault> {
    let length = |text: &str| {
        let units = text.encode_utf16().count();
        if text.chars().any(|c| c as u32 > 255) { units * 2 } else { units }
    };
    let bytes: usize = custom.iter().map(|field| length(&field.k) + length(&field.v)).sum();
    if bytes > R2_METADATA_MAX_BYTES { Err(R2Fault::MetadataTooLarge) } else { Ok(()) }
}
