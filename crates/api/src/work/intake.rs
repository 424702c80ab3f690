//! Writes waiting envelopes together in one transaction, because its statements cost as much for a thousand events as
//! for one. The transaction takes all envelopes that are waiting when it runs, including those that arrived while it
//! waited to start. Each envelope gets its own answer, and no envelope waits for others to arrive.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_events::repository::{Accepted, accept, take_jobs};
use lyceum_events::{Appended, ClientEvents, Envelope, KnownNames, LookedUpNames, append_all};
use lyceum_store::limits::STORE_QUEUE_MAX_ENTRIES;
use lyceum_store::{SqlDialect, StatementsSee, Tx};
use tokio::sync::oneshot;

use crate::App;
use crate::limits::EVENT_GROUP_MAX_RECORDS;

/// The most concurrent writes of a server on PostgreSQL. A third one would split envelopes that could share a
/// transaction.
const AT_ONCE: usize = 2;

/// The waiting envelopes, and the names in stored envelopes.
#[derive(Default)]
pub struct Intake {
    queue: Mutex<EnvelopeQueue>,
    known: KnownNames,
}

#[derive(Default)]
struct EnvelopeQueue {
    waiting: VecDeque<WaitingEnvelope>,
    /// Whether a write was requested that will take all waiting envelopes when it runs.
    is_write_requested: bool,
    /// The number of requested writes that are not durable yet.
    writes: usize,
    /// The number of envelopes in those writes.
    under_way: usize,
}

struct WaitingEnvelope {
    received: ReceivedEnvelope,
    reply: ReceiptSender,
}

/// Receives the answer.
type ReceiptSender = oneshot::Sender<Result<EnvelopeReceipt>>;

/// The result of an accepted envelope.
#[derive(Clone, Copy, Debug)]
pub struct EnvelopeReceipt {
    /// The number of the envelope's job.
    pub job: i64,
    /// The number of events that were already stored and change nothing.
    pub known: usize,
    /// The number of events that are another version of a stored event.
    pub versions: usize,
}

impl EnvelopeReceipt {
    fn of(accepted: &Accepted<'_>) -> Self {
        let count =
            |is: fn(&Appended) -> bool| accepted.appended.iter().filter(|one| is(one)).count();
        Self {
            job: accepted.job,
            known: count(|one| matches!(one, Appended::Same { .. })),
            versions: count(|one| {
                matches!(one, Appended::Older { .. } | Appended::Correction { .. })
            }),
        }
    }
}

/// An envelope with its client.
struct ReceivedEnvelope {
    client: String,
    envelope: Envelope,
}

impl ReceivedEnvelope {
    fn sender(&self) -> (&str, &str) {
        (&self.client, &self.envelope.sensor)
    }
}

/// The envelopes of one transaction.
struct EnvelopeGroup {
    received: Vec<ReceivedEnvelope>,
    replies: Mutex<Vec<ReceiptSender>>,
}

/// Stores an envelope durably.
pub async fn store_envelope(
    app: &App,
    client: String,
    envelope: Envelope,
) -> Result<EnvelopeReceipt> {
    let (events, sent) = (envelope.events.len(), envelope.send_time);
    let (reply, answer) = oneshot::channel();
    let requests_write = {
        let mut queue = lock(&app.intake.queue);
        if queue.waiting.len() >= STORE_QUEUE_MAX_ENTRIES {
            return Err(Problem {
                retry_after_s: Some(1),
                ..Problem::new(
                    ProblemKind::Unavailable,
                    "More envelopes wait than are taken; try again in a moment",
                )
            });
        }
        queue
            .waiting
            .push_back(WaitingEnvelope { received: ReceivedEnvelope { client, envelope }, reply });
        queue.requests_write(app.db.dialect())
    };
    if requests_write {
        // Use a separate task, so that a sender who disconnects does not cancel the write of other envelopes.
        tokio::spawn(write_groups(Arc::clone(app)));
    }
    let stopped = |_| Problem::new(ProblemKind::Unavailable, "the server is stopping; try again");
    let receipt = answer.await.map_err(stopped)??;
    app.metrics.stored_events(events, app.clock.now().milliseconds() - sent.milliseconds());
    Ok(receipt)
}

/// Writes groups until no envelope is waiting.
async fn write_groups(app: App) {
    let mut goes_on = true;
    while goes_on {
        let kept = write_group(&app).await;
        let mut queue = lock(&app.intake.queue);
        queue.writes -= 1;
        queue.under_way -= kept;
        goes_on = queue.requests_write(app.db.dialect());
    }
}

/// Writes the envelopes that are waiting when the transaction runs. Returns how many it still had at the end.
async fn write_group(app: &App) -> usize {
    let formed = Arc::new(OnceLock::new());
    let (group, its_app) = (Arc::clone(&formed), Arc::clone(app));
    let written = app.db.write_with_locks(StatementsSee::LatestCommits, move |tx| {
        write_envelopes(tx, &its_app, &group.get_or_init(|| its_app.intake.form()).received)
    });
    let written = written.await;
    let group = formed.get_or_init(|| app.intake.form());
    let mut replies = mem::take(&mut *lock(&group.replies));
    match written {
        Ok((kept, learned)) => {
            app.intake.known.learn(learned);
            for (reply, kept) in replies.into_iter().zip(kept) {
                let _ = reply.send(Ok(kept)); // an error means that the sender disconnected
            }
        }
        // One of the envelopes caused the failure. Writing them one by one shows which.
        Err(_) if replies.len() > 1 => {
            // From here on, only one envelope at a time is being written, and another write may start.
            lock(&app.intake.queue).under_way -= group.received.len() - 1;
            for (at, reply) in replies.into_iter().enumerate() {
                let _ = reply.send(write_one(app, &formed, at).await);
            }
            return 1;
        }
        Err(problem) => {
            if let Some(reply) = replies.pop() {
                let _ = reply.send(Err(problem));
            }
        }
    }
    group.received.len()
}

