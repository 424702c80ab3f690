//! Three servers, `HAProxy`, PostgreSQL with a standby and an S3 service, each on a machine with a network of its own, fail
//! one after the other while clients use them. Afterwards, what is stored is compared with what was acknowledged.
//!
//! The machines are network namespaces, so the test runs its own program again in namespaces that end with it.

mod answers;
mod clock;
mod cluster;
mod faults;
mod history;
mod network;
mod objects;
mod postgres;
mod project;
mod records;
mod report;
mod traffic;

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use lyceum_core::random::RandomStream;
use lyceum_testkit::full_size;
use lyceum_testkit::postgres::owner;

use crate::served::variable;
use crate::simulations;
use cluster::{Cluster, Server};
use faults::Fault;
use history::{Breach, BreachKind, RequestKind};
use report::{FaultTime, Report};
use traffic::Traffic;

/// Says which part of the test this process is.
const STAGE: &str = "LYCEUM_TEST_CHAOS_STAGE";
/// The address of the clients.
const BRIDGE: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// The time in which everything that starts is ready.
const PATIENCE: Duration = Duration::from_mins(1);
/// The project with a backend.
const RIVERS: &str = "word-rivers";
const STREAMS: usize = 2;

#[test]
#[ignore = "rest"]
fn nothing_acknowledged_is_lost_or_doubled_while_parts_of_a_cluster_fail() {
    match variable(STAGE).as_deref() {
        Some("objects") => objects::serve(),
        Some(_) => run(),
        None if owner().is_none() => println!("left out: only root may make networks and mounts"),
        None => run_in_namespaces(),
    }
}

/// This test's program again. The command for the program comes from the argument.
fn again(command: impl FnOnce(&Path) -> Command) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut command = command(&program);
    let test = "chaos::nothing_acknowledged_is_lost_or_doubled_while_parts_of_a_cluster_fail";
    command.args([test, "--exact", "--nocapture"]);
    command
}

fn run_in_namespaces() {
    let mut command = again(|program| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
        unshare.arg(program);
        unshare
    });
    let status = command.env(STAGE, "cluster").status().unwrap();
    assert!(status.success(), "the output above says what was lost, doubled or not recovered");
}

fn run() {
    let seed = number("LYCEUM_TEST_CHAOS_SEED").unwrap_or(1);
    let minutes = number("LYCEUM_TEST_CHAOS_MINUTES").unwrap_or(0);
    let mut random = RandomStream::seeded(seed);
    network::make_bridge();
    // Semaphores of other tests have the same names.
    network::run("mount -t tmpfs tmpfs /dev/shm");
    let folder = tempfile::tempdir().unwrap();
    // PostgreSQL runs as another user.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let mut cluster = Cluster::start(folder.path(), full_size());
    let (base, key) = (cluster.base(), cluster.client());
    project::deploy_rivers(&base, &key);
    let pages = full_size().then(|| project::deploy_page(&base, &key));
    let traffic = Traffic::new(base, key);
    simulations::school(&traffic.client_of(&cluster.base()));
    let mut faults = Vec::new();
    scope(|scope| {
        let _end = EndsTraffic(&traffic);
        traffic.start(scope, pages.as_ref());
        sleep(Duration::from_secs(3));
        let since = Instant::now();
        loop {
            for fault in plan(&mut random) {
                let from = traffic.now();
                println!("{:>6.1} s: {}", from.as_secs_f64(), fault.name());
                fault.happen(&mut cluster, &traffic, &mut random);
                wait_until_whole(&mut cluster, &traffic);
                faults.push(FaultTime { name: fault.name(), from, until: traffic.now() });
            }
            if since.elapsed() >= Duration::from_mins(minutes) {
                break;
            }
        }
    });
    if full_size() {
        for server in &mut cluster.servers {
            server.stop();
            server.start();
            server.wait_until_ready();
        }
    }
    let breaches = breaches(&cluster, &traffic);
    let history = std::mem::take(&mut *traffic.history.lock().unwrap());
    let report = Report { seed, faults, history, breaches };
    println!("{}\n\n{}", report.table(), report.reasons());
    if let Some(file) = variable("LYCEUM_TEST_CHAOS_JSON") {
        fs::write(file, format!("{:#}\n", report.json())).unwrap();
    }
    let errors = report.errors();
    let logs = || cluster.servers.iter().map(Server::log).collect::<Vec<_>>().join("\n\n");
    assert!(errors.is_empty(), "{}\n{}", errors.join("\n"), logs());
}

