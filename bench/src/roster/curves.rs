//! The cost of roster operations by the size of the roster, on both sides.

use std::io::Write;

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

use super::networks::network;
use super::reads::{Sides, What};
use crate::data::RECORDS_PER_STUDENT;
use crate::growth::{curve, fits};
use crate::load::{Sample, Target};
use crate::lyceum::ROSTERING;
use crate::options::RunOptions;
use crate::pairs::Spread;
use crate::report::Curve;
use crate::server::SERVER_CORE;

/// Bytes of both databases and of the CSV files for each record.
const BYTES_PER_RECORD: u64 = 1300;
/// What the sizes are.
const SIZE: &str = "roster records";
/// Starts of which the median counts.
const STARTS: usize = 5;

/// Measures reads, imports, starts and memory at each size.
pub(crate) fn measure(run: &RunOptions, sizes: &[u64]) -> Result<Vec<Curve>> {
    let mut reads = curve("growth-reads", "Median time of roster reads", SIZE, "ms");
    let mut imports = curve("growth-imports", "Speed of roster imports", SIZE, "records a second");
    let mut starts = curve("growth-starts", "Time from exec to the first answer", SIZE, "ms");
    let mut memory = curve("growth-memory", "Anonymous memory of the server", SIZE, "MiB");
    for &size in sizes {
        if !fits(&run.folder, size, size * BYTES_PER_RECORD)? {
            break;
        }
        let scratch = tempfile::tempdir_in(&run.folder)?;
        let own = RunOptions { folder: scratch.path().to_owned(), ..run.clone() };
        let (network, import) = network(&own, size / RECORDS_PER_STUDENT, true, false)?;
        let import = import.context("a new folder has no import to keep")?;
        #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
        imports.add("Lyceum", size, size as f64 / import.time.as_secs_f64());
        memory.add("import", size, import.peak_mib);
        let started = (0..STARTS)
            .map(|_| Ok(network.lyceum.serve_bare(SERVER_CORE)?.started.as_secs_f64() * 1e3))
            .collect::<Result<Vec<f64>>>()?;
        starts.add("Lyceum", size, Spread::of(started).median);
        let servers = Sides::start(&network, None)?;
        for (name, what) in [
            ("user by sourcedId", What::User),
            ("page of 100 users", What::Page),
            ("enrollments of a user", What::Enrollments),
        ] {
            let pairs = servers.measure(run, what)?;
            let p50 = |sample: &Sample| sample.p50_ms;
            reads.add(name, size, pairs.ours(p50).median);
            reads.add(&format!("{name}, anchor"), size, pairs.other(p50).median);
        }
        let deep = deep_pages(network.users)?;
        let sample = servers.lyceum.load(Target::Listed(deep.path().to_owned()), 1, run.time())?;
        reads.add("page at half depth", size, sample.p50_ms);
        memory.add("serving reads", size, servers.lyceum.process.anonymous_mib()?);
    }
    // The first four series have solid lines: those of Lyceum.
    reads.series.sort_by_key(|series| series.name.ends_with("anchor"));
    Ok(vec![reads, imports, starts, memory])
}

/// Pages around the middle by offset, each a request target.
fn deep_pages(users: u64) -> Result<NamedTempFile> {
    let mut targets = NamedTempFile::new()?;
    for step in 0..users.min(1000) / 10 {
        writeln!(targets, "{ROSTERING}/users?limit=100&offset={}", users / 2 + step)?;
    }
    targets.flush()?;
    Ok(targets)
}