async fn write_one(
    app: &App,
    formed: &Arc<OnceLock<EnvelopeGroup>>,
    at: usize,
) -> Result<EnvelopeReceipt> {
    let (group, its_app) = (Arc::clone(formed), Arc::clone(app));
    let write = move |tx: &mut Tx<'_>| {
        let group = group.get().expect("a group that was written once is formed");
        write_envelopes(tx, &its_app, &group.received[at..=at])
    };
    let (kept, learned) = app.db.write_with_locks(StatementsSee::LatestCommits, write).await?;
    app.intake.known.learn(learned);
    Ok(kept[0])
}

/// Writes envelopes. Returns the result of each, and the new names.
fn write_envelopes(
    tx: &mut Tx<'_>,
    app: &App,
    received: &[ReceivedEnvelope],
) -> Result<(Vec<EnvelopeReceipt>, LookedUpNames)> {
    let now = app.clock.now();
    let sent: Vec<ClientEvents<'_>> = received
        .iter()
        .map(|ReceivedEnvelope { client, envelope }| ClientEvents {
            client,
            events: &envelope.events,
        })
        .collect();
    crate::work::erasure::key(app).refuse_events(tx, sent.iter().map(|sent| sent.events))?;
    let jobs = take_jobs(tx, received.len())?;
    let (appended, learned) = append_all(tx, now, &sent, &app.intake.known)?;
    let mut rest = &appended[..];
    let accepted: Vec<Accepted<'_>> = received
        .iter()
        .zip(&jobs)
        .map(|(ReceivedEnvelope { client, envelope }, job)| {
            let (own, others) = rest.split_at(envelope.events.len());
            rest = others;
            Accepted { job: *job, client, envelope, appended: own }
        })
        .collect();
    accept(tx, now, &accepted)?;
    Ok((accepted.iter().map(EnvelopeReceipt::of).collect(), learned))
}

impl Intake {
    /// The number of envelopes that wait for a write.
    pub fn waiting(&self) -> usize {
        lock(&self.queue).waiting.len()
    }

    /// A group of the waiting envelopes whose senders are still connected.
    fn form(&self) -> EnvelopeGroup {
        let mut queue = lock(&self.queue);
        queue.is_write_requested = false;
        let (mut group, mut events) = (Vec::new(), 0);
        while events < EVENT_GROUP_MAX_RECORDS
            && let Some(waiting) = queue.waiting.pop_front()
        {
            if !waiting.reply.is_closed() {
                events += waiting.received.envelope.events.len();
                group.push(waiting);
            }
        }
        queue.under_way += group.len();
        drop(queue);
        // Events of one sender with consecutive numbers form one span of the log, so sort the group by sender.
        group.sort_by(|one, other| one.received.sender().cmp(&other.received.sender()));
        let (received, replies) = group.into_iter().map(|one| (one.received, one.reply)).unzip();
        EnvelopeGroup { received, replies: Mutex::new(replies) }
    }
}

impl EnvelopeQueue {
    /// Whether to request a write. On SQLite, a write may run while others are synced. On PostgreSQL, it may run beside
    /// another one. It begins when as many envelopes wait as that one has, so that both are large,
    /// because a transaction with few events costs nearly as much as one with many.
    fn requests_write(&mut self, dialect: SqlDialect) -> bool {
        let beside = self.writes < AT_ONCE && self.waiting.len() >= self.under_way;
        let may = dialect == SqlDialect::Sqlite || self.writes == 0 || beside;
        let requests_write = may && !self.is_write_requested && !self.waiting.is_empty();
        if requests_write {
            self.is_write_requested = true;
            self.writes += 1;
        }
        requests_write
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use lyceum_core::time::Timestamp;

    use super::*;

    /// A queue with this many envelopes being written and this many waiting.
    fn queue(writes: usize, under_way: usize, waiting: usize) -> EnvelopeQueue {
        let envelope = || Envelope {
            sensor: "https://app.example".to_owned(),
            send_time: Timestamp::from_milliseconds(0),
            events: Vec::new(),
            entities: Vec::new(),
        };
        let waits = |_| WaitingEnvelope {
            received: ReceivedEnvelope { client: "app".to_owned(), envelope: envelope() },
            reply: oneshot::channel().0,
        };
        let waiting = (0..waiting).map(waits).collect();
        EnvelopeQueue { waiting, is_write_requested: false, writes, under_way }
    }

    #[test]
    fn concurrent_groups_have_the_same_size() {
        let requests_write = |mut queue: EnvelopeQueue| queue.requests_write(SqlDialect::Postgres);
        assert!(requests_write(queue(0, 0, 1)), "alone one envelope is enough");
        assert!(!requests_write(queue(1, 3, 2)), "fewer than are under way");
        assert!(requests_write(queue(1, 3, 3)));
        assert!(!requests_write(queue(2, 6, 9)), "two are under way");
        assert!(!requests_write(queue(0, 0, 0)), "no envelope waits");
        assert!(
            queue(1, 3, 1).requests_write(SqlDialect::Sqlite),
            "commits of SQLite share what a write costs"
        );
    }
}
