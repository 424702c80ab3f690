//! The threads that own the connections.
//!
//! A thread takes a request only while it has a connection. One that gets none ends and leaves the queue to
//! the others; the last one that ends tells all who wait.

use std::any::TypeId;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_core::{Problem, Result};
use tokio::sync::watch;

use super::queue::Queue;
use super::{
    Client, PostgresAddress, PostgresSession, ReadReplica, RetryDecision, exchange, pooler,
};
use crate::limits::{
    POSTGRES_CONNECT_PAUSE_MS, POSTGRES_RECONNECT_MS, POSTGRES_SCAN_CONNECTIONS,
    STORE_MAX_ATTEMPTS, STORE_QUEUE_MAX_ENTRIES,
};
use crate::one_statement::LongerReads;
use crate::problem::{self, unavailable};
use crate::signals::{Signals, WaitingSignals};
use crate::task::{self, StoreTask};
use crate::{Migration, StoreGauges, StoreOptions, Tx, WorkGauges, migrate};

/// Times that a lost connection is opened again for one task; the pauses add up to about a second.
const MAX_RECONNECTS: u32 = 6;

/// Times that a write runs beside others before every second time is a turn of its own. Without turns a long
/// write among many short ones would never come through; earlier ones would make unrelated writes wait.
const BESIDE_OTHERS: u32 = 6;

/// An open PostgreSQL database.
pub(crate) struct Postgres {
    address: PostgresAddress,
    options: StoreOptions,
    short: ConnectionPool,
    long: ConnectionPool,
    replica: OnceLock<ReadReplica>,
    /// The connection of the last blocking read or write, for the next one.
    spare: Mutex<Option<PostgresSession>>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) changes: watch::Sender<()>,
}

/// The mode of a task's transaction.
#[derive(Clone, Copy)]
pub(crate) enum TransactionMode {
    /// A short read, by a closure of the type.
    Read(TypeId),
    /// A read that ends at the instant.
    Scan(Instant),
    /// A write.
    Write(WriteIsolation),
    /// A write that ran into others, who wait now until it has ended.
    Alone(WriteIsolation),
}

/// The visibility of other transactions' commits to the statements of a write.
#[derive(Clone, Copy)]
pub(crate) enum WriteIsolation {
    /// Only commits before the first statement. It runs again if anything that it read was changed since.
    Snapshot,
    /// Only commits before the first statement. It runs again only if a row that it changes or locks was changed since.
    LockedRows,
    /// All commits before each statement.
    Latest,
}

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

impl Postgres {
    /// Migrates the database; its connections are made when they are needed.
    pub(crate) fn open(url: &str, migrations: &[Migration], options: StoreOptions) -> Result<Self> {
        let address = PostgresAddress::parse(url)?;
        let migrate = || {
            pooler::refuse(&address)?;
            migrate::postgres(&mut reach(&address)?, || reach(&address).ok(), migrations)
        };
        // The client brings a runtime of its own, so a thread of the caller's will not do.
        thread::scope(|scope| scope.spawn(migrate).join())
            .unwrap_or_else(|_| Err(Problem::internal("migrating panicked")))?;
        let signals = Arc::new(Signals::new(false));
        let pool = |size| ConnectionPool::new(&address, options, size, &signals);
        Ok(Self {
            short: pool(options.connections),
            long: pool(POSTGRES_SCAN_CONNECTIONS),
            replica: OnceLock::new(),
            address,
            options,
            spare: Mutex::default(),
            signals,
            changes: watch::Sender::default(),
        })
    }

    pub(crate) fn submit(&self, task: Box<dyn StoreTask>, mode: TransactionMode) -> Result<()> {
        let pool = if matches!(mode, TransactionMode::Scan(_)) { &self.long } else { &self.short };
        pool.submit(task, mode)
    }

    /// Lets a standby at the address serve reads that tolerate its delay.
    pub(crate) fn use_read_replica(&self, url: &str) -> Result<()> {
        let addresses = (self.address.clone(), PostgresAddress::parse(url)?);
        let replica = ReadReplica::start(addresses, self.options, &self.signals)?;
        self.replica.set(replica).map_err(|_| Problem::internal("there is a read replica already"))
    }

    /// The pool of the read replica while that is recent enough.
    pub(crate) fn recent_replica(&self) -> Option<&ConnectionPool> {
        self.replica.get().filter(|replica| replica.is_usable()).map(|replica| &replica.pool)
    }

