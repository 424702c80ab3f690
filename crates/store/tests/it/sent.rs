//! Statements whose answer nobody waits for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lyceum_core::{ProblemKind, Result};
use lyceum_store::limits;
use lyceum_store::{Db, SqlDialect, StoreOptions, Tx, Value};

use crate::writes::conflict;
use crate::{SCHEMA, count, on_both, open, wait, with_target};

const ADD: &str = "INSERT INTO things (id, number) VALUES ($1, $2)";
const SET: &str = "UPDATE things SET number = (number * 3 + $1) % 1000003";

fn number(tx: &mut Tx<'_>) -> Result<i64> {
    Ok(tx.query_one("SELECT number FROM things", &[], |row| row.int(0))?.unwrap())
}

#[test]
fn sent_statements_run_in_order_and_before_awaited_ones() {
    let added = limits::POSTGRES_SENT_MAX_STATEMENTS * 3 + 1;
    on_both(|db| {
        let seen = wait(db.write(move |tx| {
            tx.send(ADD, &["one".into(), 0.into()])?;
            for n in 0..added {
                tx.send(SET, &[i64::try_from(n).unwrap().into()])?;
            }
            number(tx)
        }))
        .unwrap();
        let wanted = (0..added).fold(0, |number, n| (number * 3 + n) % 1_000_003);
        let wanted = i64::try_from(wanted).unwrap();
        assert_eq!(seen, wanted);
        assert_eq!(wait(db.read(number)).unwrap(), wanted);
    });
}

#[test]
fn any_number_of_rows_can_be_sent() {
    for rows in [1, 99, 100, 2500] {
        on_both(|db| {
            let ids: Vec<String> = (0..rows).map(|n| format!("thing-{n}")).collect();
            let values: Vec<Value<'_>> =
                ids.iter().flat_map(|id| [Value::Text(id), Value::Null]).collect();
            let (columns, conflict) = (["id", "number"], "ON CONFLICT DO NOTHING");
            let added = db.write_blocking(|tx| {
                tx.send_rows("things", &columns, &values, "")?;
                tx.send_rows("things", &columns, &values, conflict)
            });
            added.unwrap();
            assert_eq!(count(db), rows);
        });
    }
}

/// On PostgreSQL the statement was on its way when the closure ended.
#[test]
fn a_failure_is_reported_by_the_commit() {
    on_both(|db| {
        let twice = wait(db.write(|tx| {
            tx.send(ADD, &["one".into(), 1.into()])?;
            tx.send(ADD, &["one".into(), 2.into()])
        }));
        assert_eq!(twice.unwrap_err().kind, ProblemKind::Conflict);
        assert_eq!(count(db), 0);
    });
}

#[test]
fn a_failure_is_reported_by_the_next_statement() {
    on_both(|db| {
        let twice = wait(db.write(|tx| {
            tx.send(ADD, &["one".into(), 1.into()])?;
            tx.send(ADD, &["one".into(), 2.into()])?;
            tx.send(SET, &[7.into()])?;
            number(tx)
        }));
        assert_eq!(twice.unwrap_err().kind, ProblemKind::Conflict);
        let carried_on = wait(db.write(|tx| {
            tx.send(ADD, &["one".into(), 1.into()])?;
            let _ = tx.send(ADD, &["one".into(), 2.into()]);
            let _ = number(tx);
            Ok(())
        }));
        assert_eq!(carried_on.unwrap_err().kind, ProblemKind::Internal);
        assert_eq!(count(db), 0);
        wait(db.write(|tx| tx.send(ADD, &["one".into(), 1.into()]))).unwrap();
        assert_eq!(count(db), 1, "the connection is of further use");
    });
}

