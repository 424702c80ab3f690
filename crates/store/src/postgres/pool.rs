//! The threads that own the connections.
//!
//! A thread takes a request only while it has a connection. One that gets none ends and leaves the queue to
//! the others; the last one that ends tells all who wait.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_core::{Problem, Result};

use super::queue::Queue;
use super::session::RetryDecision;
use super::{PostgresAddress, PostgresSession, TransactionMode};
use crate::limits::{
    POSTGRES_CONNECT_PAUSE_MS, POSTGRES_RECONNECT_MS, STORE_MAX_ATTEMPTS, STORE_QUEUE_MAX_ENTRIES,
};
use crate::problem;
use crate::signals::Signals;
use crate::task::{self, StoreTask};
use crate::{StoreOptions, WorkGauges};

/// Times that a lost connection is opened again for one task; the pauses add up to about a second.
const MAX_RECONNECTS: u32 = 6;

/// Times that a write runs beside others before every second time is a turn of its own. Without turns a long
/// write among many short ones would never come through; earlier ones would make unrelated writes wait.
const BESIDE_OTHERS: u32 = 6;

struct QueuedRequest {
    task: Box<dyn StoreTask>,
    mode: TransactionMode,
    open: OpenRequest,
}

/// Counts a request as open until it is dropped, so also while it waits again after a lost connection.
struct OpenRequest(Arc<PoolShared>);

impl OpenRequest {
    fn new(shared: &Arc<PoolShared>) -> Self {
        shared.open.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(shared))
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Threads with one connection each, started one by one as the queue demands.
pub(crate) struct ConnectionPool {
    queue: Arc<Queue<QueuedRequest>>,
    shared: Arc<PoolShared>,
    size: usize,
}

struct PoolShared {
    address: PostgresAddress,
    options: StoreOptions,
    threads: AtomicUsize,
    /// Threads that have a connection.
    connected: AtomicUsize,
    /// Requests that wait or are being served.
    open: AtomicUsize,
    /// Requests that the server has answered so far.
    answers: AtomicU64,
    /// When PostgreSQL refused a connection for the last time.
    refused: Mutex<Option<Instant>>,
    signals: Arc<Signals>,
}

impl ConnectionPool {
    pub(super) fn new(
        address: &PostgresAddress,
        options: StoreOptions,
        size: usize,
        signals: &Arc<Signals>,
    ) -> Self {
        let shared = PoolShared {
            address: address.clone(),
            options,
            threads: AtomicUsize::new(0),
            connected: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            answers: AtomicU64::new(0),
            refused: Mutex::default(),
            signals: Arc::clone(signals),
        };
        let queue = Arc::new(Queue::new(STORE_QUEUE_MAX_ENTRIES));
        Self { queue, shared: Arc::new(shared), size }
    }

    /// Requests that the server has answered so far.
    pub(super) fn answers(&self) -> u64 {
        self.shared.answers.load(Ordering::Relaxed)
    }

    pub(crate) fn submit(&self, task: Box<dyn StoreTask>, mode: TransactionMode) -> Result<()> {
        let was_refused = self.shared.was_refused_just_now();
        if was_refused && self.shared.has_no_threads() {
            return Err(problem::out_of_reach());
        }
        let open = OpenRequest::new(&self.shared);
        self.queue.put(QueuedRequest { task, mode, open }).map_err(|_| task::queue_is_full())?;
        // The length of the queue would not do: a thread that has just taken a request does not show yet.
        let threads = self.shared.threads.load(Ordering::SeqCst);
        let is_short_of_threads = self.shared.open.load(Ordering::SeqCst) > threads;
        // A server that gives no further connection is not asked for one by each request.
        if is_short_of_threads && (!was_refused || self.shared.has_no_threads()) {
            self.grow()?;
        }
        Ok(())
    }

    pub(super) fn gauges(&self) -> WorkGauges {
        WorkGauges {
            waiting: self.queue.len(),
            connections: self.shared.connected.load(Ordering::SeqCst),
            connections_max: self.size,
        }
    }

