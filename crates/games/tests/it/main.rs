//! The rules of the game platform, on both stores and without HTTP.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]
#![allow(clippy::float_cmp, reason = "scores are stored exactly")]

mod achievements;
mod games;
mod idempotency;
mod inventory;
mod levels;
mod scores;
mod sessions;
mod states;
mod visitors;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_games::games::{Game, create};
use lyceum_games::{MIGRATIONS, PageRequest};
use lyceum_store::{Db, Migration, Tx};
use lyceum_testkit::both_stores;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// All records of a list.
const ALL: PageRequest = PageRequest { limit: 100, offset: 0 };

fn migrations() -> Vec<Migration> {
    [lyceum_roster::MIGRATIONS, MIGRATIONS].concat()
}

/// Runs the body on a fresh database of each store.
fn both(body: impl Fn(&Db)) {
    let migrations = migrations();
    both_stores(&migrations, |target| body(&Db::open(target, &migrations).unwrap()));
}

/// Runs a rule in a transaction that is stored if the rule succeeds.
fn run<T: Send + 'static>(
    db: &Db,
    rule: impl Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    db.write_blocking(rule)
}

fn at(instant: &str) -> Timestamp {
    instant.parse().unwrap()
}

fn noon() -> Timestamp {
    at("2026-11-02T12:00:00Z")
}

/// The body of a request, as the server reads it.
fn body<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).unwrap()
}

/// Registers a game with that slug.
fn game(db: &Db, slug: &str) -> Game {
    let new = body(json!({ "slug": slug, "displayName": slug }));
    let (game, _) = run(db, move |tx| create(tx, noon(), Clone::clone(&new))).unwrap();
    game
}

/// The paths of a problem's errors.
fn paths(problem: &Problem) -> Vec<&str> {
    problem.details.iter().map(|detail| detail.path.as_str()).collect()
}
