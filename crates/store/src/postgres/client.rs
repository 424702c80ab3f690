//! A connection to a server that the thread which asks also drives.
//!
//! A statement whose answer nobody needs at once is sent, and the next one follows it without a way to
//! the server and back between them.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::{FutureExt as _, TryStreamExt as _, future};
use lyceum_core::{Problem, Result, message};
use refinery::{Report, Runner};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{self, JoinHandle};
use tokio::time::{self, Instant, Sleep};
use tokio_postgres::{Error, Row, RowStream};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::PostgresAddress;
use crate::limits::{POSTGRES_SENT_MAX_BYTES, POSTGRES_SENT_MAX_STATEMENTS};
use crate::problem::{self, PostgresFailure, unavailable};

/// The time limit for closing a connection.
const GOODBYE: Duration = Duration::from_secs(1);

/// An open connection.
pub(crate) struct Client {
    /// The sent statements in order, until their answers are read.
    sent: Vec<SentStatement>,
    /// Bytes in it.
    sent_bytes: usize,
    inner: Arc<tokio_postgres::Client>,
    /// The time limit for an answer; `None` means no limit.
    patience: Option<Duration>,
    /// Rings when the patience may be over. It is made by the first wait that has a limit.
    alarm: Option<Pin<Box<Sleep>>>,
    /// The TLS connector for a cancel request.
    tls: MakeRustlsConnect,
    /// Dropped behind the client, which ends it.
    link: ServerLink,
}

/// A statement on its way.
struct SentStatement {
    sql: String,
    answer: Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>,
}

/// The transport to the server.
struct ServerLink {
    runtime: Runtime,
    task: JoinHandle<Result<(), Error>>,
}

/// A failure, and the statement that failed.
pub(crate) struct FailedStatement {
    pub(crate) failure: PostgresFailure,
    pub(crate) sql: String,
}

impl FailedStatement {
    /// The problem for the caller.
    pub(crate) fn problem(self) -> Problem {
        problem::postgres(&self.failure, &self.sql)
    }

    pub(crate) fn new(failure: impl Into<PostgresFailure>, sql: &str) -> Self {
        Self { failure: failure.into(), sql: sql.to_owned() }
    }
}

/// The first connection to a database. Errors: `Unavailable`, with what is in the way.
pub(crate) fn reach(address: &PostgresAddress) -> Result<Client> {
    Client::connect(address)
        .map_err(|message| unavailable(message!("the database cannot be opened: {message}"), 2))
}

