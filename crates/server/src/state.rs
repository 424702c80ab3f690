//! What every request shares.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lyceum_blob::Blobs;
use lyceum_core::config::Config;
use lyceum_core::time::Clock;
use lyceum_hosting::nodes::Node;
use lyceum_store::Db;

use crate::admission::Admission;
use crate::auth::{Gate, Providers, Sandbox};
use crate::fixed::FixedAnswers;
use crate::guarded::GuardedClient;
use crate::hosted::Hosted;
use crate::imports::Imports;
use crate::intake::Intake;
use crate::metrics::Metrics;
use crate::routes::credentials::StatusLists;
use crate::routes::docs::Docs;
use crate::routes::health::Readiness;

/// The server's state: cheap to clone.
pub type App = Arc<State>;

/// The parts that routes work with.
pub struct State {
    /// The database.
    pub db: Db,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The settings.
    pub config: Config,
    /// The address that callers reach the server by, without a slash at its end.
    pub base_url: String,
    /// The node that this is, which holds the files of its projects.
    pub(crate) node: Arc<Node>,
    /// The files of hosted projects.
    pub(crate) blobs: Blobs,
    /// What serving hosted projects remembers, and the engine of their backends.
    pub(crate) hosted: Hosted,
    /// Envelopes that wait to be kept.
    pub(crate) intake: Intake,
    /// Assessment items that were parsed lately.
    pub(crate) items: lyceum_assessment::Items,
    /// What of lessons was read lately.
    pub(crate) lessons: lyceum_adaptive::Memory,
    /// What is read from addresses that callers supplied.
    pub(crate) guarded: GuardedClient,
    /// The OpenID provider of the settings.
    pub(crate) providers: Providers,
    /// Name, value and origin of each setting, secrets left out.
    pub(crate) settings: Vec<(String, String, String)>,
    /// Status lists that were signed lately.
    pub(crate) status_lists: StatusLists,
    /// Places for work with passwords.
    pub(crate) hashing: Arc<tokio::sync::Semaphore>,
    /// Who waits for such a place.
    pub(crate) hashing_queue: Arc<tokio::sync::Semaphore>,
    /// Places for connections, and memory for callers without a token.
    pub(crate) admission: Arc<Admission>,
    /// Tokens.
    pub(crate) gate: Gate,
    /// Who calls without a token of ours; none unless this is a sandbox.
    pub(crate) sandbox: Option<Sandbox>,
    /// Counters.
    pub(crate) metrics: Metrics,
    /// Answers that never change, by name, each made when it is first asked for.
    pub(crate) fixed: FixedAnswers,
    /// Imports that this server works on.
    pub(crate) imports: Imports,
    /// The documentation.
    pub(crate) docs: Docs,
    /// Whether the store takes writes.
    pub(crate) readiness: Readiness,
    /// The server was told to stop.
    pub(crate) draining: AtomicBool,
}
