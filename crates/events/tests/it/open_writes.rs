//! Writes that stay open, so that tests decide in which order several of them claim, commit and fail.

use std::ops::Range;
use std::sync::mpsc;
use std::thread::{self, Scope, ScopedJoinHandle};

use lyceum_core::{Problem, Result};
use lyceum_events::{Appended, Event, append};
use lyceum_store::log::write_latest;
use lyceum_store::{Db, SqlDialect, Tx};

use crate::log::{EARLY, NOW, both, event, send, wait};
use crate::runs::gather_all;

/// Runs the body on PostgreSQL, with which servers share a database. It has some events, so that their actors and their
/// sensor are known: writes that store the same new name wait for each other.
pub(crate) fn on_postgres(body: impl Fn(&Db)) {
    both(|db| {
        if db.dialect() == SqlDialect::Postgres {
            send(db, "app", &events(KNOWN));
            gather_all(db);
            body(db);
        }
    });
}

/// Events that are stored first.
pub(crate) const KNOWN: Range<u32> = 10_000..10_003;

pub(crate) fn events(numbers: Range<u32>) -> Vec<Event> {
    numbers.map(|number| event(number, "early", EARLY)).collect()
}

/// A write that does its work, and then waits to be committed or rolled back.
pub(crate) struct OpenWrite<'scope, T> {
    thread: ScopedJoinHandle<'scope, Result<()>>,
    done: mpsc::Receiver<T>,
    end: mpsc::Sender<Result<()>>,
}

impl<'scope, T: Send + 'static> OpenWrite<'scope, T> {
    /// Starts the work, which may have to wait for other writes.
    pub(crate) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        db: &'env Db,
        mut work: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Self {
        let (send, done) = mpsc::channel();
        let (end, ends) = mpsc::channel();
        let thread = scope.spawn(move || {
            wait(write_latest(db, move |tx| {
                send.send(work(tx)?).unwrap();
                ends.recv().unwrap()
            }))
        });
        Self { thread, done, end }
    }

    /// What the work returned.
    pub(crate) fn result(&self) -> T {
        self.done.recv().unwrap()
    }

    pub(crate) fn commit(self) {
        self.end.send(Ok(())).unwrap();
        self.thread.join().unwrap().unwrap();
    }

    /// As when the server is killed.
    pub(crate) fn roll_back(self) {
        self.end.send(Err(Problem::not_found("event", "x"))).unwrap();
        self.thread.join().unwrap().unwrap_err();
    }
}

/// Starts to append the events.
pub(crate) fn start_claim<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    db: &'env Db,
    events: Vec<Event>,
) -> OpenWrite<'scope, Vec<Appended>> {
    OpenWrite::start(scope, db, move |tx| append(tx, NOW, "app", &events))
}

/// Waits until a statement of some transaction waits for another transaction.
pub(crate) fn wait_for_a_wait(db: &Db) {
    let sql = "SELECT COUNT(*) FROM pg_stat_activity \
               WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while db.read_blocking(|tx| tx.query_one(sql, &[], |row| row.int(0))).unwrap() == Some(0) {
        thread::yield_now();
    }
}
