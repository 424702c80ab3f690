//! PostgreSQL: its connections, which live on threads of their own.

mod address;
mod bulk;
mod client;
mod listen;
mod pool;
mod pooler;
mod queue;
mod replica;
mod session;
mod tls;
mod transaction;
mod values;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use lyceum_core::{Problem, Result};
use tokio::sync::watch;

pub(crate) use address::PostgresAddress;
pub(crate) use client::{Client, FailedStatement, reach};
use listen::exchange;
pub(crate) use pool::ConnectionPool;
use replica::ReadReplica;
pub(crate) use replica::is_of_replica_alone;
pub use replica::{LogSource, MeasuredReplica, measure_delay};
pub(crate) use session::PostgresSession;
pub(crate) use transaction::TransactionMode;
pub(crate) use values::cell;

use crate::limits::POSTGRES_SCAN_CONNECTIONS;
use crate::signals::{Signals, WaitingSignals};
use crate::task::StoreTask;
use crate::{Migration, StoreGauges, StoreOptions, Tx, migrate};

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
        self.short.answers() + self.long.answers()
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
