//! `lyceum doctor`

mod backup;
mod installations;
mod read_replica;
mod replica;

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use clap::Args;
use jiff::tz::TimeZone;
use lyceum_core::ProblemKind;
use lyceum_core::config::{Config, S3Settings};
use lyceum_core::messages::io_reason;
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_hosting::nodes::report::{self, NodeState, NodeStatus};
use lyceum_hosting::nodes::{Node, NodeSettings};
use lyceum_hosting::takeover;
use lyceum_sandbox::ports::{self, PortHolder};
use lyceum_store::{Inspection, StoreLocation, inspect};
use rustix::fs::{Access, StatVfs};
use serde_json::{Value, json};
use ureq::tls::TlsConfig;

use crate::failure::{Failure, Result};
use crate::printer::{Printer, table};
use crate::project::{INSTALL_WORKERD, NO_WORKERD, workerd};
use crate::settings::{self, DataArgs, Missing, flag};

#[derive(Args)]
pub(crate) struct Doctor {
    /// Address that the server will listen on [default: 127.0.0.1:4321]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

/// Release date of the first version: a clock before it is wrong.
const FIRST_RELEASE: &str = "2026-11-01T00:00:00Z";
/// The time by which two clocks may differ: servers read each other's tokens and events.
const CLOCK_TOLERANCE_MS: u64 = 2_000;
/// Room for one day of a large network.
const DISK_WARNING_BYTES: u64 = 1 << 30;
/// SQLite's write-ahead log alone can need this much.
const DISK_NEEDED_BYTES: u64 = 100 << 20;
/// The oldest PostgreSQL release that still receives fixes.
const POSTGRES_OLDEST: u32 = 14;
/// Recent changes of UTC offsets in hours: `(zone, at, hours)`. Outdated time-zone data has other values.
const LATE_CHANGES: &[(&str, &str, i32)] =
    &[("Asia/Almaty", "2024-07-01T00:00:00Z", 5), ("America/Asuncion", "2025-07-01T00:00:00Z", -3)];

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckState {
    Well,
    Warning,
    Failed,
}

/// A check and its result.
struct Finding {
    check: &'static str,
    state: CheckState,
    found: String,
    /// How to fix the problem; empty if there is none.
    remedy: String,
}

impl Finding {
    fn well(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, state: CheckState::Well, found: found.into(), remedy: String::new() }
    }

    fn ill(
        check: &'static str,
        state: CheckState,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { check, state, found: found.into(), remedy: remedy.into() }
    }

    fn state(&self) -> &'static str {
        match self.state {
            CheckState::Well => "ok",
            CheckState::Warning => "warning",
            CheckState::Failed => "failed",
        }
    }

    fn json(&self) -> Value {
        let remedy = (self.state != CheckState::Well).then_some(&self.remedy);
        json!({ "check": self.check, "state": self.state(), "found": self.found, "remedy": remedy })
    }
}

impl Doctor {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let flags: Vec<_> = flag("--listen", "server.listen", self.listen).into_iter().collect();
        let findings = findings(&self.data.load(&flags)?.config);
        print_findings(printer, &findings);
        let failed = findings.iter().filter(|finding| finding.state == CheckState::Failed).count();
        if failed > 0 {
            let checks = if failed == 1 { "check" } else { "checks" };
            return Err(Failure::failed(format!("{failed} {checks} failed"))
                .hint("fix the problems above and run `lyceum doctor` again"));
        }
        Ok(())
    }
}

/// The results of all checks.
fn findings(config: &Config) -> Vec<Finding> {
    let target = settings::target(config);
    let database = match &target {
        StoreLocation::Sqlite(file) if !file.exists() => None,
        target => Some(inspect(target)),
    };
    let now = SystemClock.now();
    // A database of another release may lack what the nodes report, and looking must not upgrade it.
    let is_current = matches!(&database, Some(Ok(found)) if found.schema == newest_schema());
    let has_nodes = is_current && matches!(target, StoreLocation::Postgres(_));
    let mut findings = vec![
        clock(now, database.as_ref().and_then(|found| found.as_ref().ok()?.clock)),
        disk(&config.store.data),
        port(config),
        schema(&target, database),
        zones(),
        runtime(),
    ];
    if has_nodes {
        findings.push(nodes(config, now));
    }
    if let (Some(primary), Some(replica)) = (&config.store.database, &config.store.read_replica) {
        findings.push(read_replica::check(primary.reveal(), replica.reveal()));
    }
    let bucket = (!config.s3.bucket.is_empty()).then(|| bucket(&config.s3));
    let has_store = bucket.as_ref().is_none_or(|found| found.remedy.is_empty());
    findings.extend(bucket);
    if is_current {
        findings.push(backup::check(config, now));
    }
    if config.has_replicas() && has_store {
        findings.push(replica::check(config, &target, is_current));
        findings.extend(is_current.then(|| installations::check(config)).flatten());
    }
    findings.extend(stale_files(config));
    findings
}

