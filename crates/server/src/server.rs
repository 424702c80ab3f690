//! The complete server: assembling, running and stopping it.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

use lyceum_access::{Keyring, Player};
use lyceum_core::config::Config;
use lyceum_core::time::Clock;
use lyceum_core::{Problem, Result};
use lyceum_hosting::leases::NodeLease;
use lyceum_hosting::nodes::report::NodeState;
use lyceum_store::Db;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::activity_watch::ActivityWatch;
use crate::admission::Admission;
use crate::auth::{self, Gate};
use crate::dispatch::Dispatch;
use crate::fixed::FixedAnswers;
use crate::forward::NodeClient;
use crate::gathering::SummedUntil;
use crate::guarded::GuardedClient;
use crate::hosted::{self, ProjectHosting};
use crate::imports::{self, RunningImport};
use crate::intake::Intake;
use crate::learning::Learning;
use crate::limits;
use crate::live::{self, LiveLog};
use crate::metrics::{self, Metrics};
use crate::replication::Replication;
use crate::route::Area;
use crate::routes::credentials::StatusLists;
use crate::routes::docs::Docs;
use crate::routes::health::Readiness;
use crate::state::{App, State};
use crate::takeovers::TakeOvers;
use crate::telemetry::{self, Telemetry};
use crate::tls::Tls;
use crate::webhooks::WebhookSender;
use crate::{
    backup, descriptors, erasure, gathering, leases, listen, nodes, replication, routes, webhooks,
};

/// A server that is bound to its address but does not answer yet.
pub struct Server {
    listener: TcpListener,
    app: App,
    tls: Option<Arc<Tls>>,
    metrics: Option<TcpListener>,
    areas: Vec<Area>,
}

/// Completes at SIGTERM or SIGINT, which are handled from now on. Must be called within the runtime.
pub fn stop_signal() -> Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate()).map_err(Problem::internal)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Problem::internal)?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

impl Server {
    /// Assembles a server on a bound listener. Errors: the TLS files or the address for metrics cannot be used, or the
    /// database does not answer.
    pub async fn new(
        listener: TcpListener,
        config: Config,
        db: Db,
        keyring: Keyring,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        backup::check_settings(&config)?;
        if let Some(replica) = &config.store.read_replica {
            db.use_read_replica(replica.reveal())?;
        }
        let tls = match (&config.tls.certificate, &config.tls.key) {
            (Some(certificate), Some(key)) => Some(Arc::new(Tls::open(certificate, key)?)),
            _ => None,
        };
        let metrics = match &config.metrics.address {
            Some(address) => Some(metrics::listen(address).await?),
            None => None,
        };
        let blobs = lyceum_hosting::blobs(&config.store.data, &config.s3)?;
        let bound = listener.local_addr().map_err(Problem::internal)?.to_string();
        let node = hosted::start_generation(&db, &config, &bound, &blobs).await?;
        let lease = Arc::new(NodeLease::new(db.dialect()));
        let node_client = lease.is_needed().then(|| NodeClient::new(&config)).transpose()?;
        let replication =
            Replication::start(&db, &config, &clock, (&node, &lease, blobs.right())).await?;
        let replication = replication.map(Arc::new);
        let app = Arc::new(State {
            db,
            base_url: config.public_url(),
            blobs,
            node,
            master_key: keyring.master().fingerprint(),
            live_servers: AtomicU32::new(1),
            lease,
            lease_turn: tokio::sync::Mutex::default(),
            takeovers: Arc::<TakeOvers>::default(),
            node_client,
            hosted: ProjectHosting::default(),
            replication,
            intake: Intake::default(),
            summed_until: SummedUntil::new(),
            live: LiveLog::new(),
            activity: ActivityWatch::default(),
            items: lyceum_assessment::Items::default(),
            lessons: lyceum_adaptive::LessonCaches::default(),
            guarded: GuardedClient::new(),
            webhooks: WebhookSender::new(&config.webhooks.allow, false),
            providers: auth::ProviderCache::new(),
            settings: Vec::new(),
            status_lists: StatusLists::default(),
            hashing: Arc::new(tokio::sync::Semaphore::new(limits::PASSWORD_HASHES_MAX_COUNT)),
            hashing_queue: Arc::new(tokio::sync::Semaphore::new(
                limits::PASSWORD_HASHES_MAX_COUNT + limits::PASSWORD_HASHES_WAITING_MAX_COUNT,
            )),
            admission: Admission::new(&config, descriptors::raise()),
            gate: Gate::new(keyring),
            sandbox: None,
            metrics: Metrics::new(clock.now()),
            telemetry: None,
            fixed: FixedAnswers::default(),
            docs: Docs::default(),
            imports: RunningImport::default(),
            readiness: Readiness::default(),
            draining: AtomicBool::new(false),
            clock,
            config,
        });
        app.gate.refresh(&app).await?;
        leases::acquire(&app).await?;
        routes::credentials::start(&app).await?;
        Ok(Self { listener, app, tls, metrics, areas: routes::all() })
    }

