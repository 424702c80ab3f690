//! The threads that own the connections.

use std::any::TypeId;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use lyceum_core::limits::{POSTGRES_SCAN_CONNECTIONS, STORE_MAX_ATTEMPTS, STORE_QUEUE_MAX_ENTRIES};
use lyceum_core::{Problem, ProblemKind, Result};
use tokio_postgres::Config;

use super::{Client, Fault, Session};
use crate::problem::{self, unavailable};
use crate::task::{self, Task};
use crate::{Migration, Options, Tx, migrate};

/// Times that a lost connection is made anew for one task; the pauses add up to about a second.
const MAX_RECONNECTS: u32 = 6;

/// Times that a write runs beside others before every second time is a turn of its own. Without turns a long
/// write among many short ones would never come through; earlier ones would make unrelated writes wait.
const BESIDE_OTHERS: u32 = 6;

/// An open PostgreSQL database.
pub(crate) struct Postgres {
    config: Config,
    options: Options,
    short: Pool,
    long: Pool,
}

/// What a task asks of its transaction.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    /// A short read, by a closure of the type.
    Read(TypeId),
    /// A read that ends at the instant.
    Scan(Instant),
    /// A write.
    Write(Sees),
    /// A write that ran into others, who wait now until it has ended.
    Alone(Sees),
}

/// What the statements of a write see of what others commit.
#[derive(Clone, Copy)]
pub(crate) enum Sees {
    /// What was there before the first of them.
    Snapshot,
    /// What was there before each.
    Latest,
}

struct Request {
    task: Box<dyn Task>,
    mode: Mode,
}

impl Postgres {
    /// Migrates the database; its connections are made when they are needed.
    pub(crate) fn open(url: &str, migrations: &[Migration], options: Options) -> Result<Self> {
        let config = address(url)?;
        let migrate = || migrate::postgres(&mut reach(&config)?, migrations);
        // The client brings a runtime of its own, so a thread of the caller's will not do.
        thread::scope(|scope| scope.spawn(migrate).join())
            .unwrap_or_else(|_| Err(Problem::internal("migrating panicked")))?;
        Ok(Self {
            short: Pool::new(&config, options, options.connections),
            long: Pool::new(&config, options, POSTGRES_SCAN_CONNECTIONS),
            config,
            options,
        })
    }

    pub(crate) fn submit(&self, task: Box<dyn Task>, mode: Mode) -> Result<()> {
        let pool = if matches!(mode, Mode::Scan(_)) { &self.long } else { &self.short };
        pool.submit(Request { task, mode })
    }

    pub(crate) fn read_blocking<T>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        Session::connect(&self.config, self.options)?.read_once(work)
    }

    pub(crate) fn write_blocking<T>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        Session::connect(&self.config, self.options)?.write_once(work)
    }
}

/// Reads a `postgres://…` address.
pub(crate) fn address(url: &str) -> Result<Config> {
    url.parse().map_err(|error: tokio_postgres::Error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        let cause = cause.unwrap_or_else(|| error.to_string());
        Problem::new(ProblemKind::Invalid, format!("The database's address is none: {cause}"))
    })
}

/// The first connection to a database. Errors: `Unavailable`, with what is in the way.
pub(crate) fn reach(config: &Config) -> Result<Client> {
    Client::connect(config).map_err(|error| {
        let cause = problem::describe(&error);
        unavailable(format!("The database cannot be opened: {cause}"), 2)
    })
}

/// Threads with one connection each, started one by one as the queue demands.
struct Pool {
    queue: Sender<Request>,
    waiting: Receiver<Request>,
    shared: Arc<Shared>,
    size: usize,
}

struct Shared {
    config: Config,
    options: Options,
    threads: AtomicUsize,
    idle: AtomicUsize,
    /// Types of read closures that were seen to run more than one statement.
    need_snapshot: RwLock<HashSet<TypeId>>,
}

