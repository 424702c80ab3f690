//! The promises of the store, on SQLite and PostgreSQL.
#![allow(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

mod backup;
mod changes;
mod dialect;
mod durability;
mod from_row;
mod jobs;
mod migrations;
mod network;
mod pooler;
mod races;
mod reads;
mod record_clock;
mod sent;
mod signals;
mod slow;
mod spool;
mod tally;
mod tls;
mod values;
mod writes;

use std::future::Future;

use lyceum_store::{Db, Migration, StoreLocation};

/// A table of each kind of column for the tests, and the tables of the store.
const SCHEMA: &[Migration] = &[Migration {
    version: 2,
    name: "things",
    sql: "CREATE TABLE things (
        seq ROWID,
        id TEXT NOT NULL UNIQUE,
        number BIGINT,
        share REAL,
        body TEXT,
        bytes BLOB
    );",
}];

/// Runs the body on both stores with the tests' schema.
fn on_both(body: impl Fn(&Db)) {
    with_target(|target| body(&open(target)));
}

fn with_target(body: impl Fn(&StoreLocation)) {
    lyceum_testkit::both_stores(SCHEMA, body);
}

fn open(target: &StoreLocation) -> Db {
    Db::open(target, SCHEMA).expect("the database opens")
}

/// Waits for a future on a runtime of several threads.
fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

fn count(db: &Db) -> i64 {
    let count = |tx: &mut lyceum_store::Tx<'_>| {
        tx.query_one("SELECT COUNT(*) FROM things", &[], |row| row.int(0))
    };
    wait(db.read(count)).unwrap().unwrap()
}