fn print_findings(printer: &Printer, findings: &[Finding]) {
    printer.answer(|| table_of(findings), || findings.iter().map(Finding::json).collect());
}

fn table_of(findings: &[Finding]) -> String {
    let row = |finding: &Finding| {
        let remedy = if finding.remedy.is_empty() { "" } else { "; " };
        let found = format!("{}{remedy}{}", finding.found, finding.remedy);
        vec![finding.check.to_owned(), finding.state().to_owned(), found]
    };
    table(&["check", "state", "found"], &findings.iter().map(row).collect::<Vec<_>>())
}

/// The results of all checks as a table.
pub(super) fn report(config: &Config) -> String {
    table_of(&findings(config))
}

/// Compares the clock with the release date and the database's clock: tokens, events and signatures contain the time.
fn clock(now: Timestamp, database: Option<Timestamp>) -> Finding {
    let first_release: Timestamp = FIRST_RELEASE.parse().expect("a constant");
    let remedy = "set the clock, for example with `timedatectl set-ntp true`";
    if now < first_release {
        let found = format!(
            "the clock is wrong: it shows {now}, which is before this program was released"
        );
        return Finding::ill("clock", CheckState::Failed, found, remedy);
    }
    match database {
        Some(other) if other.milliseconds().abs_diff(now.milliseconds()) > CLOCK_TOLERANCE_MS => {
            let found =
                format!("this clock shows {now}, but the database server's clock shows {other}");
            Finding::ill("clock", CheckState::Warning, found, remedy)
        }
        _ => Finding::well("clock", now.to_string()),
    }
}

