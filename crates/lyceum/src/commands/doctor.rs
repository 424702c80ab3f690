//! `lyceum doctor`

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use clap::Args;
use jiff::tz::TimeZone;
use lyceum_core::config::Config;
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_sandbox::ports::{self, Holder};
use lyceum_store::{Inspection, Target, inspect};
use rustix::fs::{Access, StatVfs};
use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::printer::{Printer, table};
use crate::project::workerd;
use crate::settings::{self, DataArgs, flag};

#[derive(Args)]
pub(crate) struct Doctor {
    /// Address that the server would listen on [default: 127.0.0.1:4321]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

/// No copy of this program is older.
const MADE: &str = "2026-11-01T00:00:00Z";
/// What two clocks may differ by: tokens and events of one server are read by another.
const CLOCK_TOLERANCE_MS: u64 = 2_000;
/// A day of a large network fits.
const DISK_WARNING_BYTES: u64 = 1 << 30;
/// SQLite's log alone may take as much.
const DISK_NEEDED_BYTES: u64 = 100 << 20;
/// The oldest PostgreSQL that its makers still mend.
const POSTGRES_OLDEST: u32 = 14;
/// Offsets from UTC, in hours, that changed lately: `(zone, at, hours)`. Old data has others.
const LATE_CHANGES: &[(&str, &str, i32)] =
    &[("Asia/Almaty", "2024-07-01T00:00:00Z", 5), ("America/Asuncion", "2025-07-01T00:00:00Z", -3)];

/// How well something is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Well,
    Warning,
    Failed,
}

/// One thing that was looked at.
struct Finding {
    check: &'static str,
    state: State,
    found: String,
    /// What to do about it; empty where all is well.
    mend: String,
}

impl Finding {
    fn well(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, state: State::Well, found: found.into(), mend: String::new() }
    }

    fn ill(
        check: &'static str,
        state: State,
        found: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self { check, state, found: found.into(), mend: mend.into() }
    }

    fn state(&self) -> &'static str {
        match self.state {
            State::Well => "ok",
            State::Warning => "warning",
            State::Failed => "failed",
        }
    }

    fn json(&self) -> Value {
        let mend = (self.state != State::Well).then_some(&self.mend);
        json!({ "check": self.check, "state": self.state(), "found": self.found, "mend": mend })
    }
}

impl Doctor {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let flags: Vec<_> = flag("--listen", "server.listen", self.listen).into_iter().collect();
        let config = self.data.load(&flags)?.config;
        let target = settings::target(&config);
        let database = match &target {
            Target::Sqlite(file) if !file.exists() => None,
            target => Some(inspect(target)),
        };
        let now = SystemClock.now();
        let findings = [
            clock(now, database.as_ref().and_then(|found| found.as_ref().ok()?.clock)),
            disk(&config.store.data),
            port(&config),
            schema(&target, database),
            zones(),
            runtime(),
        ];
        tell(printer, &findings);
        let failed = findings.iter().filter(|finding| finding.state == State::Failed).count();
        if failed > 0 {
            let checks = if failed == 1 { "check" } else { "checks" };
            return Err(Failure::failed(format!("{failed} {checks} failed"))
                .hint("mend what stands above and run `lyceum doctor` again"));
        }
        Ok(())
    }
}

fn tell(printer: &Printer, findings: &[Finding]) {
    printer.answer(
        || {
            let row = |finding: &Finding| {
                let mend = if finding.mend.is_empty() { "" } else { "; " };
                let found = format!("{}{mend}{}", finding.found, finding.mend);
                vec![finding.check.to_owned(), finding.state().to_owned(), found]
            };
            table(&["check", "state", "found"], &findings.iter().map(row).collect::<Vec<_>>())
        },
        || findings.iter().map(Finding::json).collect(),
    );
}

/// Tokens, events and signatures carry the time.
fn clock(now: Timestamp, database: Option<Timestamp>) -> Finding {
    let made: Timestamp = MADE.parse().expect("a constant");
    let mend = "set it, such as with `timedatectl set-ntp true`";
    if now < made {
        let found = format!("the clock says {now}, before this program was made");
        return Finding::ill("clock", State::Failed, found, mend);
    }
    match database {
        Some(other) if other.milliseconds().abs_diff(now.milliseconds()) > CLOCK_TOLERANCE_MS => {
            let found = format!("the clock says {now}, that of the database's server {other}");
            Finding::ill("clock", State::Warning, found, mend)
        }
        _ => Finding::well("clock", now.to_string()),
    }
}

