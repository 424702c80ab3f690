//! Load runs that hold Lyceum against a bare anchor and the limits of the machine, in one run.
//!
//! Each side is a process of its own on core 1; the load comes from core 0. Ratios of one run and
//! CPU a request decide; requests a second alone say little on a shared machine.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is a table for people")]

mod adaptive;
mod all;
mod anchor;
mod client;
mod console;
mod credentials;
mod data;
mod events;
mod goals;
mod growth;
mod hosting;
mod lesson;
mod limits;
mod load;
mod lyceum;
mod machine;
mod options;
mod page;
mod pairs;
mod process;
mod qti;
mod report;
mod roster;
mod sandbox;
mod server;
mod standards;
mod versions;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "lyceum-bench", about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure the roster against every goal
    Roster(roster::Options),
    /// Measure events and analytics against every goal
    Events(events::Options),
    /// Measure assessment content against every goal
    Qti(qti::Options),
    /// Measure adaptive lessons against every goal
    Adaptive(adaptive::Options),
    /// Measure frameworks of academic standards against every goal
    Standards(standards::Options),
    /// Measure issuing and verifying badges against every goal
    Credentials(credentials::Options),
    /// Measure the console's pages about everybody against every goal
    Console(console::Options),
    /// Measure the start and the memory of a sandbox against every goal
    Sandbox(sandbox::Options),
    /// Measure deployed backends against every goal
    Hosting(hosting::Options),
    /// Measure rosters and event logs of each power of ten
    Growth(growth::Options),
    /// Measure all subjects, and write docs/benchmarks.md with charts
    All(all::Options),
    /// Serve the bare anchor until killed
    Anchor {
        /// Host and port
        #[arg(long)]
        listen: String,
        /// Database that `fill` made
        #[arg(long)]
        database: PathBuf,
        /// Threads that answer requests
        #[arg(long)]
        workers: usize,
    },
    /// Serve an open and a guarded route that do nothing, until killed
    Probe {
        /// Folder for the database
        folder: PathBuf,
    },
    /// Make the anchor's database
    Fill {
        /// File to make
        #[arg(long)]
        database: PathBuf,
        /// Students, with ten enrollments each
        #[arg(long)]
        users: u64,
    },
    /// Print the raw limits of the machine
    Limits {
        /// Database that `fill` made
        #[arg(long)]
        database: PathBuf,
        /// Students in it
        #[arg(long)]
        users: u64,
        /// Seconds a limit
        #[arg(long, default_value_t = 2)]
        seconds: u64,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Roster(options) => roster::run(&options),
        Command::Events(options) => events::run(&options),
        Command::Qti(options) => qti::run(&options),
        Command::Adaptive(options) => adaptive::run(&options),
        Command::Standards(options) => standards::run(&options),
        Command::Credentials(options) => credentials::run(&options),
        Command::Console(options) => console::run(&options),
        Command::Sandbox(options) => sandbox::run(&options),
        Command::Hosting(options) => hosting::run(&options),
        Command::Growth(options) => growth::run(&options),
        Command::All(options) => all::run(&options),
        Command::Anchor { listen, database, workers } => anchor::serve(&listen, &database, workers),
        Command::Probe { folder } => roster::serve_probe(&folder),
        Command::Fill { database, users } => anchor::fill(&database, users),
        Command::Limits { database, users, seconds } => {
            let limits = limits::all(&database, users, Duration::from_secs(seconds))?;
            report::print_limits(&limits);
            Ok(())
        }
    }
}
