//! The `lyceum` binary: parse, build settings, run one command, tell how it went.
//!
//! Flags, variables and a file become one typed [`settings`] value before a command runs; only
//! [`printer`] writes to the terminal; [`failure`] decides the exit code, which [`interrupt`] does for
//! Ctrl-C.

mod cli;
mod commands;
mod failure;
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

use clap::Parser;
use cli::Command::{Dev, Sandbox, Serve};
use tikv_jemallocator::Jemalloc;

/// What one thread reads another one stores and frees: beside the allocator of the C library, an event costs a
/// sixth less.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let printer = printer::Printer::new(&cli.output);
    // The servers end in a way of their own.
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
