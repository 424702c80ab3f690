//! From the outbox to deliveries. All functions are steps of the sender, the one server that sends.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use lyceum_access::MasterKey;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use lyceum_store::outbox::{self, WrittenChange};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::limits;
use crate::reach::{self, AreWithin, ChangedObject, OwnerAccess};
use crate::registry::{self, PreparedWebhook, Registry};
pub use crate::repository::sender::{
    become_sender, is_sender, may_become_sender, release, revision,
};
use crate::repository::{deliveries, sender, webhooks};
use crate::schedule;

pub use crate::repository::deliveries::{AttemptOutcome, DueDelivery};

/// The address and the secret of a webhook.
#[derive(Clone)]
pub struct Target {
    /// The address.
    pub url: String,
    /// The secret.
    pub secret: String,
}

/// The result of a [`step`].
#[derive(Debug)]
pub struct QueueStep {
    /// The webhooks that the server must use from now on.
    pub registry: Arc<Registry>,
    /// The webhooks that got deliveries.
    pub receivers: Vec<String>,
    /// Whether the outbox has more rows.
    pub has_more: bool,
}

/// Whether there is anything to send: an active webhook, or rows that an active webhook left.
pub fn has_work(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(webhooks::any_active(tx)? || outbox::has_rows(tx)?)
}

/// Records outcomes, and turns rows of the outbox into deliveries. None if the server is not the sender.
pub fn step(
    tx: &mut Tx<'_>,
    (now, holder): (Timestamp, &str),
    registry: &Arc<Registry>,
    are_within: AreWithin,
    outcomes: &[AttemptOutcome],
) -> Result<Option<QueueStep>> {
    let Some(revision) = sender::revision_of_holder(tx, holder)? else { return Ok(None) };
    for outcome in outcomes {
        record(tx, now, outcome)?;
    }
    let registry = match registry.revision == revision {
        true => Arc::clone(registry),
        false => Arc::new(Registry::load(tx)?),
    };
    let changes = outbox::remove_oldest(tx, limits::WEBHOOK_BATCH_MAX_RECORDS)?;
    let has_more = i64::try_from(changes.len()).map_err(Problem::internal)?
        == limits::WEBHOOK_BATCH_MAX_RECORDS;
    let receivers = deliver(tx, now, &registry, are_within, &changes)?;
    Ok(Some(QueueStep { registry, receivers, has_more }))
}

/// The changes that webhooks receive, each with the ids of these webhooks: they want the change, and their owners have
/// access to its object.
fn received<'c, 'r>(
    tx: &mut Tx<'_>,
    registry: &'r Registry,
    are_within: AreWithin,
    changes: &'c [WrittenChange],
) -> Result<Vec<(&'c WrittenChange, Vec<&'r str>)>> {
    let receivers: Vec<Vec<&PreparedWebhook>> =
        changes.iter().map(|change| registry.receivers(change)).collect::<Result<_>>()?;
    let object = |change: &'c WrittenChange| ChangedObject {
        topic: &change.topic,
        id: &change.object,
        data: &change.data,
    };
    let objects: Vec<ChangedObject<'_>> = changes.iter().map(object).collect();
    let pairs = receivers.iter().enumerate();
    let pairs = pairs.flat_map(|(number, all)| {
        all.iter().map(move |webhook| (webhook.owner_id.as_str(), number))
    });
    let pairs: Vec<(&str, usize)> = pairs.collect();
    let mut access = reach::decide(tx, are_within, &objects, &pairs)?.into_iter();
    let mut may_receive = || access.next() == Some(OwnerAccess::Allowed);
    let received = changes.iter().zip(receivers).map(|(change, all)| {
        let all = all.into_iter().filter(|_| may_receive());
        (change, all.map(|webhook| webhook.id.as_str()).collect::<Vec<_>>())
    });
    Ok(received.filter(|(_, webhooks)| !webhooks.is_empty()).collect())
}

/// Stores a message for each change that a webhook receives, and its deliveries.
fn deliver(
    tx: &mut Tx<'_>,
    now: Timestamp,
    registry: &Registry,
    are_within: AreWithin,
    changes: &[WrittenChange],
) -> Result<Vec<String>> {
    let wanted = received(tx, registry, are_within, changes)?;
    let seqs = match wanted.len() {
        0 => return Ok(Vec::new()),
        count => deliveries::take_message_numbers(tx, count)?,
    };
    let (mut messages, mut rows) = (Vec::new(), Vec::new());
    for ((change, receivers), seq) in wanted.iter().zip(seqs) {
        let id = format!("msg_{}", Uuid::now_v7().simple());
        let body = body(&id, change)?;
        messages.push(deliveries::NewMessage { seq, id, change, body });
        rows.extend(receivers.iter().map(|webhook| (seq, *webhook, change.object.as_str())));
    }
    deliveries::insert(tx, now, &messages, &rows)?;
    let mut receivers: Vec<String> =
        rows.iter().map(|(_, webhook, _)| (*webhook).to_owned()).collect();
    receivers.sort();
    receivers.dedup();
    Ok(receivers)
}

