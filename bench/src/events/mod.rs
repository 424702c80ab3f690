//! `lyceum-bench events`: every goal of events and analytics in one run.

mod analytics;
mod intake;
mod postgres;
mod ralph;
mod servers;

use anyhow::Result;

use crate::lyceum::LyceumProgram;
use crate::options::RunOptions;
use crate::report::Report;
use crate::roster::networks::csv;
use crate::server::BOTH_CORES;

/// How long and how large a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
    /// Students that the events are of
    #[arg(long, default_value_t = 10_000)]
    students: u64,
    /// Events in the full log; ten million take 3 GiB of disk
    #[arg(long, default_value_t = 10_000_000)]
    stored: u64,
    /// Measure only intake by one, two and three servers on one PostgreSQL
    #[arg(long)]
    servers: bool,
}

impl Options {
    fn students(&self) -> u64 {
        if self.run.quick { 1_000 } else { self.students }
    }

    fn stored(&self) -> u64 {
        if self.run.quick { 100_000 } else { self.stored }
    }

    /// Events after which analytics are measured for the first time.
    fn first(&self) -> u64 {
        100_000.min(self.stored() / 10)
    }

    /// Students that the first events are of: each has as many as in the full log, so that what grows is
    /// the log and not the answer.
    fn first_students(&self) -> u64 {
        (self.students() * self.first() / self.stored()).max(1)
    }
}

/// Measures and reports. Errors: a tool is missing, or any request was not answered 2xx.
pub(crate) fn run(options: &Options) -> Result<()> {
    let subject = if options.servers { "servers" } else { "events" };
    let data = format!("{} students, {} events", options.students(), options.stored());
    let mut report = Report::start(subject, &options.run, data)?;
    if options.servers {
        report.add(servers::measure(options)?);
        return report.finish(&options.run);
    }
    let scratch = tempfile::tempdir_in(options.run.folder.canonicalize()?)?;
    let lyceum = LyceumProgram {
        program: options.run.lyceum.clone(),
        data: scratch.path().join("ours"),
        database: None,
    };
    lyceum.import(&csv(&options.run.folder, options.students())?)?;
    let server = lyceum.serve(BOTH_CORES)?;
    let few = options.first_students();
    let mut stored = intake::fill(options, &server, 0..options.first(), few)?;
    intake::wait_until_summed(&server)?;
    let first = analytics::enrollment(options, &server, few)?;
    let (rate, findings) = intake::rates(options, &server, scratch.path(), &mut stored)?;
    report.add(findings);
    intake::fill(options, &server, stored..options.stored(), options.students())?;
    intake::wait_until_summed(&server)?;
    report.add([intake::late(options, &server, rate)?]);
    report.add(analytics::measure(options, &server, first)?);
    report.add(ralph::measure(options, &server)?);
    drop(server);
    report.add([postgres::measure(options)?]);
    report.add(servers::measure(options)?);
    report.finish(&options.run)
}
