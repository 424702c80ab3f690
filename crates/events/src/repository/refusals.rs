//! Rejected envelopes, stored for inspection and replay.

use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Message, Problem, ProblemKind, Result, message};
use lyceum_store::{Tx, columns};
use serde::{Deserialize, Serialize};

use super::{Accepted, accept, append, take_jobs};
use crate::envelope::parse;
use crate::limits;

/// A rejected envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRejection {
    /// Its number.
    pub id: i64,
    /// The client that sent it.
    pub client: String,
    /// When it was received.
    pub received: Timestamp,
    /// When it was replayed successfully.
    pub replayed: Option<Timestamp>,
    /// Why it was rejected, in one line.
    pub message: Message,
    /// The errors, with their paths in the body.
    pub faults: Vec<Detail>,
}

/// An error as it is stored.
#[derive(Deserialize, Serialize)]
struct StoredFault {
    path: String,
    #[serde(with = "message::stored")]
    message: Message,
}

/// Stores a rejected envelope, and deletes envelopes that are too old or too many. A body beyond the limit is cut,
/// and characters that the database cannot store are removed.
pub fn refuse(
    tx: &mut Tx<'_>,
    now: Timestamp,
    client: &str,
    (message, details): (&Message, &[Detail]),
    body: &str,
) -> Result<()> {
    let until = now.plus_seconds(-limits::EVENT_REFUSED_KEPT_DAYS * 86_400).milliseconds();
    tx.send("DELETE FROM event_refusals WHERE received_ms < $1", &[until.into()])?;
    let fault =
        |fault: &Detail| StoredFault { path: fault.path.clone(), message: fault.message.clone() };
    let faults: Vec<StoredFault> = details.iter().map(fault).collect();
    let faults = serde_json::to_string(&faults).map_err(Problem::internal)?;
    let end = body.floor_char_boundary(limits::EVENT_REFUSED_MAX_BYTES);
    let plain = |text: &str| text.replace('\0', "\u{fffd}");
    let (message, faults, body) = (plain(&message.stored()), plain(&faults), plain(&body[..end]));
    let id = tx.query_one(
        "INSERT INTO event_refusals (client, received_ms, message, faults, body) \
         VALUES ($1, $2, $3, $4, $5) RETURNING id",
        &[
            client.into(),
            now.milliseconds().into(),
            (&message).into(),
            (&faults).into(),
            (&body).into(),
        ],
        |row| row.int(0),
    )?;
    let last_of_too_many = id.unwrap_or(0) - limits::EVENT_REFUSED_KEPT_COUNT;
    tx.send("DELETE FROM event_refusals WHERE id <= $1", &[last_of_too_many.into()])
}

columns!(StoredRejection {
    id: "id",
    client: "client",
    received: "received_ms",
    replayed: "replayed_ms",
    message: "message",
    faults: "faults" => read_faults,
});

fn read_faults(stored: &str) -> Result<Vec<Detail>> {
    let faults: Vec<StoredFault> = serde_json::from_str(stored).map_err(Problem::internal)?;
    let detail = |StoredFault { path, message }| Detail { path, message };
    Ok(faults.into_iter().map(detail).collect())
}

/// The newest rejected envelopes, at most `limit`.
pub fn refused(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<StoredRejection>> {
    let columns = StoredRejection::COLUMNS;
    tx.rows(
        &format!("SELECT {columns} FROM event_refusals ORDER BY id DESC LIMIT $1"),
        &[limit.into()],
    )
}

/// A rejected envelope, with its body up to [`limits::EVENT_REFUSED_MAX_BYTES`].
pub fn refused_one(tx: &mut Tx<'_>, id: i64) -> Result<Option<(StoredRejection, String)>> {
    let columns = StoredRejection::COLUMNS;
    tx.row(&format!("SELECT {columns}, body FROM event_refusals WHERE id = $1"), &[id.into()])
}

/// Processes a rejected envelope as if its client had sent it now. Errors: `NotFound`; `Conflict` if only a part of
/// it was stored; those of [`parse`] if it is rejected again.
pub fn replay(tx: &mut Tx<'_>, now: Timestamp, id: i64) -> Result<()> {
    let (refusal, body) = refused_one(tx, id)?.ok_or_else(|| {
        Problem::new(ProblemKind::NotFound, message!("there is no rejected envelope {id}"))
    })?;
    // The body was cut before a character, which has at most four bytes.
    if body.len() > limits::EVENT_REFUSED_MAX_BYTES - 4 {
        let most = limits::EVENT_REFUSED_MAX_BYTES;
        let message = message!(
            "only its first {most} bytes were stored, so it cannot be replayed; its sender must \
             send it again"
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let envelope = parse(&body, now)?;
    let (client, envelope) = (refusal.client.as_str(), &envelope);
    let appended = &append(tx, now, client, &envelope.events)?;
    let job = take_jobs(tx, 1)?[0];
    accept(tx, now, &[Accepted { job, client, envelope, appended }])?;
    let sql = "UPDATE event_refusals SET replayed_ms = $1 WHERE id = $2";
    tx.send(sql, &[now.milliseconds().into(), id.into()])
}

/// The number of rejected envelopes that were not replayed, and the number of all.
pub fn refused_counts(tx: &mut Tx<'_>) -> Result<(i64, i64)> {
    let sql = "SELECT COUNT(*) - COUNT(replayed_ms), COUNT(*) FROM event_refusals";
    Ok(tx.row(sql, &[])?.unwrap_or_default())
}
