//! Random transactions by several connections, and restores to each recorded time.

use rusqlite::{Connection, params};

use crate::{PREFIX, Rows, Setup, rows, writer};

#[test]
fn each_recorded_time_is_restored_exactly() {
    let is_full = lyceum_testkit::full_size();
    let (rounds, writes) = if is_full { (400, 60) } else { (40, 30) };
    for seed in 0..if is_full { 20 } else { 2 } {
        let setup = Setup::new();
        let mut random = fastrand::Rng::with_seed(seed);
        let replicator = setup.replicator();
        let file = setup.file();
        let connections = [writer(&file), writer(&file)];
        connections[1].execute_batch("PRAGMA wal_autocheckpoint = 10").unwrap();
        replicator.add(&file, PREFIX, Some(1));
        let mut recorded = Vec::new();
        for _ in 0..rounds {
            for _ in 0..random.usize(..writes) {
                change(&connections[random.usize(..2)], &mut random);
            }
            match random.u8(..10) {
                0 => {
                    connections[0].execute_batch("VACUUM").unwrap();
                }
                1 => {
                    let _ = checkpoint(&connections[0], "TRUNCATE");
                }
                2 => {
                    let _ = checkpoint(&connections[1], "RESTART");
                }
                _ => {}
            }
            replicator.flush(&file).unwrap();
            recorded.push((setup.tick(), rows(&connections[0])));
        }
        assert_eq!(replicator.status().lag_ms, 0);
        for (time, expected) in recorded {
            assert_eq!(setup.restored(Some(time)), expected, "seed {seed}, {time}");
        }
        assert_eq!(setup.count("snapshot"), 1, "no connection breaks the chain of a followed file");
        assert!(
            setup.count("segment") < rounds,
            "segments of a log that was carried over are merged"
        );
    }
}

fn change(connection: &Connection, random: &mut fastrand::Rng) {
    let id = random.i64(..400);
    let text = "x".repeat(random.usize(..20_000));
    match random.u8(..10) {
        0 => {
            connection.execute("DELETE FROM number WHERE id % 7 = ?1 % 7", [id]).unwrap();
        }
        1 => {
            connection.execute_batch("BEGIN; DELETE FROM number; ROLLBACK").unwrap();
        }
        _ => {
            let sql = "INSERT OR REPLACE INTO number VALUES (?1, ?2, ?3)";
            connection.execute(sql, params![id, random.i64(..), text]).unwrap();
        }
    }
}

/// Carries the log over as a stranger does. The reading connection of the replicator may prevent it.
fn checkpoint(connection: &Connection, mode: &str) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::ZERO)?;
    let done = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    done
}

#[test]
fn a_database_without_a_table_is_replicated() {
    let setup = Setup::new();
    std::fs::write(setup.file(), "").unwrap();
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    replicator.flush(&setup.file()).unwrap();
    let empty = setup.tick();
    let connection = writer(&setup.file());
    crate::insert(&connection, 1);
    replicator.flush(&setup.file()).unwrap();
    assert_eq!(setup.restored(None), Rows::from([(1, 1)]));
    let target = setup.folder.path().join("empty.sqlite");
    lyceum_replica::restore(&setup.store, PREFIX, Some(empty), &target, &mut |_, _| {}).unwrap();
    let tables: i64 = Connection::open(target)
        .unwrap()
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tables, 0);
}

#[test]
fn a_transaction_that_is_too_long_for_a_segment_is_in_a_snapshot() {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    replicator.flush(&setup.file()).unwrap();
    connection
        .execute_batch(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
             INSERT INTO number SELECT i, i, zeroblob(800000) FROM n",
        )
        .unwrap();
    replicator.flush(&setup.file()).unwrap();
    assert_eq!(setup.count("snapshot"), 2);
    assert_eq!(setup.restored(None), (1..=90).map(|id| (id, id)).collect());
}

#[test]
fn a_transaction_that_repeats_one_that_was_rolled_back_is_replicated() {
    let setup = Setup::new();
    let connection = writer(&setup.file());
    // Pages of a transaction reach the log before its end.
    connection.execute_batch("PRAGMA cache_size = 5").unwrap();
    let change = "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) \
                  INSERT INTO number SELECT i, i, hex(zeroblob(500)) FROM n;";
    crate::insert(&connection, 1000);
    connection.execute_batch(&format!("{change} ROLLBACK")).unwrap();
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    replicator.flush(&setup.file()).unwrap();
    connection.execute_batch(&format!("{change} COMMIT")).unwrap();
    replicator.flush(&setup.file()).unwrap();
    assert_eq!(setup.restored(None), rows(&connection));
    assert_eq!(setup.count("snapshot"), 1);
}
