//! The complete server: assembling, running and stopping it.

use std::future::Future;
use std::sync::Arc;

use lyceum_access::{Keyring, Player};
use lyceum_api::credentials::{self, StatusLists};
use lyceum_api::health::Readiness;
use lyceum_api::hosted::{self, ProjectHosting};
use lyceum_api::work::activity_watch::ActivityWatch;
use lyceum_api::work::gathering::{self, SummedUntil};
use lyceum_api::work::imports::{self, RunningImport};
use lyceum_api::work::intake::Intake;
use lyceum_api::work::live::{self, LiveLog};
use lyceum_api::work::webhooks::{self, WebhookSender};
use lyceum_api::work::{backup, erasure};
use lyceum_api::{App, Area, Learning, State, bridge, games, migrations};
use lyceum_cluster::replication::{self, Replication};
use lyceum_cluster::{Cluster, leases, nodes};
use lyceum_core::config::Config;
use lyceum_core::time::Clock;
use lyceum_core::{Problem, Result};
use lyceum_hosting::installations;
use lyceum_hosting::leases::NodeLease;
use lyceum_hosting::nodes::report::NodeState;
use lyceum_http::admission::Admission;
use lyceum_http::auth::{Gate, ProviderCache, SandboxGrants, sandbox_client};
use lyceum_http::dispatch::Dispatch;
use lyceum_http::fixed::FixedAnswers;
use lyceum_http::guarded::GuardedClient;
use lyceum_http::metrics::Metrics;
use lyceum_http::tls::Tls;
use lyceum_http::{Http, descriptors, listen};
use lyceum_pages::PAGE_PROBLEMS;
use lyceum_store::{Db, run_blocking};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

use crate::metrics::{self, MetricSources};
use crate::telemetry::{self, Telemetry};
use crate::{limits, routes};

