//! Sends a closure to a store thread and its result back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crossbeam_channel::{Sender, TrySendError};
use lyceum_core::{Problem, ProblemKind, Result};
use tokio::sync::oneshot;
use tracing::Span;

use crate::{Tx, problem, spans};

/// A unit of work that a store thread runs, perhaps more than once, and then answers.
pub(crate) trait StoreTask: Send {
    /// Runs the closure. Returns whether its transaction may be committed.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;
    /// Sends the closure's result, or the problem that keeps it from being true.
    fn answer(self: Box<Self>, outcome: Result<()>);
}

struct StoreWork<T, F> {
    closure: F,
    result: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
    /// The span of the transaction, from its submission to its answer.
    span: Span,
}

/// Wraps a closure; the receiver gets what [`StoreTask::answer`] sends.
pub(crate) fn wrap<T, F>(
    span: Span,
    closure: F,
) -> (Box<dyn StoreTask>, oneshot::Receiver<Result<T>>)
where
    T: Send + 'static,
    F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (Box::new(StoreWork { closure, result: None, reply, span }), answer)
}

/// A task that has nothing to run; the receiver hears when it is answered.
pub(crate) fn sync_task() -> (Box<dyn StoreTask>, oneshot::Receiver<Result<()>>) {
    let (reply, answer) = oneshot::channel();
    let closure = |_: &mut Tx<'_>| Ok(());
    let span = Span::none();
    (Box::new(StoreWork { closure, result: Some(Ok(())), reply, span }), answer)
}

impl<T, F> StoreTask for StoreWork<T, F>
where
    T: Send,
    F: FnMut(&mut Tx<'_>) -> Result<T> + Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        if self.reply.is_closed() {
            return false; // the caller no longer waits; nothing ran yet, so nothing is lost
        }
        let _span = self.span.enter();
        // A fault in one closure must not end the thread that serves all of them.
        let result = catch_unwind(AssertUnwindSafe(|| (self.closure)(tx)))
            .unwrap_or_else(|panic| Err(Problem::internal(panic_text(&*panic))));
        let result = tx.settle(result);
        let commit = result.is_ok();
        self.result = Some(result);
        commit
    }

    fn answer(self: Box<Self>, outcome: Result<()>) {
        let result = match outcome {
            Err(problem) => Err(problem),
            Ok(()) => self.result.unwrap_or_else(|| Err(stopped())),
        };
        if let Err(problem) = &result {
            spans::fail(&self.span, problem);
        }
        // The last use of a span is its end: that of a write includes the wait until it is durable.
        let _span = self.span.enter();
        let _ = self.reply.send(result); // an error means that the caller no longer waits
    }
}

/// Puts work into a queue, or refuses it when the queue is full.
pub(crate) fn submit<W>(queue: &Sender<W>, work: W) -> Result<()> {
    queue.try_send(work).map_err(|refused| match refused {
        TrySendError::Full(_) => queue_is_full(),
        TrySendError::Disconnected(_) => stopped(),
    })
}

/// The problem of work that a full queue refuses.
pub(crate) fn queue_is_full() -> Problem {
    problem::busy(
        "the server has too many requests waiting; try again later",
        1,
        "a queue of the store is full",
    )
}

/// Starts a thread of the store.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let started = thread::Builder::new().name(name.to_owned()).spawn(work);
    started.map(drop).map_err(Problem::internal)
}

/// Waits for the answer of a task.
pub(crate) async fn receive<T>(answer: oneshot::Receiver<Result<T>>) -> Result<T> {
    answer.await.unwrap_or_else(|_| Err(stopped()))
}

fn stopped() -> Problem {
    Problem::new(ProblemKind::Unavailable, "the server is shutting down; try again")
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("a store closure panicked: {}", text.unwrap_or_default())
}
