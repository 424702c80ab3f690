//! D2: intake on PostgreSQL beside raw inserts; server, database and load on the same cores.

use anyhow::Result;
use lyceum_testkit::postgres::Cluster;

use super::Options;
use super::intake::{EVENT, MANY, posts};
use crate::goals::Finding;
use crate::limits::unnest_insert;
use crate::lyceum::LyceumProgram;
use crate::pairs::Spread;
use crate::server::BOTH_CORES;

/// Clients that send: PostgreSQL commits for each of them apart.
const CLIENTS: u32 = 16;

/// Measures D2 in a private cluster with `fsync` on.
pub(super) fn measure(options: &Options) -> Result<Finding> {
    let cluster = Cluster::start();
    let scratch = tempfile::tempdir_in(&options.run.folder)?;
    let lyceum = LyceumProgram {
        program: options.run.lyceum.clone(),
        data: scratch.path().to_owned(),
        database: Some(cluster.url()),
    };
    let mut server = lyceum.serve(BOTH_CORES)?;
    server.load_cores = BOTH_CORES;
    let (mut ratios, mut detail) = (Vec::new(), String::new());
    for round in 0..options.run.rounds() {
        let table = format!("raw_log_{round}");
        let raw = unnest_insert(&cluster.url(), &table, EVENT, options.run.time())?;
        let sample = server.load(posts(options.students(), MANY), CLIENTS, options.run.time())?;
        let rate = sample.requests_per_second * f64::from(MANY);
        ratios.push(rate / raw);
        detail = format!("ours {rate:.0} events/s, raw {raw:.0}");
    }
    Ok(Finding::new("D2", Spread::of(ratios), detail))
}