#[test]
fn a_read_cannot_send_a_write() {
    on_both(|db| {
        let add = |tx: &mut Tx<'_>| tx.send(ADD, &["one".into(), 1.into()]);
        let read = wait(db.read(add));
        assert_eq!(read.unwrap_err().kind, ProblemKind::Internal);
        let second = wait(db.read(move |tx| {
            tx.query_one("SELECT 1", &[], |_| Ok(()))?;
            add(tx)
        }));
        assert_eq!(second.unwrap_err().kind, ProblemKind::Internal);
        assert!(db.read_blocking(add).is_err());
        assert_eq!(count(db), 0);
        wait(db.write(add)).unwrap();
        assert_eq!(count(db), 1, "no other request hears of it");
    });
}

#[test]
fn large_statements_can_be_sent() {
    on_both(|db| {
        let body = "b".repeat(limits::POSTGRES_SENT_MAX_BYTES / 2 + 1);
        let kept = wait(db.write(move |tx| {
            for n in 0..5 {
                let sql = "INSERT INTO things (id, body) VALUES ($1, $2)";
                tx.send(sql, &[Value::Text(&format!("thing-{n}")), Value::Text(&body)])?;
            }
            Ok(())
        }));
        kept.unwrap();
        assert_eq!(count(db), 5);
    });
}

/// Where more were under way, the failure would not be told yet.
#[test]
fn sent_statements_stay_within_the_limits() {
    let few = (limits::POSTGRES_SENT_MAX_BYTES / 4, 4);
    for (bytes, most) in [few, (0, limits::POSTGRES_SENT_MAX_STATEMENTS)] {
        on_both(|db| {
            let body = "b".repeat(bytes);
            let twice = wait(db.write(move |tx| {
                let sql = "INSERT INTO things (id, body) VALUES ($1, $2)";
                let sent =
                    (0..=most).try_for_each(|_| tx.send(sql, &["one".into(), Value::Text(&body)]));
                assert!(sent.is_err(), "{} are under way", most + 1);
                sent
            }));
            assert_eq!(twice.unwrap_err().kind, ProblemKind::Conflict);
            assert_eq!(count(db), 0);
        });
    }
}

/// A failure comes in two, and in three where the client's buffer ends within the first. SQLite takes no rows
/// where nobody asks for them.
#[test]
fn a_response_in_many_parts_does_not_block_those_behind_it() {
    on_both(|db| {
        if db.dialect() == SqlDialect::Sqlite {
            return;
        }
        let work = db.write(|tx| {
            tx.send("SELECT repeat('b', 4000) FROM generate_series(1, 1000)", &[])?;
            tx.send(ADD, &["one".into(), 7.into()])?;
            number(tx)
        });
        let seen = wait(async { tokio::time::timeout(Duration::from_secs(30), work).await });
        assert_eq!(seen.expect("it goes on").unwrap(), 7);
    });
}

#[test]
fn statements_that_cannot_be_sent_are_refused_at_once() {
    on_both(|db| {
        let nul = wait(db.write(|tx| {
            tx.send(ADD, &["one".into(), 1.into()])?;
            let refused = tx.send(ADD, &["a\0b".into(), 1.into()]);
            assert_eq!(refused.as_ref().unwrap_err().kind, ProblemKind::Invalid);
            refused
        }));
        assert_eq!(nul.unwrap_err().kind, ProblemKind::Invalid);
        assert_eq!(count(db), 0);
    });
}

#[test]
fn writers_that_send_lose_no_update() {
    on_both(|db| {
        wait(db.write(|tx| tx.send(ADD, &["counter".into(), 0.into()]))).unwrap();
        wait(async {
            let next = |_| {
                let db = db.clone();
                tokio::spawn(async move {
                    db.write(move |tx| {
                        let seen = number(tx)?;
                        tx.send("UPDATE things SET number = $1", &[(seen + 1).into()])
                    })
                    .await
                })
            };
            for write in (0..64).map(next).collect::<Vec<_>>() {
                write.await.unwrap().unwrap();
            }
        });
        conflict(db, |tx, seen| tx.send("UPDATE things SET number = $1", &[(seen + 1).into()]));
        assert_eq!(wait(db.read(number)).unwrap(), 66);
    });
}

