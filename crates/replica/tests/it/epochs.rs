//! Chains and epochs: what breaks a chain, and which server counts.

use std::fs;

use rusqlite::Connection;

use crate::{PREFIX, Rows, Setup, insert, rows, writer};

#[test]
fn a_file_that_another_program_changed_meanwhile_begins_a_new_chain() {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, 1);
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
    replicator.add(&setup.file(), PREFIX, 1);
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
    replicator.add(&setup.file(), PREFIX, 1);
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
fn a_later_epoch_counts_from_its_first_snapshot_on() {
    let setup = Setup::new();
    let old_home = writer(&setup.file());
    let old = setup.replicator();
    old.add(&setup.file(), PREFIX, 4);
    insert(&old_home, 1);
    old.flush(&setup.file()).unwrap();
    let before = setup.tick();
    // The file moves to another server, which restores it. The former one does not know and goes on.
    let moved = setup.folder.path().join("moved.sqlite");
    lyceum_replica::restore(&setup.store, PREFIX, None, &moved, &mut |_, _| {}).unwrap();
    let new = setup.replicator();
    new.add(&moved, PREFIX, 5);
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
    late.add(&setup.file(), PREFIX, 4);
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
