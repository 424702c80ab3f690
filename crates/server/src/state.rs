//! The state that all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

use lyceum_blob::Blobs;
use lyceum_core::config::Config;
use lyceum_core::time::Clock;
use lyceum_hosting::leases::NodeLease;
use lyceum_hosting::nodes::Node;
use lyceum_store::Db;

use crate::activity_watch::ActivityWatch;
use crate::admission::Admission;
use crate::auth::{Gate, ProviderCache, SandboxGrants};
use crate::fixed::FixedAnswers;
use crate::forward::NodeClient;
use crate::gathering::SummedUntil;
use crate::guarded::GuardedClient;
use crate::hosted::ProjectHosting;
use crate::imports::RunningImport;
use crate::intake::Intake;
use crate::live::LiveLog;
use crate::metrics::Metrics;
use crate::replication::Replication;
use crate::routes::credentials::StatusLists;
use crate::routes::docs::Docs;
use crate::routes::health::Readiness;
use crate::takeovers::TakeOvers;
use crate::telemetry::Telemetry;
use crate::webhooks::WebhookSender;

/// The server's state. Cheap to clone.
pub type App = Arc<State>;

/// The parts that routes use.
pub struct State {
    /// The database.
    pub db: Db,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The settings.
    pub config: Config,
    /// The public address of the server without a trailing slash.
    pub base_url: String,
    /// This node, which has the files of its projects.
    pub(crate) node: Arc<Node>,
    /// The fingerprint of the master key under which this server encrypts.
    pub(crate) master_key: String,
    /// The servers that share the database, as far as this one knows: at least itself.
    pub(crate) live_servers: AtomicU32,
    /// The lease by which this node holds its projects.
    pub(crate) lease: Arc<NodeLease>,
    /// Held while the lease is renewed.
    pub(crate) lease_turn: tokio::sync::Mutex<()>,
    /// The attempts to take projects of other nodes.
    pub(crate) takeovers: Arc<TakeOvers>,
    /// Forwards requests to other nodes; `None` if the node has its database alone.
    pub(crate) node_client: Option<NodeClient>,
    /// The files of hosted projects.
    pub(crate) blobs: Blobs,
    /// Caches for hosted projects, and the engine of their backends.
    pub(crate) hosted: ProjectHosting,
    /// Replicates SQLite files; `None` if the settings name no place for replicas.
    pub(crate) replication: Option<Arc<Replication>>,
    /// Envelopes that wait to be stored.
    pub(crate) intake: Intake,
    /// Until when facts of events are summed.
    pub(crate) summed_until: SummedUntil,
    /// Wakes live streams.
    pub(crate) live: LiveLog,
    /// Tells open pages what students do.
    pub(crate) activity: ActivityWatch,
    /// A cache of parsed assessment items.
    pub(crate) items: lyceum_assessment::Items,
    /// A cache of lessons.
    pub(crate) lessons: lyceum_adaptive::LessonCaches,
    /// The client for addresses that callers supplied.
    pub(crate) guarded: GuardedClient,
    /// Sends messages to the targets of webhooks.
    pub(crate) webhooks: WebhookSender,
    /// The OpenID provider that the settings name.
    pub(crate) providers: ProviderCache,
    /// The name, value and origin of each setting, without secrets.
    pub(crate) settings: Vec<(String, String, String)>,
    /// A cache of signed status lists.
    pub(crate) status_lists: StatusLists,
    /// Permits for hashing passwords.
    pub(crate) hashing: Arc<tokio::sync::Semaphore>,
    /// Permits for waiting for such a permit.
    pub(crate) hashing_queue: Arc<tokio::sync::Semaphore>,
    /// Limits of connections, and of memory for callers without a token.
    pub(crate) admission: Arc<Admission>,
    /// Checks tokens.
    pub(crate) gate: Gate,
    /// The default callers of a sandbox; `None` on other servers.
    pub(crate) sandbox: Option<SandboxGrants>,
    /// Counters.
    pub(crate) metrics: Metrics,
    /// Sends traces and metrics; `None` if the settings name no collector.
    pub(crate) telemetry: Option<Arc<Telemetry>>,
    /// Constant answers by name. Each is made when it is first requested.
    pub(crate) fixed: FixedAnswers,
    /// The imports that this server runs.
    pub(crate) imports: RunningImport,
    /// The documentation.
    pub(crate) docs: Docs,
    /// The latest check whether the store accepts writes.
    pub(crate) readiness: Readiness,
    /// Whether the server was told to stop.
    pub(crate) draining: AtomicBool,
}
