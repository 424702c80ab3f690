//! `lyceum serve`

use std::path::Path;
use std::sync::Arc;
use std::thread;

use clap::Args;
use lyceum_access::{Keyring, first_administrator, password};
use lyceum_core::config::{Config, LoadedConfig, LogFormat};
use lyceum_core::messages::io_reason;
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_hosting::engine::use_answering_slice;
use lyceum_server::Server;
use lyceum_server::telemetry::Telemetry;
use lyceum_store::Db;
use tokio::net::TcpListener;

use crate::failure::{Code, Failure, Result};
use crate::logs;
use crate::printer::Printer;
use crate::project::{INSTALL_WORKERD, NO_WORKERD, workerd};
use crate::reference;
use crate::settings::{self, DataArgs, Missing, flag};

#[derive(Args)]
pub(crate) struct Serve {
    /// Address to listen on [default: 127.0.0.1:4321]; port 0 chooses a free port
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Public address of the server: the token issuer and the base of every link
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Environment of the server [default: production]
    #[arg(long, value_name = "staging|production")]
    env: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl Serve {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let flags: Vec<_> = [
            flag("--listen", "server.listen", self.listen),
            flag("--public-url", "server.public_url", self.public_url),
            flag("--env", "server.env", self.env),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut loaded = self.data.load(&flags)?;
        let telemetry = Telemetry::start(&loaded.config)?.map(Arc::new);
        logs::start(&loaded, telemetry.as_deref())?;
        let clock = SystemClock;
        let runtime = runtime(loaded.config.server.workers)?;
        let listener = runtime.block_on(listen(&mut loaded.config))?;
        // Opened outside the async runtime, because PostgreSQL's client starts its own.
        let db = settings::open(&loaded.config, Missing::Make)?;
        let keyring = settings::keyring(&db, &loaded, clock.now())?;
        let reached_at = loaded.config.public_url();
        settings::write(&db, move |tx| lyceum_access::note_server_address(tx, &reached_at))?;
        let first = first_administrator(&db, &loaded, &keyring, clock.now())?;
        let shown = loaded.effective().into_iter();
        let shown = shown.map(|(name, value, origin)| (name, value, origin.to_string())).collect();
        let config = loaded.config;
        let greeting = greeting(&config);
        let usage = usage(&config);
        runtime.block_on(async {
            let stop = lyceum_server::stop_signal()?;
            let server = Server::new(listener, config, db, keyring, Arc::new(clock)).await?;
            let server = server.showing(shown).with_commands(reference::markdown);
            let server = server.sending(telemetry.clone());
            if workerd(Path::new(".")).is_none() {
                tracing::warn!("{NO_WORKERD}; {INSTALL_WORKERD}");
            }
            if let Some(greeting) = greeting {
                printer.done(&greeting);
                printer.note(&usage);
                if let Some(first) = first {
                    printer.done(&first);
                }
            }
            server.run(stop).await;
            Ok::<(), Failure>(())
        })?;
        if let Some(telemetry) = telemetry {
            telemetry.end();
        }
        Ok(())
    }
}

pub(super) fn runtime(workers: usize) -> Result<tokio::runtime::Runtime> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(if workers == 0 { cores } else { workers })
        .thread_name("lyceum-worker")
        .on_thread_start(use_answering_slice)
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start threads: {error}")))
}

/// Listens on the address and writes the port into the settings.
async fn listen(config: &mut Config) -> Result<TcpListener> {
    let wanted = &config.server.listen;
    let failed = |error: std::io::Error| {
        Failure::failed(format!("cannot listen on '{wanted}': {}", io_reason(&error)))
            .hint("choose another address with --listen HOST:PORT")
    };
    let listener = TcpListener::bind(wanted).await.map_err(failed)?;
    if let Some(host) = wanted.strip_suffix(":0") {
        let port = listener.local_addr().map_err(failed)?.port();
        config.server.listen = format!("{host}:{port}");
    }
    Ok(listener)
}

/// Creates the administrator named in the settings if the server has none. If the settings name nobody, a
/// person at a terminal is shown a link; a link never goes into a log.
fn first_administrator(
    db: &Db,
    loaded: &LoadedConfig,
    keyring: &Keyring,
    now: Timestamp,
) -> Result<Option<String>> {
    let config = &loaded.config;
    if db.read_blocking(first_administrator::is_made)? {
        return Ok(None);
    }
    let Some(typed) = &config.admin.password else {
        let link = format!(
            "{}/first?link={}",
            config.public_url(),
            first_administrator::link(keyring.master())
        );
        return Ok(Some(format!(
            "this server has no administrator yet; create the first account at {link}"
        )));
    };
    let refused = |problem: lyceum_core::Problem| {
        let message = format!("cannot create the account of 'admin.email': {problem}");
        Failure::new(Code::Usage, message).hint("correct [admin] in the settings")
    };
    password::check(typed.reveal()).map_err(refused)?;
    let (email, hash) = (config.admin.email.clone(), password::hash(typed.reveal()));
    settings::write(db, move |tx| first_administrator::ensure(tx, now, &email, &hash).map(drop))?;
    Ok(None)
}

/// Explains how to use commands with this server, because their default is `staging`.
fn usage(config: &Config) -> String {
    let (url, env) = (config.public_url(), config.server.env.name());
    format!("sign in with `lyceum login --server {url}`, and use other commands with `--env {env}`")
}

/// The line for a person at a terminal. A log of JSON lines does not contain it.
fn greeting(config: &Config) -> Option<String> {
    let store = match &config.store.database {
        Some(_) => "PostgreSQL".to_owned(),
        None => format!("SQLite in '{}'", config.store.data.display()),
    };
    let (url, env) = (config.public_url(), config.server.env.name());
    (config.server.log_format == LogFormat::Text)
        .then(|| format!("Lyceum {} on {url} ({env}, {store})", env!("CARGO_PKG_VERSION")))
}
