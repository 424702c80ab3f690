//! Tools for the tests of this crate.

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

pub(crate) const BASE: &str = "https://lyceum.example.org";

/// Runs the body on a fresh database of each store.
pub(crate) fn both(body: impl Fn(&Db)) {
    lyceum_testkit::both_stores(lyceum_roster::MIGRATIONS, |target| {
        body(&Db::open(target, lyceum_roster::MIGRATIONS).expect("a fresh database opens"));
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
