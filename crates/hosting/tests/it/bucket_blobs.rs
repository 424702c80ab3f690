//! How long the bytes of deleted objects stay.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lyceum_core::time::{Clock, ManualClock, SystemClock};
use lyceum_hosting::buckets::BucketObjectDescription;
use lyceum_hosting::engine::{Engine, EngineSettings};
use lyceum_hosting::leases::NodeLease;
use lyceum_hosting::limits::BUCKET_SPARED_S;
use lyceum_store::SqlDialect;

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn the_bytes_of_a_deleted_object_stay_for_a_day_because_an_older_index_may_name_them() {
    let folder = tempfile::tempdir().unwrap();
    // The engine compares this clock with the times of files, which are those of the machine.
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let shared = NodeLease::new(SqlDialect::Postgres);
    let settings = EngineSettings { lease: Arc::new(shared), ..EngineSettings::default() };
    let engine = Engine::new(folder.path().join("run"), settings, clock.clone()).unwrap();
    let bucket = folder.path().join("bucket");
    // Closed after each use.
    let open = || engine.bucket(&bucket).unwrap();
    let blobs = || files(&bucket.join("objects/blobs"));
    open().put("map", &BucketObjectDescription::default(), &b"a map"[..]).unwrap();
    let map = blobs().pop().unwrap();
    let file = File::options().write(true).open(&map).unwrap();
    let written = file.metadata().unwrap().modified().unwrap();
    file.set_modified(written.checked_sub(Duration::from_hours(48)).unwrap()).unwrap();
    open().delete(&["map".to_owned()]).unwrap();
    clock.advance_milliseconds(BUCKET_SPARED_S * 1000);
    assert!(open().head("map").unwrap().is_none());
    assert_eq!(blobs(), [map], "it was deleted less than a day ago");
    clock.advance_milliseconds(BUCKET_SPARED_S * 1000);
    open();
    assert!(blobs().is_empty());
}
