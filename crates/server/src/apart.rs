//! Runs slow work on other threads than those that answer requests.

use lyceum_core::{Problem, Result};

/// Runs work that would block a request thread for too long.
pub(crate) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Problem::internal)?
}
