//! `lyceum-bench qti`: what assessment content costs, in the library and over HTTP.

mod http;
mod library;

use anyhow::Result;

use crate::options::RunOptions;
use crate::report::Report;
use crate::roster::tools;

/// A choice item of 1.6 kB; its identifier is a verb of `load.lua`.
const ITEM: &str = include_str!("item.xml");

/// The item under a name.
pub(crate) fn item(identifier: &str) -> String {
    ITEM.replace("{id}", identifier)
}

/// How long a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
    /// The library alone, without a server
    #[arg(long)]
    library: bool,
}

/// Measures and reports. Errors: a tool is missing, or any request was not answered 2xx.
pub(crate) fn run(options: &Options) -> Result<()> {
    let data = format!("{} choice items of 1.6 kB", http::ITEMS);
    let mut report = Report::start("qti", &options.run, data)?;
    report.add([library::reading(options)?, library::scoring(options)?]);
    if !options.library {
        tools::install()?;
        report.add(http::measure(options)?);
    }
    report.finish(&options.run)
}
