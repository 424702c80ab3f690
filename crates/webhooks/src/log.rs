//! The delivery log: what was delivered, what waits and what is dead; replays; retention.

use lyceum_core::phrase;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;

use crate::limits;
use crate::repository::deliveries as repository;
use crate::repository::sender;
use crate::webhook::{self, VisibleWebhooks};

pub use crate::repository::deliveries::{Delivery, DeliveryState};

impl DeliveryState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Delivered, Self::Dead];

    /// Its name in requests and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => phrase!("waiting"),
            Self::Delivered => phrase!("delivered"),
            Self::Dead => phrase!("dead"),
        }
    }

    /// The state with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// The deliveries that did not reach their target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryBacklog {
    /// The number of deliveries that wait.
    pub waiting: i64,
    /// When the oldest of them was created.
    pub oldest_waiting: Option<Timestamp>,
    /// The number of dead deliveries.
    pub dead: i64,
}

/// Counts the deliveries that did not reach their target.
pub fn backlog(tx: &mut Tx<'_>) -> Result<DeliveryBacklog> {
    let (waiting, oldest_waiting, dead) = repository::backlog(tx)?;
    Ok(DeliveryBacklog { waiting, oldest_waiting, dead })
}

/// Entries of a webhook, the newest first: those before the number `before`, if it is given, and only those of one
/// state, if it is given. Errors: `NotFound`.
pub fn list(
    tx: &mut Tx<'_>,
    (visible, webhook): (&VisibleWebhooks, &str),
    state: Option<DeliveryState>,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<Delivery>> {
    webhook::find(tx, visible, webhook)?;
    let limit = limit.clamp(1, limits::WEBHOOK_LOG_PAGE_MAX_RECORDS);
    repository::list(tx, webhook, state, before.unwrap_or(i64::MAX), limit)
}

/// An entry and the body of its message. Errors: `NotFound`.
pub fn find(tx: &mut Tx<'_>, webhook: &str, id: i64) -> Result<(Delivery, String)> {
    let found = repository::find(tx, webhook, id)?;
    found.ok_or_else(|| unknown(webhook, id))
}

fn unknown(webhook: &str, id: i64) -> Problem {
    let message =
        message!("the webhook '{webhook}' has no delivery {id}; its log may have removed it");
    Problem::new(ProblemKind::NotFound, message)
}

/// Sends a delivery again, with the same message. One that waits becomes due at once.
///
/// Errors: `NotFound`.
pub fn replay(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (visible, webhook): (&VisibleWebhooks, &str),
    id: i64,
) -> Result<Delivery> {
    webhook::find(tx, visible, webhook)?;
    if !repository::replay(tx, now, webhook, id)? {
        return Err(unknown(webhook, id));
    }
    // The sender looks for deliveries that wait when the revision changes.
    sender::next_revision(tx)?;
    find(tx, webhook, id).map(|(delivery, _)| delivery)
}

/// Sends all dead deliveries of a webhook again and answers how many. Errors: `NotFound`.
pub fn replay_dead(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (visible, webhook): (&VisibleWebhooks, &str),
) -> Result<u64> {
    webhook::find(tx, visible, webhook)?;
    let count = repository::replay_dead(tx, now, webhook)?;
    sender::next_revision(tx)?;
    Ok(count)
}

/// Ends deliveries that have waited too long, and removes a limited number of old entries. Answers whether there may
/// be more.
pub fn forget(tx: &mut Tx<'_>, now: Timestamp) -> Result<bool> {
    let hours = |hours: i64| now.plus_seconds(-hours * 3600);
    repository::expire(tx, now, hours(limits::WEBHOOK_WAIT_MAX_H))?;
    let delivered = hours(limits::WEBHOOK_DELIVERED_KEPT_H);
    let dead = hours(limits::WEBHOOK_DEAD_KEPT_DAYS * 24);
    let removed = repository::forget(tx, delivered, dead)?;
    Ok(removed >= limits::WEBHOOK_FORGET_MAX_RECORDS.unsigned_abs())
}
