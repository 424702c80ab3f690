//! A run of `wrk` against one server.

use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::process::{Cores, Process};

/// The script that `wrk` runs.
const SCRIPT: &str = include_str!("../load.lua");

/// The requests of a load.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// The same request every time.
    Fixed(String),
    /// A path with a verb such as `%08d` that takes a uniform number below the second field.
    Numbered(String, u64),
    /// The lines of a file, each as likely as the others.
    Listed(PathBuf),
    /// A POST of a body with verbs such as `{id}`; `{number}` is below the third field.
    Post(String, String, u64),
}

impl Target {
    /// Where the requests go.
    fn place(&self) -> Cow<'_, str> {
        match self {
            Self::Fixed(path) | Self::Numbered(path, _) | Self::Post(path, ..) => path.into(),
            Self::Listed(file) => file.to_string_lossy(),
        }
    }
}

/// A request, where it goes and how many clients repeat it.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// The requests that are sent.
    pub(crate) target: Target,
    /// Header lines, `Name: value`.
    pub(crate) headers: Vec<String>,
    /// Connections that each keep one request in flight.
    pub(crate) connections: u32,
    /// How long.
    pub(crate) time: Duration,
    /// Where `wrk` runs.
    pub(crate) cores: Cores,
}

/// The measurements of one run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Sample {
    /// Answers a second.
    pub(crate) requests_per_second: f64,
    /// Milliseconds of the median answer.
    pub(crate) p50_ms: f64,
    /// Milliseconds that 99 of 100 answers keep.
    pub(crate) p99_ms: f64,
    /// Server CPU, user and system, an answer.
    pub(crate) cpu_us: f64,
    /// Share of the run's wall time that the server computed; well below 1 on one core means that
    /// the load generator or the disk was the limit.
    pub(crate) busy: f64,
    /// Bytes an answer, head and body.
    pub(crate) answer_bytes: f64,
    /// Anonymous memory of the server afterwards.
    pub(crate) anonymous_mib: f64,
}

/// The line that the script prints.
#[derive(Deserialize)]
struct Line {
    requests: f64,
    bytes: f64,
    seconds: f64,
    p50_ms: f64,
    p99_ms: f64,
    refused: u64,
    broken: u64,
}

impl Load {
    /// Runs the load. Errors: `wrk` is missing, or any answer was not 2xx or was lost.
    pub(crate) fn run(&self, server: &Process, address: &str) -> Result<Sample> {
        let script = script()?;
        let cpu_before = server.cpu_us()?;
        let output = self
            .command(&script, address)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .context("cannot start 'wrk'; install it with 'apt-get install wrk'")?;
        let cpu = server.cpu_us()? - cpu_before;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find(|line| line.starts_with('{'));
        let Some(line) = line else {
            bail!("'wrk' measured nothing: {text}{}", String::from_utf8_lossy(&output.stderr));
        };
        let line: Line = serde_json::from_str(line)?;
        ensure!(
            line.refused + line.broken == 0 && line.requests > 0.0,
            "of {} requests to {} {} were not answered 2xx and {} broke off",
            line.requests,
            self.target.place(),
            line.refused,
            line.broken
        );
        Ok(Sample {
            requests_per_second: line.requests / line.seconds,
            p50_ms: line.p50_ms,
            p99_ms: line.p99_ms,
            cpu_us: cpu / line.requests,
            busy: cpu / (line.seconds * 1e6),
            answer_bytes: line.bytes / line.requests,
            anonymous_mib: server.anonymous_mib()?,
        })
    }

    fn command(&self, script: &NamedTempFile, address: &str) -> Command {
        let mut command = Command::new("taskset");
        command
            .args(["-c", self.cores, "wrk", "-t1", "--timeout", "30s"])
            .arg(format!("-c{}", self.connections))
            .arg(format!("-d{}s", self.time.as_secs().max(1)))
            .arg("-s")
            .arg(script.path())
            .arg(format!("http://{address}"))
            .env("LOAD_HEADERS", self.headers.join("\n"))
            .env("LOAD_SEED", fastrand::u32(1..).to_string());
        match &self.target {
            Target::Fixed(path) => command.env("LOAD_PATH", path),
            Target::Numbered(path, numbers) => {
                command.env("LOAD_PATH", path).env("LOAD_NUMBERS", numbers.to_string())
            }
            Target::Listed(file) => command.env("LOAD_TARGETS", file),
            Target::Post(path, body, numbers) => command
                .env("LOAD_PATH", path)
                .env("LOAD_BODY", body)
                .env("LOAD_NUMBERS", numbers.to_string()),
        };
        command
    }
}

/// The script as a file, which is the only way that `wrk` takes it.
fn script() -> Result<NamedTempFile> {
    let mut file = NamedTempFile::with_suffix(".lua")?;
    file.write_all(SCRIPT.as_bytes())?;
    Ok(file)
}
