//! Rules that read what they do not write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::{Db, Migration, SqlDialect, StatementsSee, Tx, dialect};
use lyceum_testkit::race::at_once;

use crate::{SCHEMA, count, on_both, open, wait, with_target};

const ROUNDS: usize = 20;

fn refused() -> Problem {
    Problem::new(ProblemKind::Conflict, "the rule does not allow this")
}

fn number(tx: &mut Tx<'_>, sql: &str) -> Result<i64> {
    Ok(tx.query_one(sql, &[], |row| row.int(0))?.unwrap_or(0))
}

fn add(tx: &mut Tx<'_>, id: &str, value: i64) -> Result<()> {
    let sql = "INSERT INTO things (id, number) VALUES ($1, $2)";
    tx.execute(sql, &[id.into(), value.into()]).map(drop)
}

/// Clears the row unless it is the last one that is set.
fn clear(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    if number(tx, "SELECT COUNT(*) FROM things WHERE number = 1")? < 2 {
        return Err(refused());
    }
    tx.execute("UPDATE things SET number = 0 WHERE id = $1", &[id.into()]).map(drop)
}

/// Adds a row where there are fewer than the limit.
fn add_within(tx: &mut Tx<'_>, id: &str, limit: i64) -> Result<()> {
    if number(tx, "SELECT COUNT(*) FROM things WHERE number = 7")? >= limit {
        return Err(refused());
    }
    add(tx, id, 7)
}

#[test]
fn when_two_writes_conflict_one_runs_again_and_is_refused() {
    on_both(|db| {
        for round in 0..ROUNDS {
            let set = |tx: &mut Tx<'_>| {
                tx.execute("DELETE FROM things", &[])?;
                add(tx, "a", 1)?;
                add(tx, "b", 1)
            };
            wait(db.write(set)).unwrap();
            let (one, other) = at_once(db, |tx| clear(tx, "a"), |tx| clear(tx, "b"));
            assert!(one.is_ok() != other.is_ok(), "round {round}: {one:?} {other:?}");
        }
    });
}

#[test]
fn a_limit_holds_when_concurrent_writes_add_rows() {
    on_both(|db| {
        for round in 0..ROUNDS {
            wait(db.write(|tx| tx.execute("DELETE FROM things", &[]))).unwrap();
            let (one, other) =
                at_once(db, |tx| add_within(tx, "a", 1), |tx| add_within(tx, "b", 1));
            assert!(one.is_ok() != other.is_ok(), "round {round}: {one:?} {other:?}");
            assert_eq!(count(db), 1);
        }
    });
}

/// Finds that there is no such row and adds it, as most requests do.
fn find_and_add(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    let known = "SELECT 1 FROM things WHERE id = $1";
    match tx.query_one(known, &[id.into()], |_| Ok(()))? {
        Some(()) => Err(refused()),
        None => add(tx, id, 0),
    }
}

#[test]
fn a_row_that_appears_during_a_repeated_run_is_seen_by_the_next_run() {
    let db = open(&lyceum_testkit::fresh_database(SCHEMA));
    wait(db.write(|tx| add(tx, "a", 0))).unwrap();
    let mut runs = 0;
    let write = db.write(move |tx| {
        runs += 1;
        match runs {
            1 => {
                collide(tx)?;
                unreachable!("it collides")
            }
            2 => add(tx, "a", 0)?, // nobody had added it when this run began
            _ => {}
        }
        Ok(runs)
    });
    assert_eq!(wait(write).unwrap(), 3);
    let runs = Arc::new(AtomicUsize::new(0));
    let seen = runs.clone();
    let found = wait(db.write(move |tx| {
        seen.fetch_add(1, Ordering::SeqCst);
        add(tx, "a", 0)
    }));
    assert_eq!(found.unwrap_err().kind, ProblemKind::Conflict);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[test]
fn a_write_for_which_all_others_wait_is_cancelled() {
    let db = open(&lyceum_testkit::fresh_database(SCHEMA));
    let (has_turn, turn) = std::sync::mpsc::channel();
    let mut runs = 0;
    let work = move |tx: &mut Tx<'_>| {
        runs += 1;
        if runs <= BEFORE_A_TURN {
            collide(tx)?;
        }
        let _ = has_turn.send(());
        let sleep = "SELECT pg_sleep(0.1)";
        (0..300).try_for_each(|_| tx.query_one(sleep, &[], |_| Ok(())).map(drop))
    };
    let of_slow = db.clone();
    let (slow, quick) = wait(async {
        let slow = tokio::spawn(async move { of_slow.write(work).await });
        tokio::task::spawn_blocking(move || turn.recv().unwrap()).await.unwrap();
        let quick = db.write(|tx| add(tx, "a", 0)).await;
        (slow.await.unwrap(), quick)
    });
    assert_eq!(slow.unwrap_err().kind, ProblemKind::Unavailable);
    quick.unwrap();
}

