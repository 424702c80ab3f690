//! How long objects are kept.

use lyceum_core::ProblemKind;
use lyceum_core::time::{Clock, Timestamp};
use lyceum_replica::{restorable_times, restore};

use crate::{PREFIX, Rows, Setup, insert, rows, wait_until, writer};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

#[test]
fn deleted_data_leaves_the_replica_of_a_file_that_never_changes_again() {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    replicator.flush(&setup.file()).unwrap();
    setup.clock.advance_milliseconds(1000);
    insert(&connection, 1);
    replicator.remove(&setup.file()).unwrap();
    let times = restorable_times(&setup.store, PREFIX).unwrap().unwrap();
    assert!(times.snapshot < times.latest, "the next server makes a snapshot");
    replicator.add(&setup.file(), PREFIX, Some(2));
    replicator.flush(&setup.file()).unwrap();
    setup.clock.advance_milliseconds(8 * DAY_MS);
    let cutoff = setup.clock.now().plus_seconds(-7 * DAY_MS / 1000);
    lyceum_replica::remove_old(&setup.store, PREFIX, cutoff).unwrap();
    assert_eq!(
        (setup.count("snapshot"), setup.objects().len()),
        (1, 2),
        "with its place in the log"
    );
    assert_eq!(setup.restored(None), rows(&connection));
}

#[test]
fn the_last_seven_days_can_be_restored_and_older_objects_are_deleted() {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    replicator.flush(&setup.file()).unwrap();
    let begun = setup.clock.now();
    let mut recorded: Vec<(Timestamp, Rows)> = Vec::new();
    for day in 0..12 {
        insert(&connection, day);
        replicator.flush(&setup.file()).unwrap();
        recorded.push((setup.clock.now(), rows(&connection)));
        setup.clock.advance_milliseconds(DAY_MS);
        let has_snapshot = |key: &String| {
            let time = key.rsplit('-').next().unwrap().parse::<i64>().unwrap();
            key.contains("snapshot") && time == setup.clock.now().milliseconds()
        };
        wait_until("a snapshot", || setup.objects().iter().any(has_snapshot));
    }
    wait_until("the removal of old objects", || setup.count("snapshot") == 8);
    let now = setup.clock.now().milliseconds();
    for (time, expected) in &recorded {
        if now - time.milliseconds() <= 7 * DAY_MS {
            assert_eq!(setup.restored(Some(*time)), *expected, "{time}");
        }
    }
    let times = restorable_times(&setup.store, PREFIX).unwrap().unwrap();
    assert_eq!(now - times.earliest.milliseconds(), 7 * DAY_MS);
    let target = setup.folder.path().join("old.sqlite");
    let problem = restore(&setup.store, PREFIX, Some(begun), &target, &mut |_, _| {}).unwrap_err();
    assert_eq!(problem.kind, ProblemKind::NotFound);
    assert!(problem.message.contains(&times.earliest.to_string()), "{}", problem.message);
    lyceum_replica::delete(&setup.store, PREFIX).unwrap();
    assert_eq!(restorable_times(&setup.store, PREFIX).unwrap(), None);
}
