//! Answers that never change while the server runs. Each is made and compressed once, and shared by all callers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::HeaderValue;
use lyceum_core::Result;
use tokio::sync::{OnceCell, Semaphore};

use crate::answer::Answer;
use crate::{compression, limits};

/// Good compression needs much memory, so only one answer is compressed at a time.
static PACKING: Semaphore = Semaphore::const_new(1);

/// The answers by name. Names are those of files and routes, so callers cannot add entries.
#[derive(Default)]
pub struct FixedAnswers(Mutex<HashMap<String, Arc<FixedAnswer>>>);

/// The bytes of an answer and its compressed copies. Each copy is made when it is first requested.
#[derive(Debug)]
pub struct FixedAnswer {
    plain: Bytes,
    brotli: OnceCell<Option<Bytes>>,
    gzip: OnceCell<Option<Bytes>>,
}

impl FixedAnswers {
    /// The answer with this name, which is made at the first request.
    ///
    /// Errors: those of making the answer, which is not stored then.
    pub fn get<B: Into<Bytes>>(
        &self,
        name: &str,
        media: HeaderValue,
        make: impl FnOnce() -> Result<B>,
    ) -> Result<Answer> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fixed = match known.get(name) {
            Some(fixed) => Arc::clone(fixed),
            None => {
                let (brotli, gzip) = (OnceCell::new(), OnceCell::new());
                let fixed = Arc::new(FixedAnswer { plain: make()?.into(), brotli, gzip });
                known.insert(name.to_owned(), Arc::clone(&fixed));
                fixed
            }
        };
        Ok(Answer::fixed(media, fixed))
    }
}

impl FixedAnswer {
    /// The uncompressed bytes.
    pub fn plain(&self) -> Bytes {
        self.plain.clone()
    }

    /// The best compressed copy that `Accept-Encoding` allows, and its encoding. `None` if the uncompressed bytes
    /// should be sent.
    pub async fn packed(&self, accepted: &HeaderValue) -> Option<(&'static str, Bytes)> {
        if self.plain.len() < usize::from(limits::COMPRESSION_MIN_BYTES) {
            return None;
        }
        for (encoding, copy) in [("br", &self.brotli), ("gzip", &self.gzip)] {
            if compression::accepts(accepted, encoding) {
                let packed = copy.get_or_init(|| pack(self.plain(), encoding)).await;
                return packed.clone().map(|bytes| (encoding, bytes));
            }
        }
        None
    }
}

/// Compresses on another thread than those that answer requests.
async fn pack(plain: Bytes, encoding: &'static str) -> Option<Bytes> {
    let _one = PACKING.acquire().await.ok()?;
    let runtime = tokio::runtime::Handle::current();
    let packed = tokio::task::spawn_blocking(move || {
        runtime.block_on(compression::compress_whole(plain, HeaderValue::from_static(encoding)))
    });
    packed.await.ok().flatten()
}