impl Client {
    /// Connects. Never called on a thread of an async runtime: the client has its own. Errors: what is in
    /// the way.
    pub(crate) fn connect(address: &PostgresAddress) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime without threads needs a file descriptor only");
        let (client, connection) = runtime.block_on(address.connect())?;
        let task = runtime.spawn(connection);
        Ok(Self {
            sent: Vec::new(),
            sent_bytes: 0,
            inner: Arc::new(client),
            patience: None,
            alarm: None,
            tls: address.tls(),
            link: ServerLink { runtime, task },
        })
    }

    /// The connection itself, for what is sent.
    pub(crate) fn handle(&self) -> Arc<tokio_postgres::Client> {
        self.inner.clone()
    }

    /// Limits the wait for each answer from now on; `None` waits for ever.
    pub(crate) fn set_patience(&mut self, patience: Option<Duration>) {
        self.patience = patience;
    }

    /// Sends a statement of so many bytes without waiting for its answer. Errors: of what is wrong before it
    /// is on its way, or of a statement that was sent before.
    pub(crate) fn send(
        &mut self,
        sql: &str,
        bytes: usize,
        answer: impl Future<Output = Result<(), Error>> + Send + 'static,
    ) -> Result<(), FailedStatement> {
        let is_full = self.sent.len() >= POSTGRES_SENT_MAX_STATEMENTS
            || self.sent_bytes + bytes > POSTGRES_SENT_MAX_BYTES;
        if is_full {
            self.settle(sql)?;
        }
        let mut answer = Box::pin(answer);
        // Statements run in the order in which they are polled first.
        match (&mut answer).now_or_never() {
            Some(Err(error)) => Err(FailedStatement::new(error, sql)),
            Some(Ok(())) => Ok(()),
            None => {
                self.sent_bytes += bytes;
                self.sent.push(SentStatement { sql: sql.to_owned(), answer });
                Ok(())
            }
        }
    }

    /// Waits for the answers of what was sent.
    pub(crate) fn settle(&mut self, sql: &str) -> Result<(), FailedStatement> {
        if self.sent.is_empty() { Ok(()) } else { self.wait(sql, async |_| Ok(())) }
    }

    /// Whether the connection is open, as far as is known. It is not read between statements.
    pub(crate) fn is_connected(&self) -> bool {
        self.link.runtime.block_on(async {
            // The first turn sees what has come, the second one takes it.
            task::yield_now().await;
            task::yield_now().await;
        });
        !self.inner.is_closed()
    }

    /// Asks, and waits for the answer. Errors: that of the first statement that failed, which may be one that
    /// was sent before.
    pub(crate) fn wait<T>(
        &mut self,
        sql: &str,
        ask: impl AsyncFnOnce(&tokio_postgres::Client) -> Result<T, Error>,
    ) -> Result<T, FailedStatement> {
        self.sent_bytes = 0;
        let sent = async {
            for SentStatement { sql, answer } in self.sent.drain(..) {
                answer.await.map_err(|error| FailedStatement::new(error, &sql))?;
            }
            Ok(())
        };
        // At the same time: an answer in parts that nobody takes stops those behind it.
        let both = future::join(sent, ask(&self.inner));
        let both = self.link.runtime.block_on(with_timeout(self.patience, &mut self.alarm, both));
        let (sent, answer) = both.map_err(|silence| {
            self.cancel();
            FailedStatement::new(silence, sql)
        })?;
        sent?;
        answer.map_err(|error| FailedStatement::new(error, sql))
    }

    /// Waits for the next row.
    pub(crate) fn next(
        &mut self,
        mut rows: Pin<&mut RowStream>,
    ) -> Result<Option<Row>, PostgresFailure> {
        let next = with_timeout(self.patience, &mut self.alarm, rows.try_next());
        let next = self.link.runtime.block_on(next).inspect_err(|_| self.cancel());
        Ok(next??)
    }

    /// Asks the server to end what nobody waits for any more: it would run on until its own limit. A server
    /// that is gone is not waited for.
    fn cancel(&self) {
        let token = self.inner.cancel_token();
        let asked = token.cancel_query(self.tls.clone());
        let _ = self.link.runtime.block_on(async { time::timeout(GOODBYE, asked).await });
    }

    /// Brings the schema forward.
    pub(crate) fn migrate(&mut self, runner: &Runner) -> Result<Report, refinery::Error> {
        let client = Arc::get_mut(&mut self.inner).expect("all that was sent is answered");
        self.link.runtime.block_on(runner.run_async(client))
    }
}

/// The answer. Errors: it did not come while the patience lasted.
///
/// The alarm stays set from one wait to the next. A new timer for each wait would be the earliest one each time, which
/// wakes the event loop: a system call and a turn of the loop for nothing.
async fn with_timeout<T>(
    patience: Option<Duration>,
    alarm: &mut Option<Pin<Box<Sleep>>>,
    answer: impl Future<Output = T>,
) -> Result<T, PostgresFailure> {
    let Some(patience) = patience else { return Ok(answer.await) };
    let end = Instant::now() + patience;
    let alarm = alarm.get_or_insert_with(|| Box::pin(time::sleep_until(end)));
    if alarm.deadline() > end {
        alarm.as_mut().reset(end);
    }
    let mut answer = pin!(answer);
    poll_fn(|cx| {
        if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
            return Poll::Ready(Ok(answer));
        }
        // It was set for an earlier wait if it rings before the end of this one.
        while alarm.as_mut().poll(cx).is_ready() {
            if Instant::now() >= end {
                return Poll::Ready(Err(PostgresFailure::Silence));
            }
            alarm.as_mut().reset(end);
        }
        Poll::Pending
    })
    .await
}

impl Drop for ServerLink {
    /// Waits until the server was told goodbye, unless it does not listen.
    fn drop(&mut self) {
        let Self { runtime, task } = self;
        let _ = runtime.block_on(async { time::timeout(GOODBYE, task).await });
    }
}