    fn grow(&self) -> Result<()> {
        let one_more = |threads| (threads < self.size).then_some(threads + 1);
        let threads = &self.shared.threads;
        if threads.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_err() {
            return Ok(());
        }
        let (queue, shared) = (Arc::clone(&self.queue), Arc::clone(&self.shared));
        let mut worker = Worker { session: None, queue, shared };
        let thread = thread::Builder::new().name("store-postgres".to_owned());
        thread.spawn(move || worker.run()).map(drop).map_err(Problem::internal)
    }
}

impl Drop for ConnectionPool {
    /// The threads serve the requests that wait, then end.
    fn drop(&mut self) {
        self.queue.close();
    }
}

struct Worker {
    session: Option<PostgresSession>,
    queue: Arc<Queue<QueuedRequest>>,
    shared: Arc<PoolShared>,
}

impl Worker {
    fn run(&mut self) {
        while self.connect().is_ok() {
            let Some(request) = self.queue.take() else { break };
            self.serve(request);
            if self.session.is_none() && self.shared.was_refused_just_now() {
                break;
            }
        }
        self.disconnect();
        self.shared.threads.fetch_sub(1, Ordering::SeqCst);
        // After the thread is counted out: who comes later starts another one.
        if self.shared.has_no_threads() {
            for QueuedRequest { task, .. } in self.queue.take_all() {
                task.answer(Err(problem::out_of_reach()));
            }
        }
    }

    /// Makes a connection if there is none.
    fn connect(&mut self) -> Result<()> {
        if self.session.is_some() {
            return Ok(());
        }
        match PostgresSession::connect_for_requests(&self.shared.address, self.shared.options) {
            Ok(session) => {
                self.shared.connected.fetch_add(1, Ordering::SeqCst);
                self.session = Some(session);
                Ok(())
            }
            Err(problem) => {
                tracing::warn!(cause = ?problem.cause, "no connection to the database");
                *self.shared.refused() = Some(Instant::now());
                Err(problem)
            }
        }
    }

    fn disconnect(&mut self) {
        if self.session.take().is_some() {
            self.shared.connected.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn serve(&mut self, QueuedRequest { mut task, mut mode, open }: QueuedRequest) {
        let (begun, patience) = (Instant::now(), Duration::from_millis(POSTGRES_RECONNECT_MS));
        let mut duplicates = 0;
        for attempt in 1.. {
            let (outcome, fault) = match self.connect() {
                Ok(()) => self.attempt(&mut *task, mode),
                // Others have connections, and this one was not begun or came to nothing.
                Err(problem) if self.shared.is_connected() => {
                    return self.give_back(QueuedRequest { task, mode, open }, problem);
                }
                Err(problem) => (Err(problem), Some(RetryDecision::Lost)),
            };
            let again = match fault {
                Some(RetryDecision::Collision) => attempt < STORE_MAX_ATTEMPTS,
                Some(RetryDecision::Lost) => attempt < MAX_RECONNECTS && begun.elapsed() < patience,
                // A second one is there to stay.
                Some(RetryDecision::Duplicate) => {
                    duplicates += 1;
                    duplicates == 1
                }
                Some(RetryDecision::InDoubt | RetryDecision::Locked | RetryDecision::Other)
                | None => false,
            };
            if !again {
                return task.answer(outcome);
            }
            mode = match (fault, mode) {
                (Some(RetryDecision::Collision), TransactionMode::Write(isolation))
                    if attempt >= BESIDE_OTHERS =>
                {
                    TransactionMode::Alone(isolation)
                }
                (_, TransactionMode::Alone(isolation)) => TransactionMode::Write(isolation),
                _ => {
                    thread::sleep(pause(attempt));
                    mode
                }
            };
            tracing::debug!(attempt, "a transaction runs again");
        }
    }

    /// Leaves a request to another thread.
    fn give_back(&self, request: QueuedRequest, problem: Problem) {
        if let Err(request) = self.queue.put(request) {
            request.task.answer(Err(problem));
        }
    }

    fn attempt(
        &mut self,
        task: &mut dyn StoreTask,
        mode: TransactionMode,
    ) -> (Result<()>, Option<RetryDecision>) {
        let session = self.session.as_mut().expect("the caller has connected");
        let outcome = session.run(task, mode);
        let fault = session.fault();
        self.shared.signals.written.add(session.take_signals());
        if !matches!(fault, Some(RetryDecision::Lost | RetryDecision::InDoubt)) {
            self.shared.answers.fetch_add(1, Ordering::Relaxed);
        }
        if !session.is_of_use(&outcome) {
            self.disconnect();
        }
        (outcome, fault)
    }
}

impl PoolShared {
    fn is_connected(&self) -> bool {
        self.connected.load(Ordering::SeqCst) > 0
    }

    fn has_no_threads(&self) -> bool {
        self.threads.load(Ordering::SeqCst) == 0
    }

    fn refused(&self) -> MutexGuard<'_, Option<Instant>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn was_refused_just_now(&self) -> bool {
        let pause = Duration::from_millis(POSTGRES_CONNECT_PAUSE_MS);
        self.refused().is_some_and(|then| then.elapsed() < pause)
    }
}

/// Random, so that transactions which ran into each other do not do so again; 100 ms at most.
fn pause(attempt: u32) -> Duration {
    let most_us = 1000 << attempt.min(7);
    Duration::from_micros(fastrand::u64(0..most_us.min(100_000)))
}
