//! Messages and deliveries.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Result};
use lyceum_store::outbox::WrittenChange;
use lyceum_store::{Tx, Value, columns, named_column};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{limits, topics};

named_column!(DeliveryState, DeliveryState::named);

/// A delivery that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDelivery {
    /// Its number.
    pub seq: i64,
    /// The number of attempts so far.
    pub attempts: i64,
    /// The id of the message.
    pub message: String,
    /// The body of the message.
    pub body: String,
    /// The topic of the message.
    pub topic: String,
    /// The object of the message.
    pub object: String,
}

/// The outcome of one attempt.
#[derive(Clone, Debug)]
pub struct AttemptOutcome {
    /// The webhook.
    pub webhook: String,
    /// The delivery.
    pub seq: i64,
    /// The number of attempts before this one.
    pub attempts: i64,
    /// The status code of the answer; `None` if there was no answer.
    pub status: Option<u16>,
    /// Why the attempt failed; `None` if it succeeded.
    pub error: Option<Message>,
    /// Whether nothing was sent, because of [`refusals`]. Then the delivery is dead.
    pub is_refused: bool,
    /// A random number in `0.0..1.0`.
    pub jitter: f64,
}

/// An entry of the delivery log.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WebhookDelivery")]
pub struct Delivery {
    /// Its number; later deliveries have greater ones.
    pub id: i64,
    /// The id of the message, the header `webhook-id` of each attempt.
    pub message_id: String,
    /// The topic of the message.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = topics::names().collect::<Vec<_>>()))]
    pub topic: String,
    /// The object of the message.
    pub object: String,
    /// Its state.
    pub state: DeliveryState,
    /// The number of attempts since it was created or replayed.
    pub attempts: i64,
    /// The status code of the last answer; null if there was no answer.
    pub status: Option<i64>,
    /// Why the last attempt failed.
    pub error: Option<Message>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it is sent at the earliest, if it waits.
    pub due_at: Timestamp,
    /// When it was delivered or became dead.
    pub ended_at: Option<Timestamp>,
}

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DeliveryState {
    /// It is sent as soon as it is due and the earlier ones of its object have ended.
    Waiting,
    /// The target accepted it.
    Delivered,
    /// It failed for good. A replay sends it again.
    Dead,
}

columns!(Delivery {
    id: "d.seq",
    message_id: "m.id",
    topic: "m.topic",
    object: "d.object",
    state: "d.state",
    attempts: "d.attempts",
    status: "d.status",
    error: "d.error",
    created_at: "d.created_ms",
    due_at: "d.due_ms",
    ended_at: "d.ended_ms",
});
columns!(DueDelivery {
    seq: "d.seq",
    attempts: "d.attempts",
    message: "m.id",
    body: "m.body",
    topic: "m.topic",
    object: "d.object",
});

const COLUMNS: &str = Delivery::COLUMNS;
const JOINED: &str = "webhook_deliveries d JOIN webhook_messages m ON m.seq = d.message";
/// No earlier delivery of the object to the webhook waits.
const IS_FIRST: &str = "NOT EXISTS (SELECT 1 FROM webhook_deliveries e WHERE e.webhook = d.webhook \
                        AND e.object = d.object AND e.state = 'waiting' AND e.seq < d.seq)";

/// A message to store.
pub(crate) struct NewMessage<'a> {
    pub(crate) seq: i64,
    pub(crate) id: String,
    pub(crate) change: &'a WrittenChange,
    pub(crate) body: String,
}

/// The number of waiting deliveries, when the oldest of them was created, and the number of dead ones.
pub(crate) fn backlog(tx: &mut Tx<'_>) -> Result<(i64, Option<Timestamp>, i64)> {
    let waiting = "SELECT COUNT(*), MIN(seq) FROM webhook_deliveries WHERE state = 'waiting'";
    let (waiting, first): (i64, Option<i64>) = tx.row(waiting, &[])?.unwrap_or_default();
    let created = "SELECT created_ms FROM webhook_deliveries WHERE seq = $1";
    let oldest = first.map(|first| tx.row(created, &[first.into()])).transpose()?.flatten();
    let dead = "SELECT COUNT(*) FROM webhook_deliveries WHERE state = 'dead'";
    Ok((waiting, oldest, tx.row(dead, &[])?.unwrap_or_default()))
}

