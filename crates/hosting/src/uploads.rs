//! Files on their way in, by content: one that is here already needs no upload, one that broke off
//! goes on where it stopped.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use lyceum_blob::{Blobs, Digest};
use lyceum_core::{Problem, ProblemKind, Result, limits};
use serde::Serialize;

use crate::nodes::TAG_LENGTH;

/// How far an upload is.
#[derive(Clone, Debug, Serialize)]
pub struct Upload {
    /// What its pieces are sent to.
    pub id: String,
    /// SHA-256 of the whole.
    pub sha256: Digest,
    /// Bytes of the whole.
    pub size: u64,
    /// Bytes that are here.
    pub offset: u64,
    /// Whether the file is here.
    pub complete: bool,
}

/// Begins an upload, or finds how far it is. Two clients that send the same file have an upload each.
///
/// Errors: `TooLarge`; `Invalid` where the file is here with another size.
pub fn begin(blobs: &Blobs, client: &str, sha256: Digest, size: u64) -> Result<Upload> {
    if size > limits::UPLOAD_MAX_BYTES {
        let most = limits::UPLOAD_MAX_BYTES;
        let message = format!("the file has {size} bytes; at most {most} are taken");
        return Err(Problem::new(ProblemKind::TooLarge, message));
    }
    let id = id(client, &sha256, size);
    if size == 0 {
        blobs.put(&sha256, std::io::empty())?;
    }
    let complete = match blobs.open(&sha256)? {
        Some(blob) if blob.size != size => {
            let message = format!("the file of this SHA-256 has {} bytes, not {size}", blob.size);
            return Err(Problem::invalid("size", message));
        }
        Some(_) => blobs.has(&sha256)?,
        None => false,
    };
    let offset = if complete { size } else { blobs.upload_size(&id)?.unwrap_or_default() };
    let upload = Upload { id, sha256, size, offset, complete };
    if complete || offset < size {
        return Ok(upload);
    }
    // Who took the last piece was stopped before the file was whole, or is about to make it so.
    match finish(blobs, upload.clone()) {
        Err(problem) if problem.kind == ProblemKind::Invalid => Ok(Upload { offset: 0, ..upload }),
        finished => finished,
    }
}

/// Makes a file whole whose bytes are all here. Errors: `Invalid` where they are others than announced: it
/// is begun anew then.
fn finish(blobs: &Blobs, upload: Upload) -> Result<Upload> {
    match blobs.finish(&upload.id, &upload.sha256) {
        // Somebody else was faster.
        Err(problem) if problem.kind == ProblemKind::NotFound && blobs.has(&upload.sha256)? => {}
        finished => drop(finished?),
    }
    Ok(Upload { offset: upload.size, complete: true, ..upload })
}

/// How far an upload is. Errors: `NotFound` for what is the id of none, or of another client's.
pub fn find(blobs: &Blobs, client: &str, id: &str) -> Result<Upload> {
    let parsed = parse(id).and_then(|(sha256, size)| begin(blobs, client, sha256, size).ok());
    parsed.filter(|upload| upload.id == id).ok_or_else(|| {
        let message = format!("there is no upload '{id}'; POST /api/uploads begins one");
        Problem::new(ProblemKind::NotFound, message)
    })
}

const DIGEST_LENGTH: usize = 43;
const SIZE_LENGTH: usize = 8;
const WHOSE_LENGTH: usize = 12;
const ID_LENGTH: usize = DIGEST_LENGTH + SIZE_LENGTH + WHOSE_LENGTH;

/// An id says all that there is to know of an upload, so that nothing is kept of it but its bytes:
/// the hash, the size, whose it is.
fn id(client: &str, sha256: &Digest, size: u64) -> String {
    let whose = &Digest::of(client.as_bytes()).to_string()[..WHOSE_LENGTH];
    format!(
        "{}{size:0width$x}{whose}",
        BASE64_URL_SAFE_NO_PAD.encode(sha256.0),
        width = SIZE_LENGTH
    )
}

/// The id as clients have it: with the tag of the node that has the pieces.
pub fn tagged(id: &str, tag: &str) -> String {
    format!("{id}{tag}")
}

/// The id of an upload on the node that has its pieces, and the tag of that node; an id of before nodes were
/// told apart has none.
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

/// Takes a piece at its offset. The last one makes the file whole.
///
/// Errors: `Conflict` for a piece at another offset than the upload is at; `Invalid` for one that goes
/// beyond its end, and where the whole is not what was announced: it is begun anew then.
pub fn append(blobs: &Blobs, upload: Upload, offset: u64, piece: &[u8]) -> Result<Upload> {
    if upload.complete {
        return Ok(upload);
    }
    let end = offset.saturating_add(piece.len() as u64);
    if end > upload.size {
        let message = format!("the piece ends at {end}; the file at {}", upload.size);
        return Err(Problem::invalid("Content-Range", message));
    }
    let offset = blobs.append(&upload.id, offset, piece)?;
    if offset < upload.size {
        return Ok(Upload { offset, ..upload });
    }
    finish(blobs, upload)
}
