//! The service behind a backend's bindings: one small HTTP service per process, on a socket that only this
//! process can reach. The runtime's own code makes the requests and names the binding in a header that
//! the backend's code cannot set.

mod answer;
mod sql;
pub(crate) mod stores;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use lyceum_core::Result;
use tokio::net::UnixListener;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};

pub(crate) use sql::{begin_log, copies, search};
use stores::Store;
pub(crate) use stores::{Stores, client};

use crate::engine::{Body, PlatformApi, Worker};
use crate::leases::{self, HeldProject, NodeLease};
use crate::limits::BINDING_REQUESTS_MAX_COUNT;
use answer::Answer;

/// The header with the binding's name and the process's token.
pub(crate) const BINDING_HEADER: &str = "lyceum-binding";

/// The bindings of one process.
pub(crate) struct Bindings {
    token: String,
    stores: BTreeMap<&'static str, SharedStore>,
    api: Option<PlatformApi>,
    fence: Fence,
}

/// Refuses to acknowledge requests after another node may have taken the project.
struct Fence {
    lease: Arc<NodeLease>,
    slug: String,
    /// Empty until the project is deployed: its first version starts before that.
    project: OnceLock<HeldProject>,
}

impl Fence {
    /// Errors: those of [`NodeLease::check`].
    fn check(&self) -> Result<()> {
        if self.project.get().is_none() {
            match self.lease.project(&self.slug) {
                Some(project) => drop(self.project.set(project)),
                // The project was deployed, and the lease has ended.
                None if self.lease.epoch(&self.slug).is_some_and(|epoch| epoch > 0) => {
                    return Err(leases::moved(&self.slug));
                }
                None => {}
            }
        }
        self.lease.check(self.project.get())
    }
}

/// A store with a limit on parallel requests: each request needs a thread and memory, and each process has a share.
struct SharedStore {
    store: Store,
    places: Semaphore,
}

impl Bindings {
    /// Opens the stores that the worker may use. All processes of a server share one connection to a file.
    pub(crate) fn open(
        stores: &Stores,
        worker: &Worker,
        token: String,
        lease: Arc<NodeLease>,
    ) -> Result<Self> {
        let shared = worker.stores.iter().map(|(binding, path)| {
            let store = Store::open(stores, *binding, path)?;
            let places = Semaphore::new(BINDING_REQUESTS_MAX_COUNT);
            Ok((binding.names().key, SharedStore { store, places }))
        });
        Ok(Self {
            token,
            stores: shared.collect::<Result<_>>()?,
            api: worker.api.clone(),
            fence: Fence { lease, slug: worker.project().to_owned(), project: OnceLock::new() },
        })
    }

    /// Serves the socket until it is dropped.
    pub(crate) async fn serve(self, listener: UnixListener) {
        let bindings = Arc::new(self);
        let mut connections = JoinSet::new();
        loop {
            let Ok((stream, _)) = listener.accept().await else { return };
            while connections.try_join_next().is_some() {}
            let bindings = Arc::clone(&bindings);
            let service = service_fn(move |request| {
                let bindings = Arc::clone(&bindings);
                // A caller that disconnects keeps its place until its request is finished.
                let answered = tokio::spawn(async move { bindings.answer(request).await });
                async move { Ok::<_, Infallible>(answered.await.unwrap_or_else(failed)) }
            });
            connections
                .spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    }

    async fn answer(&self, mut request: Request<Incoming>) -> Response<Body> {
        let header = request.headers().get(BINDING_HEADER).and_then(|value| value.to_str().ok());
        let (binding, token) = header.and_then(|text| text.split_once(' ')).unwrap_or_default();
        if token != self.token {
            return Answer::refusal(StatusCode::FORBIDDEN, "this is not a binding").into();
        }
        if let ("api", Some(api)) = (binding, &self.api) {
            request.headers_mut().remove(BINDING_HEADER);
            return api.answer(request).await;
        }
        let answered = match (binding, self.stores.get(binding)) {
            (_, Some(SharedStore { store, places })) => {
                let _place = places.acquire().await.expect("nobody closes it");
                store.answer(request).await
            }
            ("pulse", None) => Answer::empty(),
            _ => Answer::refusal(StatusCode::NOT_FOUND, "the backend has no such binding"),
        };
        match self.fence.check() {
            Ok(()) => answered.into(),
            Err(problem) => {
                Answer::refusal(StatusCode::SERVICE_UNAVAILABLE, &problem.message.to_string())
                    .into()
            }
        }
    }
}

/// Reads the whole body, up to a limit.
async fn whole_body(request: Request<Incoming>, max_bytes: usize) -> Result<Bytes, Answer> {
    let size = request.body().size_hint().lower();
    let body = Limited::new(request.into_body(), max_bytes).collect().await;
    body.map(http_body_util::Collected::to_bytes).map_err(|_| {
        let message = if size > max_bytes as u64 {
            format!("Value length of {size} exceeds limit of {max_bytes}.")
        } else {
            format!("The request is longer than {max_bytes} bytes, or broke off.")
        };
        Answer::refusal(StatusCode::PAYLOAD_TOO_LARGE, &message)
    })
}

/// Runs blocking file access outside the threads that serve requests.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Answer> {
    tokio::task::spawn_blocking(work).await.map_err(failed)
}

#[expect(clippy::needless_pass_by_value, reason = "it ends calls")]
fn failed<T: From<Answer>>(fault: JoinError) -> T {
    tracing::error!("a binding failed: {fault}");
    let message = "the binding failed; try again";
    Answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, message).into()
}
