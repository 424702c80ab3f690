//! Servers that start again, and files to which nobody writes for some time.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use lyceum_core::time::ManualClock;
use lyceum_replica::{ReplicaStore, Replicator};
use lyceum_testkit::s3::Bucket;
use rusqlite::Connection;

use crate::{PREFIX, Setup, insert, replicator_in, restored, rows, wait_until, writer};

/// Lets others change a file between two runs of the server, and checks how many snapshots its replica has afterwards.
fn between_runs(work: impl FnOnce(&Connection), snapshots: usize) {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    (0..40).for_each(|id| insert(&connection, id));
    replicator.flush(&setup.file()).unwrap();
    let (first, at_first) = (setup.tick(), rows(&connection));
    replicator.stop().unwrap();
    drop(replicator);
    work(&connection);
    setup.tick();
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    replicator.flush(&setup.file()).unwrap();
    insert(&connection, 1000);
    replicator.flush(&setup.file()).unwrap();
    assert_eq!(setup.count("snapshot"), snapshots);
    assert_eq!(setup.restored(None), rows(&connection));
    assert_eq!(setup.restored(Some(first)), at_first);
}

fn begin_log_anew(connection: &Connection) {
    let restart = "PRAGMA wal_checkpoint(RESTART)";
    let is_busy: i64 = connection.query_row(restart, [], |row| row.get(0)).unwrap();
    assert_eq!(is_busy, 0);
}

#[test]
fn after_a_restart_replication_continues_without_a_snapshot() {
    between_runs(|_| (), 1);
}

#[test]
fn after_a_restart_the_writes_of_the_meantime_are_sent() {
    between_runs(|connection| (50..60).for_each(|id| insert(connection, id)), 1);
}

#[test]
fn after_a_restart_replication_continues_with_the_log_that_follows_the_replicated_one() {
    let work = |connection: &Connection| {
        begin_log_anew(connection);
        insert(connection, 50);
    };
    between_runs(work, 1);
}

#[test]
fn after_a_restart_a_snapshot_is_made_if_the_log_has_a_gap() {
    let appended_first = |connection: &Connection| {
        insert(connection, 50);
        begin_log_anew(connection);
        insert(connection, 51);
    };
    between_runs(appended_first, 2);
    let begun_twice = |connection: &Connection| {
        for id in [50, 51] {
            begin_log_anew(connection);
            insert(connection, id);
        }
    };
    between_runs(begun_twice, 2);
    let overwritten = |connection: &Connection| {
        begin_log_anew(connection);
        (50..150).for_each(|id| insert(connection, id));
    };
    between_runs(overwritten, 2);
}

/// The open descriptors of the test's database in this process.
fn descriptors(setup: &Setup) -> usize {
    descriptors_in(setup.folder.path())
}

fn descriptors_in(folder: &Path) -> usize {
    let folder = fs::canonicalize(folder).unwrap();
    let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let targets = links.filter_map(|link| fs::read_link(link.path()).ok());
    targets.filter(|target| target.starts_with(&folder)).count()
}