    /// Delivers signals between this process and the others. Never returns.
    pub(crate) async fn deliver_signals(&self) {
        let outgoing = WaitingSignals::default();
        tokio::join!(
            self.signals.deliver(&outgoing),
            exchange(&self.address, &self.signals, &outgoing)
        );
    }

    /// The address of the database.
    pub(crate) fn address(&self) -> &PostgresAddress {
        &self.address
    }

    /// Requests that the server has answered so far.
    pub(crate) fn answers(&self) -> u64 {
        let answers_of = |pool: &ConnectionPool| pool.shared.answers.load(Ordering::Relaxed);
        answers_of(&self.short) + answers_of(&self.long)
    }

    pub(crate) fn gauges(&self) -> StoreGauges {
        StoreGauges {
            short: self.short.gauges(),
            long: self.long.gauges(),
            log_bytes: None,
            read_replica: self.replica.get().map(ReadReplica::gauges),
        }
    }

    pub(crate) fn read_blocking<T>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        self.run_blocking(|session| session.read_once(work))
    }

    pub(crate) fn write_blocking<T>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        self.run_blocking(|session| session.write_once(work))
    }

    fn run_blocking<T>(&self, run: impl FnOnce(&mut PostgresSession) -> Result<T>) -> Result<T> {
        let spare = self.spare().take();
        let mut session = match spare.and_then(PostgresSession::if_it_answers) {
            Some(session) => session,
            None => PostgresSession::connect(&self.address, self.options)?,
        };
        // After a failure, the transaction ends with the connection.
        let result = run(&mut session)?;
        *self.spare() = Some(session);
        Ok(result)
    }

    fn spare(&self) -> MutexGuard<'_, Option<PostgresSession>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Postgres {
    /// The client has a runtime of its own, which may not end on a thread of another one.
    fn drop(&mut self) {
        if let Some(session) = self.spare().take() {
            thread::spawn(move || drop(session));
        }
    }
}

/// The first connection to a database. Errors: `Unavailable`, with what is in the way.
pub(crate) fn reach(address: &PostgresAddress) -> Result<Client> {
    Client::connect(address)
        .map_err(|message| unavailable(format!("the database cannot be opened: {message}"), 2))
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
    longer_reads: LongerReads,
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
            longer_reads: LongerReads::default(),
            signals: Arc::clone(signals),
        };
        let queue = Arc::new(Queue::new(STORE_QUEUE_MAX_ENTRIES));
        Self { queue, shared: Arc::new(shared), size }
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

    fn gauges(&self) -> WorkGauges {
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
                Some(RetryDecision::NeedsSnapshot) => true,
                Some(RetryDecision::InDoubt | RetryDecision::Locked | RetryDecision::Other)
                | None => false,
            };
            if !again {
                return task.answer(outcome);
            }
            mode = match (fault, mode) {
                (Some(RetryDecision::NeedsSnapshot), _) => continue,
                (Some(RetryDecision::Collision), TransactionMode::Write(sees))
                    if attempt >= BESIDE_OTHERS =>
                {
                    TransactionMode::Alone(sees)
                }
                (_, TransactionMode::Alone(sees)) => TransactionMode::Write(sees),
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
        let outcome = session.run(task, mode, self.shared.needs_snapshot(mode));
        let fault = session.fault();
        self.shared.signals.written.add(session.take_signals());
        if !matches!(fault, Some(RetryDecision::Lost | RetryDecision::InDoubt)) {
            self.shared.answers.fetch_add(1, Ordering::Relaxed);
        }
        if !session.is_of_use(&outcome) {
            self.disconnect();
        }
        if let (Some(RetryDecision::NeedsSnapshot), TransactionMode::Read(closure)) = (fault, mode)
        {
            self.shared.longer_reads.add(closure);
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

    fn needs_snapshot(&self, mode: TransactionMode) -> bool {
        let TransactionMode::Read(closure) = mode else { return true };
        self.longer_reads.contains(closure)
    }
}

/// Random, so that transactions which ran into each other do not do so again; 100 ms at most.
fn pause(attempt: u32) -> Duration {
    let most_us = 1000 << attempt.min(7);
    Duration::from_micros(fastrand::u64(0..most_us.min(100_000)))
}
