//! `cargo xtask simulate`: how many requests a second 1, 3 and 10 nodes on one PostgreSQL serve, computed from measured
//! service times. `docs/scale.md` explains the model and shows the result.

mod measured;
pub mod queues;

use std::fmt::Write as _;
use std::path::Path;

use crate::chart::{Line, LineChart, draw_lines};
use measured::ROUND_TRIP_US;
use queues::{Arrivals, Discipline, Network, RequestKind, Station, Visit};

pub use measured::{Demand, MIX, SYNC_US};

/// Cores of each node.
const NODE_CORES: usize = 4;
/// Requests that each point of a curve simulates.
const REQUESTS: usize = 200_000;
/// The seed of all random numbers.
const SEED: u64 = 1;
/// A load is beyond the knee if the 99th percentile of the latency is above this many times that of an idle system.
const KNEE_FACTOR: f64 = 2.0;
/// The loads of a curve, as shares of the load at which a station is busy all the time.
const LOADS: [f64; 12] = [0.05, 0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98];

const NODE: usize = 0;
const NETWORK: usize = 1;
const DATABASE: usize = 2;
const SYNC: usize = 3;

/// A PostgreSQL server, and the nodes in front of it.
#[derive(Clone, Copy, Debug)]
pub struct Cluster {
    /// The nodes.
    pub nodes: usize,
    /// Cores of each node.
    pub node_cores: usize,
    /// Cores of PostgreSQL.
    pub database_cores: usize,
}

/// The clusters that the guide shows.
pub const CLUSTERS: [Cluster; 6] = [
    Cluster { nodes: 1, node_cores: NODE_CORES, database_cores: 16 },
    Cluster { nodes: 3, node_cores: NODE_CORES, database_cores: 16 },
    Cluster { nodes: 10, node_cores: NODE_CORES, database_cores: 16 },
    Cluster { nodes: 1, node_cores: NODE_CORES, database_cores: 64 },
    Cluster { nodes: 3, node_cores: NODE_CORES, database_cores: 64 },
    Cluster { nodes: 10, node_cores: NODE_CORES, database_cores: 64 },
];

impl Cluster {
    /// The queues that the requests of a mix pass: half of the node's work, the ways to PostgreSQL and its work, the
    /// sync of a commit, the other half of the node's work.
    pub fn network(self, mix: &[Demand]) -> Network {
        let station =
            |name, discipline, is_of_each_node| Station { name, discipline, is_of_each_node };
        let stations = vec![
            station("cores of the nodes", Discipline::Servers(self.node_cores), true),
            station("network", Discipline::Delay, false),
            station("cores of PostgreSQL", Discipline::Servers(self.database_cores), false),
            station("syncs of PostgreSQL", Discipline::Batch, false),
        ];
        let kinds = mix.iter().map(|demand| {
            let visit = |station, mean_us| Visit { station, mean_us };
            let mut visits = vec![visit(NODE, demand.node_us / 2.0)];
            visits.push(visit(NETWORK, demand.round_trips * ROUND_TRIP_US));
            visits.push(visit(DATABASE, demand.database_us));
            if demand.commits {
                visits.push(visit(SYNC, SYNC_US));
            }
            visits.push(visit(NODE, demand.node_us / 2.0));
            RequestKind { name: demand.name, share: demand.share, visits }
        });
        Network { nodes: self.nodes, stations, kinds: kinds.collect() }
    }

    fn name(self) -> String {
        let nodes = if self.nodes == 1 { "node" } else { "nodes" };
        format!("{} {nodes}, PostgreSQL with {} cores", self.nodes, self.database_cores)
    }
}

/// The load and latency at the knee of a cluster.
struct Knee {
    requests_per_s: f64,
    p50_ms: f64,
    p99_ms: f64,
    limited_by: &'static str,
}

/// Simulates the cluster under each load. Returns the curve of throughput and 99th percentile, and the knee.
fn simulate(cluster: Cluster) -> (Line, Knee) {
    let network = cluster.network(MIX);
    let (limit, limited_by) = network.saturation();
    let mut points = Vec::new();
    let mut knee = Knee { requests_per_s: 0.0, p50_ms: 0.0, p99_ms: 0.0, limited_by };
    let mut idle_p99_ms = 0.0;
    for load in LOADS {
        let outcome = network.simulate(Arrivals::PerSecond(limit * load), REQUESTS, SEED);
        let [p50_ms, p99_ms] = [0.5, 0.99].map(|share| outcome.quantile_us(share) / 1000.0);
        if points.is_empty() {
            idle_p99_ms = p99_ms;
        }
        points.push((outcome.completed_per_s, p99_ms));
        if p99_ms <= KNEE_FACTOR * idle_p99_ms {
            knee = Knee { requests_per_s: outcome.completed_per_s, p50_ms, p99_ms, limited_by };
        }
    }
    (Line { name: cluster.name(), points }, knee)
}

/// Prints the knees as a Markdown table, and draws the curves into a file.
pub fn run(picture: &Path) -> std::io::Result<String> {
    let mut table = String::from(
        "| cluster | requests/s at the knee | p50 there, ms | p99 there, ms | first to be busy |\n|---|---:|---:|---:|---|\n",
    );
    let mut curves = Vec::new();
    for cluster in CLUSTERS {
        let (curve, knee) = simulate(cluster);
        let Knee { requests_per_s, p50_ms, p99_ms, limited_by } = knee;
        let _ = writeln!(
            table,
            "| {} | {requests_per_s:.0} | {p50_ms:.2} | {p99_ms:.2} | {limited_by} |",
            curve.name
        );
        curves.push(curve);
    }
    let chart = LineChart {
        title: "Latency under load",
        description: "The 99th percentile of the latency of six clusters by the requests per second that they complete.",
        across: "requests per second",
        up: "99th percentile, ms",
        lines: curves,
    };
    std::fs::write(picture, draw_lines(&chart))?;
    Ok(table)
}
