//! The npm packages in Node and in Chromium, run as app developers run them.
//!
//! It takes longest of all, and tests begin in the order of their names: under this one it runs beside
//! the others.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::served::{binary, root, wait};

/// More than a file of tests may take by itself, so that it is mostly the file that is told.
const TESTS_MAX: Duration = Duration::from_mins(10);

#[test]
fn the_npm_packages_pass_their_tests() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut tests = Command::new("npm")
        .arg("test")
        .current_dir(root().join("web"))
        .env("LYCEUM_TEST_BIN", binary())
        .stdin(Stdio::null())
        .stdout(log.reopen().unwrap())
        .stderr(log.reopen().unwrap())
        .process_group(0)
        .spawn()
        .expect("npm is installed (https://nodejs.org)");
    let status = wait(&mut tests, TESTS_MAX);
    if status.is_none() {
        // With all that they started: what is left over would slow down every other test.
        kill_process_group(Pid::from_child(&tests), Signal::KILL).unwrap();
        tests.wait().unwrap();
    }
    let said = std::fs::read_to_string(log.path()).unwrap();
    assert!(status.is_some_and(|status| status.success()), "npm test: {status:?}\n{said}");
    println!("{}", said.lines().filter(|line| line.contains(" pass ")).collect::<String>());
}
