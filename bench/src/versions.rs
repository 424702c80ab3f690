//! The releases of the programs that a run measures or uses.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::options::RunOptions;

/// npm packages that are measured, with their folders.
const PACKAGES: [(&str, &str); 3] = [
    ("miniflare", "tests/hosting/node_modules/miniflare"),
    ("workerd", "tests/hosting/node_modules/workerd"),
    ("@digitalbazaar/vc", "target/verifiers/node_modules/@digitalbazaar/vc"),
];

/// The release of each program by its name. Programs that are not installed are left out.
pub(crate) fn installed(run: &RunOptions) -> BTreeMap<String, String> {
    let programs = [
        ("Lyceum", run.lyceum.clone(), "--version"),
        ("PostgreSQL", PathBuf::from("psql"), "--version"),
        ("Ralph", run.folder.join("ralph/bin/ralph"), "--version"),
        ("Node", PathBuf::from("node"), "--version"),
        ("wrk", PathBuf::from("wrk"), "--version"),
    ];
    let mut versions: BTreeMap<String, String> = programs
        .into_iter()
        .filter_map(|(name, program, flag)| Some((name.to_owned(), printed(&program, flag)?)))
        .collect();
    for (name, folder) in PACKAGES {
        versions.extend(package(folder).map(|version| (name.to_owned(), version)));
    }
    versions.insert("SQLite".to_owned(), rusqlite::version().to_owned());
    versions
}

/// The first word with a digit in the first line that the program prints about itself.
fn printed(program: &Path, flag: &str) -> Option<String> {
    // `wrk --version` ends with status 1.
    let output = Command::new(program).arg(flag).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = text.lines().next()?.split_whitespace();
    words.find(|word| word.contains(|c: char| c.is_ascii_digit())).map(str::to_owned)
}

/// The version in the `package.json` of a folder.
fn package(folder: &str) -> Option<String> {
    let text = std::fs::read_to_string(Path::new(folder).join("package.json")).ok()?;
    let package: Value = serde_json::from_str(&text).ok()?;
    package["version"].as_str().map(str::to_owned)
}
