//! `lyceum-bench events`: every goal of events and analytics in one run.

mod analytics;
mod intake;
mod pace;
mod postgres;
mod servers;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::lyceum::LyceumProgram;
use crate::machine::Machine;
use crate::report::Report;
use crate::roster::networks::csv;
use crate::roster::tools;
use crate::server::BOTH_CORES;

/// How long and how large a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Seconds of each load
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// Times that each pair is measured
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Students that the events are of
    #[arg(long, default_value_t = 10_000)]
    students: u64,
    /// Events in the full log
    #[arg(long, default_value_t = 10_000_000)]
    stored: u64,
    /// A short run on a small log: shows that everything works, measures little
    #[arg(long)]
    quick: bool,
    /// Measure only intake by one, two and three servers on one PostgreSQL
    #[arg(long)]
    servers: bool,
    /// The server's binary
    #[arg(long, default_value = "target/release/lyceum")]
    lyceum: PathBuf,
    /// Where databases go; ten million events take 3 GiB
    #[arg(long, default_value = "target/bench")]
    folder: PathBuf,
}

impl Options {
    fn time(&self) -> Duration {
        Duration::from_secs(if self.quick { 1 } else { self.seconds })
    }

    fn rounds(&self) -> usize {
        if self.quick { 1 } else { self.rounds }
    }

    fn students(&self) -> u64 {
        if self.quick { 1_000 } else { self.students }
    }

    fn stored(&self) -> u64 {
        if self.quick { 100_000 } else { self.stored }
    }

    /// Events after which analytics are measured for the first time.
    fn first(&self) -> u64 {
        if self.quick { 10_000 } else { 100_000 }
    }

    /// Students that the first events are of: each has as many as in the full log, so that what grows is
    /// the log and not the answer.
    fn first_students(&self) -> u64 {
        (self.students() * self.first() / self.stored()).max(1)
    }
}

/// Measures and reports. Errors: a tool is missing, or any request was not answered 2xx.
pub(crate) fn run(options: &Options) -> Result<()> {
    tools::install()?;
    let machine = Machine::read()?;
    let sizes = [options.first(), options.stored()];
    let mut report = Report { machine, sizes, limits: Vec::new(), findings: Vec::new() };
    report.print_machine();
    println!("{} students, {} events\n", options.students(), options.stored());
    std::fs::create_dir_all(&options.folder)?;
    if options.servers {
        report.add(servers::measure(options)?);
        report.print_end();
        return report.write(&options.folder.join("servers.json"));
    }
    let scratch = tempfile::tempdir_in(options.folder.canonicalize()?)?;
    let lyceum = LyceumProgram {
        program: options.lyceum.clone(),
        data: scratch.path().join("ours"),
        database: None,
    };
    lyceum.import(&csv(&options.folder, options.students())?)?;
    let server = lyceum.serve(BOTH_CORES)?;
    let few = options.first_students();
    let mut stored = intake::fill(options, &server, 0..options.first(), few)?;
    let first = analytics::enrollment(options, &server, few)?;
    let (rate, findings) = intake::rates(options, &server, scratch.path(), &mut stored)?;
    report.add(findings);
    intake::fill(options, &server, stored..options.stored(), options.students())?;
    report.add([intake::late(options, &server, rate)?]);
    report.add(analytics::measure(options, &server, first)?);
    report.add(pace::measure(options, &server, rate / 2.0)?);
    drop(server);
    report.add([postgres::measure(options)?]);
    report.add(servers::measure(options)?);
    report.print_end();
    report.write(&options.folder.join("events.json"))
}
