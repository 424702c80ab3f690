//! Stores of replicas: a bucket, one that fails for a while, missing and damaged objects.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use lyceum_core::ProblemKind;
use lyceum_core::time::{Clock, ManualClock, SystemClock};
use lyceum_replica::{ReplicaStore, restorable_times, restore};
use lyceum_testkit::s3::Bucket;

use crate::{PREFIX, Rows, Setup, insert, replicator_in, restored, rows, wait_until, writer};

#[test]
fn a_bucket_that_fails_delays_no_write_and_receives_everything_later() {
    let bucket = Bucket::start();
    let store = ReplicaStore::in_s3(&bucket.settings, "replicas").unwrap();
    let replicator = replicator_in(store.clone(), Arc::new(SystemClock));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d1.sqlite");
    let connection = writer(&file);
    // More than one part of an upload.
    connection
        .execute_batch("INSERT INTO number VALUES (0, 0, hex(randomblob(12000000)))")
        .unwrap();
    replicator.add(&file, PREFIX, Some(1));
    wait_until("the first snapshot", || replicator.status().lag_ms == 0);
    insert(&connection, 1);
    let has_segment = || {
        let times = restorable_times(&store, PREFIX).unwrap();
        times.is_some_and(|times| times.latest > times.earliest)
    };
    wait_until("a segment", has_segment);
    assert_eq!(restored(&store, None), rows(&connection));
    bucket.set_down(true);
    let begun = Instant::now();
    for id in 2..200 {
        insert(&connection, id);
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(replicator.flush(&file).unwrap_err().kind, ProblemKind::Unavailable);
    let status = replicator.status();
    assert_eq!((status.files, status.failures.len()), (1, 1));
    assert!(status.lag_ms > 0);
    bucket.set_down(false);
    wait_until("a retry", || replicator.status().lag_ms == 0);
    assert_eq!(replicator.status().failures, []);
    assert_eq!(restored(&store, None), rows(&connection));
}

#[test]
fn a_missing_or_damaged_object_is_named() {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    let mut times = Vec::new();
    for id in 0..4 {
        insert(&connection, id);
        replicator.flush(&setup.file()).unwrap();
        times.push(setup.tick());
    }
    let root = setup.folder.path().join("replicas").join(PREFIX);
    let objects = setup.objects();
    let [_place, first, second, third, snapshot] = &objects[..] else { panic!("{objects:?}") };
    let target = setup.folder.path().join("restored.sqlite");
    let failed = |until| {
        let problem = restore(&setup.store, PREFIX, until, &target, &mut |_, _| {}).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Invalid);
        assert!(!target.exists());
        problem.message.to_string()
    };
    damage(&root.join(third));
    assert!(failed(None).contains(third), "{}", failed(None));
    damage(&root.join(third));
    fs::remove_file(root.join(second)).unwrap();
    let message = failed(None);
    assert!(message.contains("is missing") && message.contains(third), "{message}");
    assert_eq!(setup.restored(Some(times[1])), Rows::from([(0, 0), (1, 1)]), "before the gap");
    assert!(objects[0].contains("segment") && first < snapshot);
    damage(&root.join(snapshot));
    assert!(failed(Some(times[0])).contains(snapshot));
}

/// Changes a byte. A second call changes it back.
fn damage(object: &Path) {
    let mut bytes = fs::read(object).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    fs::write(object, bytes).unwrap();
}

#[test]
fn nothing_is_restored_over_a_file_or_without_a_replica() {
    let setup = Setup::new();
    let target = setup.folder.path().join("restored.sqlite");
    let restore = || restore(&setup.store, PREFIX, None, &target, &mut |_, _| {}).unwrap_err();
    assert_eq!(restore().kind, ProblemKind::NotFound);
    fs::write(&target, "").unwrap();
    assert_eq!(restore().kind, ProblemKind::Conflict);
    let nowhere = setup.folder.path().join("nowhere");
    assert_eq!(ReplicaStore::in_folder(&nowhere).unwrap_err().kind, ProblemKind::Invalid);
}

#[test]
fn a_file_that_is_removed_is_stored_first() {
    let setup = Setup::new();
    let clock = Arc::new(ManualClock::at("2026-01-15T08:00:00Z".parse().unwrap()));
    let replicator = replicator_in(setup.store.clone(), clock);
    let connection = writer(&setup.file());
    replicator.add(&setup.file(), PREFIX, Some(1));
    insert(&connection, 5);
    drop(connection);
    replicator.remove(&setup.file()).unwrap();
    assert_eq!(setup.restored(None), Rows::from([(5, 5)]));
    assert_eq!(replicator.status().files, 0);
    assert!(!setup.folder.path().join("d1.sqlite-wal").exists(), "nobody has the file open");
}

