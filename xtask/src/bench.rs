//! `cargo xtask bench`: the load runs of the crate `lyceum-bench`, against the release binary.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::build;
use crate::run::{cargo, command, run, target};

/// The areas that can be measured.
const SUBJECTS: [&str; 6] = ["all", "roster", "events", "adaptive", "credentials", "hosting"];
/// The variable with a folder that has both programs already.
const PROGRAMS: &str = "LYCEUM_BENCH_PROGRAMS";

/// Builds both programs, unless [`PROGRAMS`] names their folder, and runs the bench with the arguments.
pub(crate) fn bench(arguments: &[String]) -> Result<()> {
    if !arguments.first().is_some_and(|subject| SUBJECTS.contains(&subject.as_str())) {
        bail!("say what to measure: `cargo xtask bench` with one of {}", SUBJECTS.join(", "));
    }
    if ["all", "hosting"].contains(&arguments[0].as_str()) {
        build::installed("tests/hosting")?;
        build::installed("tests/deploy")?;
    }
    let programs = match std::env::var_os(PROGRAMS) {
        Some(folder) => PathBuf::from(folder),
        None => {
            build::assets()?;
            run(cargo(["build", "--release", "--package", "lyceum", "--package", "lyceum-bench"]))?;
            target().join("release")
        }
    };
    let mut bench = command(programs.join("lyceum-bench"), arguments);
    // The servers that it starts refuse variables that are no settings.
    bench.env_remove(PROGRAMS);
    run(bench)
}
