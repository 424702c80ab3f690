//! The platform's API, as a backend reaches it through `env.LYCEUM`.
//!
//! It is a binding and not an address with a key: no secret can leak, and the isolation of the process needs no hole.
//! A backend acts in its own game, or as the caller whose token it passes on.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::HeaderName;
use hyper::{Request, Response};

use super::Body;

/// The header by which a backend under development tells a sandbox to which project it belongs. Other servers ignore
/// it.
pub const BACKEND_HEADER: HeaderName = HeaderName::from_static("lyceum-backend");

/// A response in progress.
pub type ResponseInProgress = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// Answers what a backend asks the platform. The function knows to which backend it was given.
#[derive(Clone)]
pub struct PlatformApi(Arc<dyn Fn(Request<Incoming>) -> ResponseInProgress + Send + Sync>);

impl PlatformApi {
    /// An API that the function serves.
    pub fn new(
        answer: impl Fn(Request<Incoming>) -> ResponseInProgress + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(answer))
    }

    pub(crate) fn answer(&self, request: Request<Incoming>) -> ResponseInProgress {
        (self.0)(request)
    }
}

impl fmt::Debug for PlatformApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Api")
    }
}