impl Pool {
    fn new(config: &Config, options: Options, size: usize) -> Self {
        let (queue, waiting) = bounded(STORE_QUEUE_MAX_ENTRIES);
        let shared = Shared {
            config: config.clone(),
            options,
            threads: AtomicUsize::new(0),
            idle: AtomicUsize::new(0),
            need_snapshot: RwLock::default(),
        };
        Self { queue, waiting, shared: Arc::new(shared), size }
    }

    fn submit(&self, request: Request) -> Result<()> {
        task::submit(&self.queue, request)?;
        if self.queue.len() > self.shared.idle.load(Ordering::SeqCst) {
            self.grow()?;
        }
        Ok(())
    }

    fn grow(&self) -> Result<()> {
        let one_more = |threads| (threads < self.size).then_some(threads + 1);
        let threads = &self.shared.threads;
        if threads.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_err() {
            return Ok(());
        }
        let (shared, waiting) = (self.shared.clone(), self.waiting.clone());
        let thread = thread::Builder::new().name("store-postgres".to_owned());
        let started = thread.spawn(move || Worker { session: None, shared }.run(&waiting));
        started.map(drop).map_err(Problem::internal)
    }
}

struct Worker {
    session: Option<Session>,
    shared: Arc<Shared>,
}

impl Worker {
    fn run(&mut self, waiting: &Receiver<Request>) {
        loop {
            self.shared.idle.fetch_add(1, Ordering::SeqCst);
            let request = waiting.recv();
            self.shared.idle.fetch_sub(1, Ordering::SeqCst);
            let Ok(request) = request else { return };
            self.serve(request);
        }
    }

    fn serve(&mut self, Request { mut task, mut mode }: Request) {
        for attempt in 1.. {
            let (outcome, fault) = self.attempt(&mut *task, mode);
            let again = match fault {
                Some(Fault::Collision) => attempt < STORE_MAX_ATTEMPTS,
                Some(Fault::Lost) => attempt < MAX_RECONNECTS,
                Some(Fault::Duplicate) => attempt == 1,
                Some(Fault::NeedsSnapshot) => true,
                Some(Fault::InDoubt | Fault::Locked | Fault::Other) | None => false,
            };
            if !again {
                return task.answer(outcome);
            }
            mode = match (fault, mode) {
                (Some(Fault::NeedsSnapshot), _) => continue,
                (Some(Fault::Collision), Mode::Write(sees)) if attempt >= BESIDE_OTHERS => {
                    Mode::Alone(sees)
                }
                (_, Mode::Alone(sees)) => Mode::Write(sees),
                _ => {
                    thread::sleep(pause(attempt));
                    mode
                }
            };
            tracing::debug!(attempt, "a transaction runs again");
        }
    }

    fn attempt(&mut self, task: &mut dyn Task, mode: Mode) -> (Result<()>, Option<Fault>) {
        if self.session.is_none() {
            match Session::connect(&self.shared.config, self.shared.options) {
                Ok(session) => self.session = Some(session),
                Err(problem) => return (Err(problem), Some(Fault::Lost)),
            }
        }
        let session = self.session.as_mut().expect("it was connected above");
        let outcome = session.run(task, mode, self.shared.needs_snapshot(mode));
        let fault = session.fault();
        if !session.is_of_use(&outcome) {
            self.session = None;
        }
        if let (Some(Fault::NeedsSnapshot), Mode::Read(closure)) = (fault, mode) {
            let set = &self.shared.need_snapshot;
            set.write().unwrap_or_else(PoisonError::into_inner).insert(closure);
        }
        (outcome, fault)
    }
}

impl Shared {
    fn needs_snapshot(&self, mode: Mode) -> bool {
        let Mode::Read(closure) = mode else { return true };
        self.need_snapshot.read().unwrap_or_else(PoisonError::into_inner).contains(&closure)
    }
}

/// Random, so that transactions which ran into each other do not do so again; 100 ms at most.
fn pause(attempt: u32) -> Duration {
    let most_us = 1000 << attempt.min(7);
    Duration::from_micros(fastrand::u64(0..most_us.min(100_000)))
}
