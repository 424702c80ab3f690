//! The simulation of queues agrees with the theory, and with a measurement.

use xtask::simulation::queues::{
    Arrivals, Discipline, Network, RequestKind, Station, Visit, as_real,
};
use xtask::simulation::{MIX, SYNC_US};

/// One station of the discipline, and requests that take 100 µs there.
fn single(discipline: Discipline) -> Network {
    Network {
        nodes: 1,
        stations: vec![Station { name: "station", discipline, is_of_each_node: false }],
        kinds: vec![RequestKind {
            name: "request",
            share: 1.0,
            visits: vec![Visit { station: 0, mean_us: 100.0 }],
        }],
    }
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert_within(0.06, found, expected, what);
}

fn assert_within(tolerance: f64, found: f64, expected: f64, what: &str) {
    assert!(
        (found / expected - 1.0).abs() < tolerance,
        "{what}: {found:.1} instead of {expected:.1}"
    );
}

/// Erlang's formula C: the share of requests that wait for one of the servers.
fn waiting_share(servers: usize, load: f64) -> f64 {
    let mut blocked = 1.0;
    for server in 1..=servers {
        blocked = load * blocked / (as_real(server) + load * blocked);
    }
    let busy = load / as_real(servers);
    blocked / (1.0 - busy + busy * blocked)
}

#[test]
fn the_simulation_of_servers_agrees_with_queueing_theory() {
    for (servers, busy) in [(1, 0.5), (1, 0.8), (4, 0.7), (16, 0.9)] {
        let network = single(Discipline::Servers(servers));
        let (limit, _) = network.saturation();
        assert_near(limit, 10_000.0 * as_real(servers), "saturation");
        let outcome = network.simulate(Arrivals::PerSecond(limit * busy), 100_000, 7);
        let load = busy * as_real(servers);
        let wait = waiting_share(servers, load) * 100.0 / (as_real(servers) * (1.0 - busy));
        assert_near(outcome.mean_us(), 100.0 + wait, &format!("{servers} servers, {busy} busy"));
        assert_near(outcome.completed_per_s, limit * busy, "throughput");
        if servers == 1 {
            // The latency of one server is distributed exponentially.
            let p99 = -(0.01_f64.ln()) * 100.0 / (1.0 - busy);
            // One request in a hundred of a busy server says less than the mean.
            assert_within(0.15, outcome.quantile_us(0.99), p99, "p99 of one server");
        }
    }
}

#[test]
fn a_batch_serves_more_than_a_server_and_a_delay_never_queues() {
    let batch = single(Discipline::Batch).simulate(Arrivals::PerSecond(100_000.0), 50_000, 7);
    assert_near(batch.completed_per_s, 100_000.0, "ten times the load of one server");
    // A request waits for the rest of the running batch, which is as long as a whole one, and for its own.
    assert_near(batch.mean_us(), 200.0, "mean of a batch");
    assert_near(
        single(Discipline::Delay).simulate(Arrivals::PerSecond(1e6), 50_000, 7).mean_us(),
        100.0,
        "delay",
    );
}

#[test]
fn nodes_share_the_load_and_the_seed_decides_everything() {
    let mut network = single(Discipline::Servers(1));
    network.stations[0].is_of_each_node = true;
    network.nodes = 3;
    assert_near(network.saturation().0, 30_000.0, "three nodes");
    let run = |seed| network.simulate(Arrivals::PerSecond(15_000.0), 20_000, seed).latencies_us;
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// A load generator, a node and PostgreSQL on one machine with 2 cores, of which each request also takes what the generator
/// needs.
fn one_machine(kind: &str, generator_us: f64) -> Network {
    let demand = MIX.iter().find(|demand| demand.name == kind).unwrap();
    let station = |name, discipline| Station { name, discipline, is_of_each_node: false };
    let half_us = f64::midpoint(demand.node_us, generator_us);
    let cores = |mean_us| Visit { station: 0, mean_us };
    let mut visits = vec![cores(half_us), cores(demand.database_us)];
    visits.extend(demand.commits.then_some(Visit { station: 1, mean_us: SYNC_US }));
    visits.push(cores(half_us));
    Network {
        nodes: 1,
        stations: vec![
            station("cores", Discipline::Servers(2)),
            station("syncs", Discipline::Batch),
        ],
        kinds: vec![RequestKind { name: "request", share: 1.0, visits }],
    }
}

/// Measured with wrk and 32 connections, in the same runs as the service times.
#[test]
fn one_machine_has_the_throughput_and_the_latency_that_were_measured() {
    for (kind, generator_us, per_s, p50_us) in [
        ("a user by sourcedId", 14.0, 14_155.0, 1990.0),
        ("a user created", 27.0, 2579.0, 11_660.0),
    ] {
        let outcome = one_machine(kind, generator_us).simulate(Arrivals::Clients(32), 30_000, 7);
        let (ratio, latency) = (outcome.completed_per_s / per_s, outcome.quantile_us(0.5) / p50_us);
        assert!((0.9..1.2).contains(&ratio), "{kind}: {:.0} requests/s", outcome.completed_per_s);
        assert!((0.8..1.2).contains(&latency), "{kind}: p50 {:.0} µs", outcome.quantile_us(0.5));
    }
}