/// Checks free space and write access of the data folder, or of the folder that it will be created in.
fn disk(folder: &Path) -> Finding {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let existing = absolute.ancestors().find(|one| one.exists()).unwrap_or(Path::new("/"));
    let shown = existing.display();
    if !existing.is_dir() {
        let found = format!("'{shown}' is a file, but the data needs a folder");
        return Finding::ill(
            "disk",
            CheckState::Failed,
            found,
            "choose another folder with --data",
        );
    }
    if rustix::fs::access(existing, Access::WRITE_OK).is_err() {
        let found = format!("'{shown}' is not writable");
        return Finding::ill(
            "disk",
            CheckState::Failed,
            found,
            "change its owner, or choose another folder with --data",
        );
    }
    let free = |disk: StatVfs| disk.f_bavail.saturating_mul(disk.f_frsize);
    let Ok(free) = rustix::fs::statvfs(existing).map(free) else {
        let found = format!("the free space of '{shown}' is unknown");
        return Finding::ill("disk", CheckState::Warning, found, "check it with `df`");
    };
    let found = format!("{:.1} GiB free in '{shown}'", gibibytes(free));
    match free {
        0..DISK_NEEDED_BYTES => Finding::ill(
            "disk",
            CheckState::Failed,
            found,
            "free some space, or choose another folder with --data",
        ),
        DISK_NEEDED_BYTES..DISK_WARNING_BYTES => {
            Finding::ill("disk", CheckState::Warning, found, "free some space soon")
        }
        _ => Finding::well("disk", found),
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

/// Checks that the server can listen on its address.
fn port(config: &Config) -> Finding {
    let address = &config.server.listen;
    match TcpListener::bind(address) {
        Ok(_) => Finding::well("port", format!("{address} is free")),
        // Only the server may have the right to use a port below 1024.
        Err(error)
            if matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied)
                && is_server(config) =>
        {
            Finding::well("port", format!("a Lyceum server is running at {address}"))
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let found = format!("cannot listen on {address}: {}", io_reason(&error));
            let remedy = "choose a port from 1024 on, or give the server the right to use this one, as the \
                          operators' guide describes below TLS; if the service has this right, start it";
            Finding::ill("port", CheckState::Failed, found, remedy)
        }
        Err(error) => {
            let port = address.rsplit(':').next().and_then(|port| port.parse().ok());
            let found = match port.and_then(ports::holder) {
                Some(PortHolder { program, pid }) => {
                    format!("{address} is used by {program} (process {pid})")
                }
                None => format!("cannot listen on {address}: {}", io_reason(&error)),
            };
            Finding::ill(
                "port",
                CheckState::Failed,
                found,
                "choose another address with --listen HOST:PORT",
            )
        }
    }
}

/// Whether a Lyceum server answers at the address on which these settings listen. Its certificate is for another name.
fn is_server(config: &Config) -> bool {
    let scheme = if config.tls.certificate.is_some() { "https" } else { "http" };
    let wait = std::time::Duration::from_secs(1);
    let tls = TlsConfig::builder().disable_verification(true).build();
    let agent = ureq::Agent::config_builder().timeout_global(Some(wait)).tls_config(tls).build();
    let agent: ureq::Agent = agent.into();
    let answer = agent.get(format!("{scheme}://{}/health", config.server.listen)).call();
    let body = answer.ok().and_then(|mut answer| answer.body_mut().read_to_string().ok());
    let body: Option<Value> = body.and_then(|body| serde_json::from_str(&body).ok());
    body.is_some_and(|body| body["status"] == "ok")
}

/// Checks the version of the database engine and of the schema.
fn schema(target: &StoreLocation, database: Option<lyceum_core::Result<Inspection>>) -> Finding {
    let (store, oldest) = match target {
        StoreLocation::Sqlite(_) => ("SQLite", 0),
        StoreLocation::Postgres(_) => ("PostgreSQL", POSTGRES_OLDEST),
    };
    let found = match database {
        None => return Finding::well("database", "does not exist yet; the first start creates it"),
        Some(Ok(found)) => found,
        Some(Err(problem)) => {
            let remedy = match problem.kind {
                ProblemKind::Conflict => "upgrade the database with that commit",
                _ => "check the database's address, and that its server is running",
            };
            return Finding::ill(
                "database",
                CheckState::Failed,
                Failure::from(problem).message,
                remedy,
            );
        }
    };
    let known = newest_schema().unwrap_or(0);
    let (major, minor) = found.engine;
    let engine = format!("{store} {major}.{minor}");
    let Some(version) = found.schema else {
        return Finding::well(
            "database",
            format!("{engine}, empty; the first start creates the tables"),
        );
    };
    let text = format!("{engine}, schema {version}");
    if major < oldest {
        let remedy = format!("use {store} {oldest} or newer");
        return Finding::ill("database", CheckState::Failed, text, remedy);
    }
    if version > known {
        let text = format!("{text}, but this program supports only up to {known}");
        let remedy = "use a newer lyceum, or restore a backup from before the upgrade";
        return Finding::ill("database", CheckState::Failed, text, remedy);
    }
    if version < known {
        return Finding::well("database", format!("{text}; the next start upgrades it to {known}"));
    }
    Finding::well("database", text)
}

/// The newest migration of this program.
fn newest_schema() -> Option<i32> {
    lyceum_api::migrations().iter().map(|one| one.version).max()
}

/// Checks the servers that share the database, together with the one that these settings would start.
fn nodes(config: &Config, now: Timestamp) -> Finding {
    match read_nodes(config, now) {
        Ok((own, nodes)) => describe_nodes(&own, &nodes),
        Err(failure) => {
            let found =
                format!("the servers that share the database are unknown: {}", failure.message);
            Finding::ill(
                "servers",
                CheckState::Warning,
                found,
                "check the data folder and the database",
            )
        }
    }
}

/// The server of these settings as it would report, and the other servers as they did.
fn read_nodes(config: &Config, now: Timestamp) -> Result<(NodeStatus, Vec<NodeStatus>)> {
    let (server, node) = (&config.server, own_node(config)?);
    let db = settings::open(config, Missing::Refuse)?;
    let mut nodes = db.read_blocking(report::list)?;
    let known = nodes.iter().find(|known| known.id == node.id());
    let projects = known.map_or(0, |known| known.projects);
    nodes.retain(|other| other.id != node.id());
    let own = NodeStatus {
        id: node.id().to_owned(),
        name: node.name().to_owned(),
        address: server.node_address().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        public_url: server.public_url.clone().unwrap_or_default(),
        state: NodeState::Serving,
        started: now,
        seen: now,
        projects,
        master_key: String::new(),
    };
    Ok((own, nodes))
}

/// The node of the data folder.
fn own_node(config: &Config) -> Result<Node> {
    let settings = NodeSettings {
        name: &config.server.node_name,
        address: config.server.node_address(),
        shares_blobs: !config.s3.bucket.is_empty(),
    };
    Ok(Node::read(&config.store.data.join("hosting"), &settings)?)
}

/// Files of projects that other servers have taken from this one.
fn stale_files(config: &Config) -> Option<Finding> {
    let folders = takeover::stale_folders(&own_node(config).ok()?).ok()?;
    let found = format!("other servers have taken projects; old files: {}", folders.join(", "));
    let remedy = "delete these folders in 'hosting/stale' when you no longer need them";
    (!folders.is_empty()).then(|| Finding::ill("old files", CheckState::Warning, found, remedy))
}

fn describe_nodes(own: &NodeStatus, others: &[NodeStatus]) -> Finding {
    let all: Vec<NodeStatus> = others.iter().chain([own]).cloned().collect();
    if let Some(conflict) = report::address_conflict(&all) {
        let remedy = "set it to the same address in the settings of all of them";
        return Finding::ill("servers", CheckState::Failed, conflict, remedy);
    }
    let nodes_that = |is: fn(&NodeStatus) -> bool| -> Vec<&NodeStatus> {
        others.iter().filter(|node| is(node)).collect()
    };
    let name = |nodes: &[&NodeStatus]| {
        let names = nodes.iter().map(|node| format!("{} ({})", node.name, node.version));
        names.collect::<Vec<_>>().join(", ")
    };
    let silent = nodes_that(|node| node.state == NodeState::Silent);
    if !silent.is_empty() {
        let found = format!("no longer reporting: {}", name(&silent));
        let remedy = "start these servers, or find out why they do not reach the database";
        return Finding::ill("servers", CheckState::Warning, found, remedy);
    }
    let live = nodes_that(|node| node.state.is_live());
    if live.iter().any(|node| node.version != own.version) {
        let found = format!("this program is {}, but others run: {}", own.version, name(&live));
        let remedy = "finish the upgrade on all servers";
        return Finding::ill("servers", CheckState::Warning, found, remedy);
    }
    match live.is_empty() {
        true => Finding::well("servers", "no other server uses the database"),
        false => Finding::well("servers", format!("other servers: {}", name(&live))),
    }
}

/// Checks that the server can write to its S3 bucket.
fn bucket(s3: &S3Settings) -> Finding {
    let shown = format!("the S3 bucket '{}'", s3.bucket);
    match lyceum_hosting::try_bucket(s3) {
        Ok(()) => Finding::well("bucket", format!("{shown} can be read and written")),
        Err(problem) => {
            let found = format!("{shown} does not work: {}", Failure::from(problem).message);
            let remedy = "check the settings in [s3], and what the access key is allowed to do";
            Finding::ill("bucket", CheckState::Failed, found, remedy)
        }
    }
}

/// Checks workerd, which runs the backends of projects. A server without backends does not need it.
fn runtime() -> Finding {
    let remedy = INSTALL_WORKERD;
    let Some(program) = workerd(Path::new(".")) else {
        return Finding::ill("runtime", CheckState::Warning, NO_WORKERD, remedy);
    };
    let program = std::path::absolute(&program).unwrap_or(program);
    let shown = program.display();
    // It does not start in a folder that its user cannot read.
    match Command::new(&program).arg("--version").current_dir("/").output() {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout);
            Finding::well("runtime", format!("{} at '{shown}'", version.trim()))
        }
        Ok(output) => {
            let found = format!("'{shown}' does not run: {}", output.status);
            Finding::ill("runtime", CheckState::Failed, found, remedy)
        }
        Err(error) => {
            let found = format!("'{shown}' does not run: {error}");
            Finding::ill("runtime", CheckState::Failed, found, remedy)
        }
    }
}

/// Checks that the time-zone data is current.
fn zones() -> Finding {
    let remedy = "update the system's tzdata package";
    for (name, at, hours) in LATE_CHANGES {
        let at: jiff::Timestamp = at.parse().expect("a constant");
        let offset = TimeZone::get(name).map(|zone| zone.to_offset(at).seconds() / 3_600);
        if offset.ok() != Some(*hours) {
            let found = format!(
                "the time-zone data is outdated: it has the wrong offset for {name} at {at}"
            );
            return Finding::ill("time zones", CheckState::Failed, found, remedy);
        }
    }
    Finding::well("time zones", "newer than 2024")
}
