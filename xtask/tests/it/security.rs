//! `SECURITY.md` promises only what a test shows, and names the test.

use std::collections::BTreeSet;

use crate::{read, refuse, rust_sources};

const PAGE: &str = "SECURITY.md";

#[test]
fn every_promise_names_a_test_that_exists() {
    let page = read(PAGE);
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let tests: BTreeSet<String> =
        rust_sources().flat_map(|file| functions_of(&file.text)).collect();
    let mut breaches = Vec::new();
    let mut promises = 0;
    for row in rows {
        promises += 1;
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let named: Vec<&str> =
            cells.get(2).into_iter().flat_map(|cell| cell.split('`')).skip(1).step_by(2).collect();
        if named.is_empty() {
            breaches.push(format!("'{}' names no test", cells[0]));
        }
        let missing = named.iter().filter(|name| !tests.contains(**name));
        breaches.extend(
            missing.map(|name| format!("'{}' names '{name}', which does not exist", cells[0])),
        );
    }
    assert!(promises > 10, "{PAGE} holds only {promises} promises");
    refuse(
        &breaches,
        "each row of SECURITY.md names tests that exist",
        "the next change breaks a promise that no test checks",
        "name the test, or delete the row",
    );
}

/// The names of the functions: a test that runs on both stores is one that a macro calls.
fn functions_of(source: &str) -> Vec<String> {
    let lines = source.lines().filter_map(|line| {
        let line = line.trim_start();
        let rest = line.strip_prefix("fn ").or_else(|| line.strip_prefix("async fn "))?;
        Some(rest.split_once('(')?.0.to_owned())
    });
    lines.collect()
}
