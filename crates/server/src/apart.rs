//! Work beside the threads that answer requests.

use lyceum_core::{Problem, Result};

/// Does work that takes longer than a thread should be kept from its requests.
pub(crate) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Problem::internal)?
}