#[test]
fn writes_of_unrelated_rows_seldom_run_again() {
    on_both(|db| {
        // As many as have more than a few pages of an index.
        let fill = |tx: &mut Tx<'_>| (0..5000).try_for_each(|n| add(tx, &format!("{n:x}"), 0));
        wait(db.write(fill)).unwrap();
        let runs = Arc::new(AtomicUsize::new(0));
        let (tasks, each) = (16, 50);
        wait(async {
            let writing: Vec<_> = (0..tasks)
                .map(|writer| {
                    let (db, runs) = (db.clone(), runs.clone());
                    tokio::spawn(async move {
                        for n in 0..each {
                            let runs = runs.clone();
                            // Spread over the index, as the ids of records are.
                            let spread = (writer * each + n) * 7_368_787 % 1_048_576;
                            let id = format!("{spread:x}-{writer}-{n}");
                            let work = move |tx: &mut Tx<'_>| {
                                runs.fetch_add(1, Ordering::SeqCst);
                                find_and_add(tx, &id)
                            };
                            db.write(work).await.unwrap();
                        }
                    })
                })
                .collect();
            for task in writing {
                task.await.unwrap();
            }
        });
        let (runs, writes) = (runs.load(Ordering::SeqCst), tasks * each);
        assert!(runs <= writes * 3 / 2, "{writes} writes ran {runs} times");
    });
}

/// Adds one to the owner's row, and a row of the owner.
fn add_for(tx: &mut Tx<'_>, owner: &str, id: &str) -> Result<()> {
    let lock = dialect::lock_rows(tx.dialect());
    let find = format!("SELECT number FROM things WHERE id = $1{lock}");
    let number = tx.query_one(&find, &[owner.into()], |row| row.int(0))?.unwrap();
    find_and_add(tx, id)?;
    let sql = "UPDATE things SET number = $1 WHERE id = $2";
    tx.execute(sql, &[(number + 1).into(), owner.into()]).map(drop)
}

#[test]
fn writes_that_lock_their_owners_run_again_only_for_the_same_owner() {
    on_both(|db| {
        let (owners, tasks_of_each, each) = (4, 3, 20);
        let fill =
            move |tx: &mut Tx<'_>| (0..owners).try_for_each(|o| add(tx, &format!("owner-{o}"), 0));
        wait(db.write(fill)).unwrap();
        // First one task for each owner, then several.
        for tasks in [1, tasks_of_each] {
            let runs = Arc::new(AtomicUsize::new(0));
            wait(async {
                let writing: Vec<_> = (0..owners * tasks)
                    .map(|task| {
                        let (db, runs) = (db.clone(), runs.clone());
                        tokio::spawn(async move {
                            for n in 0..each {
                                let runs = runs.clone();
                                let owner = format!("owner-{}", task % owners);
                                let id = format!("{tasks}-{task}-{n}");
                                let work = move |tx: &mut Tx<'_>| {
                                    runs.fetch_add(1, Ordering::SeqCst);
                                    add_for(tx, &owner, &id)
                                };
                                db.write_with_locks(StatementsSee::OneState, work).await.unwrap();
                            }
                        })
                    })
                    .collect();
                for task in writing {
                    task.await.unwrap();
                }
            });
            if tasks == 1 {
                assert_eq!(runs.load(Ordering::SeqCst), owners * each);
            }
        }
        let sum = "SELECT SUM(number) FROM things WHERE id LIKE 'owner-%'";
        let counted = wait(db.read(move |tx| number(tx, sum))).unwrap();
        assert_eq!(usize::try_from(counted).unwrap(), owners * (1 + tasks_of_each) * each);
    });
}

/// Where others only ever follow each other, it would run again until its attempts end.
#[test]
fn a_slow_write_succeeds_among_quick_ones_that_change_what_it_read() {
    on_both(|db| {
        let (is_done, runs) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        wait(async {
            let quick: Vec<_> = (0..4)
                .map(|writer| {
                    let (db, is_done) = (db.clone(), is_done.clone());
                    tokio::spawn(async move {
                        for n in 0.. {
                            if is_done.load(Ordering::SeqCst) {
                                return;
                            }
                            let id = format!("{writer}-{n}");
                            let work = move |tx: &mut Tx<'_>| find_and_add(tx, &id);
                            db.write(work).await.unwrap();
                        }
                    })
                })
                .collect();
            let seen = runs.clone();
            let slow = db.write(move |tx| {
                seen.fetch_add(1, Ordering::SeqCst);
                let rows = number(tx, "SELECT COUNT(*) FROM things WHERE number = 0")?;
                if tx.dialect() == SqlDialect::Postgres {
                    thread::sleep(Duration::from_millis(50));
                }
                (0..100).try_for_each(|n| add(tx, &format!("slow-{n}"), rows))
            });
            slow.await.unwrap();
            is_done.store(true, Ordering::SeqCst);
            for quick in quick {
                quick.await.unwrap();
            }
        });
        assert!(runs.load(Ordering::SeqCst) <= 8, "it ran {runs:?} times");
    });
}

/// The attempts of a write that fail before it gets a turn of its own.
const BEFORE_A_TURN: usize = 6;

