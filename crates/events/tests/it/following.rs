//! Following the log: everything that counts, in one order, whatever transactions do meanwhile.

use std::sync::mpsc::channel;
use std::thread;

use lyceum_core::time::Timestamp;
use lyceum_events::append;
use lyceum_events::repository::Follow;
use lyceum_store::{Db, Tx};
use lyceum_testkit::postgres::fresh_database;

use crate::claiming::complete;
use crate::log::{EARLY, LATE, both, event, send};

fn noon() -> Timestamp {
    Timestamp::from_milliseconds(1_768_464_000_000)
}

/// How far a look at the log came, and the names of the documents that it saw.
fn look(db: &Db, follow: &Follow) -> (Follow, Vec<String>) {
    let looked = db
        .read_blocking(|tx| follow.clone().look(tx, noon(), &lyceum_events::ActorFilter::Everyone))
        .unwrap();
    let name = |tree: &serde_json::Value| tree["object"]["name"].as_str().unwrap().to_owned();
    (looked.0, looked.1.iter().map(|logged| name(&logged.event.content())).collect())
}

/// As [`look`], until nothing is waited for: transactions of other databases of the cluster count, too,
/// for the moment that they last.
fn look_on(db: &Db, follow: &Follow) -> (Follow, Vec<String>) {
    let (mut follow, mut names) = look(db, follow);
    while follow.waits() {
        let (next, more) = look(db, &follow);
        follow = next;
        names.extend(more);
    }
    (follow, names)
}

#[test]
fn a_follower_gets_a_version_that_becomes_current_again() {
    both(|db| {
        send(db, "app", &[event(1, "first", EARLY)]);
        send(db, "app", &[event(1, "second", "2026-01-15T09:30:00.000Z")]);
        let (seen, names) = look_on(db, &Follow::from(0));
        assert_eq!(names, ["second"]);
        send(db, "app", &[event(1, "first", LATE)]);
        assert_eq!(look_on(db, &seen).1, ["first"]);
        assert_eq!(look_on(db, &Follow::from(0)).1, ["first"]);
    });
}

#[test]
fn a_gap_in_the_numbers_delays_no_reader() {
    both(|db| {
        send(db, "app", &[event(1, "first", EARLY)]);
        send(db, "app", &[event(1, "first", EARLY)]);
        send(db, "app", &[event(2, "second", EARLY)]);
        let (_, names) = look_on(db, &Follow::from(0));
        assert_eq!(names, ["first", "second"]);
    });
}

/// On PostgreSQL a later event may be there before an earlier one.
#[test]
fn followers_get_the_event_of_a_slow_transaction_in_order() {
    let db =
        Db::open(&fresh_database(lyceum_events::MIGRATIONS), lyceum_events::MIGRATIONS).unwrap();
    let (begun, has_begun) = channel();
    // A request that names a sensor or an actor first holds up the others.
    send(&db, "app", &[event(4, "known", EARLY), event(5, "known", EARLY)]);
    let (seen, _) = look(&db, &Follow::from(0));
    thread::scope(|scope| {
        // Made here, so that a failure below lets the other thread go.
        let (end, may_end) = channel();
        let slow = scope.spawn(|| {
            db.write_blocking(move |tx| {
                let events = [event(1, "slow", EARLY)];
                append(tx, noon(), "app", &events)?;
                begun.send(()).unwrap();
                may_end.recv().unwrap();
                Ok(())
            })
        });
        has_begun.recv().unwrap();
        complete(&db, event(2, "quick", EARLY));
        let (follow, names) = look(&db, &seen);
        assert!(names.is_empty() && follow.waits(), "{names:?}");
        end.send(()).unwrap();
        slow.join().unwrap().unwrap();
        assert_eq!(look(&db, &follow).1, ["slow", "quick"]);
    });
}

/// On PostgreSQL the order of numbers is not that of transactions: the newest one that has ended may be older
/// than one that is under way.
#[test]
fn followers_get_the_event_of_a_younger_transaction_in_order() {
    let db =
        Db::open(&fresh_database(lyceum_events::MIGRATIONS), lyceum_events::MIGRATIONS).unwrap();
    send(&db, "app", &[event(4, "known", EARLY), event(5, "known", EARLY)]);
    let (seen, _) = look(&db, &Follow::from(0));
    let (begun, has_begun) = channel();
    let (go, may_go) = channel();
    let (wrote, has_written) = channel();
    let add = |number, name, tx: &mut Tx<'_>| {
        append(tx, noon(), "app", &[event(number, name, EARLY)]).map(drop)
    };
    thread::scope(|scope| {
        let (go, (end, may_end)) = (go, channel());
        let quick = scope.spawn(|| {
            db.write_blocking(move |tx| {
                tx.execute("SELECT pg_current_xact_id()", &[])?;
                begun.send(()).unwrap();
                may_go.recv().unwrap();
                add(2, "quick", tx)
            })
        });
        has_begun.recv().unwrap();
        let slow = scope.spawn(|| {
            db.write_blocking(move |tx| {
                add(1, "slow", tx)?;
                wrote.send(()).unwrap();
                may_end.recv().unwrap();
                Ok(())
            })
        });
        has_written.recv().unwrap();
        go.send(()).unwrap();
        quick.join().unwrap().unwrap();
        let (follow, names) = look(&db, &seen);
        assert!(names.is_empty() && follow.waits(), "{names:?}");
        end.send(()).unwrap();
        slow.join().unwrap().unwrap();
        assert_eq!(look_on(&db, &follow).1, ["slow", "quick"]);
    });
}
