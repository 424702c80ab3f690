//! `cargo xtask bench`: the load runs of the crate `lyceum-bench`, against the release binary.

use anyhow::{Result, bail};

use crate::build;
use crate::run::{cargo, command, run, target};

/// What can be measured.
const SUBJECTS: [&str; 8] =
    ["roster", "events", "qti", "adaptive", "credentials", "standards", "sandbox", "hosting"];

/// Builds both and runs the bench with the arguments.
pub(crate) fn bench(arguments: &[String]) -> Result<()> {
    if !arguments.first().is_some_and(|subject| SUBJECTS.contains(&subject.as_str())) {
        bail!("say what to measure: `cargo xtask bench` with one of {}", SUBJECTS.join(", "));
    }
    if arguments[0] == "hosting" {
        build::installed("tests/hosting")?;
        build::installed("tests/deploy")?;
    }
    build::assets()?;
    run(cargo(["build", "--release", "--package", "lyceum", "--package", "lyceum-bench"]))?;
    run(command(target().join("release/lyceum-bench"), arguments))
}
