//! D4: intake by one and by three servers on one PostgreSQL; servers, database and load on the same cores.

use std::fs;
use std::thread;

use anyhow::Result;
use lyceum_testkit::postgres::Cluster;

use super::Options;
use super::intake::{MANY, posts};
use crate::goals::Finding;
use crate::load::Sample;
use crate::lyceum::LyceumProgram;
use crate::pairs::Spread;
use crate::server::{BOTH_CORES, Server};

/// The most servers.
const SERVERS: usize = 3;
/// Clients that send large envelopes, over all servers.
const MANY_CLIENTS: u32 = 24;
/// Clients that send one event each, over all servers.
const ONE_CLIENTS: u32 = 96;

/// The figures of one load on some of the servers.
struct SharedLoad {
    events_per_second: f64,
    /// Microseconds of CPU an event, of all servers and PostgreSQL.
    cpu_us: f64,
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
        let (mut rates, mut costs, mut detail) = (Vec::new(), Vec::new(), String::new());
        for _ in 0..options.run.rounds() {
            let one = load(options, &servers[..1], &servers, events, clients)?;
            let all = load(options, &servers, &servers, events, clients)?;
            rates.push(all.events_per_second / one.events_per_second);
            costs.push(all.cpu_us / one.cpu_us);
            detail = format!(
                "one server {:.0} events/s, {:.1} µs CPU an event; three {:.0}, {:.1} µs",
                one.events_per_second, one.cpu_us, all.events_per_second, all.cpu_us
            );
        }
        findings.push(Finding::new(rate_goal, Spread::of(rates), detail));
        findings.push(Finding::new(cpu_goal, Spread::of(costs), "the same runs"));
    }
    Ok(findings)
}

/// Loads some servers at the same time with their share of the clients. The work of the others counts, too.
fn load(
    options: &Options,
    loaded: &[Server],
    servers: &[Server],
    events: u32,
    clients: u32,
) -> Result<SharedLoad> {
    let share = clients / u32::try_from(loaded.len())?;
    let cpu = || servers.iter().map(|server| server.process.cpu_us()).sum::<Result<f64>>();
    let before = cpu()?;
    let requests: f64 = thread::scope(|scope| -> Result<f64> {
        let load = |server| {
            let target = posts(options.students(), events);
            scope.spawn(move || Server::load(server, target, share, options.run.time()))
        };
        let loads: Vec<_> = loaded.iter().map(load).collect();
        let rate = |load: thread::ScopedJoinHandle<'_, Result<Sample>>| {
            let sample = load.join().expect("a load answers its errors")?;
            Ok(sample.requests_per_second)
        };
        loads.into_iter().map(rate).sum()
    })?;
    let events_per_second = requests * f64::from(events);
    let cpu_us = (cpu()? - before) / (events_per_second * options.run.time().as_secs_f64());
    Ok(SharedLoad { events_per_second, cpu_us })
}
