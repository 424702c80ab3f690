//! Envelopes that wait together share a transaction: its statements cost as much for a thousand
//! events as for one, and one transaction at a time runs into no other. Each envelope is answered for
//! itself; none waits for another to arrive.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lyceum_core::limits::{EVENT_GROUP_MAX_RECORDS, STORE_QUEUE_MAX_ENTRIES};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_events::repository::{Accepted, accept};
use lyceum_events::{Actors, Envelope, Sent, append_all};
use lyceum_store::Tx;
use tokio::sync::oneshot;

use crate::state::App;

/// The envelopes that wait.
#[derive(Default)]
pub(crate) struct Intake(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// Whether a group is under way.
    busy: bool,
    /// Those that groups have looked up.
    actors: Arc<Actors>,
}

struct Waiting {
    taken: Taken,
    reply: Reply,
}

/// Where the number of a job goes.
type Reply = oneshot::Sender<Result<i64>>;

/// An envelope of a client.
struct Taken {
    client: String,
    envelope: Envelope,
}

/// Keeps an envelope; when this answers, it is durable. Answers the number of its job.
pub(crate) async fn take(app: &App, client: String, envelope: Envelope) -> Result<i64> {
    let (reply, answer) = oneshot::channel();
    let was_busy = {
        let mut queue = app.intake.queue();
        if queue.waiting.len() >= STORE_QUEUE_MAX_ENTRIES {
            return Err(Problem {
                retry_after_s: Some(1),
                ..Problem::new(
                    ProblemKind::Unavailable,
                    "More envelopes wait than are taken; try again in a moment",
                )
            });
        }
        queue.waiting.push_back(Waiting { taken: Taken { client, envelope }, reply });
        std::mem::replace(&mut queue.busy, true)
    };
    if !was_busy {
        // A task of its own: a sender that goes away takes nobody else's envelope along.
        tokio::spawn(keep_groups(Arc::clone(app)));
    }
    let stopped =
        |_| Problem::new(ProblemKind::Unavailable, "The server is shutting down; try again");
    answer.await.map_err(stopped)?
}

/// Keeps group after group until nobody waits.
async fn keep_groups(app: App) {
    while let Some((taken, replies)) = app.intake.next() {
        let taken = Arc::new(taken);
        match keep(&app, &taken, 0..taken.len()).await {
            Ok(jobs) => {
                for (reply, job) in replies.into_iter().zip(jobs) {
                    let _ = reply.send(Ok(job)); // an error means that whoever asked has gone
                }
            }
            // One of them is at fault, and which one shows alone.
            Err(_) if taken.len() > 1 => {
                for (at, reply) in replies.into_iter().enumerate() {
                    let kept = keep(&app, &taken, at..at + 1).await;
                    let _ = reply.send(kept.map(|jobs| jobs[0]));
                }
            }
            Err(problem) => {
                let only = replies.into_iter().next().expect("a group is not empty");
                let _ = only.send(Err(problem));
            }
        }
    }
}

async fn keep(app: &App, taken: &Arc<Vec<Taken>>, which: Range<usize>) -> Result<Vec<i64>> {
    let (taken, now) = (Arc::clone(taken), app.clock.now());
    let actors = Arc::clone(&app.intake.queue().actors);
    let write = move |tx: &mut Tx<'_>| {
        let taken = &taken[which.clone()];
        let sent: Vec<Sent<'_>> = taken
            .iter()
            .map(|Taken { client, envelope }| Sent { client, events: &envelope.events })
            .collect();
        let (appended, learned) = append_all(tx, now, &sent, &actors)?;
        let mut rest = &appended[..];
        let accepted: Vec<Accepted<'_>> = taken
            .iter()
            .map(|Taken { client, envelope }| {
                let (own, others) = rest.split_at(envelope.events.len());
                rest = others;
                Accepted { client, envelope, appended: own }
            })
            .collect();
        Ok((accept(tx, now, &accepted)?, learned))
    };
    let (jobs, learned) = app.db.write(write).await?;
    if !learned.is_empty() {
        Arc::make_mut(&mut app.intake.queue().actors).learn(learned);
    }
    Ok(jobs)
}

impl Intake {
    /// The next envelopes, whose senders still wait; nothing is under way where there are none.
    fn next(&self) -> Option<(Vec<Taken>, Vec<Reply>)> {
        let mut queue = self.queue();
        let (mut taken, mut replies, mut events) = (Vec::new(), Vec::new(), 0);
        while let Some(Waiting { taken: one, reply }) = queue.waiting.pop_front() {
            if reply.is_closed() {
                continue;
            }
            events += one.envelope.events.len();
            taken.push(one);
            replies.push(reply);
            if events >= EVENT_GROUP_MAX_RECORDS {
                break;
            }
        }
        if taken.is_empty() {
            queue.busy = false;
            return None;
        }
        Some((taken, replies))
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
