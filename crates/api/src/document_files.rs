//! Sends the files of items and stimuli to browsers and programs.

use http::{HeaderName, HeaderValue, StatusCode, header};
use lyceum_assessment::files::DocumentFile;
use lyceum_blob::Digest;
use lyceum_core::{Problem, Result};
use lyceum_hosting::BlobStream;
use lyceum_http::answer::Answer;
use lyceum_http::{Body, etag};
use lyceum_store::run_blocking;

use crate::Context;
use crate::hosted::range::{FileRange, range_of};

/// Opened by itself, a file runs no scripts and loads nothing. SVG pictures contain their styles.
const POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The whole file, or the part that `Range` asks for. An address that contains the name of the content never has other
/// content, so browsers need not ask for it again.
pub async fn send(context: &Context, file: &DocumentFile) -> Result<Answer> {
    let of_content = HeaderValue::from_static("private, max-age=31536000, immutable");
    sent(context, file, of_content).await
}

/// As [`send`], for an address whose content may change.
pub async fn send_current(context: &Context, file: &DocumentFile) -> Result<Answer> {
    sent(context, file, HeaderValue::from_static("private, no-cache")).await
}

async fn sent(context: &Context, file: &DocumentFile, caching: HeaderValue) -> Result<Answer> {
    let digest: Digest = file.sha256.parse()?;
    let strong = format!("\"{}\"", &file.sha256[..32]);
    let is_compressed = context.app.config.server.compression
        && context.headers.contains_key(header::ACCEPT_ENCODING)
        && !context.headers.contains_key(header::RANGE);
    let tag = etag::of_content(&strong, is_compressed);
    let with_headers = |answer: Answer| {
        answer
            .header(header::ETAG, tag.as_str())
            .header(header::CACHE_CONTROL, caching.clone())
            .header(header::ACCEPT_RANGES, "bytes")
            .header(header::CONTENT_SECURITY_POLICY, POLICY)
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .header(RESOURCE_POLICY, "same-origin")
    };
    if context.header(header::IF_NONE_MATCH).is_some_and(|seen| etag::names(seen, &strong)) {
        return Ok(with_headers(Answer::empty(StatusCode::NOT_MODIFIED)));
    }
    let (offset, length) = match range_of(&context.headers, &strong, file.size) {
        FileRange::Whole => (0, file.size),
        FileRange::Part(offset, length) => (offset, length),
        FileRange::Unsatisfiable => {
            let answer = Answer::empty(StatusCode::RANGE_NOT_SATISFIABLE);
            let range = format!("bytes */{}", file.size);
            return Ok(with_headers(answer).header(header::CONTENT_RANGE, range));
        }
    };
    let blobs = context.app.blobs.clone();
    let blob = run_blocking(move || blobs.open(&digest)).await?;
    let blob =
        blob.ok_or_else(|| Problem::internal(format!("the blob {digest} does not exist")))?;
    let body = Body::new(BlobStream::of(blob, offset, length));
    let answer = with_headers(Answer::typed(HeaderValue::from_static(file.media_type), body));
    let answer = answer.header(header::CONTENT_LENGTH, length);
    if length == file.size {
        return Ok(answer);
    }
    let range = format!("bytes {offset}-{}/{}", offset + length - 1, file.size);
    Ok(answer.status(StatusCode::PARTIAL_CONTENT).header(header::CONTENT_RANGE, range))
}
