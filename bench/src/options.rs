//! The options that all subjects share.

use std::path::PathBuf;
use std::time::Duration;

/// How long and how often a run measures, with which program, and where its files go.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct RunOptions {
    /// Seconds of each load
    #[arg(long, default_value_t = 8)]
    pub(crate) seconds: u64,
    /// Times that each figure is measured
    #[arg(long, default_value_t = 3)]
    pub(crate) rounds: usize,
    /// A short run on little data: shows that everything works, measures little
    #[arg(long)]
    pub(crate) quick: bool,
    /// The server's binary [default: the file 'lyceum' beside this program]
    #[arg(long, default_value_os_t = lyceum_beside(), hide_default_value = true)]
    pub(crate) lyceum: PathBuf,
    /// The folder for databases and reports
    #[arg(long, default_value = "target/bench")]
    pub(crate) folder: PathBuf,
}

impl RunOptions {
    /// How long each load runs.
    pub(crate) fn time(&self) -> Duration {
        Duration::from_secs(if self.quick { 1 } else { self.seconds })
    }

    /// How often each figure is measured.
    pub(crate) fn rounds(&self) -> usize {
        if self.quick { 1 } else { self.rounds }
    }
}

fn lyceum_beside() -> PathBuf {
    let own = std::env::current_exe().expect("the system tells a program its own file");
    own.with_file_name("lyceum")
}