    /// The public address of the server without a trailing slash.
    pub fn base_url(&self) -> &str {
        &self.app.base_url
    }

    /// Also serves these areas.
    #[must_use]
    pub fn also(mut self, areas: Vec<Area>) -> Self {
        self.areas.extend(areas);
        self
    }

    /// Sets the settings that administrators see: name, value and origin of each, without secrets.
    #[must_use]
    pub fn showing(mut self, settings: Vec<(String, String, String)>) -> Self {
        let app =
            Arc::get_mut(&mut self.app).expect("the state is not shared before the server runs");
        app.settings = settings;
        self
    }

    /// Adds the reference of the command line to the documentation. The Markdown is made when it is first requested.
    #[must_use]
    pub fn with_commands(mut self, reference: fn() -> String) -> Self {
        let app =
            Arc::get_mut(&mut self.app).expect("the state is not shared before the server runs");
        app.docs.commands = Some(reference);
        self
    }

    /// Sends metrics to the collector that receives the traces.
    #[must_use]
    pub fn sending(mut self, telemetry: Option<Arc<Telemetry>>) -> Self {
        let app =
            Arc::get_mut(&mut self.app).expect("the state is not shared before the server runs");
        app.telemetry = telemetry;
        self
    }

    /// Turns the server into a sandbox. On the platform's routes, any token means this player, and the standards'
    /// routes need no token. The player may also develop games, or only play. Requests below `/api/lms` are handled
    /// here, sent to another server, or refused. Pages of this machine and of the sandbox itself may call it.
    #[must_use]
    pub fn as_sandbox(mut self, demo: Player, makes_games: bool, learning: Learning) -> Self {
        let app =
            Arc::get_mut(&mut self.app).expect("the state is not shared before the server runs");
        app.gate.add_client(auth::sandbox_client(), &app.config.limits);
        app.webhooks = WebhookSender::new(&app.config.webhooks.allow, true);
        app.sandbox = Some(auth::SandboxGrants::new(demo, makes_games, learning, &app.config));
        self
    }

    /// Lets pages of these origins call the sandbox, and accepts their hosts, such as those of a tunnel. Other servers
    /// use the origins of their clients.
    #[must_use]
    pub fn open_to(mut self, origins: Vec<String>) -> Self {
        let app =
            Arc::get_mut(&mut self.app).expect("the state is not shared before the server runs");
        if let Some(sandbox) = &mut app.sandbox {
            sandbox.origins.add(origins);
        }
        self
    }

    /// Serves until `stop` completes, then finishes the accepted requests.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { listener, app, tls, metrics, areas } = self;
        let mut background = tokio::task::JoinSet::new();
        background.spawn(Gate::refresh_periodically(Arc::clone(&app)));
        background.spawn(routes::bridge::settle_periodically(Arc::clone(&app)));
        background.spawn(imports::work(Arc::clone(&app)));
        background.spawn(erasure::work(Arc::clone(&app)));
        background.spawn(backup::work(Arc::clone(&app)));
        background.spawn(hosted::sweep_periodically(Arc::clone(&app)));
        background.spawn(gathering::gather_periodically(Arc::clone(&app)));
        background.spawn(webhooks::send(Arc::clone(&app)));
        background.spawn(webhooks::delete_old_periodically(Arc::clone(&app)));
        background.spawn(routes::games::demo::purge_periodically(Arc::clone(&app)));
        background.spawn(nodes::report_periodically(Arc::clone(&app)));
        background.spawn(live::watch(Arc::clone(&app)));
        let db = app.db.clone();
        background.spawn(async move { db.watch_changes().await });
        background.spawn(leases::watch_others(Arc::clone(&app)));
        background.spawn(replication::check_periodically(Arc::clone(&app)));
        let renewing = tokio::spawn(leases::renew_periodically(Arc::clone(&app)));
        if let Some(tls) = tls.clone() {
            background.spawn(async move { tls.follow().await });
        }
        if let Some(telemetry) = app.telemetry.clone() {
            background.spawn(telemetry::send_periodically(
                Arc::clone(&app),
                telemetry,
                tls.clone(),
            ));
        }
        if let Some(listener) = metrics {
            background.spawn(metrics::serve(listener, Arc::clone(&app), tls.clone()));
        }
        let dispatch = Dispatch::new(Arc::clone(&app), areas);
        app.hosted.lead_to(&dispatch);
        tracing::info!(base_url = app.base_url, "listening");
        let stopping = Arc::clone(&app);
        let stop = async move {
            stop.await;
            tokio::spawn(nodes::report_state(stopping, NodeState::Stopping));
        };
        listen::run(listener, Arc::clone(&app), dispatch, tls, stop).await;
        app.hosted.close();
        background.shutdown().await;
        webhooks::release(&app).await;
        // The lease must last until the last changes are replicated; else another node restores a state without them.
        let is_replicated = match &app.replication {
            Some(replication) => replication.stop().await,
            None => true,
        };
        renewing.abort();
        leases::release(&app, is_replicated).await;
        nodes::report_state(app, NodeState::Stopped).await;
    }
}
