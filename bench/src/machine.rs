//! The facts without which a figure means nothing.

use std::fmt;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

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

impl fmt::Display for MachineDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, load {} before", self.hardware(), self.load_before)
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
