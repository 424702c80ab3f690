//! A real server in this process, on a port of its own, and a blocking client for it.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use lyceum_access::{Keyring, MasterKey, NewClient, Player, Realm, Scope, client};
use lyceum_api::Area;
use lyceum_api::Learning;
use lyceum_core::PayloadDialect;
use lyceum_core::config::{Config, Secret};
use lyceum_core::time::{Clock, SystemClock};
use lyceum_server::Server;
use lyceum_store::{Db, StoreLocation};
use lyceum_testkit::postgres::{on_postgres, on_sqlite};
use lyceum_testkit::{both_stores, free_port};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::client::TestClient;

/// The settings of a test server.
#[derive(Clone)]
pub struct Setup {
    /// The settings: the defaults, on a free port of the loopback.
    pub config: Config,
    /// The key that seals the signing keys.
    pub master: MasterKey,
    /// The time: the machine's.
    pub clock: Arc<dyn Clock>,
    /// Routes beside the real ones: none.
    pub areas: fn() -> Vec<Area>,
    /// The folder of its files. It is created with the server and deleted with the last server that uses it.
    pub folder: Option<Arc<TempDir>>,
    /// The demo user of a sandbox, and whether it learns; `None` for a server that is not a sandbox.
    pub sandbox: Option<(Player, bool)>,
}

impl Default for Setup {
    fn default() -> Self {
        let mut setup = Self {
            config: Config::defaults(),
            master: MasterKey::random(),
            clock: Arc::new(SystemClock),
            areas: Vec::new,
            folder: None,
            sandbox: None,
        };
        setup.listen_anew();
        setup.config.server.public_url = Some(format!("http://{}", setup.config.server.listen));
        setup.config.server.shutdown_grace_s = 10;
        setup
    }
}

impl Setup {
    /// Takes another free port; the public address stays.
    pub fn listen_anew(&mut self) {
        self.config.server.listen = format!("127.0.0.1:{}", free_port());
    }
}

/// A running server. Dropping it ends it at once, as a crash would; [`TestServer::stop`] waits.
pub struct TestServer {
    target: StoreLocation,
    setup: Setup,
    db: Db,
    running: Option<Running>,
}

struct Running {
    stop: oneshot::Sender<()>,
    kill: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// The variable that limits [`both`] to `sqlite` or `postgres`.
const STORE_VARIABLE: &str = "LYCEUM_TEST_STORE";

/// Runs the body of a test against a server on SQLite and against one on PostgreSQL. `cargo xtask test` runs it on SQLite
/// and `--rest` on PostgreSQL, because most requests end in functions that the tests of their crates call on both. Tests
/// of locks, of repeated transactions and of SQL that differs take [`always_both`].
pub fn both(body: impl Fn(&mut TestServer)) {
    both_as(&Setup::default(), body);
}

/// [`both`], with a setup of its own.
pub fn both_as(setup: &Setup, body: impl Fn(&mut TestServer)) {
    let run = |target: &StoreLocation| body(&mut TestServer::start_as(target, setup.clone()));
    #[expect(clippy::disallowed_methods, reason = "tests are told which stores to use")]
    match std::env::var(STORE_VARIABLE).as_deref() {
        Ok("sqlite") => on_sqlite(&lyceum_api::migrations(), run),
        Ok("postgres") => on_postgres(&lyceum_api::migrations(), run),
        _ => both_stores(&lyceum_api::migrations(), run),
    }
}

/// Runs the body of a test against a server on SQLite and against one on PostgreSQL, in `cargo xtask test` too.
pub fn always_both(body: impl Fn(&mut TestServer)) {
    both_stores(&lyceum_api::migrations(), |target| body(&mut TestServer::start(target)));
}

impl TestServer {
    /// Starts a server on the database.
    pub fn start(target: &StoreLocation) -> Self {
        Self::start_as(target, Setup::default())
    }

    /// Starts a server of the setup on the database.
    pub fn start_as(target: &StoreLocation, mut setup: Setup) -> Self {
        let new_folder = || Arc::new(tempfile::tempdir().expect("a folder can be made"));
        setup.config.store.data = setup.folder.get_or_insert_with(new_folder).path().into();
        if let StoreLocation::Postgres(address) = target {
            setup.config.store.database = Some(Secret::new(address.as_str()));
        }
        let mut server = Self { target: target.clone(), setup, db: open(target), running: None };
        server.run();
        server
    }

