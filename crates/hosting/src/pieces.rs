//! Blobs on their way out: from files, which are read by threads of their own, to a socket.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use lyceum_blob::Blob;
use tokio::sync::mpsc;

use crate::engine::BoxError;

/// Bytes that are read from a file at once.
const CHUNK_BYTES: usize = 256 * 1024;
/// Chunks that wait for the slower side.
const WAITING: usize = 4;

/// Bytes of blobs, one after the other, read as they are taken.
pub struct Pieces {
    receive: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
}

impl Pieces {
    /// So many bytes from the offset on, of the blobs as if they were one. The head comes before them.
    pub fn new(head: Bytes, blobs: Vec<Blob>, offset: u64, length: u64) -> Self {
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
