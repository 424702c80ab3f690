//! What the parts of a node share.

use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{Request, Response};
use lyceum_access::{CallerPlace, Keyring};
use lyceum_core::config::Config;
use lyceum_core::time::Clock;
use lyceum_core::{Problem, Result};
use lyceum_hosting::engine::PausedCalls;
use lyceum_hosting::leases::{HeldProject, NodeLease, RequestPlace};
use lyceum_hosting::nodes::{KnownNode, Node};
use lyceum_store::Db;
use ring::hmac;

use crate::forward::{self, ForwardedBody, NodeClient};
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

    /// Sets what ends the backends of a project that another node has taken. It is called before the first lease is taken.
    pub fn retire_with(&self, retire: RetireProject) {
        let _ = self.retire.set(retire);
    }

    /// Ends the backends of a project.
    pub(crate) async fn retire(&self, slug: &str) -> Result<PausedCalls> {
        let retire = self.retire.get().ok_or_else(|| Problem::internal("the server starts"))?;
        retire(slug.to_owned()).await
    }

    /// Whether other nodes may take this node's projects, so that it needs a lease.
    pub fn shares_database(&self) -> bool {
        self.lease.is_needed()
    }

    /// The lease by which this node holds the project now; `None` if it does not, or needs none.
    pub fn held(&self, slug: &str) -> Option<HeldProject> {
        self.lease.project(slug)
    }

    /// Checks that this node still holds a project. Errors: `Unavailable`.
    pub fn check_held(&self, held: Option<&HeldProject>) -> Result<()> {
        self.lease.check(held)
    }

    /// The caller of a request that another node forwarded; `None` for other requests. Errors: `Forbidden` for a header
    /// that no node signed for this request; `Misdirected` if it was sent to another node.
    pub fn forwarded_caller(&self, parts: &Parts) -> Result<Option<CallerPlace>> {
        forward_signature::caller(self, parts)
    }

    /// The node that handles a request to `path`, without aliases of paths. `project` is the slug of the hosted project that
    /// the request is for; `is_forwarded` says whether another node forwarded it.
    ///
    /// Errors: `Unavailable` if no node can handle it now, or if it would be forwarded twice.
    pub async fn place_of(
        self: &Arc<Self>,
        project: Option<&str>,
        path: &str,
        is_forwarded: bool,
    ) -> Result<RequestPlace> {
        match forward::place_of(self, project, path).await? {
            RequestPlace::At(..) if is_forwarded => Err(forward::forwarded_twice()),
            place => Ok(place),
        }
    }

    /// The answer of another node, for the project with this slug or for an upload. Errors: `Unavailable`.
    pub async fn forward(
        self: &Arc<Self>,
        request: Request<ForwardedBody>,
        to: (&KnownNode, Option<&str>),
        caller: &CallerPlace,
    ) -> Result<Response<Incoming>> {
        forward::forward(self, request, to, caller).await
    }
}
