//! Runs the scripts of `tests/clients` in environments of their own.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::served::{Key, Served, root, target, wait};

/// The time that one script may take, including the creation of its environment.
const SCRIPT_MAX: Duration = Duration::from_mins(15);

/// Runs a script against the server; its closing lines. Panics with what failed.
pub(crate) fn run(
    served: &Served,
    key: &Key,
    environment: &str,
    script: &str,
    more: &[&str],
) -> String {
    let scripts = root().join("tests/clients");
    let log = served.file("script.log");
    let output = File::create(&log).unwrap();
    let mut process = Command::new("python3")
        .arg(scripts.join("bootstrap.py"))
        .arg(target().join("venvs"))
        .arg(environment)
        .arg(scripts.join(script))
        .args(["--base", &served.base, "--auth", &format!("{}/oauth2/token", served.base)])
        .args(["--id", &key.id, "--secret", &key.secret])
        .args(more)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .stdout(output.try_clone().unwrap())
        .stderr(output)
        .spawn()
        .expect("python3 is installed (`cargo xtask test` does so)");
    let status = wait(&mut process, SCRIPT_MAX);
    if status.is_none() {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let output = std::fs::read_to_string(&log).unwrap();
    assert!(
        status.is_some_and(|status| status.success()),
        "{script} {more:?} ended with {status:?}:\n{}\nthe server wrote:\n{}",
        findings(&output),
        served.log()
    );
    output.lines().last().unwrap_or_default().to_owned()
}

/// The output without the checks that passed.
fn findings(output: &str) -> String {
    let lines = output.lines().filter(|line| !line.starts_with("ok "));
    lines.collect::<Vec<_>>().join("\n")
}

/// A path as an argument.
pub(crate) fn argument(path: &Path) -> &str {
    path.to_str().unwrap()
}
