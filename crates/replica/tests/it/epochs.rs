//! Chains and epochs: what breaks a chain, and which server counts.

use std::fs;
use std::sync::Arc;

use lyceum_core::time::{Clock, ManualClock};
use rusqlite::Connection;

use crate::{PREFIX, Rows, Setup, insert, replicator_in, rows, writer};

#[test]
fn a_file_that_another_program_changed_meanwhile_begins_a_new_chain() {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    insert(&connection, 1);
    replicator.flush(&setup.file()).unwrap();
    let first = setup.tick();
    drop((replicator, connection));
    // Nobody follows the log while another program writes, carries it over and deletes it.
    let other = writer(&setup.file());
    insert(&other, 2);
    other.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(other);
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    replicator.flush(&setup.file()).unwrap();
    let second = setup.tick();
    let connection = writer(&setup.file());
    insert(&connection, 3);
    replicator.flush(&setup.file()).unwrap();
    assert_eq!(setup.count("snapshot"), 2);
    assert_eq!(setup.restored(Some(first)), Rows::from([(1, 1)]));
    assert_eq!(setup.restored(Some(second)), Rows::from([(1, 1), (2, 2)]));
    assert_eq!(setup.restored(None), rows(&connection));
}

#[test]
fn a_file_that_replaces_the_followed_one_begins_a_new_chain() {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    insert(&connection, 1);
    replicator.flush(&setup.file()).unwrap();
    drop(connection);
    let new = setup.folder.path().join("new.sqlite");
    let other = writer(&new);
    insert(&other, 7);
    drop(other);
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", setup.file().display()));
    }
    fs::rename(&new, setup.file()).unwrap();
    replicator.flush(&setup.file()).unwrap();
    assert_eq!(setup.restored(None), Rows::from([(7, 7)]));
}

#[test]
fn a_later_epoch_is_used_from_its_first_snapshot_on() {
    let setup = Setup::new();
    let old_home = writer(&setup.file());
    let old = setup.replicator();
    old.add(&setup.file(), PREFIX, Some(4));
    insert(&old_home, 1);
    old.flush(&setup.file()).unwrap();
    let before = setup.tick();
    // The file moves to another server, which restores it. The former one does not know and goes on.
    let moved = setup.folder.path().join("moved.sqlite");
    lyceum_replica::restore(&setup.store, PREFIX, None, &moved, &mut |_, _| {}).unwrap();
    let new = setup.replicator();
    new.add(&moved, PREFIX, Some(5));
    let new_home = writer(&moved);
    let mut expected = Vec::new();
    for id in 2..10 {
        insert(&old_home, 100 + id);
        insert(&new_home, id);
        old.flush(&setup.file()).unwrap();
        new.flush(&moved).unwrap();
        old.flush(&setup.file()).unwrap();
        expected.push((setup.tick(), rows(&new_home)));
    }
    drop(old);
    let late = setup.replicator();
    late.add(&setup.file(), PREFIX, Some(4));
    late.flush(&setup.file()).unwrap();
    setup.tick();
    assert_eq!(setup.restored(Some(before)), Rows::from([(1, 1)]));
    for (time, expected) in &expected {
        assert_eq!(setup.restored(Some(*time)), *expected, "{time}");
    }
    assert_eq!(setup.restored(None), rows(&new_home));
    let target = setup.folder.path().join("newest.sqlite");
    let state = lyceum_replica::restore(&setup.store, PREFIX, None, &target, &mut |_, _| {});
    assert_eq!(state.unwrap().epoch, 5);
    assert_eq!(rows(&Connection::open(target).unwrap()), rows(&new_home));
}

#[test]
fn a_server_whose_clock_is_behind_has_a_later_epoch_than_the_last_one_in_the_store() {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    let first = setup.replicator();
    first.add(&setup.file(), PREFIX, Some(1_900_000_000_000));
    insert(&connection, 1);
    first.flush(&setup.file()).unwrap();
    // The machine is lost, and the file is restored on one whose clock is a year behind.
    let restored = setup.folder.path().join("restored.sqlite");
    lyceum_replica::restore(&setup.store, PREFIX, None, &restored, &mut |_, _| {}).unwrap();
    let clock = ManualClock::at(setup.clock.now().plus_seconds(-365 * 24 * 60 * 60));
    let second = replicator_in(setup.store.clone(), Arc::new(clock));
    second.add(&restored, PREFIX, None);
    let connection = writer(&restored);
    insert(&connection, 2);
    second.flush(&restored).unwrap();
    let target = setup.folder.path().join("newest.sqlite");
    let state = lyceum_replica::restore(&setup.store, PREFIX, None, &target, &mut |_, _| {});
    assert_eq!(state.unwrap().epoch, 1_900_000_000_001);
    assert_eq!(setup.restored(None), Rows::from([(1, 1), (2, 2)]));
}

#[test]
fn a_replicator_starts_over_in_another_store() {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, None);
    insert(&connection, 1);
    replicator.flush(&setup.file()).unwrap();
    let other = setup.store.below("other");
    replicator.replicate_into(other.clone());
    insert(&connection, 2);
    replicator.flush(&setup.file()).unwrap();
    assert_eq!(crate::restored(&other, None), rows(&connection));
    assert_eq!(setup.restored(None), Rows::from([(1, 1)]));
}
