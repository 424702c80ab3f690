//! Packages in the store, on both stores: what comes out is what went in, in the standard's schemas.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on may panic, and says what it left out"
)]

mod official;
mod screens;
mod size;

use lyceum_core::time::Timestamp;
use lyceum_standards::repository::{self, Reader};
use lyceum_standards::{MIGRATIONS, Package, Shape};
use lyceum_store::{Db, Migration};
use lyceum_testkit::both_stores;
use serde_json::Value;

/// Runs the body on a fresh database of each store.
fn both(body: impl Fn(&Db)) {
    let migrations: Vec<Migration> =
        [lyceum_roster::MIGRATIONS, lyceum_assessment::MIGRATIONS, MIGRATIONS].concat();
    both_stores(&migrations, |target| body(&Db::open(target, &migrations).unwrap()));
}

fn reader(shape: Shape) -> Reader {
    let packages = "https://example.org/ims/case/v1p1/CFPackages".to_owned();
    Reader { shape, public_only: false, packages }
}

/// Stores a package, in the place of the one that is there.
fn store(db: &Db, text: &str) -> String {
    let package = Package::read(text).unwrap_or_else(|problem| panic!("{problem:?}"));
    db.write_blocking(|tx| repository::upsert(tx, Timestamp::from_milliseconds(0), &package))
        .unwrap();
    package.document.record.id.clone()
}

fn written(db: &Db, shape: Shape, id: &str) -> String {
    let mut text = String::from("{");
    db.read_blocking(|tx| repository::write_package(tx, &reader(shape), id, &mut text)).unwrap();
    text + "}"
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
