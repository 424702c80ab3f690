//! D1: the PostgreSQL store beside the SQLite store, servers, database and load on the same cores.

use anyhow::Result;
use lyceum_testkit::postgres::Cluster;

use super::networks::{Networks, csv};
use super::reads::side_by_side;
use super::{Options, READ_CLIENTS};
use crate::goals::Finding;
use crate::load::Target;
use crate::lyceum::{LyceumProgram, ROSTERING};
use crate::pairs::Pairs;
use crate::server::BOTH_CORES;

/// Measures D1 on the small network, in a private cluster with `fsync` on.
pub(super) fn measure(options: &Options, networks: &Networks) -> Result<Vec<Finding>> {
    let cluster = Cluster::start();
    let small = &networks.small;
    let scratch = tempfile::tempdir_in(&options.run.folder)?;
    let postgres = LyceumProgram {
        data: scratch.path().to_owned(),
        database: Some(cluster.url()),
        ..small.lyceum.clone()
    };
    postgres.import(&csv(&options.run.folder, small.users)?)?;
    let mut sqlite = small.lyceum.serve(BOTH_CORES)?;
    let mut postgres = postgres.serve(BOTH_CORES)?;
    postgres.process.count_family(cluster.id());
    sqlite.load_cores = BOTH_CORES;
    postgres.load_cores = BOTH_CORES;
    let target = Target::Numbered(format!("{ROSTERING}/users/user-%08d"), small.users);
    let pairs = Pairs::measure(
        options.run.rounds(),
        || sqlite.load(target.clone(), READ_CLIENTS, options.run.time()),
        || postgres.load(target.clone(), READ_CLIENTS, options.run.time()),
    )?;
    let ratio = pairs.ratio(|sample| sample.requests_per_second);
    Ok(vec![Finding::new("D1", ratio, side_by_side(&pairs))])
}
