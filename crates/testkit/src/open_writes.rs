//! Writes that stay open, so that a test decides in which order several of them work, commit and fail.

use std::sync::mpsc;
use std::thread::{self, Scope, ScopedJoinHandle};

use lyceum_core::{Problem, Result};
use lyceum_store::{Db, StatementsSee, Tx};

/// A write that does its work, and then waits to be committed or rolled back.
pub struct OpenWrite<'scope, T> {
    thread: ScopedJoinHandle<'scope, Result<()>>,
    done: mpsc::Receiver<T>,
    end: mpsc::Sender<Result<()>>,
}

impl<'scope, T: Send + 'static> OpenWrite<'scope, T> {
    /// Starts the work, which may have to wait for other writes, in a transaction that sees the latest state.
    pub fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        db: &'env Db,
        work: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Self {
        Self::spawn(scope, work, move |write| {
            wait(db.write_with_locks(StatementsSee::LatestCommits, write))
        })
    }

    /// Like [`start`](Self::start), in a transaction that sees one state.
    pub fn start_seeing_one_state<'env>(
        scope: &'scope Scope<'scope, 'env>,
        db: &'env Db,
        work: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Self {
        Self::spawn(scope, work, move |write| wait(db.write(write)))
    }

    fn spawn<W>(
        scope: &'scope Scope<'scope, '_>,
        mut work: W,
        run: impl FnOnce(Box<dyn FnMut(&mut Tx<'_>) -> Result<()> + Send>) -> Result<()> + Send + 'scope,
    ) -> Self
    where
        W: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        let (send, done) = mpsc::channel();
        let (end, ends) = mpsc::channel();
        let thread = scope.spawn(move || {
            run(Box::new(move |tx| {
                send.send(work(tx)?).expect("the test waits for the result");
                ends.recv().expect("the test ends the write")
            }))
        });
        Self { thread, done, end }
    }

    /// The result of the work.
    ///
    /// # Panics
    /// If the work failed.
    pub fn result(&self) -> T {
        self.done.recv().expect("the work succeeds")
    }

    /// Commits.
    ///
    /// # Panics
    /// If that fails.
    pub fn commit(self) {
        self.end.send(Ok(())).expect("the write is open");
        self.thread.join().expect("the write does not panic").expect("the write is committed");
    }

    /// Ends the write as when the server is killed.
    ///
    /// # Panics
    /// If the write was committed.
    pub fn roll_back(self) {
        self.end.send(Err(Problem::not_found("event", "x"))).expect("the write is open");
        self.thread.join().expect("the write does not panic").expect_err("the write failed");
    }
}

/// Waits until a statement of some transaction waits for another transaction, on PostgreSQL.
///
/// # Panics
/// If the database does not answer.
pub fn wait_for_a_wait(db: &Db) {
    let sql = "SELECT COUNT(*) FROM pg_stat_activity \
               WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let count = |tx: &mut Tx<'_>| tx.query_one(sql, &[], |row| row.int(0));
    while db.read_blocking(count).expect("the database answers") == Some(0) {
        thread::yield_now();
    }
}

/// Waits for a future of the store.
///
/// # Panics
/// If no runtime can be built.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime without drivers is built").block_on(future)
}
