//! `lyceum-bench adaptive`: what the right next question costs, in the engine and over HTTP.

mod engine;
mod http;

use std::time::Duration;

use anyhow::Result;

use crate::options::RunOptions;
use crate::report::Report;

/// How long a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
    /// The engine alone, without a server
    #[arg(long)]
    engine: bool,
}

/// Measures and reports. Errors: any request was not answered 2xx.
pub(crate) fn run(options: &Options) -> Result<()> {
    let data = format!("{} students who answer at the same time", http::STUDENTS);
    let mut report = Report::start("adaptive", &options.run, data)?;
    report.add([engine::next_question(options)?]);
    if !options.engine {
        report.add([http::measure(options)?]);
    }
    report.finish(&options.run)
}

/// The middle and the 99th of 100 of times, in milliseconds.
fn percentiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
    (at(50), at(99))
}