/// Fails as a transaction does that ran into another one.
fn collide(tx: &mut Tx<'_>) -> Result<()> {
    let collide = "DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40001'; END $$";
    tx.execute(collide, &[]).map(drop)
}

/// Waits until there is a lock as the condition says.
fn until_lock(watching: &Db, condition: &str) {
    let sql = format!(
        "SELECT 1 FROM pg_locks l JOIN pg_class c ON c.oid = l.relation \
         JOIN pg_database d ON d.oid = l.database AND d.datname = current_database() WHERE {condition}"
    );
    let since = Instant::now();
    while watching.read_blocking(|tx| tx.query_one(&sql, &[], |_| Ok(()))).unwrap().is_none() {
        assert!(since.elapsed() < Duration::from_secs(20), "there is none: {condition}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Changes a table that writes use, and goes on for a while before it is noted as done.
const SLOW: Migration = Migration {
    version: 1000,
    name: "slow",
    sql: "ALTER TABLE things ADD COLUMN extra TEXT;\nPOSTGRES SELECT pg_sleep(1);",
};

const MIGRATION_HOLDS_TABLE: &str =
    "c.relname = 'things' AND l.mode = 'AccessExclusiveLock' AND l.granted";
const SOMEBODY_WAITS_FOR_THE_TURN: &str = "c.relname = 'refinery_schema_history' AND NOT l.granted";

/// Only PostgreSQL has turns: SQLite has one writer at a time, also while it migrates.
#[test]
fn a_migration_waits_for_a_turn_that_began_before_it() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let (has_turn, turn) = std::sync::mpsc::channel();
    let db = open(&target);
    let (mut runs, watching) = (0, open(&target));
    let write = move |tx: &mut Tx<'_>| {
        runs += 1;
        if runs <= BEFORE_A_TURN {
            collide(tx)?;
        }
        if runs == BEFORE_A_TURN + 1 {
            has_turn.send(()).unwrap();
            let either = format!("({MIGRATION_HOLDS_TABLE}) OR ({SOMEBODY_WAITS_FOR_THE_TURN})");
            until_lock(&watching, &either);
            // The other one is waiting by now, if it has to.
            thread::sleep(Duration::from_millis(300));
        }
        add(tx, "a", 0)?;
        Ok(runs)
    };
    thread::scope(|scope| {
        let written = scope.spawn(|| wait(db.write(write)));
        turn.recv().unwrap();
        let migrated = Db::open(&target, &[SCHEMA, &[SLOW]].concat());
        migrated.map(drop).expect("the server that migrates starts");
        let runs = written.join().unwrap().unwrap();
        assert_eq!(runs, BEFORE_A_TURN + 1, "the turn was not broken off for the migration");
    });
    assert_eq!(count(&db), 1);
}

#[test]
fn a_write_that_waits_for_a_turn_does_not_block_a_migration() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let (db, watching) = (open(&target), open(&target));
    let mut runs = 0;
    let write = move |tx: &mut Tx<'_>| {
        runs += 1;
        if runs <= BEFORE_A_TURN {
            collide(tx)?;
        }
        add(tx, "a", 0)
    };
    thread::scope(|scope| {
        let migrated = scope.spawn(|| Db::open(&target, &[SCHEMA, &[SLOW]].concat()).map(drop));
        until_lock(&watching, MIGRATION_HOLDS_TABLE);
        wait(db.write(write)).unwrap();
        migrated.join().unwrap().expect("the server that migrates starts");
    });
    assert_eq!(count(&db), 1);
}

#[test]
fn writes_of_two_servers_that_wait_for_turns_both_succeed() {
    with_target(|target| {
        let (one, other) = (open(target), open(target));
        let both_begin = Arc::new(std::sync::Barrier::new(2));
        // In opposite orders: without turns each could hold what the other one needs.
        let write = |db: &Db, ids: [&'static str; 2]| {
            let (db, both_begin, mut runs) = (db.clone(), Arc::clone(&both_begin), 0);
            thread::spawn(move || {
                wait(db.write(move |tx| {
                    runs += 1;
                    if tx.dialect() == SqlDialect::Postgres {
                        if runs == 1 {
                            both_begin.wait();
                        }
                        if runs <= BEFORE_A_TURN {
                            collide(tx)?;
                        }
                    }
                    for id in ids {
                        let sql = "UPDATE things SET number = number + 1 WHERE id = $1";
                        tx.execute(sql, &[id.into()])?;
                        thread::sleep(Duration::from_millis(100));
                    }
                    Ok(())
                }))
            })
        };
        one.write_blocking(|tx| add(tx, "a", 0).and_then(|()| add(tx, "b", 0))).unwrap();
        for writing in [write(&one, ["a", "b"]), write(&other, ["b", "a"])] {
            writing.join().unwrap().unwrap();
        }
        let sum = one.read_blocking(|tx| number(tx, "SELECT SUM(number) FROM things")).unwrap();
        assert_eq!(sum, 4);
    });
}
