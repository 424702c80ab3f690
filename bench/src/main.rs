//! Load runs that hold Lyceum against other programs and the limits of the machine, in one run.
//!
//! Each side is a process of its own on core 1; the load comes from core 0. Ratios of one run and
//! CPU a request decide; requests a second alone say little on a shared machine.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is a table for people")]

mod adaptive;
mod all;
mod anchor;
mod chart;
mod credentials;
mod data;
mod events;
mod goals;
mod hosting;
mod limits;
mod load;
mod lyceum;
mod machine;
mod options;
mod page;
mod pairs;
mod process;
mod report;
mod roster;
mod server;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;

/// Measure Lyceum beside other programs
#[derive(Parser)]
#[command(name = "lyceum-bench")]
enum Command {
    /// Measure the roster against every goal
    Roster(roster::Options),
    /// Measure events and analytics against every goal
    Events(events::Options),
    /// Measure adaptive lessons against every goal
    Adaptive(adaptive::Options),
    /// Measure issuing and verifying badges against every goal
    Credentials(credentials::Options),
    /// Measure deployed backends against every goal
    Hosting(hosting::Options),
    /// Measure all subjects, and write docs/benchmarks.md with charts
    All(all::Options),
    /// Serve the bare anchor until killed
    #[command(hide = true)]
    Anchor {
        #[arg(long)]
        listen: String,
        #[arg(long)]
        database: PathBuf,
        /// Threads that answer requests
        #[arg(long)]
        workers: usize,
    },
}

fn main() -> Result<()> {
    match Command::parse() {
        Command::Roster(options) => roster::run(&options),
        Command::Events(options) => events::run(&options),
        Command::Adaptive(options) => adaptive::run(&options),
        Command::Credentials(options) => credentials::run(&options),
        Command::Hosting(options) => hosting::run(&options),
        Command::All(options) => all::run(&options),
        Command::Anchor { listen, database, workers } => anchor::serve(&listen, &database, workers),
    }
}
