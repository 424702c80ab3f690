//! `lyceum-bench growth`: the same operations on rosters and event logs of each power of ten.

use std::path::Path;

use anyhow::Result;

use crate::options::RunOptions;
use crate::report::{Curve, Report, Series};
use crate::roster::tools;
use crate::{events, roster};

/// Records of the smallest roster, and events of the shortest log.
const SMALLEST: u64 = 10_000;
/// The largest size of a quick run.
const QUICK_LARGEST: u64 = 100_000;

/// How long and how large a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
    /// Records of the largest roster and events of the longest log. Sizes that do not fit on the disk are left out
    #[arg(long, default_value_t = 10_000_000)]
    largest: u64,
}

/// Measures and reports. Errors: a tool is missing, or any request was not answered 2xx.
pub(crate) fn run(options: &Options) -> Result<()> {
    tools::install()?;
    let largest = if options.run.quick { QUICK_LARGEST } else { options.largest };
    let sizes: Vec<u64> = std::iter::successors(Some(SMALLEST), |size| Some(size * 10))
        .take_while(|size| *size <= largest)
        .collect();
    let data = format!("up to {largest} roster records and events");
    let mut report = Report::start("growth", &options.run, data)?;
    report.curves = roster::curves::measure(&options.run, &sizes)?;
    report.curves.extend(events::curves::measure(&options.run, &sizes)?);
    report.finish(&options.run)
}

/// A curve without figures.
pub(crate) fn curve(name: &str, title: &str, size: &str, unit: &str) -> Curve {
    let [name, title, size, unit] = [name, title, size, unit].map(str::to_owned);
    Curve { name, title, size, unit, series: Vec::new() }
}

impl Curve {
    /// Adds and prints the figure of a series at a size.
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    pub(crate) fn add(&mut self, series: &str, size: u64, figure: f64) {
        println!("{size:>12} {}: {series}, {}: {figure:.3} {}", self.size, self.title, self.unit);
        let point = (size as f64, figure);
        match self.series.iter_mut().find(|one| one.name == series) {
            Some(one) => one.points.push(point),
            None => self.series.push(Series { name: series.to_owned(), points: vec![point] }),
        }
    }
}

/// Whether so many bytes fit on the disk; if not, prints that the size is left out.
pub(crate) fn fits(folder: &Path, size: u64, bytes: u64) -> Result<bool> {
    let disk = rustix::fs::statvfs(folder)?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < bytes {
        println!(
            "{size} is left out: it needs {} GB of disk, and {} GB are free",
            bytes / GB,
            free / GB
        );
    }
    Ok(free >= bytes)
}

/// Bytes of a gigabyte.
const GB: u64 = 1_000_000_000;
