//! What the tests of this crate share.

use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Reach};
use lyceum_roster::collections::{Collection, at};
use lyceum_roster::query::{ListParameters, query};
use lyceum_roster::record::Object;
use lyceum_roster::render::RecordView;
use lyceum_roster::repository::{self, PathScope, RecordPage};
use lyceum_roster::write::{self, WriteRules};
use lyceum_store::Db;
use serde_json::Value;

use crate::migrations;

pub(crate) const BASE: &str = "https://lyceum.example.org";

/// Runs the body on a fresh database of each store.
pub(crate) fn both(body: impl Fn(&Db)) {
    lyceum_testkit::both_stores(&migrations(), |target| {
        body(&Db::open(target, &migrations()).expect("a fresh database opens"));
    });
}

pub(crate) fn collection(path: &str) -> Collection {
    at(path).expect("the test names a collection")
}

pub(crate) fn rules() -> WriteRules {
    WriteRules {
        dialect: PayloadDialect::Platform,
        now: Timestamp::from_milliseconds(1_768_464_000_000),
        allocate_missing_ids: false,
        reach: Reach::Everything,
    }
}

pub(crate) fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

pub(crate) fn create(db: &Db, path: &str, value: Value) {
    let result = db
        .write_blocking(|tx| write::create(tx, collection(path), object(value.clone()), &rules()));
    if let Err(problem) = result {
        panic!("{path} {value}: {problem:?}");
    }
}

pub(crate) fn list(
    db: &Db,
    path: &str,
    scope: Option<PathScope>,
    parameters: &ListParameters<'_>,
) -> lyceum_core::Result<RecordPage> {
    let list_query = query(collection(path), scope, Reach::Everything, parameters, db.dialect())?;
    let view = RecordView { base_url: BASE, dialect: PayloadDialect::Platform, fields: None };
    db.read_blocking(|tx| repository::list(tx, &list_query, &view))
}

pub(crate) fn records(listed: &RecordPage) -> Vec<Value> {
    serde_json::from_str(&format!("[{}]", listed.records)).expect("records are JSON")
}

pub(crate) fn ids(listed: &RecordPage) -> Vec<String> {
    records(listed).iter().map(|r| r["sourcedId"].as_str().unwrap().to_owned()).collect()
}

/// Fills a database that has no columns for the days of enrollments yet. They are there while it is filled, because today's
/// program writes them.
pub(crate) fn with_columns_of_days(db: &Db, fill: impl FnOnce()) {
    let alter = |change: &str| {
        let sql = format!("ALTER TABLE enrollments {change}");
        db.write_blocking(|tx| tx.execute(&sql, &[])).unwrap();
    };
    alter("ADD COLUMN begin_date TEXT");
    alter("ADD COLUMN end_date TEXT");
    fill();
    alter("DROP COLUMN begin_date");
    alter("DROP COLUMN end_date");
}