#[test]
fn a_file_to_which_nobody_writes_is_closed_until_the_next_write() {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    (0..10).for_each(|id| insert(&connection, id));
    let own = descriptors(&setup);
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    for id in 10..20 {
        insert(&connection, id);
        replicator.flush(&setup.file()).unwrap();
    }
    // SQLite closes descriptors of the database, unlike those of its log, with the last connection of a process.
    let is_closed = || descriptors(&setup) <= own + 3;
    assert!(!is_closed());
    setup.clock.advance_milliseconds(61_000);
    wait_until("the end of idle connections", is_closed);
    assert_eq!(
        setup.count("segment"),
        2,
        "they were merged; the other one is the snapshot's place"
    );
    setup.clock.advance_milliseconds(60 * 60 * 1000);
    replicator.flush(&setup.file()).unwrap();
    assert!(is_closed(), "nothing was written");

    insert(&connection, 20);
    wait_until("a segment", || setup.restored(None) == rows(&connection));
    assert_eq!((setup.count("snapshot"), replicator.status().lag_ms), (1, 0));

    // A file that rests gets its daily snapshot.
    setup.clock.advance_milliseconds(61_000);
    wait_until("the end of idle connections", is_closed);
    setup.clock.advance_milliseconds(24 * 60 * 60 * 1000);
    wait_until("a snapshot", || setup.count("snapshot") == 2);
    setup.clock.advance_milliseconds(61_000);
    wait_until("the end of idle connections", is_closed);
    setup.clock.advance_milliseconds(3 * 24 * 60 * 60 * 1000);
    std::thread::sleep(std::time::Duration::from_millis(1200));
    assert_eq!(setup.count("snapshot"), 2, "it did not change since");
}

#[test]
fn an_idle_file_continues_without_reading_from_the_store() {
    let bucket = Bucket::start();
    let store = ReplicaStore::in_s3(&bucket.settings, "replicas").unwrap();
    let clock = Arc::new(ManualClock::at("2026-01-15T08:00:00Z".parse().unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d1.sqlite");
    let connection = writer(&file);
    insert(&connection, 0);
    let own = descriptors_in(folder.path());
    let replicator = replicator_in(store.clone(), clock.clone());
    replicator.add(&file, PREFIX, Some(1));
    insert(&connection, 1);
    replicator.flush(&file).unwrap();
    for id in 2..5 {
        insert(&connection, id);
        replicator.flush(&file).unwrap();
        clock.advance_milliseconds(61_000);
        wait_until("the end of idle connections", || descriptors_in(folder.path()) <= own + 3);
        let reads = bucket.reads();
        if id == 4 {
            begin_log_anew(&connection);
        }
        insert(&connection, 10 * id);
        replicator.flush(&file).unwrap();
        assert_eq!(bucket.reads(), reads, "the end of the chain is known");
    }
    assert_eq!(restored(&store, None), rows(&connection));
    // A file that others changed while it rested, so that its log proves nothing, gets a snapshot.
    clock.advance_milliseconds(61_000);
    wait_until("the end of idle connections", || descriptors_in(folder.path()) <= own + 3);
    insert(&connection, 100);
    begin_log_anew(&connection);
    (101..200).for_each(|id| insert(&connection, id));
    replicator.flush(&file).unwrap();
    assert_eq!(restored(&store, None), rows(&connection));
}

#[test]
fn the_files_that_changed_least_recently_are_closed() {
    let setup = Setup::new();
    let replicator = Replicator::start(setup.clock.clone(), 7, 2).unwrap();
    replicator.replicate_into(setup.store.clone());
    let files: Vec<_> = (0..4)
        .map(|number| {
            let folder = setup.folder.path().join(number.to_string());
            fs::create_dir(&folder).unwrap();
            let file = folder.join("d1.sqlite");
            (folder, writer(&file), file)
        })
        .collect();
    let own: Vec<_> = files.iter().map(|(folder, ..)| descriptors_in(folder)).collect();
    for (number, (_, connection, file)) in files.iter().enumerate() {
        replicator.add(file, &format!("projects/{number}/d1.sqlite"), Some(1));
        insert(connection, 1);
        replicator.flush(file).unwrap();
        setup.clock.advance_milliseconds(2_000);
    }
    let are_open = || -> Vec<bool> {
        let now = files.iter().map(|(folder, ..)| descriptors_in(folder));
        now.zip(&own).map(|(now, own)| now > own + 3).collect()
    };
    wait_until("the end of two connections", || are_open() == [false, false, true, true]);
    insert(&files[0].1, 2);
    replicator.flush(&files[0].2).unwrap();
    setup.clock.advance_milliseconds(2_000);
    wait_until("the end of another one", || are_open() == [true, false, false, true]);
}
