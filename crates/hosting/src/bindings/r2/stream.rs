//! Values on their way: between a socket, which is asynchronous, and files, which are not.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use lyceum_blob::{Blob, Writer};
use tokio::sync::mpsc;

use crate::bindings::blocking;
use crate::engine::BoxError;

/// Bytes that are read from a file at once.
const CHUNK_BYTES: usize = 256 * 1024;
/// Chunks that wait for the slower side.
const WAITING: usize = 4;

/// Reads the first bytes of a body; what came after them is left over.
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

/// Writes what is left of a body, which must be so many bytes, and gives each chunk to `see`.
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
    io::Error::new(io::ErrorKind::UnexpectedEof, "the value is not as long as it was said to be")
}

/// Bytes of blobs, one after the other, read as they are taken.
pub(crate) struct Pieces {
    receive: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
}

impl Pieces {
    /// So many bytes from the offset on, of the blobs as if they were one. The head comes before them.
    pub(crate) fn new(head: Bytes, blobs: Vec<Blob>, offset: u64, length: u64) -> Self {
        let (send, receive) = mpsc::channel(WAITING);
        let left = head.len() as u64 + length;
        tokio::task::spawn_blocking(move || {
            if send.blocking_send(Ok(head)).is_ok()
                && let Err(fault) = pour(blobs, offset, length, &send)
            {
                let _ = send.blocking_send(Err(fault));
            }
        });
        Self { receive, left }
    }
}

fn pour(
    blobs: Vec<Blob>,
    mut offset: u64,
    mut length: u64,
    send: &mpsc::Sender<io::Result<Bytes>>,
) -> io::Result<()> {
    for Blob { file, size } in blobs {
        if offset >= size {
            offset -= size;
            continue;
        }
        let take = length.min(size - offset);
        if !pour_one(file, offset, take, send)? {
            return Ok(());
        }
        (offset, length) = (0, length - take);
    }
    Ok(())
}

/// Whether somebody still takes the bytes.
fn pour_one(
    mut file: File,
    offset: u64,
    length: u64,
    send: &mpsc::Sender<io::Result<Bytes>>,
) -> io::Result<bool> {
    file.seek(SeekFrom::Start(offset))?;
    let mut file = file.take(length);
    let mut left = length;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK_BYTES);
        let mut chunk = vec![0; most];
        file.read_exact(&mut chunk)?;
        left -= chunk.len() as u64;
        if send.blocking_send(Ok(chunk.into())).is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = self.receive.poll_recv(cx);
        polled.map(|chunk| {
            Some(match chunk? {
                Ok(chunk) => {
                    self.left -= chunk.len() as u64;
                    Ok(Frame::data(chunk))
                }
                Err(fault) => Err(fault.into()),
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Makes what was written durable, beside the threads that serve.
pub(super) async fn sync(writer: Writer) -> lyceum_core::Result<Writer> {
    let synced = blocking(move || writer.sync().map(|()| writer)).await;
    synced.unwrap_or_else(|_| Err(lyceum_core::Problem::internal("a value could not be synced")))
}
