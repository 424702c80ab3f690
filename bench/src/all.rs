//! `lyceum-bench all`: every subject, each as a process of its own, and the page about them.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::data::RECORDS_PER_STUDENT;
use crate::options::RunOptions;
use crate::page::{self, AREAS};
use crate::report::Report;

/// Students of the small network, unless the large one is not ten times as large.
const SMALL_STUDENTS: u64 = 10_000;

/// How long and how large the runs are.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
    /// Records of the largest roster, and events of the full log, from 100 000. Ten million take 15 GiB of disk
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(100_000..))]
    largest: u64,
    /// Keep the reports of an earlier run and measure only the other subjects
    #[arg(long)]
    resume: bool,
    /// The folder of the page and its pictures
    #[arg(long, default_value = "docs")]
    documents: PathBuf,
}

/// Measures all subjects and writes the page. A subject that fails does not stop the others. Errors: a subject failed.
pub(crate) fn run(options: &Options) -> Result<()> {
    let RunOptions { folder, .. } = &options.run;
    let mut failed = Vec::new();
    for (at, (subject, ..)) in AREAS.iter().enumerate() {
        let file = Report::file(folder, subject);
        if options.resume && file.exists() {
            eprintln!("== {subject}: measured before");
            continue;
        }
        eprintln!("== {subject} ({} of {})", at + 1, AREAS.len());
        if file.exists() {
            std::fs::remove_file(&file)?;
        }
        let start = Instant::now();
        let status = options.command(subject)?.status()?;
        let seconds = start.elapsed().as_secs();
        if status.success() {
            eprintln!("== {subject}: measured in {seconds} s");
        } else {
            eprintln!("== {subject}: failed after {seconds} s ({status}); its error is above");
            failed.push(*subject);
        }
    }
    let subjects = page::write(folder, &options.documents)?;
    eprintln!(
        "wrote {} with {subjects} subjects",
        options.documents.join("benchmarks.md").display()
    );
    if !failed.is_empty() {
        bail!(
            "not measured: {}; fix the cause and measure them with `cargo xtask bench all --resume`",
            failed.join(", ")
        );
    }
    Ok(())
}

impl Options {
    /// The command that measures one subject.
    fn command(&self, subject: &str) -> Result<Command> {
        let Self { run, largest, .. } = self;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(subject).arg("--lyceum").arg(&run.lyceum).arg("--folder").arg(&run.folder);
        command.args(["--seconds", &run.seconds.to_string()]);
        command.args(["--rounds", &run.rounds.to_string()]);
        if run.quick {
            command.arg("--quick");
        }
        let large = largest / RECORDS_PER_STUDENT;
        let small = SMALL_STUDENTS.min(large / 10);
        match subject {
            "roster" => {
                command.args(["--small", &small.to_string(), "--large", &large.to_string()])
            }
            "events" => command.args(["--stored", &largest.to_string()]),
            _ => &mut command,
        };
        Ok(command)
    }
}