    /// Starts a second server on the same database, as behind a load balancer: the same keys and
    /// public address, another port.
    #[must_use]
    pub fn twin(&self) -> Self {
        let mut setup = self.setup.clone();
        setup.listen_anew();
        Self::start_as(&self.target, setup)
    }

    /// Stops the server, unless it is stopped, and starts it again on the same data and address.
    pub fn restart(&mut self) {
        if self.running.is_some() {
            self.stop();
        }
        self.db = open(&self.target);
        self.run();
    }

    /// Tells the server to stop, as SIGTERM does, and waits until it has.
    pub fn stop(&mut self) {
        self.stopping().join().expect("the server does not panic");
    }

    /// Tells the server to stop and does not wait for it.
    pub fn stopping(&mut self) -> JoinHandle<()> {
        let Running { stop, kill, thread } = self.running.take().expect("it runs");
        let _ = stop.send(());
        std::thread::spawn(move || {
            let ended = thread.join();
            drop(kill);
            ended.expect("the server does not panic");
        })
    }

    /// The address of the server, as `http://127.0.0.1:4321`.
    pub fn address(&self) -> String {
        let scheme = if self.setup.config.tls.certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.setup.config.server.listen)
    }

    /// The server's database, for what has no route.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// Where its data is.
    pub fn target(&self) -> &StoreLocation {
        &self.target
    }

    /// Its settings.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// A client without a token.
    pub fn anonymous(&self) -> TestClient {
        TestClient::new(self.address())
    }

    /// A client that may do everything, in the platform dialect.
    pub fn client(&self) -> TestClient {
        self.client_with(&[], PayloadDialect::Platform)
    }

    /// A client with a token of the scopes; of all scopes if the list is empty.
    pub fn client_with(&self, scopes: &[Scope], dialect: PayloadDialect) -> TestClient {
        self.anonymous().with_token(self.token(scopes, dialect))
    }

    /// A token of a new client with the scopes; with all scopes if the list is empty.
    pub fn token(&self, scopes: &[Scope], dialect: PayloadDialect) -> String {
        let scopes = scopes.iter().copied().collect();
        let (id, secret) =
            self.register(&NewClient { scopes, dialect, ..NewClient::named("test") });
        self.token_of(&id, &secret)
    }

    /// The token that the server gives for an id and secret.
    pub fn token_of(&self, id: &str, secret: &str) -> String {
        let form =
            [("grant_type", "client_credentials"), ("client_id", id), ("client_secret", secret)];
        let answer: Value = self.anonymous().post("/oauth2/token").form(&form).expect(200).json();
        answer["access_token"].as_str().expect("a token").to_owned()
    }

    /// Registers a client and answers its id and secret.
    pub fn register(&self, new: &NewClient) -> (String, String) {
        let now = self.setup.clock.now();
        let created = self.db.write_blocking(|tx| client::create(tx, now, new));
        let (client, secret) = created.expect("a client can be made");
        (client.id, secret)
    }

    fn run(&mut self) {
        let Setup { config, master, clock, areas, sandbox, .. } = self.setup.clone();
        let realm = Realm::new(config.server.env, &config.public_url());
        let (db, now) = (self.db.clone(), clock.now());
        let keyring = db.write_blocking(|tx| Keyring::open(tx, now, &realm, &master));
        let keyring = keyring.expect("keys can be made");
        let (stop, stopped) = oneshot::channel();
        let (kill, killed) = oneshot::channel::<()>();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .expect("a runtime can be made");
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind(&config.server.listen).await;
                let listener = listener.expect("the port is free");
                let server = Server::new(listener, config, db, keyring, clock).await;
                let server = server.expect("the server can be put together").also(areas());
                let server = match sandbox {
                    Some((demo, learns)) => {
                        let learning = if learns { Learning::Here } else { Learning::Nowhere };
                        server.as_sandbox(demo, true, learning)
                    }
                    None => server,
                };
                let _ = ready.send(());
                let stopped = async {
                    if stopped.await.is_err() {
                        std::future::pending::<()>().await;
                    }
                };
                tokio::select! {
                    () = server.run(stopped) => {}
                    _ = killed => {}
                }
            });
            runtime.shutdown_timeout(Duration::from_secs(1));
        });
        is_ready.recv_timeout(Duration::from_secs(30)).expect("the server starts");
        self.running = Some(Running { stop, kill, thread });
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(Running { stop, kill, thread }) = self.running.take() {
            drop((stop, kill));
            let _ = thread.join();
        }
    }
}

fn open(target: &StoreLocation) -> Db {
    Db::open(target, &lyceum_api::migrations()).expect("the database opens")
}
