use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lyceum_core::{ProblemKind, Result};
use lyceum_store::{Db, Tx, is_too_slow};

use crate::{count, on_both, wait};

/// Rows without end, on both stores.
const ENDLESS: &str = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n)";

#[test]
fn a_read_of_several_statements_sees_one_snapshot() {
    on_both(|db| {
        let runs = Arc::new(AtomicUsize::new(0));
        let (seen, writer) = (runs.clone(), db.clone());
        let (before, after) = wait(db.read(move |tx| {
            seen.fetch_add(1, Ordering::SeqCst);
            let count = |tx: &mut Tx<'_>| {
                tx.query_one("SELECT COUNT(*) FROM things", &[], |row| row.int(0))
            };
            let before = count(tx)?;
            let other = writer.clone();
            std::thread::spawn(move || wait(other.write(add_one))).join().unwrap()?;
            Ok((before, count(tx)?))
        }))
        .unwrap();
        assert_eq!(before, after);
        let runs = i64::try_from(runs.load(Ordering::SeqCst)).unwrap();
        assert_eq!(count(db), runs, "each run wrote one row");
    });
}

fn add_one(tx: &mut Tx<'_>) -> Result<u64> {
    tx.execute("INSERT INTO things (id) SELECT CAST(COUNT(*) AS TEXT) FROM things", &[])
}

#[test]
fn a_read_that_starts_over_for_its_second_statement_returns_all_of_its_data() {
    on_both(|db| {
        for statements in [1, 3, 0, 1, 2] {
            let read = db.read(move |tx| {
                // A closure may ignore the error of its second statement.
                let one = |_| tx.query_one("SELECT 1", &[], |row| row.int(0)).unwrap_or_default();
                Ok((0..statements).map(one).collect::<Vec<_>>())
            });
            assert_eq!(wait(read).unwrap(), vec![Some(1); statements]);
        }
    });
}

#[test]
fn a_read_that_begins_its_snapshot_does_not_start_over() {
    on_both(|db| {
        let mut runs = 0;
        let read = db.read(move |tx| {
            runs += 1;
            tx.begin_snapshot()?;
            tx.query_one("SELECT 1", &[], |_| Ok(()))?;
            tx.begin_snapshot()?;
            tx.query_one("SELECT 2", &[], |_| Ok(()))?;
            Ok(runs)
        });
        assert_eq!(wait(read).unwrap(), 1);
        // The next read of the connection is in no transaction.
        assert_eq!(wait(db.read(scan_count)).unwrap(), Some(0));
    });
}

#[test]
fn a_read_without_a_transaction_sees_one_snapshot_and_holds_none_after_it() {
    on_both(|db| {
        wait(db.write(add_one)).unwrap();
        wait(db.write(add_one)).unwrap();
        let writer = db.clone();
        let rows = wait(db.read(move |tx| {
            let mut rows = 0;
            tx.query("SELECT id FROM things", &[], |_| {
                let other = writer.clone();
                std::thread::spawn(move || wait(other.write(add_one))).join().unwrap()?;
                rows += 1;
                Ok(true)
            })?;
            Ok(rows)
        }))
        .unwrap();
        assert_eq!(rows, 2, "the statement did not see the rows that were added while it ran");
        assert_eq!(wait(db.read(scan_count)).unwrap(), Some(4));
    });
}

#[test]
fn a_scan_ends_at_its_deadline_with_an_error() {
    on_both(|db| {
        let begun = Instant::now();
        let sql = format!("{ENDLESS} SELECT COUNT(*) FROM n");
        let scan = db
            .scan(Duration::from_millis(100), move |tx| tx.query_one(&sql, &[], |row| row.int(0)));
        let problem = wait(scan).unwrap_err();
        assert!(is_too_slow(&problem), "{problem}");
        assert_eq!(problem.kind, ProblemKind::Unavailable);
        assert!(begun.elapsed() < Duration::from_secs(2));
        // The thread serves the next scan, whose deadline is its own.
        assert_eq!(wait(db.scan(Duration::from_secs(9), scan_count)).unwrap(), Some(0));
    });
}

fn scan_count(tx: &mut Tx<'_>) -> Result<Option<i64>> {
    tx.query_one("SELECT COUNT(*) FROM things", &[], |row| row.int(0))
}

#[test]
fn a_scan_that_waited_past_its_deadline_never_runs() {
    on_both(|db| {
        let problem = wait(db.scan(Duration::ZERO, scan_count)).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Unavailable);
        assert!(!is_too_slow(&problem) && problem.retry_after_s.is_some());
    });
}

#[test]
fn a_long_answer_streams() {
    on_both(|db| {
        // 400 MB of rows pass through. Other tests of this process take memory meanwhile.
        let before = resident_bytes();
        let sql = format!("{ENDLESS} SELECT n, '{}' FROM n LIMIT 40000", "x".repeat(10_000));
        let (mut rows, mut most) = (0, before);
        db.read_blocking(|tx| {
            tx.query(&sql, &[], |row| {
                assert_eq!(row.text(1)?.len(), 10_000);
                rows += 1;
                if rows % 1000 == 0 {
                    most = most.max(resident_bytes());
                }
                Ok(true)
            })
        })
        .unwrap();
        assert_eq!(rows, 40_000);
        assert!(most - before < 200 << 20, "{} bytes grew", most - before);
    });
}

/// Anonymous resident memory of this process, in bytes.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
fn many_databases_are_opened_and_closed_on_one_thread() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..300 {
        let path = folder.path().join(format!("{}.db", n % 3));
        let db = Db::open(&lyceum_store::StoreLocation::Sqlite(path), crate::SCHEMA).unwrap();
        wait(db.ping()).unwrap();
    }
    let open = std::fs::read_dir("/proc/self/fd").unwrap().count();
    assert!(open < 700, "{open} files are open");
}

#[test]
fn a_query_may_end_early() {
    on_both(|db| {
        let sql = format!("{ENDLESS} SELECT n FROM n LIMIT 1000000");
        let read = move |tx: &mut Tx<'_>| {
            let mut sum = 0;
            tx.query(&sql, &[], |row| {
                sum += row.int(0)?;
                Ok(row.int(0)? < 4)
            })?;
            let after = tx.query_one("SELECT 7", &[], |row| row.int(0))?;
            Ok((sum, after))
        };
        assert_eq!(wait(db.read(read)).unwrap(), (10, Some(7)));
    });
}
