//! The facts without which a figure means nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::options::RunOptions;

/// The machine and how busy it was before the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MachineDescription {
    /// Cores that this process may use.
    pub(crate) cores: usize,
    /// The processor's name.
    pub(crate) cpu: String,
    /// The kernel's release.
    pub(crate) kernel: String,
    /// GiB of memory.
    pub(crate) memory_gib: f64,
    /// Load average of the minute before.
    pub(crate) load_before: f64,
}

impl MachineDescription {
    /// Reads `/proc`.
    pub(crate) fn read() -> Result<Self> {
        let memory = field("/proc/meminfo", "MemTotal")?;
        let kib = memory.split_whitespace().next().context("'meminfo' gives a number")?;
        let load = std::fs::read_to_string("/proc/loadavg")?;
        let minute = load.split_whitespace().next().context("'loadavg' has a first field")?;
        Ok(Self {
            cores: std::thread::available_parallelism()?.get(),
            cpu: field("/proc/cpuinfo", "model name")?,
            kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease")?.trim().to_owned(),
            memory_gib: kib.parse::<f64>()? / f64::from(1 << 20),
            load_before: minute.parse()?,
        })
    }

    /// The machine alone, for people.
    pub(crate) fn hardware(&self) -> String {
        let Self { cores, cpu, kernel, memory_gib, .. } = self;
        format!("{cores} cores, {cpu}, {memory_gib:.0} GiB, Linux {kernel}")
    }
}

/// The value of the first line `name : value`.
fn field(file: &str, name: &str) -> Result<String> {
    let text = std::fs::read_to_string(file)?;
    let line = text.lines().find(|line| line.starts_with(name));
    let (_, value) = line
        .and_then(|line| line.split_once(':'))
        .with_context(|| format!("'{file}' does not name '{name}'"))?;
    Ok(value.trim().to_owned())
}

/// npm packages that are measured, with their folders.
const PACKAGES: [(&str, &str); 3] = [
    ("miniflare", "tests/hosting/node_modules/miniflare"),
    ("workerd", "tests/hosting/node_modules/workerd"),
    ("@digitalbazaar/vc", "target/verifiers/node_modules/@digitalbazaar/vc"),
];

/// The release of each program by its name. Programs that are not installed are left out.
pub(crate) fn versions(run: &RunOptions) -> BTreeMap<String, String> {
    let programs = [
        ("Lyceum", run.lyceum.clone(), "--version"),
        ("PostgreSQL", PathBuf::from("psql"), "--version"),
        ("Ralph", run.folder.join("ralph/bin/ralph"), "--version"),
        ("Node", PathBuf::from("node"), "--version"),
        ("wrk", PathBuf::from("wrk"), "--version"),
    ];
    let mut versions: BTreeMap<String, String> = programs
        .into_iter()
        .filter_map(|(name, program, flag)| Some((name.to_owned(), printed(&program, flag)?)))
        .collect();
    for (name, folder) in PACKAGES {
        versions.extend(package(folder).map(|version| (name.to_owned(), version)));
    }
    versions.insert("SQLite".to_owned(), rusqlite::version().to_owned());
    versions
}

/// The first word with a digit in the first line that the program prints about itself.
fn printed(program: &Path, flag: &str) -> Option<String> {
    // `wrk --version` ends with status 1.
    let output = Command::new(program).arg(flag).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = text.lines().next()?.split_whitespace();
    words.find(|word| word.contains(|c: char| c.is_ascii_digit())).map(str::to_owned)
}

/// The version in the `package.json` of a folder.
fn package(folder: &str) -> Option<String> {
    let text = std::fs::read_to_string(Path::new(folder).join("package.json")).ok()?;
    let package: Value = serde_json::from_str(&text).ok()?;
    package["version"].as_str().map(str::to_owned)
}
