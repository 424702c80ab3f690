//! `lyceum-bench sandbox`: how soon a newcomer has something to look at, and what it takes of the machine.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::anchor;
use crate::goals::Finding;
use crate::options::RunOptions;
use crate::pairs::Spread;
use crate::process::Process;
use crate::report::Report;
use crate::server::{BOTH_CORES, Server, free_address};

/// A record of the demo data: who gets it has data.
const DATA: &str = "/ims/oneroster/rostering/v1p2/users/demo-user";
/// How long nobody asks before memory is read.
const IDLE: Duration = Duration::from_secs(3);

/// How long a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
}

/// The figures of one start.
struct Started {
    ms: f64,
    idle_mib: f64,
}

/// Measures and reports. Errors: a sandbox does not answer.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut report = Report::start("sandbox", &options.run, "the demo data".to_owned())?;
    report.add(measure(options)?);
    report.finish(&options.run)
}

fn measure(options: &Options) -> Result<[Finding; 5]> {
    let rounds = options.run.rounds();
    let (mut empty, mut memory, mut anchors) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let scratch = tempfile::tempdir_in(options.run.folder.canonicalize()?)?;
        empty.push(start(options, scratch.path(), &[])?);
        memory.push(start(options, scratch.path(), &["--memory"])?);
        let file = scratch.path().join("anchor.db");
        anchor::fill(&file, 0)?;
        anchors.push(milliseconds(&Server::anchor(&file, BOTH_CORES)?));
    }
    let ratio = Spread::of(memory.iter().zip(&anchors).map(|(ours, anchor)| ours.ms / anchor));
    let anchor = format!("the anchor starts in {:.1} ms, without data", Spread::of(anchors).median);
    let ms = |all: &[Started]| Spread::of(all.iter().map(|one| one.ms));
    let mib = |all: &[Started]| Spread::of(all.iter().map(|one| one.idle_mib));
    let starts = format!("{rounds} starts, the demo user read over HTTP");
    let idle = format!("{rounds} starts, {} s without a request", IDLE.as_secs());
    Ok([
        Finding::new("X1.empty", ms(&empty), starts.as_str()),
        Finding::new("X1.memory", ms(&memory), starts),
        Finding::new("X1.anchor", ratio, anchor),
        Finding::new("X2.idle", mib(&empty), idle.as_str()),
        Finding::new("X2.memory", mib(&memory), idle),
    ])
}

/// Starts a sandbox in the folder as a newcomer does, and leaves it alone.
fn start(options: &Options, folder: &Path, flags: &[&str]) -> Result<Started> {
    let program = options.run.lyceum.canonicalize().context("the binary is built")?;
    let address = free_address()?;
    let (_, port) = address.rsplit_once(':').context("an address has a port")?;
    let start = Instant::now();
    let process = Process::start(BOTH_CORES, program, |command| {
        command.args(["sandbox", "--quiet", "--port", port]).args(flags).current_dir(folder);
    })?;
    let server = Server::wait(process, address.clone(), DATA, start)?;
    std::thread::sleep(IDLE);
    let idle_mib = server.process.anonymous_mib()?;
    Ok(Started { ms: milliseconds(&server), idle_mib })
}

/// The time from exec to the first answer.
fn milliseconds(server: &Server) -> f64 {
    server.started.as_secs_f64() * 1e3
}
