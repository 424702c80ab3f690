//! `lyceum-bench adaptive`: what the right next question costs, in the engine and over HTTP.

mod client;
mod engine;
mod http;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::machine::Machine;
use crate::report::Report;

/// How long a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Seconds of each load
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// Times that each pair is measured
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// A short run: shows that everything works, measures little
    #[arg(long)]
    quick: bool,
    /// The engine alone, without a server
    #[arg(long)]
    engine: bool,
    /// The server's binary
    #[arg(long, default_value = "target/release/lyceum")]
    lyceum: PathBuf,
    /// Where databases go
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
}

/// Measures and reports. Errors: any request was not answered 2xx.
pub(crate) fn run(options: &Options) -> Result<()> {
    let machine = Machine::read()?;
    let mut report =
        Report { machine, sizes: [0, http::STUDENTS], limits: Vec::new(), findings: Vec::new() };
    report.print_machine();
    report.add([engine::next_question(options)?]);
    std::fs::create_dir_all(&options.folder)?;
    if !options.engine {
        report.add([http::measure(options)?]);
    }
    report.print_end();
    report.write(&options.folder.join("adaptive.json"))
}

/// The middle and the 99th of 100 of times, in milliseconds.
fn percentiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
    (at(50), at(99))
}
