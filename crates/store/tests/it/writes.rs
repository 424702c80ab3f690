use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::limits;
use lyceum_store::{Db, SqlDialect, StatementsSee, StoreLocation, StoreOptions, Tx, Value, log};
use lyceum_testkit::race;

use crate::{SCHEMA, count, on_both, open, wait, with_target};

fn add(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    tx.execute("INSERT INTO things (id, number) VALUES ($1, 0)", &[id.into()]).map(drop)
}

#[test]
fn a_closure_that_fails_undoes_only_its_own_changes() {
    on_both(|db| {
        wait(async {
            let writes: Vec<_> = (0..200)
                .map(|n| {
                    let db = db.clone();
                    tokio::spawn(async move {
                        db.write(move |tx| {
                            add(tx, &format!("thing-{n}"))?;
                            tx.tally("things", n, 1);
                            if n % 3 == 0 {
                                return Err(Problem::not_found("thing", "x"));
                            }
                            Ok(n)
                        })
                        .await
                    })
                })
                .collect();
            for (n, write) in writes.into_iter().enumerate() {
                match write.await.unwrap() {
                    Ok(answer) => assert_eq!(answer, i64::try_from(n).unwrap()),
                    Err(problem) => {
                        assert_eq!((problem.kind, n % 3), (ProblemKind::NotFound, 0));
                    }
                }
            }
        });
        assert_eq!(count(db), 133);
        assert_eq!(wait(db.read(|tx| tx.tally_total("things"))).unwrap(), 133);
    });
}

#[test]
fn a_closure_that_panics_does_not_affect_others() {
    on_both(|db| {
        let panicked: Result<()> = wait(db.write(|tx| {
            add(tx, "lost")?;
            panic!("a fault of the closure");
        }));
        assert_eq!(panicked.unwrap_err().kind, ProblemKind::Internal);
        wait(db.write(|tx| add(tx, "kept"))).unwrap();
        assert_eq!(count(db), 1);
    });
}

#[test]
fn a_duplicate_is_a_conflict_and_commits_nothing() {
    on_both(|db| {
        wait(db.write(|tx| add(tx, "one"))).unwrap();
        let twice = wait(db.write(|tx| {
            add(tx, "two")?;
            add(tx, "one")
        }));
        assert_eq!(twice.unwrap_err().kind, ProblemKind::Conflict);
        let carried_on = wait(db.write(|tx| {
            add(tx, "three")?;
            let _ = add(tx, "one");
            Ok(())
        }));
        assert_eq!(carried_on.unwrap_err().kind, ProblemKind::Internal);
        assert_eq!(count(db), 1);
    });
}

fn number_now(tx: &mut Tx<'_>) -> Result<i64> {
    Ok(tx.query_one("SELECT number FROM things", &[], |row| row.int(0))?.unwrap())
}

/// The number of `counter`, held for the thread that counts next.
fn counted(tx: &mut Tx<'_>) -> Result<i64> {
    let alone = log::lock(tx, log::RowLock::Alone);
    let sql = format!("SELECT number FROM things WHERE id = 'counter' {alone}");
    Ok(tx.query_one(&sql, &[], |row| row.int(0))?.unwrap())
}

fn count_to(tx: &mut Tx<'_>, number: i64) -> Result<u64> {
    tx.execute("UPDATE things SET number = $1 WHERE id = 'counter'", &[Value::Int(number)])
}

/// Counts 64 times at once, from the number that is seen or from the latest one; answers how often the writes
/// ran.
fn count_at_once(db: &Db, is_latest: bool) -> usize {
    wait(db.write(|tx| add(tx, "counter"))).unwrap();
    let runs = Arc::new(AtomicUsize::new(0));
    wait(async {
        let writes: Vec<_> = (0..64)
            .map(|_| {
                let (db, runs) = (db.clone(), runs.clone());
                tokio::spawn(async move {
                    let next = move |tx: &mut Tx<'_>| {
                        runs.fetch_add(1, Ordering::SeqCst);
                        let seen = number_now(tx)?;
                        let number = if is_latest { counted(tx)? } else { seen };
                        count_to(tx, number + 1)
                    };
                    if is_latest {
                        db.write_with_locks(StatementsSee::LatestCommits, next).await
                    } else {
                        db.write(next).await
                    }
                })
            })
            .collect();
        for write in writes {
            write.await.unwrap().unwrap();
        }
    });
    assert_eq!(wait(db.read(number_now)).unwrap(), 64);
    runs.load(Ordering::SeqCst)
}

