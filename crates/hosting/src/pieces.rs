//! Sends blobs from files to a socket. Each chunk is read when the previous one was sent, so that slow receivers do
//! not block a thread.

use std::io::{self, Read, Seek, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use lyceum_blob::Blob;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::engine::BoxError;
use crate::limits::ANSWER_PIECE_BYTES;

/// Bytes read from a file at once.
const CHUNK_BYTES: u64 = ANSWER_PIECE_BYTES as u64;

/// The bytes of blobs, one blob after the other. They are read when they are needed.
pub struct BlobStream {
    head: Bytes,
    next: NextChunk,
    left: u64,
}

/// The source of the next chunk.
enum NextChunk {
    Here(BlobReader),
    Reading(JoinHandle<io::Result<(BlobReader, Bytes)>>),
    Nowhere,
}

/// Blobs in order, each opened when it is needed.
pub type BlobsInTurn = Box<dyn Iterator<Item = Result<Blob, BoxError>> + Send>;

/// The blobs that are left to read: the first one from the offset on, the others from their start.
struct BlobReader {
    blobs: BlobsInTurn,
    offset: u64,
    length: u64,
    open: Option<io::Take<std::fs::File>>,
}

impl BlobStream {
    /// `length` bytes of one blob from the offset on.
    pub fn of(blob: Blob, offset: u64, length: u64) -> Self {
        Self::new(Bytes::new(), Box::new(std::iter::once(Ok(blob))), offset, length)
    }

    /// The head, and then `length` bytes from the offset on of all blobs taken together.
    pub fn new(head: Bytes, blobs: BlobsInTurn, offset: u64, length: u64) -> Self {
        let left = head.len() as u64 + length;
        Self { head, next: NextChunk::Here(BlobReader { blobs, offset, length, open: None }), left }
    }
}

impl BlobReader {
    fn read(mut self) -> io::Result<(Self, Bytes)> {
        let mut chunk = Vec::new();
        while chunk.is_empty() {
            match &mut self.open {
                Some(file) if file.limit() > 0 => {
                    let wanted = file.limit().min(CHUNK_BYTES);
                    if file.take(wanted).read_to_end(&mut chunk)? as u64 != wanted {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                _ => self.open = Some(self.following()?),
            }
        }
        Ok((self, chunk.into()))
    }

    /// The part of the next blob that is needed.
    fn following(&mut self) -> io::Result<io::Take<std::fs::File>> {
        loop {
            let next = self.blobs.next().ok_or(io::ErrorKind::UnexpectedEof)?;
            let Blob { mut file, size } = next.map_err(io::Error::other)?;
            if self.offset < size {
                file.seek(SeekFrom::Start(self.offset))?;
                let wanted = self.length.min(size - self.offset);
                (self.offset, self.length) = (0, self.length - wanted);
                return Ok(file.take(wanted));
            }
            self.offset -= size;
        }
    }
}

impl HttpBody for BlobStream {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let mut chunk = std::mem::take(&mut this.head);
        if chunk.is_empty() {
            if this.left == 0 {
                return Poll::Ready(None);
            }
            this.next = match std::mem::replace(&mut this.next, NextChunk::Nowhere) {
                NextChunk::Here(reader) => NextChunk::Reading(spawn_blocking(|| reader.read())),
                next => next,
            };
            let NextChunk::Reading(reading) = &mut this.next else { return Poll::Ready(None) };
            let read = ready!(Pin::new(reading).poll(cx)).map_err(io::Error::other);
            this.next = NextChunk::Nowhere;
            match read.and_then(|read| read) {
                Ok((reader, read)) => (this.next, chunk) = (NextChunk::Here(reader), read),
                Err(fault) => return Poll::Ready(Some(Err(fault.into()))),
            }
        }
        this.left -= chunk.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
