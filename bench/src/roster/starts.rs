//! S1, S2 and S3: how soon it answers, what it takes while it is idle, and memory that does not grow with the network.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;

use super::Options;
use super::networks::Networks;
use crate::goals::Finding;
use crate::lyceum::{LyceumProgram, ROSTERING};
use crate::pairs::Spread;
use crate::process::anonymous_mib;
use crate::server::SERVER_CORE;

/// Starts of which the median counts.
const STARTS: usize = 7;
/// Pages of 3000 that one listing walks at most.
const PAGES: usize = 100;

/// Measures S1, S2 and S3 (the import's line stands with W2).
pub(super) fn measure(options: &Options, networks: &Networks) -> Result<Vec<Finding>> {
    let (small, large) = (&networks.small.lyceum, &networks.large.lyceum);
    Ok(vec![
        start_empty(options, small)?,
        idle(small)?,
        start_filled(large)?,
        peaks("S3.list", list(small)?, list(large)?),
        peaks("S3.export", export(options, small)?, export(options, large)?),
    ])
}

/// S1: each start makes a database of its own.
fn start_empty(options: &Options, lyceum: &LyceumProgram) -> Result<Finding> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let scratch = tempfile::tempdir_in(&options.run.folder)?;
        let empty = LyceumProgram { data: scratch.path().to_owned(), ..lyceum.clone() };
        times.push(milliseconds(empty.serve_bare(SERVER_CORE)?.started));
    }
    Ok(Finding::new("S1.empty", Spread::of(times), format!("{STARTS} starts")))
}

/// S2: what the server takes of the machine while nobody uses it.
fn idle(lyceum: &LyceumProgram) -> Result<Finding> {
    let (percent, detail) = lyceum.serve_bare(SERVER_CORE)?.process.idle_percent()?;
    Ok(Finding::new("S2.cpu", percent, format!("small network, {detail}")))
}

/// S1: the same database each time.
fn start_filled(lyceum: &LyceumProgram) -> Result<Finding> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        times.push(milliseconds(lyceum.serve_bare(SERVER_CORE)?.started));
    }
    Ok(Finding::new("S1.filled", Spread::of(times), format!("{STARTS} starts")))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Peak memory, in MiB, of a server that lists all users in pages of 3000.
fn list(lyceum: &LyceumProgram) -> Result<f64> {
    let server = lyceum.serve(SERVER_CORE)?;
    let stop = AtomicBool::new(false);
    let pid = server.process.id();
    std::thread::scope(|scope| {
        let peak = scope.spawn(|| peak_until(pid, &stop));
        let walked = (|| -> Result<()> {
            for page in 0..PAGES {
                let body =
                    server.get(&format!("{ROSTERING}/users?limit=3000&offset={}", page * 3000))?;
                if !body.contains("sourcedId") {
                    break;
                }
            }
            Ok(())
        })();
        stop.store(true, Ordering::Relaxed);
        walked?;
        Ok(peak.join().expect("reading memory does not panic"))
    })
}

/// The greatest anonymous memory of a process until told to stop, read every 2 ms.
fn peak_until(pid: u32, stop: &AtomicBool) -> f64 {
    let mut peak: f64 = 0.0;
    while !stop.load(Ordering::Relaxed) {
        peak = peak.max(anonymous_mib(pid).unwrap_or(0.0));
        std::thread::sleep(Duration::from_millis(2));
    }
    peak
}

/// Peak memory, in MiB, of an export.
fn export(options: &Options, lyceum: &LyceumProgram) -> Result<f64> {
    let scratch = tempfile::tempdir_in(&options.run.folder)?;
    Ok(lyceum.export(&scratch.path().join("export.zip"))?.peak_mib)
}

/// The growth of a peak.
fn peaks(id: &str, small: f64, large: f64) -> Finding {
    Finding::new(id, large / small, format!("{small:.1} MiB small, {large:.1} MiB large"))
}
