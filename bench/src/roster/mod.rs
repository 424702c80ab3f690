//! `lyceum-bench roster`: every goal of the roster in one run.

pub(crate) mod networks;
mod reads;
mod writes;

use anyhow::Result;

use crate::options::RunOptions;
use crate::report::Report;

/// Clients of a read; each keeps one request in flight.
const READ_CLIENTS: u32 = 16;
/// Clients of a durable create (W1).
const WRITE_CLIENTS: u32 = 64;

/// How long and how large a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
    /// Students of the small network
    #[arg(long, default_value_t = 10_000)]
    small: u64,
    /// Students of the large network; a million take 12 GiB of disk, ten million 60 GiB and an hour to import
    #[arg(long, default_value_t = 1_000_000)]
    large: u64,
    /// Measure only these parts
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Keep the networks of an earlier run instead of importing them again (leaves out W2)
    #[arg(long)]
    keep: bool,
}

/// A group of goals that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// P1-P4, G1, S1, S2
    Reads,
    /// W1
    Writes,
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// Students of the small and the large network.
    fn sizes(&self) -> [u64; 2] {
        if self.run.quick { [1_000, 10_000] } else { [self.small, self.large] }
    }
}

/// Measures and reports. Errors: a tool is missing, or any request was not answered 2xx.
pub(crate) fn run(options: &Options) -> Result<()> {
    let [small, large] = options.sizes();
    let data = format!("networks of {small} and {large} students with ten enrollments each");
    let mut report = Report::start("roster", &options.run, data)?;
    let (networks, imports) = networks::prepare(options)?;
    report.add(imports);
    if options.wants(Part::Reads) {
        report.add(reads::measure(options, &networks)?);
    }
    if options.wants(Part::Writes) {
        report.add([writes::creates(options, &networks.small)?]);
    }
    report.finish(&options.run)
}
