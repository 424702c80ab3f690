//! The files that versions are made of, for who copies one to another server.

use std::io::Read;
use std::pin::Pin;
use std::task::{Context as Waker, Poll};

use axum::body::Body;
use axum::http::{HeaderValue, header};
use bytes::{Bytes, BytesMut};
use hyper::body::Frame;
use lyceum_access::Scope::ProjectsRead;
use lyceum_blob::{Blob, Digest};
use lyceum_core::{Problem, ProblemKind};
use lyceum_hosting::deployments;
use lyceum_store::Tx;
use serde_json::json;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::members;
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Route, get};
use crate::routes::credentials::apart;

const BYTES: &str = "application/octet-stream";
/// Bytes that are read at once.
const PIECE_BYTES: usize = 256 * 1024;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/{slug}/artifacts/{sha256}", ProjectsRead, members(artifact))
            .named("getArtifact")
            .says("A file that a kept version is made of: the zip of its frontend, or a module.")
            .answers_as(
                200,
                "The file.",
                Some((BYTES, json!({ "type": "string", "format": "binary" }))),
            ),
    ]
}

async fn artifact(context: Context) -> lyceum_core::Result<Answer> {
    let digest: Digest = context.param("sha256").parse()?;
    let (slug, sha256) = (context.param("slug").to_owned(), digest.to_string());
    let unknown = format!("no kept version of '{slug}' is made of the file {digest}");
    let read = move |tx: &mut Tx<'_>| deployments::list(tx, &slug);
    let kept = context.app.db.read(read).await?;
    let is_part = kept.iter().any(|version| version.is_made_of(&sha256));
    let blobs = context.app.blobs.clone();
    let blob = if is_part { apart(move || blobs.open(&digest)).await? } else { None };
    let Some(Blob { file, size }) = blob else {
        return Err(Problem::new(ProblemKind::NotFound, unknown));
    };
    let (sender, receiver) = channel(1);
    tokio::task::spawn_blocking(move || send(file, &sender));
    let answer = Answer::typed(HeaderValue::from_static(BYTES), Body::new(Pieces(receiver)));
    Ok(answer.header(header::CONTENT_LENGTH, size))
}

/// Sends a file piece by piece, until its end or until nobody reads on.
fn send(mut file: std::fs::File, sender: &Sender<std::io::Result<Bytes>>) {
    loop {
        let mut bytes = BytesMut::zeroed(PIECE_BYTES);
        let piece = match file.read(&mut bytes) {
            Ok(0) => return,
            Ok(count) => {
                bytes.truncate(count);
                Ok(bytes.freeze())
            }
            Err(error) => Err(error),
        };
        let failed = piece.is_err();
        if sender.blocking_send(piece).is_err() || failed {
            return;
        }
    }
}

/// A body of the pieces that a task sends.
struct Pieces(Receiver<std::io::Result<Bytes>>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        waker: &mut Waker<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(waker).map(|piece| piece.map(|bytes| bytes.map(Frame::data)))
    }
}
