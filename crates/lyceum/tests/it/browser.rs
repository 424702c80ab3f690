//! The npm packages in Node and in Chromium, run as app developers run them.
//!
//! They take longest of all, and tests begin in the order of their names: under this one they run beside the others. Every
//! change must pass a journey of each role.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use lyceum_testkit::full_size;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::served::{Store, binary, root, wait};

/// More than a file of tests may take by itself, so that it is mostly the file that is told.
fn longest() -> Duration {
    Duration::from_mins(if full_size() { 40 } else { 10 })
}

/// The folders of tests, below `web`.
const FOLDERS: [&str; 3] = ["sdk/tests", "vite/tests", "tests"];

#[derive(Clone, Copy, PartialEq)]
enum Part {
    FirstScreens,
    OtherScreens,
    Apps,
    Students,
    Classroom,
    Packages,
    Journeys,
}

/// The part in which a file of tests runs. Parts take about the same time.
fn part_of(file: &str) -> Part {
    match file {
        "tests/console.test.js" => Part::FirstScreens,
        "tests/console-more.test.js" => Part::OtherScreens,
        "tests/newcomer.test.js" | "tests/templates.test.js" => Part::Apps,
        "tests/journeys.test.js" | "tests/learn.test.js" => Part::Journeys,
        "tests/learn-files.test.js"
        | "tests/learn-tabs.test.js"
        | "tests/lesson-types.test.js"
        | "tests/shared-device.test.js" => Part::Students,
        "tests/classroom.test.js" => Part::Classroom,
        _ => Part::Packages,
    }
}

#[test]
fn each_role_makes_its_journey() {
    run(Part::Journeys);
}

#[test]
#[ignore = "rest"]
fn the_first_screens_of_the_console_pass_their_tests() {
    run(Part::FirstScreens);
}

#[test]
#[ignore = "rest"]
fn the_other_screens_of_the_console_pass_their_tests() {
    run(Part::OtherScreens);
}

#[test]
#[ignore = "rest"]
fn apps_pass_their_tests() {
    run(Part::Apps);
}

#[test]
#[ignore = "rest"]
fn the_pages_of_students_pass_their_tests() {
    run(Part::Students);
}

#[test]
#[ignore = "rest"]
fn a_class_loses_no_answer() {
    run(Part::Classroom);
    if full_size()
        && let Store::Postgres(database) = Store::postgres()
    {
        run_with(Part::Classroom, &[("LYCEUM_TEST_DATABASE", &database)]);
    }
}

#[test]
#[ignore = "rest"]
fn the_npm_packages_pass_their_tests() {
    run(Part::Packages);
}

fn run(part: Part) {
    run_with(part, &[]);
}

fn run_with(part: Part, variables: &[(&str, &str)]) {
    let files = FOLDERS.iter().flat_map(|folder| {
        let entries = fs::read_dir(root().join("web").join(folder)).unwrap();
        entries.map(move |entry| format!("{folder}/{}", entry.unwrap().file_name().display()))
    });
    let files = files.filter(|file| file.ends_with(".test.js") && part_of(file) == part);
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut tests = Command::new("npm")
        .args(["test", "--"])
        .args(files)
        .current_dir(root().join("web"))
        .env("LYCEUM_TEST_BIN", binary())
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(log.reopen().unwrap())
        .stderr(log.reopen().unwrap())
        .process_group(0)
        .spawn()
        .expect("npm is installed (https://nodejs.org)");
    let status = wait(&mut tests, longest());
    if status.is_none() {
        // With all that they started: what is left over would slow down every other test.
        kill_process_group(Pid::from_child(&tests), Signal::KILL).unwrap();
        tests.wait().unwrap();
    }
    let output = fs::read_to_string(log.path()).unwrap();
    assert!(status.is_some_and(|status| status.success()), "npm test: {status:?}\n{output}");
    println!("{}", output.lines().filter(|line| line.contains(" pass ")).collect::<String>());
}
