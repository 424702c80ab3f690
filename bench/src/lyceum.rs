//! Lyceum itself: its release binary, driven from outside as people drive it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::process::{Cores, Process};
use crate::server::{BOTH_CORES, SERVER_CORE, Server, free_address};

/// The base path of the rostering service.
pub(crate) const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";

/// The release binary with a data folder and, for PostgreSQL, a database.
#[derive(Clone, Debug)]
pub(crate) struct LyceumProgram {
    /// The binary.
    pub(crate) program: PathBuf,
    /// The folder that `--data` names.
    pub(crate) data: PathBuf,
    /// The database that `--database` names; `None` for SQLite.
    pub(crate) database: Option<String>,
}

/// The answer of the token endpoint.
#[derive(Deserialize)]
struct Token {
    access_token: String,
}

impl LyceumProgram {
    /// The SQLite file.
    pub(crate) fn file(&self) -> PathBuf {
        self.data.join("lyceum.db")
    }

    /// Serves on `cores` with a token on every request.
    pub(crate) fn serve(&self, cores: Cores) -> Result<Server> {
        let credentials = self.create_client()?;
        let mut server = self.serve_bare(cores)?;
        let token = fetch_token(&server.address, &credentials)?;
        server.headers = vec![format!("Authorization: Bearer {token}")];
        Ok(server)
    }

    /// Serves without a client or a token; for start times.
    pub(crate) fn serve_bare(&self, cores: Cores) -> Result<Server> {
        let (address, metrics) = (free_address()?, free_address()?);
        let start = Instant::now();
        let process = Process::start(cores, &self.program, |command| {
            command
                .args(["serve", "--quiet", "--listen", &address])
                .env("LYCEUM_METRICS__ADDRESS", &metrics)
                .env("LYCEUM_LIMITS__REQUESTS_PER_SECOND", "0")
                .env("LYCEUM_SERVER__LOG_LEVEL", "warn");
            self.place(command);
        })?;
        let server = Server::wait(process, address, "/health", start)?;
        Ok(Server { metrics: Some(metrics), ..server })
    }

    /// A sandbox in memory, as a newcomer starts it in `folder`; it answers once it has the demo user.
    pub(crate) fn sandbox(&self, folder: &Path) -> Result<Server> {
        let address = free_address()?;
        let (_, port) = address.rsplit_once(':').context("an address has a port")?;
        let start = Instant::now();
        let process = Process::start(BOTH_CORES, &self.program, |command| {
            command.args(["sandbox", "--memory", "--quiet", "--port", port]).current_dir(folder);
        })?;
        Server::wait(process, address.clone(), &format!("{ROSTERING}/users/demo-user"), start)
    }

    /// A new client.
    pub(crate) fn create_client(&self) -> Result<Credentials> {
        let name = format!("bench-{:x}", fastrand::u64(..));
        let mut command = Command::new(&self.program);
        command.args(["client", "create", &name, "--json"]);
        self.place(&mut command);
        let output = command.output().context("cannot start 'lyceum client create'")?;
        ensure!(
            output.status.success(),
            "'lyceum client create' failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout)
            .context("'lyceum client create --json' prints id and secret")
    }

    /// Imports CSV files on the server's core: a folder or a zip. Returns how long it took.
    pub(crate) fn import(&self, files: &Path) -> Result<Duration> {
        let start = Instant::now();
        let mut process = Process::start(SERVER_CORE, &self.program, |command| {
            command.arg("import").arg(files);
            self.place(command);
            command.arg("--quiet");
        })?;
        process.wait()?;
        Ok(start.elapsed())
    }

    /// Adds the arguments that name the data.
    fn place(&self, command: &mut Command) {
        command.arg("--data").arg(&self.data);
        if let Some(database) = &self.database {
            command.args(["--database", database]);
        }
    }
}

/// A client's id and secret, as `lyceum client create --json` prints them.
#[derive(Deserialize)]
pub(crate) struct Credentials {
    pub(crate) id: String,
    pub(crate) secret: String,
}

/// Exchanges credentials for an access token.
pub(crate) fn fetch_token(address: &str, credentials: &Credentials) -> Result<String> {
    let Credentials { id, secret } = credentials;
    let text = ureq::post(format!("http://{address}/oauth2/token"))
        .header("Content-Type", "application/x-www-form-urlencoded")
        .send(format!("grant_type=client_credentials&client_id={id}&client_secret={secret}"))
        .context("the token endpoint refused the client")?
        .body_mut()
        .read_to_string()?;
    Ok(serde_json::from_str::<Token>(&text)?.access_token)
}
