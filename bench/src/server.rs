//! A running server of either side: where it listens and what a request to it carries.

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::load::{Load, Sample, Target};
use crate::process::{Cores, Process, wait_for_200};

/// The core of servers, so that load and server never share one.
pub(crate) const SERVER_CORE: Cores = "1";
/// The core of the load.
pub(crate) const LOAD_CORE: Cores = "0";

/// Every core, for servers that are not compared with the anchor.
pub(crate) const BOTH_CORES: Cores = "0,1";

/// A server that answers.
pub(crate) struct Server {
    /// Its process.
    pub(crate) process: Process,
    /// Host and port.
    pub(crate) address: String,
    /// Host and port of its metrics, if it is Lyceum.
    pub(crate) metrics: Option<String>,
    /// Header lines that every request carries.
    pub(crate) headers: Vec<String>,
    /// Time from exec to the first 200.
    pub(crate) started: Duration,
    /// The cores of its load.
    pub(crate) load_cores: Cores,
}

impl Server {
    /// Waits for a process that was started at `start` to answer `path` with 200.
    pub(crate) fn wait(
        mut process: Process,
        address: String,
        path: &str,
        start: Instant,
    ) -> Result<Self> {
        let started = wait_for_200(&mut process, &address, path, start)?;
        let headers = Vec::new();
        Ok(Self { process, address, metrics: None, headers, started, load_cores: LOAD_CORE })
    }

    /// Starts the anchor, which is this program itself, on a database that was filled before,
    /// with a worker a core.
    pub(crate) fn anchor(database: &Path, cores: Cores) -> Result<Self> {
        let address = free_address()?;
        let start = Instant::now();
        let process = Process::start(cores, std::env::current_exe()?, |command| {
            let workers = cores.split(',').count().to_string();
            command.args(["anchor", "--listen", &address, "--workers", &workers, "--database"]);
            command.arg(database);
        })?;
        Self::wait(process, address, "/hello", start)
    }

    /// Loads this server from one core with `connections` clients.
    pub(crate) fn load(&self, target: Target, connections: u32, time: Duration) -> Result<Sample> {
        let load = Load {
            target,
            headers: self.headers.clone(),
            connections,
            time,
            cores: self.load_cores,
        };
        load.run(&self.process, &self.address)
    }

    /// The bearer token that requests carry.
    pub(crate) fn token(&self) -> Result<&str> {
        let mut lines = self.headers.iter();
        let token = lines.find_map(|line| line.strip_prefix("Authorization: Bearer "));
        token.context("this server was started without a client")
    }

    /// The metrics of this server, as text. Errors: it is not Lyceum, or it does not answer.
    pub(crate) fn metrics(&self) -> Result<String> {
        let address = self.metrics.as_deref().context("only Lyceum has metrics")?;
        let mut answer = ureq::get(format!("http://{address}/metrics")).call()?;
        Ok(answer.body_mut().read_to_string()?)
    }

    /// The body of one GET. Errors: not 2xx.
    pub(crate) fn get(&self, path: &str) -> Result<String> {
        let mut request = ureq::get(format!("http://{}{path}", self.address));
        for line in &self.headers {
            let (name, value) = line.split_once(": ").context("a header line holds ': '")?;
            request = request.header(name, value);
        }
        let mut answer = request.call().with_context(|| format!("GET {path}"))?;
        Ok(answer.body_mut().read_to_string()?)
    }
}

/// A loopback address that nothing listens on.
pub(crate) fn free_address() -> Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}
