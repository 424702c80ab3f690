//! Uploads, identified by content: a file that the server already has needs no upload, and an interrupted upload
//! continues where it stopped.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use lyceum_blob::{Blobs, Digest};
use lyceum_core::{Problem, ProblemKind, Result, message};
use schemars::JsonSchema;
use serde::Serialize;

use crate::limits;
use crate::nodes::TAG_LENGTH;

/// The progress of an upload.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FileUpload {
    /// The id to which clients send its pieces.
    pub id: String,
    /// SHA-256 of the whole file.
    pub sha256: Digest,
    /// Size of the whole file in bytes.
    pub size: u64,
    /// The number of bytes received.
    pub offset: u64,
    /// Whether the whole file has arrived.
    pub complete: bool,
}

/// Begins an upload, or returns the progress of an existing one. Two clients that send the same file have separate
/// uploads.
///
/// Errors: `TooLarge`; `Invalid` if the server has the file with another size.
pub fn begin(blobs: &Blobs, client: &str, sha256: Digest, size: u64) -> Result<FileUpload> {
    if size > limits::UPLOAD_MAX_BYTES {
        let most = limits::UPLOAD_MAX_BYTES;
        let message = message!("the file has {size} bytes; the limit is {most}");
        return Err(Problem::new(ProblemKind::TooLarge, message));
    }
    let id = id(client, &sha256, size);
    if size == 0 {
        blobs.put(&sha256, std::io::empty())?;
    }
    let complete = match blobs.open(&sha256)? {
        Some(blob) if blob.size != size => {
            let message = message!("the file with this SHA-256 has {blob.size} bytes, not {size}");
            return Err(Problem::invalid("size", message));
        }
        Some(_) => blobs.has(&sha256)?,
        None => false,
    };
    let offset = if complete { size } else { blobs.upload_size(&id)?.unwrap_or_default() };
    let upload = FileUpload { id, sha256, size, offset, complete };
    if complete || offset < size {
        return Ok(upload);
    }
    // The request with the last piece was interrupted before it completed the file, or is completing it now.
    match finish(blobs, upload.clone()) {
        Err(problem) if problem.kind == ProblemKind::Invalid => {
            Ok(FileUpload { offset: 0, ..upload })
        }
        finished => finished,
    }
}

/// Completes a file of which all bytes have arrived. Errors: `Invalid` if the bytes differ from those announced. The
/// upload starts over then.
fn finish(blobs: &Blobs, upload: FileUpload) -> Result<FileUpload> {
    match blobs.finish(&upload.id, &upload.sha256) {
        // Another request completed it first.
        Err(problem) if problem.kind == ProblemKind::NotFound && blobs.has(&upload.sha256)? => {}
        finished => drop(finished?),
    }
    Ok(FileUpload { offset: upload.size, complete: true, ..upload })
}

/// The progress of an upload. Errors: `NotFound` if the id is unknown or belongs to another client; `Unavailable`.
pub fn find(blobs: &Blobs, client: &str, id: &str) -> Result<FileUpload> {
    let unknown = || {
        let message = message!("there is no upload '{id}'; begin one with POST /api/uploads");
        Problem::new(ProblemKind::NotFound, message)
    };
    let (sha256, size) = parse(id).ok_or_else(unknown)?;
    match begin(blobs, client, sha256, size) {
        Ok(upload) if upload.id == id => Ok(upload),
        Err(problem) if !matches!(problem.kind, ProblemKind::TooLarge | ProblemKind::Invalid) => {
            Err(problem)
        }
        // No upload began with such a size.
        _ => Err(unknown()),
    }
}

const DIGEST_LENGTH: usize = 43;
const SIZE_LENGTH: usize = 8;
const WHOSE_LENGTH: usize = 12;
const ID_LENGTH: usize = DIGEST_LENGTH + SIZE_LENGTH + WHOSE_LENGTH;

/// An id contains the hash, the size and the client of an upload, so that nothing except its bytes has to be stored.
fn id(client: &str, sha256: &Digest, size: u64) -> String {
    let whose = &Digest::of(client.as_bytes()).to_string()[..WHOSE_LENGTH];
    format!(
        "{}{size:0width$x}{whose}",
        BASE64_URL_SAFE_NO_PAD.encode(sha256.0),
        width = SIZE_LENGTH
    )
}

/// The id that clients receive: it ends with the tag of the node that has the pieces.
pub fn tagged(id: &str, tag: &str) -> String {
    format!("{id}{tag}")
}

/// Splits a client's id into the id on the node that has the pieces, and the tag of that node. Ids from earlier
/// releases have no tag.
pub fn split(id: &str) -> (&str, Option<&str>) {
    let at = id.len().saturating_sub(TAG_LENGTH);
    match id.split_at_checked(at) {
        Some((own, tag)) if own.len() == ID_LENGTH => (own, Some(tag)),
        _ => (id, None),
    }
}

fn parse(id: &str) -> Option<(Digest, u64)> {
    let (digest, rest) = id.split_at_checked(DIGEST_LENGTH)?;
    let digest = BASE64_URL_SAFE_NO_PAD.decode(digest).ok()?.try_into().ok()?;
    let size = u64::from_str_radix(rest.get(..SIZE_LENGTH)?, 16).ok()?;
    Some((Digest(digest), size))
}

/// Stores a piece at its offset. The last piece completes the file.
///
/// Errors: `Conflict` if the offset is not the upload's; `Invalid` for a piece that goes beyond the end, and if the
/// whole file is not the one announced. The upload starts over then.
pub fn append(blobs: &Blobs, upload: FileUpload, offset: u64, piece: &[u8]) -> Result<FileUpload> {
    if upload.complete {
        return Ok(upload);
    }
    let end = offset.saturating_add(piece.len() as u64);
    if end > upload.size {
        let message =
            message!("the piece ends at byte {end}, but the file has {upload.size} bytes");
        return Err(Problem::invalid("Content-Range", message));
    }
    let offset = blobs.append(&upload.id, offset, piece)?;
    if offset < upload.size {
        return Ok(FileUpload { offset, ..upload });
    }
    finish(blobs, upload)
}
