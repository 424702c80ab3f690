//! The repository's own commands, run as `cargo xtask COMMAND`.
//!
//! Each external step is printed before it runs, so that a reader can repeat it by hand. There are
//! few dependencies: this crate is compiled before anything else happens.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the terminal is its only output")]

mod bench;
mod build;
mod changed;
mod chaos;
mod demo;
mod http;
mod pack;
mod prerequisites;
mod run;
mod screenshots;
mod test;
mod test_programs;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  build                               build the release binary target/release/lyceum
  pack [npm|tarball|deb|container]    make packages in target/packages: npm tarballs, a release tarball,
       [--program FILE] [--out FOLDER] a Debian package, the folder of a container; all of them by default
  demo [--listen HOST:PORT]           build fast, create a demo school network and serve it
       [--students COUNT]
  test                                check format and lints, build, run the tests that every change must pass
  test --rest                         run the other tests: every screen, guide, package, machine and fault, in small size
  test --changed [BASE]               run the tests of the crates that the changes since BASE can break; BASE is HEAD by default
  test ARGS                           run `cargo test ARGS` on the debug build, with all that the tests need
  soak [ARGS]                         all tests at their full size, and attacks by hostile clients
  chaos [--minutes N] [--seed N]      kill, pause, cut off and fill up the parts of a cluster while clients use it, and print
        [--faults A,B] [--json FILE]  recovery times and lost writes; repeats all faults for N minutes; needs root
  screenshots                         take pictures of all pages in target/screenshots
  bench SUBJECT [ARGS]                measure roster, events, adaptive, credentials or hosting;
                                      `all` measures each of them and writes docs/benchmarks.md";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let Some((command, rest)) = arguments.split_first() else {
        bail!("no command given\n\n{USAGE}");
    };
    match command.as_str() {
        "build" => build::all(),
        "pack" => pack::pack(&pack::Options::parse(rest)?),
        "demo" => demo::demo(&demo::Options::parse(rest)?),
        "demo-announce" => demo::announce(rest),
        "test" => test::test(rest),
        "soak" => test::soak(rest),
        "chaos" => chaos::chaos(rest),
        "screenshots" => screenshots::screenshots(),
        "bench" => bench::bench(rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        other => bail!("unknown command '{other}'\n\n{USAGE}"),
    }
}
