//! Clients, tokens and keys from outside, on both stores.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod class_sign_in;
mod clients;
mod identities;
mod keys;
mod people;
mod races;
mod screens;
mod students;
mod tokens;

use lyceum_access::{Keyring, MIGRATIONS, MasterKey, Realm};
use lyceum_core::Result;
use lyceum_core::config::Environment;
use lyceum_core::time::Timestamp;
use lyceum_store::{Db, Tx};
use lyceum_testkit::both_stores;

/// Half past nine on a school day.
fn morning() -> Timestamp {
    "2026-01-15T09:30:00Z".parse().unwrap()
}

fn on_both_stores(body: impl Fn(&Db)) {
    both_stores(MIGRATIONS, |target| body(&Db::open(target, MIGRATIONS).unwrap()));
}

/// A write that must succeed.
fn write<T>(db: &Db, work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> T {
    db.write_blocking(work).unwrap()
}

fn realm(environment: Environment) -> Realm {
    Realm::new(environment, "https://lyceum.test")
}

fn keyring(db: &Db, environment: Environment, master: &MasterKey, now: Timestamp) -> Keyring {
    write(db, |tx| Keyring::open(tx, now, &realm(environment), master))
}
