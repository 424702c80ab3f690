//! `cargo xtask screenshots` takes pictures of all pages for people to look at. The browser tests open the pages; without
//! this command they take no pictures.

use std::fs;

use anyhow::Result;

use crate::run::{cargo, command, root, run, target};
use crate::test::Level;
use crate::{build, prerequisites};

/// The tests that open pages of the console and of students, in both widths and themes.
const TESTS: [&str; 6] =
    ["console", "console-more", "journeys", "learn", "interactions", "class-sign-in"];

/// Takes the pictures, into `target/screenshots`.
pub(crate) fn screenshots() -> Result<()> {
    prerequisites::install(Level::Rest)?;
    build::assets()?;
    build::packages()?;
    run(cargo(["build", "--package", "lyceum", build::FAST_TO_COMPILE]))?;
    let pictures = target().join("screenshots");
    if pictures.exists() {
        fs::remove_dir_all(&pictures)?;
    }
    let files = TESTS.map(|name| format!("tests/{name}.test.js"));
    let mut tests = command("node", ["--test", "--test-reporter=spec", "--test-concurrency=2"]);
    tests.args(files).current_dir(root().join("web"));
    tests.env("LYCEUM_TEST_BIN", target().join("debug/lyceum")).env("LYCEUM_TEST_SIZE", "small");
    tests.env("LYCEUM_TEST_SCREENSHOTS", &pictures);
    run(tests)?;
    println!("the pictures are in {}", pictures.display());
    Ok(())
}