/// Two writes at once change the number that they see. On PostgreSQL both have seen the same, so one runs again.
pub(crate) fn conflict(
    db: &Db,
    change: impl Fn(&mut Tx<'_>, i64) -> Result<()> + Copy + Send + 'static,
) {
    let runs = Arc::new(AtomicUsize::new(0));
    let write = || {
        let runs = runs.clone();
        move |tx: &mut Tx<'_>| {
            runs.fetch_add(1, Ordering::SeqCst);
            let seen = number_now(tx)?;
            change(tx, seen)
        }
    };
    let (one, other) = race::at_once(db, write(), write());
    one.unwrap();
    other.unwrap();
    let expected = if db.dialect() == SqlDialect::Postgres { 3 } else { 2 };
    assert_eq!(runs.load(Ordering::SeqCst), expected);
}

#[test]
fn writers_of_one_record_lose_no_update() {
    on_both(|db| {
        count_at_once(db, false);
        conflict(db, |tx, seen| count_to(tx, seen + 1).map(drop));
        assert_eq!(wait(db.read(number_now)).unwrap(), 66);
    });
}

#[test]
fn a_write_that_sees_the_latest_rows_waits_for_others() {
    on_both(|db| assert_eq!(count_at_once(db, true), 64, "none ran again"));
}

/// Where it is always too late, a write would run into the others until its attempts end.
#[test]
fn a_slow_write_succeeds_among_quick_ones() {
    on_both(|db| {
        wait(db.write(|tx| add(tx, "counter"))).unwrap();
        let (is_done, runs) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let quick = wait(async {
            let quick: Vec<_> = (0..4)
                .map(|_| {
                    let (db, is_done) = (db.clone(), is_done.clone());
                    tokio::spawn(async move {
                        let mut count = 0;
                        while !is_done.load(Ordering::SeqCst) {
                            let next = |tx: &mut Tx<'_>| {
                                let number = counted(tx)?;
                                count_to(tx, number + 1)
                            };
                            db.write_with_locks(StatementsSee::LatestCommits, next).await.unwrap();
                            count += 1;
                        }
                        count
                    })
                })
                .collect();
            let seen = runs.clone();
            let slow = db.write(move |tx| {
                seen.fetch_add(1, Ordering::SeqCst);
                tx.query_one("SELECT 1 FROM things", &[], |_| Ok(()))?;
                thread::sleep(Duration::from_millis(50));
                let number = counted(tx)?;
                count_to(tx, number + 1)
            });
            slow.await.unwrap();
            is_done.store(true, Ordering::SeqCst);
            let mut count = 0;
            for quick in quick {
                count += quick.await.unwrap();
            }
            count
        });
        assert!(quick > 0, "nobody was in the way");
        assert_eq!(wait(db.read(number_now)).unwrap(), quick + 1);
        assert!(runs.load(Ordering::SeqCst) <= 8, "it ran {runs:?} times");
    });
}

#[test]
fn a_long_write_is_atomic_and_runs_beside_others() {
    with_target(|target| {
        let db = open(target);
        let failed: Result<()> = db.write_blocking(|tx| {
            add(tx, "lost")?;
            Err(Problem::not_found("thing", "x"))
        });
        assert_eq!(failed.unwrap_err().kind, ProblemKind::NotFound);
        thread::scope(|scope| {
            for worker in 0..4 {
                let db = open(target);
                scope.spawn(move || {
                    for n in 0..25 {
                        if worker % 2 == 0 {
                            wait(db.write(move |tx| add(tx, &format!("{worker}-{n}")))).unwrap();
                        } else {
                            db.write_blocking(|tx| {
                                tx.tally("things", n, 1);
                                add(tx, &format!("{worker}-{n}"))
                            })
                            .unwrap();
                        }
                    }
                });
            }
        });
        assert_eq!(count(&db), 100);
        assert_eq!(db.read_blocking(|tx| tx.tally_total("things")).unwrap(), 50);
    });
}

#[test]
fn a_read_cannot_write() {
    on_both(|db| {
        assert_eq!(wait(db.read(|tx| add(tx, "x"))).unwrap_err().kind, ProblemKind::Internal);
        assert!(db.read_blocking(|tx| add(tx, "x")).is_err());
        assert_eq!(count(db), 0);
    });
}