/// A server that is bound to its address but does not answer yet.
pub struct Server {
    listener: TcpListener,
    app: App,
    tls: Option<Arc<Tls>>,
    metrics: Option<TcpListener>,
    telemetry: Option<Arc<Telemetry>>,
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
        let (opened, opening, now) = (db.clone(), config.clone(), clock.now());
        let bucket = move || installations::in_bucket(&opened, &opening, now);
        let bucket = run_blocking(bucket).await?;
        let blobs = lyceum_hosting::blobs(&config.store.data, &config.s3, &bucket)?;
        let bound = listener.local_addr().map_err(Problem::internal)?.to_string();
        let node = hosted::start_generation(&db, &config, &bound).await?;
        let lease = Arc::new(NodeLease::new(db.dialect()));
        let open_max = descriptors::replicated_files(descriptors::raise(), &config);
        let replication =
            Replication::start(&db, &config, &clock, (&node, &lease, bucket.clone()), open_max)
                .await?;
        let newest = migrations().iter().map(|migration| migration.version).max();
        let cluster = Arc::new(Cluster::new(
            (db.clone(), Arc::clone(&clock), config.clone()),
            &keyring,
            (node, lease),
            replication.map(Arc::new),
            newest.unwrap_or_default(),
        )?);
        let http = Http {
            db,
            base_url: config.public_url(),
            live_servers: Arc::clone(&cluster.live_servers),
            providers: ProviderCache::default(),
            hashing: Arc::new(Semaphore::new(limits::PASSWORD_HASHES_MAX_COUNT)),
            hashing_queue: Arc::new(Semaphore::new(
                limits::PASSWORD_HASHES_MAX_COUNT + limits::PASSWORD_HASHES_WAITING_MAX_COUNT,
            )),
            admission: Admission::new(&config, descriptors::raise()),
            gate: Gate::new(keyring),
            sandbox: None,
            metrics: Metrics::new(clock.now()),
            fixed: FixedAnswers::default(),
            draining: Arc::clone(&cluster.draining),
            clock,
            config,
        };
        let app = Arc::new(State {
            blobs,
            bucket,
            hosted: ProjectHosting::default(),
            intake: Intake::default(),
            summed_until: SummedUntil::default(),
            live: LiveLog::default(),
            activity: ActivityWatch::default(),
            items: lyceum_assessment::Items::default(),
            lessons: lyceum_adaptive::LessonCaches::default(),
            guarded: GuardedClient::default(),
            webhooks: WebhookSender::new(&http.config.webhooks.allow, false),
            settings: Vec::new(),
            status_lists: StatusLists::default(),
            imports: RunningImport::default(),
            learning: None,
            commands: None,
            openapi: routes::document,
            page_problems: PAGE_PROBLEMS,
            readiness: Readiness::default(),
            cluster,
            http,
        });
        app.gate.refresh(&app).await?;
        leases::acquire(&app.cluster).await?;
        credentials::start(&app).await?;
        Ok(Self { listener, app, tls, metrics, telemetry: None, areas: routes::all() })
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
        app.commands = Some(reference);
        self
    }

    /// Sends metrics to the collector that receives the traces.
    #[must_use]
    pub fn sending(mut self, telemetry: Option<Arc<Telemetry>>) -> Self {
        self.telemetry = telemetry;
        self
    }

    /// Turns the server into a sandbox. On the platform's routes, any token means this player, and the standards'
    /// routes need no token. The player may also develop games, or only play. Requests below `/api/lms` are handled
    /// here, sent to another server, or refused. Pages of this machine and of the sandbox itself may call it.
    #[must_use]
    pub fn as_sandbox(mut self, demo: Player, makes_games: bool, learning: Learning) -> Self {
        let app =
            Arc::get_mut(&mut self.app).expect("the state is not shared before the server runs");
        app.gate.add_client(sandbox_client(), &app.config.limits);
        app.webhooks = WebhookSender::new(&app.config.webhooks.allow, true);
        app.http.sandbox = Some(SandboxGrants::new(demo, makes_games, &app.config));
        app.learning = Some(learning);
        self
    }

    /// Lets pages of these origins call the sandbox, and accepts their hosts, such as those of a tunnel. Other servers
    /// use the origins of their clients.
    #[must_use]
    pub fn open_to(mut self, origins: Vec<String>) -> Self {
        let app =
            Arc::get_mut(&mut self.app).expect("the state is not shared before the server runs");
        if let Some(sandbox) = &mut app.http.sandbox {
            sandbox.origins.add(origins);
        }
        self
    }

    /// Serves until `stop` completes, then finishes the accepted requests.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { listener, app, tls, metrics, telemetry, areas } = self;
        let cluster = Arc::clone(&app.cluster);
        let retired_by = Arc::downgrade(&app);
        cluster.retire_with(Box::new(move |slug| {
            let app = retired_by.upgrade();
            Box::pin(async move {
                let app = app.ok_or_else(|| Problem::internal("the server has stopped"))?;
                hosted::retire(&app, &slug).await
            })
        }));
        let mut background = tokio::task::JoinSet::new();
        background.spawn(Gate::refresh_periodically(Arc::clone(&app)));
        background.spawn(bridge::settle_periodically(Arc::clone(&app)));
        background.spawn(imports::work(Arc::clone(&app)));
        background.spawn(erasure::work(Arc::clone(&app)));
        background.spawn(backup::work(Arc::clone(&app)));
        background.spawn(hosted::sweep_periodically(Arc::clone(&app)));
        background.spawn(gathering::gather_periodically(Arc::clone(&app)));
        background.spawn(webhooks::send(Arc::clone(&app)));
        background.spawn(webhooks::delete_old_periodically(Arc::clone(&app)));
        background.spawn(games::demo::purge_periodically(Arc::clone(&app)));
        background.spawn(nodes::report_periodically(Arc::clone(&cluster)));
        background.spawn(live::watch(Arc::clone(&app)));
        let db = app.db.clone();
        background.spawn(async move { db.watch_changes().await });
        background.spawn(leases::watch_others(Arc::clone(&cluster)));
        background.spawn(replication::check_periodically(Arc::clone(&cluster)));
        let renewing = tokio::spawn(leases::renew_periodically(Arc::clone(&cluster)));
        if let Some(tls) = tls.clone() {
            background.spawn(async move { tls.follow().await });
        }
        let sources =
            MetricSources { app: Arc::clone(&app), tls: tls.clone(), telemetry: telemetry.clone() };
        if let Some(telemetry) = telemetry {
            background.spawn(telemetry::send_periodically(sources.clone(), telemetry));
        }
        if let Some(listener) = metrics {
            background.spawn(metrics::serve(listener, sources));
        }
        let dispatch = Dispatch::new(Arc::clone(&app), areas);
        app.hosted.lead_to(&dispatch);
        tracing::info!(base_url = app.base_url, "listening");
        let stopping = Arc::clone(&cluster);
        let stop = async move {
            stop.await;
            tokio::spawn(async move { nodes::report_state(&stopping, NodeState::Stopping).await });
        };
        listen::run(listener, Arc::clone(&app), dispatch, tls, stop).await;
        app.hosted.close();
        background.shutdown().await;
        webhooks::release(&app).await;
        // The lease must last until the last changes are replicated; else another node restores a state without them.
        let is_replicated = match &cluster.replication {
            Some(replication) => replication.stop(&app.db, &*app.clock).await,
            None => true,
        };
        renewing.abort();
        leases::release(&cluster, is_replicated).await;
        nodes::report_state(&cluster, NodeState::Stopped).await;
    }
}