/// PostgreSQL takes so many as a stream, which it refuses behind a failure and in a read.
fn add_many(tx: &mut Tx<'_>, from: i64) -> Result<()> {
    let ids: Vec<String> = (from..from + 100).map(|n| format!("thing-{n}")).collect();
    let values: Vec<Value<'_>> = ids.iter().flat_map(|id| [Value::Text(id), Value::Null]).collect();
    tx.send_rows("things", &["id", "number"], &values, "")
}

/// The connection that serves; SQLite has none.
fn connection_of(db: &Db) -> i64 {
    let sql = match db.dialect() {
        SqlDialect::Sqlite => "SELECT 0",
        SqlDialect::Postgres => "SELECT CAST(pg_backend_pid() AS BIGINT)",
    };
    wait(db.read(move |tx| tx.query_one(sql, &[], |row| row.int(0)))).unwrap().unwrap()
}

#[test]
fn after_refused_rows_each_read_gets_its_own_response() {
    with_target(|target| {
        let one = StoreOptions { connections: 1, ..StoreOptions::default() };
        let db = Db::open_with(target, SCHEMA, one).unwrap();
        wait(db.write(|tx| add_many(tx, 0))).unwrap();
        let answers = || {
            for number in 0..5 {
                let sql = "SELECT CAST($1 AS BIGINT)";
                let read = db.read(move |tx| tx.query_one(sql, &[number.into()], |row| row.int(0)));
                assert_eq!(wait(read).unwrap(), Some(number));
            }
        };
        for round in 1..4 {
            let connection = connection_of(&db);
            let behind = wait(db.write(move |tx| {
                tx.send(ADD, &["thing-0".into(), 1.into()])?;
                add_many(tx, round * 1000)
            }));
            assert_eq!(behind.unwrap_err().kind, ProblemKind::Conflict);
            answers();
            assert_eq!(connection_of(&db), connection, "it is of further use");
            assert!(wait(db.read(move |tx| add_many(tx, round * 1000))).is_err());
            answers();
        }
        assert_eq!(count(&db), 100);
        wait(db.write(|tx| add_many(tx, 100))).unwrap();
        assert_eq!(count(&db), 200);
    });
}

#[test]
fn a_collision_at_the_commit_keeps_the_connection() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let (db, other) = (open(&target), open(&target));
    wait(db.write(|tx| tx.send(ADD, &["counter".into(), 0.into()]))).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (runs, meanwhile) = (seen.clone(), other.clone());
    let write = db.write(move |tx| {
        let own = "SELECT CAST(pg_backend_pid() AS BIGINT), number FROM things";
        let run = tx.query_one(own, &[], |row| Ok((row.int(0)?, row.int(1)?)))?.unwrap();
        runs.lock().unwrap().push(run);
        if run.1 == 0 {
            meanwhile.write_blocking(|tx| tx.send(SET, &[7.into()]))?;
        }
        tx.send("UPDATE things SET number = number + 1", &[])
    });
    wait(write).unwrap();
    let runs = seen.lock().unwrap();
    assert!(matches!(runs[..], [(first, 0), (again, 7)] if first == again), "{runs:?}");
    assert_eq!(wait(db.read(number)).unwrap(), 8);
}

#[test]
fn a_write_whose_connection_ends_before_the_commit_runs_again() {
    let one = StoreOptions { connections: 1, ..StoreOptions::default() };
    let db = Db::open_with(&lyceum_testkit::fresh_database(SCHEMA), SCHEMA, one).unwrap();
    // From here on nothing is waited for but the commit.
    wait(db.write(|tx| tx.send(ADD, &["known".into(), 1.into()]))).unwrap();
    let runs = Arc::new(AtomicUsize::new(0));
    let seen = runs.clone();
    let write = db.write(move |tx| {
        if seen.fetch_add(1, Ordering::SeqCst) == 0 {
            tx.send("SELECT pg_terminate_backend(pg_backend_pid())", &[])?;
        }
        tx.send(ADD, &["one".into(), 1.into()])
    });
    wait(write).unwrap();
    assert_eq!((runs.load(Ordering::SeqCst), count(&db)), (2, 2));
}
