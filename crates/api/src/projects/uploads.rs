//! Uploads of files. Files are identified by their content, and sent in pieces that can be continued after an
//! interruption.

use http::{HeaderName, StatusCode, header};
use lyceum_access::Scope::ProjectsWrite;
use lyceum_blob::Digest;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_deploy::limits;
use lyceum_hosting::uploads::{self, FileUpload};
use lyceum_hosting::{homes, nodes};
use lyceum_http::answer::Answer;
use lyceum_http::render::Rendering;
use lyceum_http::route::{AnswerHeader, ParamPlace, get, post, put};
use lyceum_store::run_blocking;
use schemars::JsonSchema;
use serde::Deserialize;

use super::client;
use crate::shape::text;
use crate::{Area, Context};

const BYTES: &[&str] = &["application/octet-stream"];
const OFFSET: HeaderName = HeaderName::from_static("upload-offset");
const OFFSET_TOLD: &[AnswerHeader] = &[AnswerHeader {
    name: "Upload-Offset",
    ty: "integer",
    description: "The number of bytes received, which is the offset of the next piece.",
}];

/// A file to upload.
#[derive(Deserialize, JsonSchema)]
struct UploadRequest {
    /// The SHA-256 of the whole file, in hexadecimal.
    sha256: Digest,
    /// The size of the whole file in bytes.
    size: u64,
}

pub(super) fn area() -> Area {
    Area {
        name: "uploads",
        base: "/api/uploads",
        rendering: Rendering::Problem,
        description: "File uploads: in pieces, resumable, and skipped if the server has the content.",
        routes: vec![
            post("", ProjectsWrite, start)
                .of_no_organization()
                .named("beginUpload")
                .description("Starts the upload of a file, or returns its progress if it was started before. If the server already has the file, the upload is complete.")
                .reads::<UploadRequest>()
                .answers::<FileUpload>(200, "How far it is.")
                .with_headers(OFFSET_TOLD),
            get("/{id}", ProjectsWrite, progress)
                .of_no_organization()
                .named("getUpload")
                .description("Reads the progress of an upload; HEAD returns it only in the header.")
                .answers::<FileUpload>(200, "How far it is.")
                .with_headers(OFFSET_TOLD),
            put("/{id}", ProjectsWrite, continued)
                .of_no_organization()
                .named("continueUpload")
                .description("Receives a piece of the file at the upload's offset. With a wrong offset it answers 409 with the right one. The last piece completes the file.")
                .reads_as(BYTES)
                .reads_up_to(limits::UPLOAD_PIECE_MAX_BYTES)
                .param(ParamPlace::Header, "Content-Range", text(), "The range of the returned bytes, such as `bytes 0-99/1000`.")
                .answers::<FileUpload>(200, "The progress of the upload.")
                .with_headers(OFFSET_TOLD),
        ],
    }
}

/// The upload in the path. Errors: `Misdirected` if another node has its pieces.
async fn own_upload(context: &Context) -> Result<String> {
    let id = context.param("id");
    let node = &context.app.cluster.node;
    let (own, Some(tag)) = uploads::split(id) else { return Ok(id.to_owned()) };
    if tag == node.tag() {
        return Ok(own.to_owned());
    }
    let tag = tag.to_owned();
    match context.app.db.read(move |tx| nodes::of_tag(tx, &tag)).await? {
        None => Ok(id.to_owned()),
        Some(other) => Err(Problem::new(
            ProblemKind::Misdirected,
            message!(
                "the pieces of this upload are on the node {other}, and this is the node '{node}'; send the next one to that \
                 node, or begin the upload here anew",
                other = homes::describe_node(&other),
                node = node.name()
            ),
        )),
    }
}

async fn start(context: Context) -> Result<Answer> {
    let UploadRequest { sha256, size } = context.body_as()?;
    let (blobs, client) = (context.app.blobs.clone(), client(&context).to_owned());
    let upload = run_blocking(move || uploads::begin(&blobs, &client, sha256, size)).await?;
    Ok(answer(&context, upload))
}

async fn progress(context: Context) -> Result<Answer> {
    let (blobs, client) = (context.app.blobs.clone(), client(&context).to_owned());
    let id = own_upload(&context).await?;
    let upload = run_blocking(move || uploads::find(&blobs, &client, &id)).await?;
    Ok(answer(&context, upload))
}

async fn continued(context: Context) -> Result<Answer> {
    let range = context.header(header::CONTENT_RANGE).and_then(range_in).ok_or_else(|| {
        let message = "Content-Range must name the bytes of this piece, such as 'bytes 0-99/1000'";
        Problem::new(ProblemKind::Malformed, message)
    })?;
    let (blobs, client) = (context.app.blobs.clone(), client(&context).to_owned());
    let id = own_upload(&context).await?;
    let piece = context.body.clone();
    let work = move || {
        let upload = uploads::find(&blobs, &client, &id)?;
        let (first, last, size) = range;
        if size != upload.size || last - first + 1 != piece.len() as u64 {
            let message = message!(
                "the range is of {first} bytes of {size}; sent were {piece} of {upload.size}",
                first = last - first + 1,
                piece = piece.len()
            );
            return Err(Problem::invalid("Content-Range", message));
        }
        if upload.offset == first || upload.complete {
            return Ok(Ok(uploads::append(&blobs, upload, first, &piece)?));
        }
        Ok(Err(upload))
    };
    Ok(match run_blocking(work).await? {
        Ok(upload) => answer(&context, upload),
        Err(upload) => elsewhere(&upload),
    })
}

/// The refusal of a piece that does not continue at the upload's offset.
fn elsewhere(upload: &FileUpload) -> Answer {
    let message = message!("the upload has {upload.offset} bytes; continue there");
    let problem = Problem::new(ProblemKind::Conflict, message);
    let answer = Rendering::Problem.answer(&problem, lyceum_core::PayloadDialect::Platform);
    answer.header(OFFSET, upload.offset)
}

fn answer(context: &Context, mut upload: FileUpload) -> Answer {
    upload.id = uploads::tagged(&upload.id, context.app.cluster.node.tag());
    Answer::of(&upload).status(StatusCode::OK).header(OFFSET, upload.offset)
}

/// The first byte, the last byte and the total size (RFC 9110, 14.4).
fn range_in(text: &str) -> Option<(u64, u64, u64)> {
    let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last, size) = (first.parse().ok()?, last.parse().ok()?, size.parse().ok()?);
    (first <= last && last < size).then_some((first, last, size))
}