/// The text of a message. The data is copied as it was written.
fn body(id: &str, change: &WrittenChange) -> Result<String> {
    let text = |text: &str| serde_json::to_string(text).map_err(Problem::internal);
    let sensor = match change.sensor.as_str() {
        "" => Value::Null.to_string(),
        sensor => text(sensor)?,
    };
    Ok(format!(
        r#"{{"id":"{id}","type":{},"timestamp":"{}","object":{},"sensor":{sensor},"data":{}}}"#,
        text(&change.topic)?,
        change.at,
        text(&change.object)?,
        change.data,
    ))
}

fn record(tx: &mut Tx<'_>, now: Timestamp, outcome: &AttemptOutcome) -> Result<()> {
    let attempts = outcome.attempts + i64::from(!outcome.is_refused);
    let is_gone = outcome.status == Some(410);
    let next = schedule::next_attempt(now, attempts, outcome.jitter)
        .filter(|_| !is_gone && !outcome.is_refused);
    let (state, due) = match (&outcome.error, next) {
        (None, _) => ("delivered", None),
        (Some(_), Some(next)) => ("waiting", Some(next)),
        (Some(_), None) => ("dead", None),
    };
    deliveries::record(tx, now, outcome, (state, attempts, due))?;
    if is_gone && webhooks::set_active(tx, now, &outcome.webhook, false)? {
        registry::changed(tx)?;
    }
    Ok(())
}

/// The deliveries of a webhook that are due, at most `limit`: of each object the first one that waits.
pub fn due_deliveries(
    tx: &mut Tx<'_>,
    now: Timestamp,
    webhook: &str,
    limit: usize,
) -> Result<Vec<DueDelivery>> {
    deliveries::due_of(tx, now, webhook, i64::try_from(limit).map_err(Problem::internal)?)
}

/// The deliveries that must not be sent, with the reason: their webhooks' owners have no access to the objects any
/// more. Each delivery comes with the id of its webhook.
pub fn refusals(
    tx: &mut Tx<'_>,
    are_within: AreWithin,
    due: &[(&str, &DueDelivery)],
) -> Result<HashMap<i64, &'static str>> {
    let webhooks: BTreeSet<&str> = due.iter().map(|(webhook, _)| *webhook).collect();
    let owners = webhooks::owners(tx, &webhooks.into_iter().collect::<Vec<_>>())?;
    let objects: Vec<ChangedObject<'_>> =
        due.iter().map(|(_, due)| object(due)).collect::<Result<_>>()?;
    let owner = |webhook: &str| owners.get(webhook).map_or("", String::as_str);
    let pairs = due.iter().enumerate().map(|(number, (webhook, _))| (owner(webhook), number));
    let access = reach::decide(tx, are_within, &objects, &pairs.collect::<Vec<_>>())?;
    let refusals = due.iter().zip(access).filter_map(|((_, due), access)| match access {
        OwnerAccess::Allowed => None,
        OwnerAccess::Unreadable => {
            Some((due.seq, "the webhook's owner has no scope that reads the object"))
        }
        OwnerAccess::Outside => {
            Some((due.seq, "the object lies outside of the part of the roster that the webhook's owner has access to"))
        }
        OwnerAccess::Ended => Some((due.seq, "the owner of the webhook no longer has access")),
    });
    Ok(refusals.collect())
}

fn object(due: &DueDelivery) -> Result<ChangedObject<'_>> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }
    let message: Message<'_> = serde_json::from_str(&due.body).map_err(Problem::internal)?;
    Ok(ChangedObject { topic: &due.topic, id: &due.object, data: message.data.get() })
}

/// When the next delivery of a webhook is due; `None` if none waits.
pub fn next_due(tx: &mut Tx<'_>, webhook: &str) -> Result<Option<Timestamp>> {
    deliveries::next_due(tx, webhook)
}

/// The active webhooks with deliveries that wait.
pub fn waiting(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    deliveries::waiting(tx)
}

/// The target of a webhook; `None` if it is not active.
///
/// Errors: its secret was sealed with another master key.
pub fn target(tx: &mut Tx<'_>, master: &MasterKey, webhook: &str) -> Result<Option<Target>> {
    let Some((url, sealed)) = webhooks::target(tx, webhook)? else { return Ok(None) };
    let secret = crate::webhook::open_secret(master, webhook, &sealed)?;
    Ok(Some(Target { url, secret }))
}
