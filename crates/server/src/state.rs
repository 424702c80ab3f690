//! What every request shares.

use std::sync::Arc;

use lyceum_core::time::Clock;
use lyceum_store::Db;

/// The server's state: cheap to clone.
pub type App = Arc<State>;

/// The parts that routes work with.
pub struct State {
    /// The database.
    pub db: Db,
    /// The time.
    pub clock: Arc<dyn Clock>,
}
