//! Moves incoming values from an asynchronous socket to files, which block.

use std::io::{self, Write};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use lyceum_blob::Writer;
use tokio::sync::mpsc;

use crate::bindings::blocking;
use crate::limits::R2_REQUEST_MAX_BYTES;

/// Chunks buffered for the slower side.
const WAITING: usize = 4;

/// Reads the first bytes of a body and returns the rest separately.
pub(super) async fn prefix(body: &mut Incoming, size: usize) -> io::Result<(Bytes, Bytes)> {
    let mut bytes = BytesMut::new();
    while bytes.len() < size {
        let Some(frame) = body.frame().await else { return Err(broken()) };
        if let Ok(data) = frame.map_err(io::Error::other)?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    let first = bytes.split_to(size).freeze();
    Ok((first, bytes.freeze()))
}

/// Reads the rest of a refused value unless it is long: a client that is still sending may lose the response
/// with the connection.
pub(super) async fn discard(mut body: Incoming) {
    let mut left = R2_REQUEST_MAX_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        let count = frame.data_ref().map_or(0, |data| data.len() as u64);
        match left.checked_sub(count) {
            Some(less) => left = less,
            None => return,
        }
    }
}

/// Writes the rest of a body, which must have exactly this size, and passes each chunk to `see`.
pub(super) async fn write(
    first: Bytes,
    mut body: Incoming,
    size: u64,
    mut writer: Writer,
    mut see: impl FnMut(&[u8]) + Send + 'static,
) -> io::Result<Writer> {
    let (send, mut receive) = mpsc::channel::<Bytes>(WAITING);
    let writing = tokio::task::spawn_blocking(move || -> io::Result<Writer> {
        while let Some(chunk) = receive.blocking_recv() {
            see(&chunk);
            writer.write_all(&chunk)?;
        }
        Ok(writer)
    });
    let mut left = size;
    let mut chunk = Some(first);
    loop {
        let Some(data) = chunk else { break };
        left = left.checked_sub(data.len() as u64).ok_or_else(broken)?;
        if !data.is_empty() && send.send(data).await.is_err() {
            break;
        }
        chunk = match body.frame().await {
            Some(frame) => Some(frame.map_err(io::Error::other)?.into_data().unwrap_or_default()),
            None => None,
        };
    }
    drop(send);
    let writer = writing.await.map_err(io::Error::other)??;
    if left > 0 { Err(broken()) } else { Ok(writer) }
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the value is shorter or longer than announced")
}

/// Syncs a written file outside the threads that serve requests.
pub(super) async fn sync(mut writer: Writer) -> lyceum_core::Result<Writer> {
    let synced = blocking(move || writer.sync().map(|()| writer)).await;
    synced.unwrap_or_else(|_| Err(lyceum_core::Problem::internal("a value could not be synced")))
}
