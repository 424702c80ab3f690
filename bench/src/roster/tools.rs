//! The programs that a run needs beside our own.

use std::process::{Command, Stdio};

use anyhow::{Result, bail, ensure};

/// Installs `wrk` if that is possible, or says how.
pub(crate) fn install() -> Result<()> {
    if !works("taskset", &["--version"]) {
        bail!("'taskset' is missing; install the package util-linux");
    }
    if works("wrk", &["--version"]) {
        return Ok(());
    }
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.starts_with(b"0\n"));
    ensure!(
        root && works("apt-get", &["--version"]),
        "'wrk' is missing; install it, for example with `sudo apt-get install wrk`"
    );
    println!("$ apt-get install --yes wrk");
    let status = Command::new("apt-get").args(["install", "--quiet", "--yes", "wrk"]).status()?;
    ensure!(status.success(), "'apt-get install wrk' failed; run `apt-get update` first");
    Ok(())
}

/// Whether the program can be started. `wrk --version` ends with status 1.
fn works(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}
