//! Runs slow work on other threads than those that answer requests.

use lyceum_core::{Problem, Result};
use tracing::Span;

/// Runs work that would block a request thread for too long.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let span = Span::current(); // of the request or job that waits
    tokio::task::spawn_blocking(move || span.in_scope(work)).await.map_err(Problem::internal)?
}
