//! Answers that never change while the server runs: made once, compressed once, shared by all callers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderValue;
use bytes::Bytes;
use lyceum_core::{Result, limits};
use tokio::sync::{OnceCell, Semaphore};

use crate::answer::Answer;
use crate::compression;

/// Compressing well takes memory: one answer at a time.
static PACKING: Semaphore = Semaphore::const_new(1);

/// The answers by name. Names are those of files and routes: callers cannot add any.
#[derive(Default)]
pub(crate) struct FixedAnswers(Mutex<HashMap<String, Arc<Fixed>>>);

/// The bytes of an answer, and its compressed copies, each made when it is first asked for.
#[derive(Debug)]
pub(crate) struct Fixed {
    plain: Bytes,
    brotli: OnceCell<Option<Bytes>>,
    gzip: OnceCell<Option<Bytes>>,
}

impl FixedAnswers {
    /// The answer of that name, which is made where nobody asked for it before.
    ///
    /// Errors: those of making it; it is not kept then.
    pub(crate) fn get<B: Into<Bytes>>(
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
                let fixed = Arc::new(Fixed { plain: make()?.into(), brotli, gzip });
                known.insert(name.to_owned(), Arc::clone(&fixed));
                fixed
            }
        };
        Ok(Answer::fixed(media, fixed))
    }
}

impl Fixed {
    /// The bytes as they are.
    pub(crate) fn plain(&self) -> Bytes {
        self.plain.clone()
    }

    /// The compressed copy that suits `Accept-Encoding`, and its encoding. None: the bytes as they are suit
    /// as well.
    pub(crate) async fn packed(&self, accepted: &HeaderValue) -> Option<(&'static str, Bytes)> {
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

/// Compresses beside the threads that answer requests.
async fn pack(plain: Bytes, encoding: &'static str) -> Option<Bytes> {
    let _one = PACKING.acquire().await.ok()?;
    let runtime = tokio::runtime::Handle::current();
    let packed = tokio::task::spawn_blocking(move || {
        runtime.block_on(compression::whole(plain, HeaderValue::from_static(encoding)))
    });
    packed.await.ok().flatten()
}