#[test]
fn two_writers_of_one_new_record_both_see_it_afterwards() {
    on_both(|db| {
        for round in 0..20 {
            let answers: Vec<bool> = wait(async {
                let ask = |tx: &mut Tx<'_>, id: &str| -> Result<bool> {
                    let known = "SELECT 1 FROM things WHERE id = $1";
                    if tx.query_one(known, &[id.into()], |_| Ok(()))?.is_some() {
                        return Ok(false);
                    }
                    add(tx, id).map(|()| true)
                };
                let writes = [0, 1].map(|_| {
                    let db = db.clone();
                    tokio::spawn(
                        async move { db.write(move |tx| ask(tx, &round.to_string())).await },
                    )
                });
                let mut answers = Vec::new();
                for write in writes {
                    answers.push(write.await.unwrap().unwrap());
                }
                answers
            });
            assert!(answers[0] != answers[1], "one makes it, the other finds it");
        }
    });
}

#[test]
fn a_lock_held_elsewhere_is_waited_for_and_then_reported() {
    with_target(|target| {
        open(target).write_blocking(|tx| add(tx, "shared")).unwrap();
        let db = Db::open_with(
            target,
            SCHEMA,
            StoreOptions { lock_wait_ms: 100, ..StoreOptions::default() },
        );
        let db = db.unwrap();
        let update = |tx: &mut Tx<'_>| tx.execute("UPDATE things SET number = number + 1", &[]);
        open(target)
            .write_blocking(|tx| {
                update(tx)?;
                let refused = thread::scope(|scope| {
                    scope.spawn(|| wait(db.write(update))).join().unwrap().unwrap_err()
                });
                assert_eq!(refused.kind, ProblemKind::Unavailable);
                assert!(refused.retry_after_s.is_some());
                Ok(())
            })
            .unwrap();
        assert_eq!(wait(db.write(update)).unwrap(), 1);
    });
}

#[test]
fn only_an_inserted_row_has_a_number() {
    on_both(|db| {
        let numbers = wait(db.write(|tx| {
            let sql = "INSERT INTO things (id, number) VALUES ($1, 1) ON CONFLICT (id) DO NOTHING";
            let mut add = |id: &str| tx.insert(sql, "seq", &[id.into()]);
            Ok([add("a")?, add("a")?, add("b")?, add("a")?])
        }));
        let number = |id: &'static str| {
            let sql = "SELECT seq FROM things WHERE id = $1";
            let read = move |tx: &mut Tx<'_>| tx.query_one(sql, &[id.into()], |row| row.int(0));
            wait(db.read(read)).unwrap()
        };
        assert_eq!(numbers.unwrap(), [number("a"), None, number("b"), None]);
        assert!(number("a").is_some());
    });
}

#[test]
fn the_log_shrinks_after_a_long_write() {
    with_target(|target| {
        let StoreLocation::Sqlite(file) = target else { return };
        let db = open(target);
        let bytes = vec![7; 1 << 20];
        let count = limits::SQLITE_LOG_KEPT_BYTES / (1 << 20) + 2;
        let written = db.write_blocking(|tx| {
            for number in 0..count {
                let values = [Value::Text(&number.to_string()), Value::Blob(&bytes)];
                tx.execute("INSERT INTO things (id, bytes) VALUES ($1, $2)", &values)?;
            }
            Ok(())
        });
        written.unwrap();
        let log = std::fs::metadata(file.with_extension("db-wal")).unwrap();
        assert_eq!(log.len(), 0, "of {}", file.display());
    });
}

#[test]
fn lost_connections_are_opened_again() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let db = open(&target);
    let StoreLocation::Postgres(_) = &target else { unreachable!("it is PostgreSQL") };
    let send =
        |tx: &mut Tx<'_>, id: &str| tx.send("INSERT INTO things (id) VALUES ($1)", &[id.into()]);
    // An answer is waited for or not; the second time the statement is known to the connection.
    let ways: [fn(&mut Tx<'_>, &str) -> Result<()>; 2] = [add, send];
    for (at, way) in ways.iter().copied().cycle().take(6).enumerate() {
        for n in 0..2 {
            wait(db.write(move |tx| way(tx, &format!("{at} {n}")))).unwrap();
        }
        let others = "SELECT COUNT(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity \
                      WHERE datname = current_database() AND pid <> pg_backend_pid()";
        let ended = open(&target).read_blocking(|tx| tx.query_one(others, &[], |row| row.int(0)));
        assert!(ended.unwrap().unwrap() >= 1);
        wait(db.write(move |tx| way(tx, &format!("{at} again")))).unwrap();
        assert_eq!(count(&db), 3 * (i64::try_from(at).unwrap() + 1));
    }
}
