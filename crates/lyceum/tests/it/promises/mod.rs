//! Every row of the platform's two documents, as a request or a command with the expected answer, run against
//! the program. The steps stand in `tests/promises`; CONTRIBUTING.md says how to add one.

mod answers;
mod documents;
mod list;
mod world;

use std::collections::BTreeSet;

use crate::served::{Served, Store};
use list::Step;
use world::World;

/// The files of the document about the API, in the order in which they are run.
const API: [&str; 9] = [
    "authentication",
    "rostering",
    "assessment",
    "adaptive",
    "badges",
    "learner_records",
    "events",
    "bridge",
    "standards",
];
/// The parts of the document about the tools that need servers.
const DEPLOYED: [&str; 2] = ["deploy", "storage"];
/// The parts that need a sandbox, which has a store of its own.
const SANDBOX: [&str; 1] = ["sandbox"];

#[test]
fn the_documents_hold_on_sqlite() {
    run_on(Store::Sqlite, Store::Sqlite);
}

#[test]
#[ignore = "rest"]
fn the_documents_hold_on_postgres() {
    run_on(Store::postgres(), Store::postgres());
}

#[test]
#[ignore = "rest"]
fn the_documents_hold_in_the_sandbox() {
    let mut world = World::new(Served::as_shipped(Store::Sqlite, &["--env", "staging"]));
    world.run("tooling", &SANDBOX);
    world.end();
}

fn run_on(staging: Store, production: Store) {
    let mut world = World::new(Served::as_shipped(staging, &["--env", "staging"]));
    world.run("api", &API);
    let production = Served::as_shipped(production, &["--env", "production"]);
    world.add_project(production);
    world.run("tooling", &DEPLOYED);
    world.end();
}

#[test]
fn every_row_of_the_documents_has_a_step() {
    compare("platform-api.md", "api", &API);
    compare("developer-tooling.md", "tooling", &[&DEPLOYED[..], &SANDBOX].concat());
}

fn compare(document: &str, folder: &str, files: &[&str]) {
    let Some(text) = documents::document(document) else {
        println!("skipped: {document} is not beside the repository; LYCEUM_SPEC names its folder");
        return;
    };
    let promised = documents::rows(&text);
    assert!(promised.len() > 100, "{document} is read wrongly: {promised:?}");
    let steps = files.iter().flat_map(|file| list::read(folder, file));
    let proven: BTreeSet<_> = steps
        .flat_map(|step: Step| step.rows)
        .flat_map(|(section, rows)| rows.into_iter().map(move |row| (section.clone(), row)))
        .collect();
    let listed = |rows: Vec<&(String, String)>| {
        rows.iter()
            .map(|(section, row)| format!("\n  {section} | {row}"))
            .collect::<Vec<_>>()
            .concat()
    };
    let missing: Vec<_> = promised.difference(&proven).collect();
    let unknown: Vec<_> = proven.difference(&promised).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "rows of {document} without a step:{}\nrows of steps that {document} does not have:{}",
        listed(missing),
        listed(unknown)
    );
}
