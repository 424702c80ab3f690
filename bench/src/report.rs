//! What a run found, as a table for people and as JSON for machines.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::goals::{Bar, Finding};
use crate::limits::Limit;
use crate::machine::Machine;

/// Everything that one run found.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Where it ran.
    pub(crate) machine: Machine,
    /// Students of the small and the large network, or events of the first and the full log.
    pub(crate) sizes: [u64; 2],
    /// Raw limits of the machine.
    pub(crate) limits: Vec<Limit>,
    /// The figures of Lyceum against each goal.
    pub(crate) findings: Vec<Finding>,
}

impl Report {
    /// Adds what was found and prints it at once: a run takes long.
    pub(crate) fn add(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            println!("{}", row(&finding));
            self.findings.push(finding);
        }
    }

    /// Prints the machine.
    pub(crate) fn print_machine(&self) {
        let Machine { cores, cpu, kernel, memory_gib, load_before } = &self.machine;
        println!(
            "{cores} cores, {cpu}, {memory_gib:.0} GiB, Linux {kernel}, load {load_before} before"
        );
    }

    /// Prints how many goals are met, and which are not.
    pub(crate) fn print_end(&self) {
        let missed: Vec<&str> =
            self.findings.iter().filter(|found| !found.met).map(|found| found.goal.id).collect();
        let met = self.findings.len() - missed.len();
        println!("\n{met} of {} met; missed: {}", self.findings.len(), missed.join(", "));
    }

    /// Writes the report as JSON.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let text = serde_json::to_string_pretty(self)?;
        std::fs::write(path, text).with_context(|| format!("cannot write '{}'", path.display()))
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
    let bar = match goal.bar {
        Bar::AtLeast(bar) => format!(">= {bar}"),
        Bar::AtMost(bar) => format!("<= {bar}"),
    };
    let spread = format!("{:.3} ({:.3} to {:.3})", measured.median, measured.low, measured.high);
    format!("{verdict} {:<24} {bar:>10}  {spread:<32} {}\n       {detail}", goal.id, goal.what)
}
