//! The findings of a run, as a table for people and as JSON for machines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use lyceum_core::time::{Clock, SystemClock};
use serde::{Deserialize, Serialize};

use crate::goals::Finding;
use crate::machine::{self, MachineDescription};
use crate::options::RunOptions;

/// Everything that one run found.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The area that was measured; also the name of the report's file.
    pub(crate) subject: String,
    /// The day on which the run began, in UTC.
    pub(crate) date: String,
    /// Where it ran.
    pub(crate) machine: MachineDescription,
    /// The release of each program that was measured or helped.
    pub(crate) versions: BTreeMap<String, String>,
    /// The data behind the figures, for people.
    pub(crate) data: String,
    /// Seconds of each load.
    pub(crate) load_seconds: u64,
    /// Times that each figure was measured.
    pub(crate) rounds: usize,
    /// Seconds of the whole run.
    pub(crate) run_seconds: u64,
    /// The figures of Lyceum against each goal.
    pub(crate) findings: Vec<Finding>,
    #[serde(skip)]
    start: Option<Instant>,
}

impl Report {
    /// Begins a run: makes the folder, and reads and prints the machine.
    pub(crate) fn start(subject: &str, run: &RunOptions, data: String) -> Result<Self> {
        std::fs::create_dir_all(&run.folder)?;
        let machine = MachineDescription::read()?;
        println!("{}\n{data}\n", machine.hardware());
        Ok(Self {
            subject: subject.to_owned(),
            date: SystemClock.now().to_string()[..10].to_owned(),
            machine,
            versions: BTreeMap::new(),
            data,
            load_seconds: run.time().as_secs(),
            rounds: run.rounds(),
            run_seconds: 0,
            findings: Vec::new(),
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
        let missed = self.findings.iter().filter(|found| !found.is_met());
        let missed: Vec<&str> = missed.map(|found| found.goal().id).collect();
        let met = self.findings.len() - missed.len();
        println!("\n{met} of {} met; missed: {}", self.findings.len(), missed.join(", "));
        self.run_seconds = self.start.map_or(0, |start| start.elapsed().as_secs());
        self.versions = machine::versions(run);
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
        let report = serde_json::from_str::<Self>(&std::fs::read_to_string(&file)?);
        ensure!(
            report.as_ref().is_ok_and(|report| report.findings.iter().all(Finding::has_goal)),
            "'{}' is not a report of this release; measure it again",
            file.display()
        );
        Ok(report.ok())
    }
}

/// A line of the table.
fn row(finding: &Finding) -> String {
    let (goal, Finding { measured, detail, .. }) = (finding.goal(), finding);
    let verdict = if finding.is_met() { "met   " } else { "MISSED" };
    let bar = goal.bar.to_string();
    let spread = format!("{:.3} ({:.3} to {:.3})", measured.median, measured.low, measured.high);
    format!("{verdict} {:<24} {bar:>10}  {spread:<32} {}\n       {detail}", goal.id, goal.what)
}
