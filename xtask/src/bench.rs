//! `cargo xtask bench`: the load runs of the crate `lyceum-bench`, against the release binary.

use anyhow::{Result, bail};

use crate::build;
use crate::run::{cargo, command, run, target};

/// Builds both and runs the bench with the arguments.
pub(crate) fn bench(arguments: &[String]) -> Result<()> {
    if arguments.first().is_none_or(|what| what != "roster" && what != "events") {
        bail!("say what to measure: `cargo xtask bench roster` or `cargo xtask bench events`");
    }
    build::assets()?;
    run(cargo(["build", "--release", "--package", "lyceum", "--package", "lyceum-bench"]))?;
    run(command(target().join("release/lyceum-bench"), arguments))
}
