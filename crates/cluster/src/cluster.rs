//! The state that the parts of a node share.

use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use lyceum_access::Keyring;
use lyceum_core::config::Config;
use lyceum_core::time::Clock;
use lyceum_core::{Problem, Result};
use lyceum_hosting::engine::PausedCalls;
use lyceum_hosting::leases::NodeLease;
use lyceum_hosting::nodes::Node;
use lyceum_store::Db;
use ring::hmac;

use crate::forward::NodeClient;
use crate::forward_signature;
use crate::replication::Replication;
use crate::takeovers::TakeOvers;

/// Ends the backends of the project with this slug, and makes requests for them wait until the returned value is dropped.
pub(crate) type RetireProject =
    Box<dyn Fn(String) -> BoxFuture<'static, Result<PausedCalls>> + Send + Sync>;

/// This server as a node of its database.
pub struct Cluster {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: Config,
    /// This node, which has the files of its projects.
    pub node: Arc<Node>,
    /// The lease by which this node holds its projects.
    pub lease: Arc<NodeLease>,
    /// Held while the lease is renewed.
    pub(crate) lease_turn: tokio::sync::Mutex<()>,
    /// The attempts to take projects of other nodes.
    pub(crate) takeovers: Arc<TakeOvers>,
    /// Forwards requests to other nodes; `None` if the node has its database alone.
    pub(crate) node_client: Option<NodeClient>,
    /// Replicates SQLite files; `None` if the settings name no place for replicas.
    pub replication: Option<Arc<Replication>>,
    /// The servers that share the database, as far as this one knows: at least itself.
    pub live_servers: Arc<AtomicU32>,
    /// Whether the server was told to stop.
    pub draining: Arc<AtomicBool>,
    /// The number of the newest migration that the server knows.
    pub(crate) schema_version: i32,
    /// Signs the requests that this node forwards.
    pub(crate) forward_key: hmac::Key,
    /// The fingerprint of the master key under which this server encrypts.
    pub(crate) master_key: String,
    retire: OnceLock<RetireProject>,
}

impl Cluster {
    /// A node that holds no project yet. Errors: the certificate of the settings cannot be read.
    pub fn new(
        (db, clock, config): (Db, Arc<dyn Clock>, Config),
        keyring: &Keyring,
        (node, lease): (Arc<Node>, Arc<NodeLease>),
        replication: Option<Arc<Replication>>,
        schema_version: i32,
    ) -> Result<Self> {
        let node_client = lease.is_needed().then(|| NodeClient::new(&config)).transpose()?;
        Ok(Self {
            db,
            clock,
            config,
            node,
            lease,
            lease_turn: tokio::sync::Mutex::default(),
            takeovers: Arc::default(),
            node_client,
            replication,
            live_servers: Arc::new(AtomicU32::new(1)),
            draining: Arc::default(),
            schema_version,
            forward_key: forward_signature::key(keyring),
            master_key: keyring.master().fingerprint(),
            retire: OnceLock::new(),
        })
    }

    /// Sets the function that ends the backends of a project that another node has taken. It may be set after this server
    /// took its lease, because a server that starts has not lost a project yet.
    pub fn retire_with(&self, retire: RetireProject) {
        let _ = self.retire.set(retire);
    }

    /// Ends the backends of a project.
    pub(crate) async fn retire(&self, slug: &str) -> Result<PausedCalls> {
        let retire = self.retire.get().ok_or_else(|| Problem::internal("the server starts"))?;
        retire(slug.to_owned()).await
    }
}
