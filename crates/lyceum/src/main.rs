//! The `lyceum` binary: parses the arguments, resolves the settings, runs one command and exits with its code.
//!
//! | what | where |
//! |---|---|
//! | arguments of all commands, and the reference generated from them | `cli`, `reference` |
//! | groups of commands and examples in help texts | `help`, `examples` |
//! | one file per command | `commands` |
//! | flags, environment variables and the settings file, merged into one value | `settings` |
//! | output: the only place that prints | `printer` |
//! | errors and exit codes, Ctrl-C | `failure`, `interrupt` |
//! | the project in the current folder; the server that a command talks to | `project`, `profile`, `remote` |
//! | the lock of the data folder | `in_use` |
//! | the log of a running server | `logs` |

mod cli;
mod commands;
mod examples;
mod failure;
mod help;
mod in_use;
mod interrupt;
mod logs;
mod printer;
mod profile;
mod project;
mod reference;
mod remote;
mod settings;

use std::process::ExitCode;

use clap::FromArgMatches;
use cli::Command::{Dev, Sandbox, Serve};

/// Threads store and free values that other threads allocated. With jemalloc an event costs a sixth less than
/// with the allocator of the C library, and a twelfth less than with mimalloc.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let arguments = help::command().get_matches();
    let cli = cli::Cli::from_arg_matches(&arguments).unwrap_or_else(|error| error.exit());
    let printer = printer::Printer::new(&cli.output);
    // These commands shut down gracefully by themselves.
    if !matches!(cli.command, Serve(_) | Sandbox(_) | Dev(_)) {
        interrupt::ends(printer::Printer::new(&cli.output));
    }
    match commands::run(cli.command, &printer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            printer.failure(&failure);
            failure.exit_code()
        }
    }
}