pub(crate) fn take_message_numbers(tx: &mut Tx<'_>, count: usize) -> Result<Vec<i64>> {
    tx.take_numbers("webhook_messages", "seq", count)
}

/// Stores messages, and deliveries of them: the message, the webhook and the object of each.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    messages: &[NewMessage<'_>],
    deliveries: &[(i64, &str, &str)],
) -> Result<()> {
    let mut values: Vec<Value<'_>> = Vec::with_capacity(messages.len() * 6);
    for message in messages {
        values.extend([
            Value::from(message.seq),
            (&message.id).into(),
            (&message.change.topic).into(),
            (&message.change.object).into(),
            message.change.at.milliseconds().into(),
            (&message.body).into(),
        ]);
    }
    let columns = ["seq", "id", "topic", "object", "at_ms", "body"];
    tx.send_rows("webhook_messages", &columns, &values, "")?;
    let mut values: Vec<Value<'_>> = Vec::with_capacity(deliveries.len() * 7);
    for (message, webhook, object) in deliveries {
        values.extend([
            Value::from(*message),
            (*webhook).into(),
            (*object).into(),
            "waiting".into(),
            Value::Int(0),
            now.milliseconds().into(),
            now.milliseconds().into(),
        ]);
    }
    let columns = ["message", "webhook", "object", "state", "attempts", "due_ms", "created_ms"];
    tx.send_rows("webhook_deliveries", &columns, &values, "")
}

/// Records an attempt, unless the delivery was changed since. Without a time the delivery has ended.
pub(crate) fn record(
    tx: &mut Tx<'_>,
    now: Timestamp,
    outcome: &AttemptOutcome,
    (state, attempts, due): (&str, i64, Option<Timestamp>),
) -> Result<()> {
    let ended = due.is_none().then_some(now.milliseconds());
    let error = outcome.error.as_ref().map(Message::stored);
    let sql = "UPDATE webhook_deliveries SET state = $1, attempts = $2, due_ms = $3, ended_ms = $4, \
               status = $5, error = $6 WHERE seq = $7 AND state = 'waiting' AND attempts = $8";
    let values = [
        state.into(),
        attempts.into(),
        due.unwrap_or(now).milliseconds().into(),
        ended.into(),
        outcome.status.map(i64::from).into(),
        error.as_ref().into(),
        outcome.seq.into(),
        outcome.attempts.into(),
    ];
    tx.send(sql, &values)
}

pub(crate) fn due_of(
    tx: &mut Tx<'_>,
    now: Timestamp,
    webhook: &str,
    limit: i64,
) -> Result<Vec<DueDelivery>> {
    let sql = format!(
        "SELECT {} FROM {JOINED} WHERE d.webhook = $1 AND d.state = 'waiting' AND d.due_ms <= $2 \
         AND {IS_FIRST} ORDER BY d.seq LIMIT $3",
        DueDelivery::COLUMNS
    );
    tx.rows(&sql, &[webhook.into(), now.milliseconds().into(), limit.into()])
}

pub(crate) fn next_due(tx: &mut Tx<'_>, webhook: &str) -> Result<Option<Timestamp>> {
    let sql = format!(
        "SELECT MIN(d.due_ms) FROM webhook_deliveries d \
         WHERE d.webhook = $1 AND d.state = 'waiting' AND {IS_FIRST}"
    );
    Ok(tx.query_one(&sql, &[webhook.into()], |row| row.opt_time(0))?.flatten())
}

pub(crate) fn waiting(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let sql = "SELECT w.id FROM webhooks w WHERE w.active = 1 AND EXISTS \
               (SELECT 1 FROM webhook_deliveries d WHERE d.webhook = w.id AND d.state = 'waiting')";
    tx.rows(sql, &[])
}

