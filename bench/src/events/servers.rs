//! D4: intake by one, two and three servers on one PostgreSQL; servers, database and load on the same cores.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use lyceum_testkit::postgres::Cluster;

use super::Options;
use super::intake::{MANY, posts};
use crate::goals::Finding;
use crate::lyceum::LyceumProgram;
use crate::pairs::Spread;
use crate::server::{BOTH_CORES, Server};

/// The most servers.
const SERVERS: usize = 3;
/// Clients that send large envelopes, over all servers.
const MANY_CLIENTS: u32 = 24;
/// Clients that send one event each, over all servers.
const ONE_CLIENTS: u32 = 96;
/// Milliseconds between two looks at who waits for a lock.
const LOOK_EVERY_MS: u64 = 10;

/// The figures of one load on some of the servers.
struct SharedLoad {
    events_per_second: f64,
    /// Microseconds of CPU an event, of all servers and PostgreSQL.
    cpu_us: f64,
    /// Connections that waited for a lock, on average.
    waiting: f64,
}

/// Measures D4 in a private cluster with `fsync` on, envelopes of 100 and of one.
pub(super) fn measure(options: &Options) -> Result<Vec<Finding>> {
    let cluster = Cluster::start();
    let scratch = tempfile::tempdir_in(&options.run.folder)?;
    let mut servers = Vec::new();
    for number in 0..SERVERS {
        let lyceum = LyceumProgram {
            program: options.run.lyceum.clone(),
            data: scratch.path().join(number.to_string()),
            database: Some(cluster.url()),
        };
        if number > 0 {
            // The keys in the database are sealed under the first server's master key.
            fs::create_dir_all(&lyceum.data)?;
            fs::copy(scratch.path().join("0/master.key"), lyceum.data.join("master.key"))?;
        }
        let mut server = lyceum.serve(BOTH_CORES)?;
        server.load_cores = BOTH_CORES;
        servers.push(server);
    }
    servers[0].process.count_family(cluster.id());
    let mut findings = Vec::new();
    for (events, clients, rate_goal, cpu_goal) in
        [(MANY, MANY_CLIENTS, "D4", "D4.cpu"), (1, ONE_CLIENTS, "D4.one", "D4.one.cpu")]
    {
        let mut rounds: Vec<[SharedLoad; SERVERS]> = Vec::new();
        for _ in 0..options.run.rounds() {
            let load = |count| load(options, &servers, &cluster.url(), count, events, clients);
            rounds.push([load(1)?, load(2)?, load(SERVERS)?]);
        }
        let ratio = |of: fn(&SharedLoad) -> f64| {
            Spread::of(rounds.iter().map(|[one, _, three]| of(three) / of(one)))
        };
        let median = |of: fn(&SharedLoad) -> f64, at: usize| {
            Spread::of(rounds.iter().map(|round| of(&round[at]))).median
        };
        let line = |at| {
            format!(
                "{:.0} events/s, {:.1} µs CPU an event, {:.2} waiting for locks",
                median(|load| load.events_per_second, at),
                median(|load| load.cpu_us, at),
                median(|load| load.waiting, at)
            )
        };
        let detail = format!("one {}; two {}; three {}", line(0), line(1), line(2));
        findings.push(Finding::new(rate_goal, ratio(|load| load.events_per_second), detail));
        findings.push(Finding::new(cpu_goal, ratio(|load| load.cpu_us), "the same runs"));
    }
    Ok(findings)
}

/// Loads the first `count` servers at the same time with their share of the clients.
fn load(
    options: &Options,
    servers: &[Server],
    database: &str,
    count: usize,
    events: u32,
    clients: u32,
) -> Result<SharedLoad> {
    let share = clients / u32::try_from(count)?;
    let cpu = || servers.iter().map(|server| server.process.cpu_us()).sum::<Result<f64>>();
    let before = cpu()?;
    let is_over = AtomicBool::new(false);
    let (requests, waiting) = thread::scope(|scope| {
        let watch = scope.spawn(|| waiting(database, &is_over));
        let loads: Vec<_> = servers[..count]
            .iter()
            .map(|server| {
                let target = posts(options.students(), events);
                scope.spawn(move || server.load(target, share, options.run.time()))
            })
            .collect();
        let broken = |_| anyhow!("a load panicked");
        let samples: Result<Vec<_>> =
            loads.into_iter().map(|load| load.join().map_err(broken)?).collect();
        is_over.store(true, Ordering::SeqCst);
        let waiting = watch.join().map_err(broken)??;
        Ok::<_, anyhow::Error>((
            samples?.iter().map(|sample| sample.requests_per_second).sum::<f64>(),
            waiting,
        ))
    })?;
    let events_per_second = requests * f64::from(events);
    let cpu_us = (cpu()? - before) / (events_per_second * options.run.time().as_secs_f64());
    Ok(SharedLoad { events_per_second, cpu_us, waiting })
}

/// The connections that wait for a lock, on average until the load is over.
fn waiting(database: &str, is_over: &AtomicBool) -> Result<f64> {
    let mut client = postgres::Client::connect(database, postgres::NoTls)?;
    let waits = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
    let (mut sum, mut looks) = (0.0, 0.0);
    while !is_over.load(Ordering::SeqCst) {
        let count: i64 = client.query_one(waits, &[])?.get(0);
        sum += f64::from(u32::try_from(count).context("a count of connections")?);
        looks += 1.0;
        thread::sleep(Duration::from_millis(LOOK_EVERY_MS));
    }
    Ok(sum / f64::max(looks, 1.0))
}
