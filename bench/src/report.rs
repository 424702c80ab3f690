//! What a run found, as a table for people and as JSON for machines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use lyceum_core::time::{Clock, SystemClock};
use serde::{Deserialize, Serialize};

use crate::goals::Finding;
use crate::limits::Limit;
use crate::machine::MachineDescription;
use crate::options::RunOptions;
use crate::versions;

/// Everything that one run found.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// What was measured; also the name of the report's file.
    pub(crate) subject: String,
    /// The day on which the run began, in UTC.
    pub(crate) date: String,
    /// Where it ran.
    pub(crate) machine: MachineDescription,
    /// The release of each program that was measured or helped.
    pub(crate) versions: BTreeMap<String, String>,
    /// What the figures are of, for people.
    pub(crate) data: String,
    /// Seconds of each load.
    pub(crate) load_seconds: u64,
    /// Times that each figure was measured.
    pub(crate) rounds: usize,
    /// Seconds of the whole run.
    pub(crate) run_seconds: u64,
    /// Raw limits of the machine.
    pub(crate) limits: Vec<Limit>,
    /// The figures of Lyceum against each goal.
    pub(crate) findings: Vec<Finding>,
    /// Figures by the size of the data.
    pub(crate) curves: Vec<Curve>,
    #[serde(skip)]
    start: Option<Instant>,
}

/// Figures by the size of the data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Curve {
    /// The name of its picture.
    pub(crate) name: String,
    /// What grows or does not.
    pub(crate) title: String,
    /// The unit of the size, such as `events stored`.
    pub(crate) size: String,
    /// The unit of the figures, such as `ms`.
    pub(crate) unit: String,
    /// What was measured, with a figure for each size.
    pub(crate) series: Vec<Series>,
}

/// One line of a curve.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Series {
    /// What was measured.
    pub(crate) name: String,
    /// Size and figure.
    pub(crate) points: Vec<(f64, f64)>,
}

impl Report {
    /// Begins a run: makes the folder, and reads and prints the machine.
    pub(crate) fn start(subject: &str, run: &RunOptions, data: String) -> Result<Self> {
        std::fs::create_dir_all(&run.folder)?;
        let machine = MachineDescription::read()?;
        println!("{machine}\n{data}\n");
        Ok(Self {
            subject: subject.to_owned(),
            date: SystemClock.now().to_string()[..10].to_owned(),
            machine,
            versions: BTreeMap::new(),
            data,
            load_seconds: run.time().as_secs(),
            rounds: run.rounds(),
            run_seconds: 0,
            limits: Vec::new(),
            findings: Vec::new(),
            curves: Vec::new(),
            start: Some(Instant::now()),
        })
    }

    /// Adds what was found and prints it at once: a run takes long.
    pub(crate) fn add(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            println!("{}", row(&finding));
            self.findings.push(finding);
        }
    }

    /// Ends the run: prints how many goals are met and which are not, and writes the report.
    pub(crate) fn finish(mut self, run: &RunOptions) -> Result<()> {
        let missed: Vec<&str> =
            self.findings.iter().filter(|found| !found.met).map(|found| found.goal.id).collect();
        if !self.findings.is_empty() {
            let met = self.findings.len() - missed.len();
            println!("\n{met} of {} met; missed: {}", self.findings.len(), missed.join(", "));
        }
        self.run_seconds = self.start.map_or(0, |start| start.elapsed().as_secs());
        self.versions = versions::installed(run);
        let file = Self::file(&run.folder, &self.subject);
        std::fs::write(&file, serde_json::to_string_pretty(&self)?)
            .with_context(|| format!("cannot write '{}'", file.display()))
    }

    /// The file of a subject's report.
    pub(crate) fn file(folder: &Path, subject: &str) -> PathBuf {
        folder.join(format!("{subject}.json"))
    }

    /// The report of an earlier run, if there is one. Errors: it cannot be read.
    pub(crate) fn read(folder: &Path, subject: &str) -> Result<Option<Self>> {
        let file = Self::file(folder, subject);
        if !file.exists() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&file)?;
        let report = serde_json::from_str(&text);
        report.map(Some).with_context(|| {
            format!("'{}' is not a report of this release; measure it again", file.display())
        })
    }
}

/// Prints the raw limits.
pub(crate) fn print_limits(limits: &[Limit]) {
    println!("{:<52} {:>12} {:>14} {:>10}", "limit", "per second", "per CPU second", "p50 µs");
    for Limit { name, per_second, per_cpu_second, p50_us } in limits {
        println!("{name:<52} {per_second:>12.0} {per_cpu_second:>14.0} {p50_us:>10.1}");
    }
    println!();
}

/// One line of the table.
fn row(finding: &Finding) -> String {
    let Finding { goal, measured, met, detail } = finding;
    let verdict = if *met { "met   " } else { "MISSED" };
    let bar = goal.bar.to_string();
    let spread = format!("{:.3} ({:.3} to {:.3})", measured.median, measured.low, measured.high);
    format!("{verdict} {:<24} {bar:>10}  {spread:<32} {}\n       {detail}", goal.id, goal.what)
}
