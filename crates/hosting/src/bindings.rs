//! What a backend's bindings speak to: one small HTTP service a process, on a socket that only the
//! process reaches. The runtime's own code makes the requests; it names the binding in a header that
//! the backend's code cannot set.

mod answer;
mod d1;
mod kv;
mod r2;
mod sql;
mod stores;

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use lyceum_core::Result;
use tokio::net::UnixListener;
use tokio::task::JoinSet;

pub(crate) use stores::Stores;

use crate::engine::{Body, Worker};
use answer::Answer;

/// The header that names the binding, and holds the token of the process.
pub(crate) const BINDING_HEADER: &str = "lyceum-binding";

/// The bindings of one process.
pub(crate) struct Bindings {
    token: String,
    d1: Option<Arc<sql::D1>>,
    kv: Option<Arc<sql::Kv>>,
    bucket: Option<Arc<sql::Bucket>>,
}

impl Bindings {
    /// Opens what the worker may use. All processes of a server share a file's one opening.
    pub(crate) fn open(stores: &Stores, worker: &Worker, token: String) -> Result<Self> {
        let d1 = worker.d1.as_deref().map(|path| stores.d1(path)).transpose()?;
        let kv = worker.kv.as_deref().map(|path| stores.kv(path)).transpose()?;
        let bucket = worker.bucket.as_deref().map(|path| stores.bucket(path)).transpose()?;
        Ok(Self { token, d1, kv, bucket })
    }

    /// Answers on the socket until it is dropped.
    pub(crate) async fn serve(self, listener: UnixListener) {
        let bindings = Arc::new(self);
        let mut connections = JoinSet::new();
        loop {
            let Ok((stream, _)) = listener.accept().await else { return };
            while connections.try_join_next().is_some() {}
            let bindings = Arc::clone(&bindings);
            let service = service_fn(move |request| {
                let bindings = Arc::clone(&bindings);
                async move { Ok::<_, Infallible>(bindings.answer(request).await) }
            });
            connections
                .spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let header = request.headers().get(BINDING_HEADER).and_then(|value| value.to_str().ok());
        let (binding, token) = header.and_then(|text| text.split_once(' ')).unwrap_or_default();
        if token != self.token {
            return Answer::refusal(StatusCode::FORBIDDEN, "this is no binding").into();
        }
        let answer = match (binding, &self.d1, &self.kv, &self.bucket) {
            ("d1", Some(d1), ..) => d1::answer(d1, request).await,
            ("kv", _, Some(kv), _) => kv::answer(kv, request).await,
            ("r2", .., Some(bucket)) => r2::answer(bucket, request).await,
            ("pulse", ..) => Answer::empty(),
            _ => Answer::refusal(StatusCode::NOT_FOUND, "the backend has no such binding"),
        };
        answer.into()
    }
}

/// The whole body, if it is not longer than that.
async fn whole(request: Request<Incoming>, max_bytes: usize) -> Result<Bytes, Answer> {
    let told = request.body().size_hint().lower();
    let body = Limited::new(request.into_body(), max_bytes).collect().await;
    body.map(http_body_util::Collected::to_bytes).map_err(|_| {
        let message = if told > max_bytes as u64 {
            format!("Value length of {told} exceeds limit of {max_bytes}.")
        } else {
            format!("The request is longer than {max_bytes} bytes, or broke off.")
        };
        Answer::refusal(StatusCode::PAYLOAD_TOO_LARGE, &message)
    })
}

/// Runs what reads and writes files beside the threads that serve.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Answer> {
    tokio::task::spawn_blocking(work).await.map_err(|fault| {
        tracing::error!("a binding failed: {fault}");
        Answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, "the binding failed; try again")
    })
}