pub(crate) fn list(
    tx: &mut Tx<'_>,
    webhook: &str,
    state: Option<DeliveryState>,
    before: i64,
    limit: i64,
) -> Result<Vec<Delivery>> {
    // The state is part of the text, so that the stores use the index of deliveries in this state.
    let only = state.map_or(String::new(), |state| format!("AND d.state = '{}'", state.name()));
    let sql = format!(
        "SELECT {COLUMNS} FROM {JOINED} WHERE d.webhook = $1 AND d.seq < $2 {only} \
         ORDER BY d.seq DESC LIMIT $3"
    );
    tx.rows(&sql, &[webhook.into(), before.into(), limit.into()])
}

pub(crate) fn find(tx: &mut Tx<'_>, webhook: &str, id: i64) -> Result<Option<(Delivery, String)>> {
    let sql = format!("SELECT {COLUMNS}, m.body FROM {JOINED} WHERE d.webhook = $1 AND d.seq = $2");
    tx.row(&sql, &[webhook.into(), id.into()])
}

const REPLAYED: &str = "UPDATE webhook_deliveries SET state = 'waiting', attempts = 0, \
                        due_ms = $1, created_ms = $1, ended_ms = NULL, status = NULL, error = NULL";

pub(crate) fn replay(tx: &mut Tx<'_>, now: Timestamp, webhook: &str, id: i64) -> Result<bool> {
    let sql = format!("{REPLAYED} WHERE webhook = $2 AND seq = $3");
    Ok(tx.execute(&sql, &[now.milliseconds().into(), webhook.into(), id.into()])? == 1)
}

pub(crate) fn replay_dead(tx: &mut Tx<'_>, now: Timestamp, webhook: &str) -> Result<u64> {
    let sql = format!("{REPLAYED} WHERE webhook = $2 AND state = 'dead'");
    tx.execute(&sql, &[now.milliseconds().into(), webhook.into()])
}

/// Ends deliveries that have waited since before an instant.
pub(crate) fn expire(tx: &mut Tx<'_>, now: Timestamp, before: Timestamp) -> Result<()> {
    let sql = "UPDATE webhook_deliveries SET state = 'dead', ended_ms = $1, \
               error = COALESCE(error, 'the target was not reached in time') \
               WHERE state = 'waiting' AND created_ms < $2";
    tx.send(sql, &[now.milliseconds().into(), before.milliseconds().into()])
}

/// Removes deliveries that ended before these instants, and messages without deliveries. Answers how many.
pub(crate) fn forget(tx: &mut Tx<'_>, delivered: Timestamp, dead: Timestamp) -> Result<u64> {
    let sql = "DELETE FROM webhook_deliveries WHERE seq IN (SELECT seq FROM webhook_deliveries \
               WHERE ended_ms < $1 AND (state = 'delivered' OR ended_ms < $2) \
               ORDER BY ended_ms LIMIT $3)";
    let limit = limits::WEBHOOK_FORGET_MAX_RECORDS;
    let values = [delivered.milliseconds().into(), dead.milliseconds().into(), limit.into()];
    let deliveries = tx.execute(sql, &values)?;
    let sql = "DELETE FROM webhook_messages WHERE seq IN (SELECT m.seq FROM webhook_messages m \
               WHERE m.at_ms < $1 AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d \
               WHERE d.message = m.seq) ORDER BY m.seq LIMIT $2)";
    let messages = tx.execute(sql, &[delivered.milliseconds().into(), limit.into()])?;
    Ok(deliveries.max(messages))
}

/// The number of deliveries that wait or are dead, by webhook and state.
pub(crate) fn open_counts(tx: &mut Tx<'_>) -> Result<Vec<(String, String, i64)>> {
    let counts_in = |state| {
        format!(
            "SELECT webhook, state, COUNT(*) FROM webhook_deliveries WHERE state = '{state}' \
             GROUP BY webhook, state"
        )
    };
    tx.rows(&format!("{} UNION ALL {}", counts_in("waiting"), counts_in("dead")), &[])
}
