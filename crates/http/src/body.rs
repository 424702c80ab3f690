//! Reads a request's body: checks its type and size, decompresses it, and drains a body that is not needed.

use std::io::Read;

use bytes::{Bytes, BytesMut};
use flate2::read::MultiGzDecoder;
use http::{HeaderMap, HeaderValue, header};
use http_body_util::BodyExt;
use hyper::body::Body;
use lyceum_core::limits::BODY_MAX_BYTES;
use lyceum_core::{Problem, ProblemKind, Result, json, message};
use lyceum_store::run_blocking;
use tokio::time::{Duration, timeout};

use crate::auth::HeaderRefusal;
use crate::limits;
use crate::route::RequestBody;

/// Reads the body that the route needs. An empty body may have any type, because published clients send
/// `Content-Type: application/json` without a body. The limit applies to the body as it is sent and decompressed.
///
/// Errors: `TooLarge`; `UnsupportedMediaType`; `Malformed` if the sender stops in the middle, the body is not what its
/// encoding says, or a JSON object has a key twice.
pub(crate) async fn read<B>(
    reads: &RequestBody,
    usual_bytes: usize,
    headers: &HeaderMap,
    body: &mut B,
) -> Result<Bytes, HeaderRefusal>
where
    B: Body<Data = Bytes> + Unpin,
{
    if reads.media.is_empty() || body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let max_bytes = reads.max_bytes.unwrap_or(usual_bytes);
    if body.size_hint().lower() > max_bytes as u64 {
        return Err(too_large(max_bytes).into());
    }
    let is_gzip = is_gzip(headers)?;
    let mut bytes = collect(body, max_bytes).await?;
    if bytes.is_empty() {
        return Ok(bytes);
    }
    check_media(reads.media, headers)?;
    if is_gzip {
        bytes = run_blocking(move || decompressed(&bytes, max_bytes)).await?;
    }
    if reads.checks_keys || !is_one_json(reads.media, headers) {
        return Ok(bytes);
    }
    if bytes.len() <= BODY_MAX_BYTES {
        json::refuse_repeated_keys(&bytes)?;
        return Ok(bytes);
    }
    Ok(run_blocking(move || json::refuse_repeated_keys(&bytes).map(|()| bytes)).await?)
}

/// Whether a body is compressed (RFC 9110, section 8.4). Errors: `UnsupportedMediaType` for another encoding than gzip,
/// with the accepted one in `Accept-Encoding` (section 12.5.3).
fn is_gzip(headers: &HeaderMap) -> Result<bool, HeaderRefusal> {
    let sent = headers.get_all(header::CONTENT_ENCODING).iter();
    let sent = sent.flat_map(|value| value.to_str().unwrap_or("unknown").split(',')).map(str::trim);
    let is_encoding = |name: &&str| !name.is_empty() && !name.eq_ignore_ascii_case("identity");
    let encodings: Vec<&str> = sent.filter(is_encoding).collect();
    match encodings.as_slice() {
        [] => Ok(false),
        [one] if ["gzip", "x-gzip"].iter().any(|gzip| one.eq_ignore_ascii_case(gzip)) => Ok(true),
        others => {
            let message = message!(
                "a body with the encoding '{others}' is not accepted; send it with `Content-Encoding: gzip`, or without \
                 an encoding",
                others = others.join(", ")
            );
            let problem = Problem::new(ProblemKind::UnsupportedMediaType, message);
            let gzip = HeaderValue::from_static("gzip");
            Err(HeaderRefusal::with(problem, header::ACCEPT_ENCODING, gzip))
        }
    }
}

/// Decompresses gzip. Stops at the limit, because a short body may stand for a very long one.
fn decompressed(packed: &[u8], max_bytes: usize) -> Result<Bytes> {
    let mut bytes = Vec::new();
    let read = MultiGzDecoder::new(packed).take(max_bytes as u64 + 1).read_to_end(&mut bytes);
    if bytes.len() > max_bytes {
        return Err(too_large(max_bytes));
    }
    read.map_err(|_| {
        let message = "the body is not complete gzip; compress it again, or send it without `Content-Encoding`";
        Problem::new(ProblemKind::Malformed, message)
    })?;
    Ok(bytes.into())
}

/// Whether a body is one JSON value. In NDJSON, each line is a separate value.
fn is_one_json(media: &[&str], headers: &HeaderMap) -> bool {
    const JSON: &str = "application/json";
    if media.iter().any(|media| media.ends_with("ndjson")) {
        return false;
    }
    match headers.get(header::CONTENT_TYPE) {
        None => media.first() == Some(&JSON),
        Some(sent) => {
            let sent = sent.to_str().unwrap_or_default().to_ascii_lowercase();
            let sent = sent.split(';').next().unwrap_or_default().trim();
            sent == JSON || sent.ends_with("+json")
        }
    }
}

/// Unlike `axum::body::to_bytes`, this does not keep each frame until the last one. There, a body sent byte by byte
/// would take 32 times its length in memory.
async fn collect<B>(body: &mut B, max_bytes: usize) -> Result<Bytes>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let broken_off = |_| {
            Problem::new(ProblemKind::Malformed, "the body is incomplete: the connection broke off")
        };
        let Ok(data) = frame.map_err(broken_off)?.into_data() else { continue };
        if first.len() + all.len() + data.len() > max_bytes {
            return Err(too_large(max_bytes));
        }
        // Most bodies are one frame, which is returned without a copy.
        if first.is_empty() && all.is_empty() {
            first = data;
        } else {
            all.extend_from_slice(&std::mem::take(&mut first));
            all.extend_from_slice(&data);
        }
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

fn too_large(max_bytes: usize) -> Problem {
    Problem::new(
        ProblemKind::TooLarge,
        message!("the body is larger than the limit of {max_bytes} bytes"),
    )
}

fn check_media(accepted: &[&str], headers: &HeaderMap) -> Result<()> {
    let Some(sent) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let sent = sent.to_str().unwrap_or_default();
    let media = sent.split(';').next().unwrap_or_default().trim();
    let json_like =
        media.len() > 5 && media.as_bytes()[media.len() - 5..].eq_ignore_ascii_case(b"+json");
    let is_of = |family: &str| {
        media.get(..family.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(family))
    };
    let fits = |accepted: &&str| {
        accepted.eq_ignore_ascii_case(media)
            || (*accepted == "application/json" && json_like)
            || accepted.strip_suffix('*').is_some_and(is_of)
    };
    if accepted.iter().any(fits) {
        return Ok(());
    }
    Err(Problem::new(
        ProblemKind::UnsupportedMediaType,
        message!(
            "a body of type '{media}' is not accepted here; send {accepted}",
            accepted = accepted.join(" or ")
        ),
    ))
}

/// Reads and discards an unneeded body while the answer is sent. Otherwise closing the connection would reset it before
/// the sender has read the answer. The amount is limited.
pub(crate) fn drain<B>(mut body: B)
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
{
    if body.is_end_stream() {
        return;
    }
    let swallow = async move {
        let mut bytes = 0;
        while let Some(Ok(frame)) = body.frame().await {
            bytes += frame.data_ref().map_or(0, Bytes::len);
            if bytes > limits::DRAIN_MAX_BYTES {
                break;
            }
        }
    };
    // Use a separate task, so that the sender gets the answer before it has sent the whole body.
    tokio::spawn(timeout(Duration::from_millis(limits::DRAIN_MAX_MS), swallow));
}