/// Room and right to write where the data is, or will be.
fn disk(folder: &Path) -> Finding {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let there = absolute.ancestors().find(|one| one.exists()).unwrap_or(Path::new("/"));
    let shown = there.display();
    if !there.is_dir() {
        let found = format!("'{shown}' is a file, and the data needs a folder");
        return Finding::ill("disk", State::Failed, found, "choose another --data");
    }
    if rustix::fs::access(there, Access::WRITE_OK).is_err() {
        let found = format!("'{shown}' cannot be written to");
        return Finding::ill("disk", State::Failed, found, "change its owner, or choose --data");
    }
    let free = |disk: StatVfs| disk.f_bavail.saturating_mul(disk.f_frsize);
    let Ok(free) = rustix::fs::statvfs(there).map(free) else {
        let found = format!("'{shown}' does not say how much room it has");
        return Finding::ill("disk", State::Warning, found, "look at it with `df`");
    };
    let found = format!("{:.1} GiB free in '{shown}'", gibibytes(free));
    match free {
        0..DISK_NEEDED_BYTES => {
            Finding::ill("disk", State::Failed, found, "make room, or choose another --data")
        }
        DISK_NEEDED_BYTES..DISK_WARNING_BYTES => {
            Finding::ill("disk", State::Warning, found, "make room soon")
        }
        _ => Finding::well("disk", found),
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

/// Whether the server could listen.
fn port(config: &Config) -> Finding {
    let address = &config.server.listen;
    match TcpListener::bind(address) {
        Ok(_) => Finding::well("port", format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse && is_server(&config.public_url()) => {
            Finding::well("port", format!("a server answers at {address}"))
        }
        Err(error) => {
            let port = address.rsplit(':').next().and_then(|port| port.parse().ok());
            let found = match port.and_then(ports::holder) {
                Some(Holder { program, pid }) => {
                    format!("{address} is held by {program} (process {pid})")
                }
                None => format!("{address} cannot be listened on: {error}"),
            };
            Finding::ill("port", State::Failed, found, "choose another with --listen HOST:PORT")
        }
    }
}

/// Whether something like this program answers there.
fn is_server(url: &str) -> bool {
    let wait = std::time::Duration::from_secs(1);
    let agent: ureq::Agent =
        ureq::Agent::config_builder().timeout_global(Some(wait)).build().into();
    let answer = agent.get(format!("{url}/health")).call();
    let body = answer.ok().and_then(|mut answer| answer.body_mut().read_to_string().ok());
    let body: Option<Value> = body.and_then(|body| serde_json::from_str(&body).ok());
    body.is_some_and(|body| body["status"] == "ok")
}

/// Whether the database fits this program.
fn schema(target: &Target, database: Option<lyceum_core::Result<Inspection>>) -> Finding {
    let (store, oldest) = match target {
        Target::Sqlite(_) => ("SQLite", 0),
        Target::Postgres(_) => ("PostgreSQL", POSTGRES_OLDEST),
    };
    let found = match database {
        None => return Finding::well("database", "none yet; the first start makes it"),
        Some(Ok(found)) => found,
        Some(Err(problem)) => {
            let mend = "check the address, and that its server runs";
            return Finding::ill("database", State::Failed, Failure::from(problem).message, mend);
        }
    };
    let known = lyceum_server::migrations().iter().map(|one| one.version).max().unwrap_or(0);
    let (major, minor) = found.engine;
    let engine = format!("{store} {major}.{minor}");
    let Some(version) = found.schema else {
        return Finding::well("database", format!("{engine}, empty; the first start fills it"));
    };
    let text = format!("{engine}, schema {version}");
    if major < oldest {
        let mend = format!("use {store} {oldest} or newer");
        return Finding::ill("database", State::Failed, text, mend);
    }
    if version > known {
        let text = format!("{text}, this program knows {known}");
        let mend = "use a newer lyceum, or a backup from before the upgrade";
        return Finding::ill("database", State::Failed, text, mend);
    }
    if version < known {
        return Finding::well("database", format!("{text}; the next start brings it to {known}"));
    }
    Finding::well("database", text)
}

/// What runs the backends of projects; a server without any needs none.
fn runtime() -> Finding {
    let mend = "`npm install --save-dev workerd`, or name the program in LYCEUM_WORKERD";
    let Some(program) = workerd(Path::new(".")) else {
        let found = "there is no workerd, which runs backends of projects";
        return Finding::ill("runtime", State::Warning, found, mend);
    };
    let shown = program.display();
    match Command::new(&program).arg("--version").output() {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout);
            Finding::well("runtime", format!("{} at '{shown}'", version.trim()))
        }
        Ok(output) => {
            let found = format!("'{shown}' does not run: {}", output.status);
            Finding::ill("runtime", State::Failed, found, mend)
        }
        Err(error) => {
            let found = format!("'{shown}' does not run: {error}");
            Finding::ill("runtime", State::Failed, found, mend)
        }
    }
}

/// Whether days and weeks are those of today's laws.
fn zones() -> Finding {
    let mend = "update the system's package tzdata";
    for (name, at, hours) in LATE_CHANGES {
        let at: jiff::Timestamp = at.parse().expect("a constant");
        let offset = TimeZone::get(name).map(|zone| zone.to_offset(at).seconds() / 3_600);
        if offset.ok() != Some(*hours) {
            let found = format!("the time-zone data does not know that of {name} at {at}");
            return Finding::ill("time zones", State::Failed, found, mend);
        }
    }
    Finding::well("time zones", "newer than 2024")
}