#[test]
fn unfinished_objects_of_a_folder_are_deleted_once_nobody_writes_to_them() {
    let setup = Setup::new();
    let replicator = setup.replicator();
    let connection = writer(&setup.file());
    replicator.add(&setup.file(), PREFIX, None);
    insert(&connection, 1);
    replicator.flush(&setup.file()).unwrap();
    let unfinished = setup.folder.path().join("replicas/unfinished");
    assert_eq!(fs::read_dir(&unfinished).unwrap().count(), 0, "finished objects are elsewhere");
    let now = setup.clock.now();
    for (name, age_s) in [("old", 3700), ("new", 3500)] {
        let file = fs::File::create(unfinished.join(name)).unwrap();
        let written_ms = u64::try_from(now.plus_seconds(-age_s).milliseconds()).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_millis(written_ms)).unwrap();
    }
    lyceum_replica::delete_unfinished(&setup.store, now).unwrap();
    let left: Vec<_> =
        fs::read_dir(&unfinished).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left, ["new"]);
    assert_eq!(setup.restored(None), rows(&connection));
}

#[test]
fn segments_are_sent_while_a_snapshot_is_sent() {
    let bucket = Bucket::start();
    let store = ReplicaStore::in_s3(&bucket.settings, "replicas").unwrap();
    let clock = Arc::new(ManualClock::at("2026-01-15T08:00:00Z".parse().unwrap()));
    let replicator = replicator_in(store.clone(), clock.clone());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d1.sqlite");
    let connection = writer(&file);
    replicator.add(&file, PREFIX, Some(1));
    insert(&connection, 1);
    replicator.flush(&file).unwrap();
    insert(&connection, 2);
    replicator.flush(&file).unwrap();
    bucket.hold_writes_to(Some("/snapshot-"));
    clock.advance_milliseconds(24 * 60 * 60 * 1000);
    // Two looks later, the daily snapshot is on its way.
    thread::sleep(Duration::from_millis(1500));
    let snapshot = restorable_times(&store, PREFIX).unwrap().unwrap().snapshot;
    for id in 3..6 {
        clock.advance_milliseconds(1000);
        let begun = Instant::now();
        insert(&connection, id);
        let now = clock.now();
        wait_until("a segment", || {
            let times = restorable_times(&store, PREFIX).unwrap();
            times.is_some_and(|times| times.latest == now)
        });
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
    assert_eq!(restorable_times(&store, PREFIX).unwrap().unwrap().snapshot, snapshot, "it waits");
    assert_eq!(restored(&store, None), rows(&connection));
    bucket.hold_writes_to(None);
    let has_snapshot =
        || restorable_times(&store, PREFIX).unwrap().is_some_and(|times| times.snapshot > snapshot);
    wait_until("the snapshot", has_snapshot);
    assert_eq!(restored(&store, None), rows(&connection));
}

#[test]
fn a_file_that_waits_for_its_first_snapshot_is_late() {
    let bucket = Bucket::start();
    let store = ReplicaStore::in_s3(&bucket.settings, "replicas").unwrap();
    let clock = Arc::new(ManualClock::at("2026-01-15T08:00:00Z".parse().unwrap()));
    let replicator = replicator_in(store, clock.clone());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d1.sqlite");
    let connection = writer(&file);
    insert(&connection, 1);
    bucket.hold_writes_to(Some("/snapshot-"));
    replicator.add(&file, PREFIX, Some(1));
    thread::sleep(Duration::from_millis(1500));
    clock.advance_milliseconds(7000);
    assert_eq!(replicator.status().lag_ms, 7000);
    bucket.hold_writes_to(None);
    wait_until("the snapshot", || replicator.status().lag_ms == 0);
}

#[test]
fn a_writer_that_is_busy_for_long_is_not_a_failure_of_the_store() {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    replicator.flush(&setup.file()).unwrap();
    // So much that the log should be carried over.
    connection.execute_batch("INSERT INTO number VALUES (0, 0, hex(randomblob(9000000)))").unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    replicator.flush(&setup.file()).unwrap();
    let status = replicator.status();
    assert_eq!((status.failures, status.lag_ms), (Vec::new(), 0));
    connection.execute_batch("COMMIT").unwrap();
    assert_eq!(setup.restored(None), rows(&connection));
}

#[test]
fn a_snapshot_that_failed_is_tried_again_soon() {
    let bucket = Bucket::start();
    let store = ReplicaStore::in_s3(&bucket.settings, "replicas").unwrap();
    let clock = Arc::new(ManualClock::at("2026-01-15T08:00:00Z".parse().unwrap()));
    let replicator = replicator_in(store.clone(), clock.clone());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d1.sqlite");
    let connection = writer(&file);
    replicator.add(&file, PREFIX, Some(1));
    insert(&connection, 1);
    replicator.flush(&file).unwrap();
    insert(&connection, 2);
    replicator.flush(&file).unwrap();
    let snapshot = || restorable_times(&store, PREFIX).unwrap().unwrap().snapshot;
    let first = snapshot();
    // A writer that goes on for long; then a store that fails.
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    clock.advance_milliseconds(24 * 60 * 60 * 1000);
    thread::sleep(Duration::from_secs(7));
    bucket.refuse_writes_to(Some("/snapshot-"));
    connection.execute_batch("COMMIT").unwrap();
    thread::sleep(Duration::from_secs(4));
    assert_eq!(snapshot(), first);
    bucket.refuse_writes_to(None);
    let begun = Instant::now();
    wait_until("the snapshot", || snapshot() > first);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
