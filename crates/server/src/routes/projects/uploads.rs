//! Uploads of files. Files are identified by their content, and sent in pieces that can be continued after an
//! interruption.

use axum::http::{HeaderName, StatusCode, header};
use lyceum_access::Scope::ProjectsWrite;
use lyceum_blob::Digest;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_hosting::uploads::{self, Upload};
use lyceum_hosting::{homes, nodes};
use schemars::JsonSchema;
use serde::Deserialize;

use super::client;
use crate::answer::Answer;
use crate::apart::apart;
use crate::context::Context;
use crate::render::Rendering;
use crate::route::{Area, Header, ParamPlace, get, post, put};
use crate::routes::adaptive::shape::text;

const BYTES: &[&str] = &["application/octet-stream"];
const OFFSET: HeaderName = HeaderName::from_static("upload-offset");
const OFFSET_TOLD: &[Header] = &[Header {
    name: "Upload-Offset",
    ty: "integer",
    says: "Bytes that are here: where to go on.",
}];

/// A file to upload.
#[derive(Deserialize, JsonSchema)]
struct UploadRequest {
    /// SHA-256 of the whole.
    sha256: Digest,
    /// Bytes of the whole.
    size: u64,
}

pub(super) fn area() -> Area {
    Area {
        name: "uploads",
        base: "/api/uploads",
        rendering: Rendering::Problem,
        says: "Files on their way in: found by content, sent in pieces, gone on with where they broke off.",
        routes: vec![
            post("", ProjectsWrite, begun)
                .named("beginUpload")
                .says("Begins the upload of a file, or finds it: as far as it is, or complete where the server has the file.")
                .reads::<UploadRequest>()
                .answers::<Upload>(200, "How far it is.")
                .with_headers(OFFSET_TOLD),
            get("/{id}", ProjectsWrite, found)
                .named("getUpload")
                .says("How far an upload is; HEAD tells it in the header alone.")
                .answers::<Upload>(200, "How far it is.")
                .with_headers(OFFSET_TOLD),
            put("/{id}", ProjectsWrite, continued)
                .named("continueUpload")
                .says("Takes a piece at the upload's offset; 409 with the offset where it is another. The last piece makes the file whole.")
                .reads_as(BYTES)
                .reads_up_to(limits::UPLOAD_PIECE_MAX_BYTES)
                .param(ParamPlace::Header, "Content-Range", text(), "Which bytes these are: `bytes 0-99/1000`.")
                .answers::<Upload>(200, "How far it is now.")
                .with_headers(OFFSET_TOLD),
        ],
    }
}

/// The upload in the path. Errors: `Misdirected` if another node has its pieces.
async fn own(context: &Context) -> Result<String> {
    let id = context.param("id");
    let node = &context.app.node;
    let (own, Some(tag)) = uploads::split(id) else { return Ok(id.to_owned()) };
    if tag == node.tag() {
        return Ok(own.to_owned());
    }
    let tag = tag.to_owned();
    match context.app.db.read(move |tx| nodes::of_tag(tx, &tag)).await? {
        None => Ok(id.to_owned()),
        Some(other) => Err(Problem::new(
            ProblemKind::Misdirected,
            format!(
                "the pieces of this upload are on the node {}, and this is the node '{}'; send the next one to that \
                 node, or begin the upload here anew",
                homes::shown(&other),
                node.name()
            ),
        )),
    }
}

async fn begun(context: Context) -> Result<Answer> {
    let UploadRequest { sha256, size } = context.body_as()?;
    let (blobs, client) = (context.app.blobs.clone(), client(&context).to_owned());
    let upload = apart(move || uploads::begin(&blobs, &client, sha256, size)).await?;
    Ok(answer(&context, upload))
}

async fn found(context: Context) -> Result<Answer> {
    let (blobs, client) = (context.app.blobs.clone(), client(&context).to_owned());
    let id = own(&context).await?;
    let upload = apart(move || uploads::find(&blobs, &client, &id)).await?;
    Ok(answer(&context, upload))
}

async fn continued(context: Context) -> Result<Answer> {
    let range = context.header(header::CONTENT_RANGE).and_then(range_in).ok_or_else(|| {
        let message = "Content-Range must name the bytes of this piece, such as 'bytes 0-99/1000'";
        Problem::new(ProblemKind::Malformed, message)
    })?;
    let (blobs, client) = (context.app.blobs.clone(), client(&context).to_owned());
    let id = own(&context).await?;
    let piece = context.body.clone();
    let work = move || {
        let upload = uploads::find(&blobs, &client, &id)?;
        let (first, last, size) = range;
        if size != upload.size || last - first + 1 != piece.len() as u64 {
            let message = format!(
                "the range is of {} bytes of {size}; sent were {} of {}",
                last - first + 1,
                piece.len(),
                upload.size
            );
            return Err(Problem::invalid("Content-Range", message));
        }
        if upload.offset == first || upload.complete {
            return Ok(Ok(uploads::append(&blobs, upload, first, &piece)?));
        }
        Ok(Err(upload))
    };
    Ok(match apart(work).await? {
        Ok(upload) => answer(&context, upload),
        Err(upload) => elsewhere(&upload),
    })
}

/// The refusal of a piece that does not continue at the upload's offset.
fn elsewhere(upload: &Upload) -> Answer {
    let message = format!("the upload has {} bytes; continue there", upload.offset);
    let problem = Problem::new(ProblemKind::Conflict, message);
    let answer = Rendering::Problem.answer(&problem, lyceum_core::Dialect::Platform);
    answer.header(OFFSET, upload.offset)
}

fn answer(context: &Context, mut upload: Upload) -> Answer {
    upload.id = uploads::tagged(&upload.id, context.app.node.tag());
    Answer::of(&upload).status(StatusCode::OK).header(OFFSET, upload.offset)
}

/// The first byte, the last byte and the total size (RFC 9110, 14.4).
fn range_in(text: &str) -> Option<(u64, u64, u64)> {
    let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last, size) = (first.parse().ok()?, last.parse().ok()?, size.parse().ok()?);
    (first <= last && last < size).then_some((first, last, size))
}
