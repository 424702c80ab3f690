//! The rules of the repository, as tests: `cargo test -p xtask`. ARCHITECTURE.md and STYLE.md
//! give the reasons at length; a failure names the rule, why it holds and what to do.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod arrows;
mod config;
mod demo;
mod documents;
mod licences;
mod limits;
mod migrations;
mod pack;
mod sources;
mod sql;
mod words;

use std::path::Path;
use std::process::Command;

/// The folder of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A file of the repository.
struct Source {
    /// Its path from the workspace's folder, with `/`.
    path: String,
    text: String,
}

impl Source {
    fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|own| own == extension)
    }
}

/// Every text file that git tracks or would track.
fn sources() -> Vec<Source> {
    let git = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("the tidy tests ask git which files there are; install git");
    assert!(git.status.success(), "git ls-files: {}", String::from_utf8_lossy(&git.stderr));
    let paths = String::from_utf8(git.stdout).unwrap();
    let sources: Vec<Source> = paths
        .lines()
        // A file that was deleted and not yet committed is listed but cannot be read.
        .filter_map(|path| {
            let text = std::fs::read_to_string(root().join(path)).ok()?;
            Some(Source { path: path.to_owned(), text })
        })
        .collect();
    assert!(sources.len() > 30, "git lists only {} readable files", sources.len());
    sources
}

/// The Rust files.
fn rust_sources() -> impl Iterator<Item = Source> {
    sources().into_iter().filter(|source| source.has_extension("rs"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Fails with everything that breaks the rule.
#[track_caller]
fn refuse(breaches: &[String], rule: &str, why: &str, remedy: &str) {
    assert!(
        breaches.is_empty(),
        "\nrule: {rule}\nwhy: {why}\nwhat to do: {remedy}\nbroken by:\n  {}\n",
        breaches.join("\n  ")
    );
}
