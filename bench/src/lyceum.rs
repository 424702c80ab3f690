//! Lyceum itself: its release binary, driven from outside as people drive it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::process::{Cores, Process};
use crate::server::{SERVER_CORE, Server, free_address};

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

/// The output of `lyceum client create --json`.
#[derive(Deserialize)]
struct Client {
    id: String,
    secret: String,
}

/// The answer of the token endpoint.
#[derive(Deserialize)]
struct Token {
    access_token: String,
}

/// The cost of an import or an export.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Wall time.
    pub(crate) time: Duration,
    /// Greatest anonymous memory, MiB.
    pub(crate) peak_mib: f64,
}

impl LyceumProgram {
    /// The SQLite file.
    pub(crate) fn file(&self) -> PathBuf {
        self.data.join("lyceum.db")
    }

    /// Serves on `cores` with a token on every request.
    pub(crate) fn serve(&self, cores: Cores) -> Result<Server> {
        self.serve_limited(cores, None)
    }

    /// Serves on `cores` with a token on every request, whose client is limited to the organization.
    pub(crate) fn serve_limited(&self, cores: Cores, organization: Option<&str>) -> Result<Server> {
        let credentials = self.create_limited_client(organization)?;
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

    /// A new client; answers `id:secret`.
    pub(crate) fn create_client(&self) -> Result<Credentials> {
        self.create_limited_client(None)
    }

    /// A new client that is limited to the organization.
    fn create_limited_client(&self, organization: Option<&str>) -> Result<Credentials> {
        let name = format!("bench-{:x}", fastrand::u64(..));
        let mut command = Command::new(&self.program);
        command.args(["client", "create", &name, "--json"]);
        if let Some(organization) = organization {
            command.args(["--organization", organization]);
        }
        self.place(&mut command);
        let output = command.output().context("cannot start 'lyceum client create'")?;
        ensure!(
            output.status.success(),
            "'lyceum client create' failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let client: Client = serde_json::from_slice(&output.stdout)
            .context("'lyceum client create --json' prints id and secret")?;
        Ok(Credentials { id: client.id, secret: client.secret })
    }

    /// Imports CSV files: a folder or a zip.
    pub(crate) fn import(&self, files: &Path) -> Result<Run> {
        self.run(|command| {
            command.arg("import").arg(files);
        })
    }

    /// Creates an account with this password, limited to the classes of a teacher if one is given.
    pub(crate) fn create_account(
        &self,
        email: &str,
        role: &str,
        password: &str,
        teacher: Option<&str>,
    ) -> Result<()> {
        let create = ["admin", "user", "create", email, "--role", role, "--password-stdin"];
        self.command(&create, password)?;
        match teacher {
            Some(teacher) => {
                self.command(&["admin", "user", "limit", email, "--teacher", teacher], "")
            }
            None => Ok(()),
        }
    }

    /// Runs a short command of the binary with that standard input.
    fn command(&self, words: &[&str], input: &str) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.args(words).arg("--quiet").stdin(Stdio::piped()).stdout(Stdio::null());
        self.place(&mut command);
        let mut child = command.spawn().context("cannot start 'lyceum'")?;
        child.stdin.take().context("the input is piped")?.write_all(input.as_bytes())?;
        ensure!(child.wait()?.success(), "'lyceum {}' failed", words.join(" "));
        Ok(())
    }

    /// Writes a demo network of so many students, as a zip of CSV files.
    pub(crate) fn generate_network(&self, students: u64, file: &Path) -> Result<()> {
        let students = students.to_string();
        let status = Command::new(&self.program)
            .args(["demo", "generate", "--complete", "--quiet", "--students", &students, "--out"])
            .arg(file)
            .stdout(Stdio::null())
            .status()
            .context("cannot start 'lyceum demo generate'")?;
        ensure!(status.success(), "'lyceum demo generate' ended with {status}");
        Ok(())
    }

    /// Imports a `CFPackage`.
    pub(crate) fn import_standards(&self, file: &Path) -> Result<Run> {
        self.run(|command| {
            command.args(["standards", "import"]).arg(file);
        })
    }

    /// Exports everything into a zip.
    pub(crate) fn export(&self, file: &Path) -> Result<Run> {
        self.run(|command| {
            command.args(["export", "--complete"]).arg(file);
        })
    }

    /// Runs a command of the binary to its end on the server's core.
    fn run(&self, prepare: impl FnOnce(&mut Command)) -> Result<Run> {
        let start = Instant::now();
        let process = Process::start(SERVER_CORE, &self.program, |command| {
            prepare(command);
            self.place(command);
            command.arg("--quiet");
        })?;
        let peak_mib = process.wait_for_peak()?;
        Ok(Run { time: start.elapsed(), peak_mib })
    }

    /// Adds the arguments that name the data.
    fn place(&self, command: &mut Command) {
        command.arg("--data").arg(&self.data);
        if let Some(database) = &self.database {
            command.args(["--database", database]);
        }
    }
}

/// A client's id and secret.
pub(crate) struct Credentials {
    pub(crate) id: String,
    pub(crate) secret: String,
}

impl Credentials {
    /// The body of a token request (RFC 6749, 4.4 and 2.3.1).
    pub(crate) fn form(&self) -> String {
        let Self { id, secret } = self;
        format!("grant_type=client_credentials&client_id={id}&client_secret={secret}")
    }
}

/// Exchanges credentials for an access token.
fn fetch_token(address: &str, credentials: &Credentials) -> Result<String> {
    let text = ureq::post(format!("http://{address}/oauth2/token"))
        .header("Content-Type", "application/x-www-form-urlencoded")
        .send(credentials.form())
        .context("the token endpoint refused the client")?
        .body_mut()
        .read_to_string()?;
    Ok(serde_json::from_str::<Token>(&text)?.access_token)
}