fn number(name: &str) -> Option<u64> {
    variable(name).map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a whole number")))
}

/// The faults of one round. The gate takes the one that no other test has.
fn plan(random: &mut RandomStream) -> Vec<Fault> {
    if let Some(only) = variable("LYCEUM_TEST_CHAOS_FAULTS") {
        let named = |name: &str| Fault::ALL.into_iter().find(|fault| fault.name() == name.trim());
        let named = |name: &str| named(name).unwrap_or_else(|| panic!("unknown fault '{name}'"));
        let faults: Vec<Fault> = only.split(',').map(named).collect();
        for fault in &faults {
            assert!(fault.is_possible(), "'{}' needs the package faketime on x86-64", fault.name());
        }
        return faults;
    }
    if !full_size() {
        return vec![Fault::HolderCutOff];
    }
    let (mut faults, impossible): (Vec<_>, Vec<_>) =
        Fault::ALL.into_iter().partition(|fault| fault.is_possible());
    for fault in impossible {
        println!("left out: {}; it needs the package faketime on x86-64", fault.name());
    }
    for end in (1..faults.len()).rev() {
        let other = random.below(end as u64 + 1);
        faults.swap(end, usize::try_from(other).unwrap());
    }
    faults
}

/// Waits until all servers serve, and all kinds of requests have succeeded again.
fn wait_until_whole(cluster: &mut Cluster, traffic: &Traffic) {
    for server in &mut cluster.servers {
        if server.has_ended() {
            println!("{} ended by itself:\n{}", server.name, server.log());
            server.start();
        }
        server.wait_until_ready();
    }
    cluster.wait_until_balanced();
    let (since, began) = (Instant::now(), traffic.now());
    let is_whole = || {
        let history = traffic.history.lock().unwrap();
        let kinds = RequestKind::ALL
            .into_iter()
            .filter(|kind| history.requests.iter().any(|request| request.kind == *kind));
        let mut recoveries = kinds.map(|kind| history.recovery(kind, began, Duration::MAX));
        recoveries.all(|recovery| recovery.first.is_some() && recovery.whole.is_some())
    };
    while !is_whole() && since.elapsed() < PATIENCE {
        sleep(Duration::from_millis(200));
    }
    if !is_whole() {
        println!("not everything works again; the project's log:\n{}", traffic.project_log());
    }
    // Everything is replicated before the next fault.
    sleep(Duration::from_secs(if full_size() { 4 } else { 1 }));
}

/// Compares what each server shows with the history.
fn breaches(cluster: &Cluster, traffic: &Traffic) -> Vec<Breach> {
    let mut all = Vec::new();
    let mut first: Option<BTreeMap<String, usize>> = None;
    for server in &cluster.servers {
        let stored = traffic.stored_at(&server.base());
        for breach in traffic.history.lock().unwrap().breaches(&stored) {
            if !all.contains(&breach) {
                all.push(breach);
            }
        }
        let rows = stored[&RequestKind::Database].clone();
        if first.as_ref().is_some_and(|first| *first != rows) {
            let name = format!("{} shows other rows", server.name);
            let (sort, kind) = (BreachKind::SplitBrain, RequestKind::Database);
            all.push(Breach { sort, kind, name, at: traffic.now() });
        }
        first = Some(rows);
    }
    all
}

/// Ends the traffic, also if the test fails.
struct EndsTraffic<'a>(&'a Traffic);

impl Drop for EndsTraffic<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
