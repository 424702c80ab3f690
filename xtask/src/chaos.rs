//! `cargo xtask chaos`: lets the parts of a cluster fail while clients use it, and prints what that did.

use anyhow::{Context, Result, bail};

use crate::run::{cargo, command, lyceum, output, run};
use crate::test::Level;
use crate::{build, prerequisites};

/// Runs the test of the crate `lyceum` in full size, against the release build.
pub(crate) fn chaos(arguments: &[String]) -> Result<()> {
    if output(command("id", ["-u"]))?.trim() != "0" {
        bail!("`cargo xtask chaos` needs root, because it makes networks and mounts disks");
    }
    let mut test = cargo(["test", "--package", "lyceum", "--test", "it", "chaos::", "--"]);
    test.args(["--nocapture", "--include-ignored"])
        .env("LYCEUM_TEST_SIZE", "full")
        .env("LYCEUM_TEST_BIN", lyceum());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--minutes" => test.env("LYCEUM_TEST_CHAOS_MINUTES", value()?),
            "--seed" => test.env("LYCEUM_TEST_CHAOS_SEED", value()?),
            "--faults" => test.env("LYCEUM_TEST_CHAOS_FAULTS", value()?),
            "--json" => test.env("LYCEUM_TEST_CHAOS_JSON", std::path::absolute(value()?)?),
            other => bail!("unknown argument '{other}'; use --minutes, --seed, --faults or --json"),
        };
    }
    prerequisites::install(Level::Rest)?;
    build::assets()?;
    build::installed("tests/hosting")?;
    build::installed("tests/deploy")?;
    build::release()?;
    run(test)
}
