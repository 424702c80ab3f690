//! Appends events to the log, with their facts, their contexts and the changes for webhooks. Each id counts once; a
//! correction is a new version of its event.
//!
//! Rows are written before their ids are claimed, because nearly all ids are new. Rows whose ids turn out to be taken
//! are removed.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::log::is_only_writer;
use lyceum_store::outbox::{self, Change};
use lyceum_store::{IN_LIST_MARKS, Signal, Tx, Value, in_lists};
use sha2::{Digest, Sha256};

use super::blocks::Blocks;
use super::names::{self, KnownNames, LookedUpNames, NamePair, Named};
use super::read::{LOG, LoggedEvent, of_numbers, select};
use super::spans::Spans;
use super::{COLLECTION, IDS, RUN_MIN_RECORDS, facts};
use crate::event::{Event, hash};
use crate::words::words;

/// The topic of events in the outbox.
const TOPIC: &str = "caliper.event";

/// How often an event whose hash may be taken looks for the holder of the hash, or claims it.
const CLAIM_ATTEMPTS: u32 = 3;

/// The outcome of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Appended {
    /// The event is new.
    New {
        /// Its number.
        seq: i64,
    },
    /// The event already exists, or its id belongs to another client. Nothing changed.
    Same {
        /// The number of the existing event.
        seq: i64,
    },
    /// The event is older than a correction that already exists. It is stored but does not count.
    Older {
        /// Its number.
        seq: i64,
    },
    /// The event replaces a previous version.
    Correction {
        /// Its number.
        seq: i64,
        /// The previous version.
        former: Box<Event>,
    },
}

impl Appended {
    /// The event's number in the log.
    pub fn seq(&self) -> i64 {
        match self {
            Self::New { seq }
            | Self::Same { seq }
            | Self::Older { seq }
            | Self::Correction { seq, .. } => *seq,
        }
    }
}

/// Events of one client.
#[derive(Clone, Copy, Debug)]
pub struct ClientEvents<'a> {
    /// The client that sent them.
    pub client: &'a str,
    /// The events.
    pub events: &'a [Event],
}

/// An event to append, and its row in the log.
#[derive(Clone, Copy)]
struct EventRow<'a> {
    client: &'a str,
    event: &'a Event,
    source: i64,
    actor: i64,
    seq: i64,
    /// The block with its text; `None` if the row contains the text.
    block: Option<i64>,
}

/// Appends events of a client and returns the outcome of each.
///
/// A new id is a new event. The same id with the same content is the same event. The same id with other content from
/// the same client is a version of it. The version in the envelope with the latest `sendTime` counts. If several have
/// the same time, the one whose content has the greatest hash counts, so that the order of arrival does not matter.
/// The facts of the events that count are written with them.
pub fn append(
    tx: &mut Tx<'_>,
    now: Timestamp,
    client: &str,
    events: &[Event],
) -> Result<Vec<Appended>> {
    let sent = [ClientEvents { client, events }];
    append_all(tx, now, &sent, &KnownNames::default()).map(|(appended, _)| appended)
}

/// Like [`append`] for events of several clients. Returns one outcome per event, in order, and the names that were
/// looked up.
///
/// In a transaction that sees the latest commits (`Db::write_with_locks`), the claim of an id waits only for an unfinished
/// claim of the same id, and corrections wait for each other. In other transactions, concurrent claims may conflict.
pub fn append_all(
    tx: &mut Tx<'_>,
    now: Timestamp,
    sent: &[ClientEvents<'_>],
    known: &KnownNames,
) -> Result<(Vec<Appended>, LookedUpNames)> {
    let said = sent.iter().flat_map(|one| one.events.iter().map(|event| (event, one.client)));
    let said: Vec<(&Event, &str)> = said.collect();
    let mut learned = LookedUpNames::default();
    let names: Vec<NamePair<'_>> =
        said.iter().map(|(event, _)| (&*event.actor, &*event.email)).collect();
    let actors = names::numbers(tx, known, &mut learned, Named::Actors, &names)?;
    let names: Vec<NamePair<'_>> =
        said.iter().map(|(event, client)| (&*event.sensor, *client)).collect();
    let sources = names::numbers(tx, known, &mut learned, Named::Sources, &names)?;
    let seqs = tx.take_numbers("event_log", "seq", said.len())?;
    let numbered = said.into_iter().zip(actors.into_iter().zip(sources)).zip(seqs);
    let row = |(((event, client), (actor, source)), seq)| {
        let block = None;
        EventRow { client, event, source, actor, seq, block }
    };
    let mut rows: Vec<EventRow<'_>> = numbered.map(row).collect();
    // Done before the ids are claimed, because nearly all events are new.
    insert(tx, now, &mut rows)?;
    let mut keys: Vec<(i64, i64)> = rows.iter().map(|row| (row.event.hash, row.seq)).collect();
    let taken = match is_only_writer(tx) && keys.len() >= RUN_MIN_RECORDS {
        true => IDS.claim_in_run(tx, &mut keys)?,
        false => IDS.claim(tx, &mut keys)?,
    };
    let is_new =
        |row: &EventRow<'_>| taken.get(&row.event.hash).is_none_or(|holder| *holder == row.seq);
    let (new, open): (Vec<_>, Vec<_>) = rows.iter().copied().partition(is_new);
    withdraw(tx, &open, &new)?;
    // Those of corrections, too, before the first one locks the sums.
    let mut contexts = facts::ContextRows::default();
    for row in &rows {
        contexts.add(&row.event.facts);
    }
    contexts.write(tx)?;
    count(tx, &new)?;
    let open: Vec<i64> = open.into_iter().map(|row| row.event.hash).collect();
    let known = holders(tx, &open)?;
    let mut answers = Vec::with_capacity(rows.len());
    for row in &rows {
        answers.push(match known.get(&row.event.hash) {
            _ if is_new(row) => Appended::New { seq: row.seq },
            Some(holder) if is_same(holder, row) => Appended::Same { seq: holder.seq },
            _ => version(tx, now, *row)?,
        });
    }
    announce(tx, now, &rows, &answers)?;
    tx.signal(Signal::Events);
    Ok((answers, learned))
}

/// Announces events that count to webhooks: new ones and corrections.
fn announce(
    tx: &mut Tx<'_>,
    now: Timestamp,
    rows: &[EventRow<'_>],
    answers: &[Appended],
) -> Result<()> {
    let wanted = outbox::wanted(tx)?;
    if wanted.is_empty() {
        return Ok(());
    }
    let counts =
        |answer: &Appended| matches!(answer, Appended::New { .. } | Appended::Correction { .. });
    let events = rows.iter().zip(answers).filter(|(_, answer)| counts(answer));
    let changes: Vec<Change<'_>> = events
        .map(|(row, _)| row.event)
        .filter(|event| wanted.contains(TOPIC, &event.sensor))
        .map(|event| Change {
            topic: TOPIC.into(),
            object: &event.id,
            sensor: &event.sensor,
            at: now,
            data: event.body().into(),
        })
        .collect();
    outbox::write(tx, &changes)
}

/// Removes rows whose ids turned out to be taken, with their blocks, except blocks that a row in `stay` uses.
fn withdraw(tx: &mut Tx<'_>, gone: &[EventRow<'_>], stay: &[EventRow<'_>]) -> Result<()> {
    if gone.is_empty() {
        return Ok(());
    }
    let blocks_of = |rows: &[EventRow<'_>]| -> BTreeSet<i64> {
        rows.iter().filter_map(|row| row.block).collect()
    };
    let seqs: Vec<i64> = gone.iter().map(|row| row.seq).collect();
    let blocks = Vec::from_iter(&blocks_of(gone) - &blocks_of(stay));
    for (table, key, numbers) in [("event_log", "seq", seqs), ("event_blocks", "id", blocks)] {
        let sql = format!("DELETE FROM {table} WHERE {key} IN ({})", *IN_LIST_MARKS);
        for list in in_lists(&numbers) {
            tx.send(&sql, &list.into_iter().map(Value::Int).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

/// Inserts rows into the log, with the blocks that they get.
fn insert(tx: &mut Tx<'_>, now: Timestamp, rows: &mut [EventRow<'_>]) -> Result<()> {
    let now = now.milliseconds();
    let texts: Vec<(i64, &str)> = rows.iter().map(|row| (row.seq, row.event.body())).collect();
    let blocks = Blocks::pack(&texts)?;
    let mut values: Vec<Value<'_>> = Vec::with_capacity(rows.len() * 9);
    for (row, block) in rows.iter_mut().zip(&blocks.of) {
        row.block = *block;
        values.extend([
            row.seq.into(),
            row.source.into(),
            row.actor.into(),
            row.event.time.milliseconds().into(),
            row.event.send_time.milliseconds().into(),
            now.into(),
            now.into(),
            block.map_or(row.event.body(), |_| "").into(),
            Value::from(*block),
        ]);
    }
    let columns = words![seq source actor event_ms send_ms received_ms changed_ms body block];
    // Rows go first, because they are streamed, which requires that PostgreSQL has answered all earlier statements.
    tx.send_rows("event_log", columns, &values, "")?;
    blocks.write(tx)
}

/// Counts events, and writes their spans and facts.
fn count(tx: &mut Tx<'_>, rows: &[EventRow<'_>]) -> Result<()> {
    let (mut spans, mut facts) = (Spans::default(), facts::FactRows::default());
    for row in rows {
        tx.tally(COLLECTION, row.seq, 1);
        spans.add(row.seq, row.source, row.event.time);
        facts.add(row.actor, row.seq, &row.event.facts);
    }
    spans.write(tx)?;
    facts.write(tx)
}

/// The events that hold the hashes.
fn holders(tx: &mut Tx<'_>, hashes: &[i64]) -> Result<BTreeMap<i64, LoggedEvent>> {
    let held = IDS.numbers(tx, hashes)?;
    let events = of_numbers(tx, &held.values().copied().collect::<Vec<_>>())?;
    let mut events: BTreeMap<i64, LoggedEvent> =
        events.into_iter().map(|logged| (logged.seq, logged)).collect();
    Ok(held.into_iter().filter_map(|(hash, seq)| Some((hash, events.remove(&seq)?))).collect())
}

/// Whether the event changes nothing, because it already exists or its id belongs to another client.
fn is_same(holder: &LoggedEvent, &EventRow { client, event, .. }: &EventRow<'_>) -> bool {
    holder.event.id == event.id
        && (holder.client != client
            || holder.event.send_time >= event.send_time && has_same_content(&holder.event, event))
}

/// Whether two events have the same content.
fn has_same_content(one: &Event, other: &Event) -> bool {
    one.body() == other.body() || one.content() == other.content()
}

/// Appends one event whose id or hash may be taken.
fn version(tx: &mut Tx<'_>, now: Timestamp, mut row: EventRow<'_>) -> Result<Appended> {
    facts::wait_to_correct(tx)?;
    for _ in 0..CLAIM_ATTEMPTS {
        let (hash, holder) = find(tx, &row.event.id)?;
        if let Some(holder) = holder {
            return version_of(tx, now, row, hash, holder);
        }
        row.seq = tx.take_numbers("event_log", "seq", 1)?[0];
        if IDS.claim(tx, &mut [(hash, row.seq)])?.values().all(|holder| *holder == row.seq) {
            insert(tx, now, &mut [row])?;
            count(tx, &[row])?;
            return Ok(Appended::New { seq: row.seq });
        }
        // Another transaction may have claimed the hash since it was looked for.
    }
    Err(Problem::internal("an id is taken, but its event is missing"))
}

/// Appends one event whose id an event has, unless nothing changes.
fn version_of(
    tx: &mut Tx<'_>,
    now: Timestamp,
    mut row: EventRow<'_>,
    hash: i64,
    holder: LoggedEvent,
) -> Result<Appended> {
    let event = row.event;
    if is_same(&holder, &row) {
        return Ok(Appended::Same { seq: holder.seq });
    }
    if has_same_content(&holder.event, event) {
        sent_again(tx, holder.seq, event)?;
        return Ok(Appended::Same { seq: holder.seq });
    }
    let wins = rank(event) > rank(&holder.event);
    let others = versions(tx, hash)?;
    let known = others.iter().filter(|other| has_same_content(&other.event, event));
    match known.max_by_key(|other| other.event.send_time) {
        Some(known) if known.event.send_time >= event.send_time => {
            return Ok(Appended::Older { seq: known.seq });
        }
        Some(known) if !wins => {
            sent_again(tx, known.seq, event)?;
            return Ok(Appended::Older { seq: known.seq });
        }
        // A version that counts again becomes a new row, for readers that follow the log.
        _ => {}
    }
    let seq = tx.take_numbers("event_log", "seq", 1)?[0];
    row.seq = seq;
    insert(tx, now, &mut [row])?;
    if !wins {
        supersede(tx, now, hash, seq, holder.seq)?;
        return Ok(Appended::Older { seq });
    }
    tx.tally(COLLECTION, holder.seq, -1);
    supersede(tx, now, hash, holder.seq, seq)?;
    facts::take_away(tx, holder.actor, holder.seq, &holder.event.facts)?;
    count(tx, &[row])?;
    IDS.set_number(tx, hash, seq)?;
    Ok(Appended::Correction { seq, former: Box::new(holder.event) })
}

/// The order of versions: by the time of the envelope, then by the hash of the content as text that does not depend
/// on white space or the order of members.
fn rank(event: &Event) -> (Timestamp, [u8; 32]) {
    let mut sorted = event.content();
    sorted.sort_all_objects();
    (event.send_time, Sha256::digest(sorted.to_string().as_bytes()).into())
}

/// The slot of an id, and the event that holds it. If another id has the same hash, the next number is tried, and so
/// on.
pub(super) fn find(tx: &mut Tx<'_>, id: &str) -> Result<(i64, Option<LoggedEvent>)> {
    let mut slot = hash(id);
    loop {
        match holders(tx, &[slot])?.remove(&slot) {
            Some(holder) if holder.event.id != id => slot = slot.wrapping_add(1),
            holder => return Ok((slot, holder)),
        }
    }
}

/// The versions that do not count.
fn versions(tx: &mut Tx<'_>, hash: i64) -> Result<Vec<LoggedEvent>> {
    let from =
        format!("{LOG} JOIN event_versions v ON v.seq = l.seq WHERE v.hash = $1 ORDER BY l.seq");
    select(tx, &from, &[hash.into()])
}

/// Records that a version was sent again in a later envelope.
fn sent_again(tx: &mut Tx<'_>, seq: i64, event: &Event) -> Result<()> {
    let values = [event.send_time.milliseconds().into(), seq.into()];
    tx.send("UPDATE event_log SET send_ms = $1 WHERE seq = $2", &values)
}

fn supersede(tx: &mut Tx<'_>, now: Timestamp, hash: i64, seq: i64, by: i64) -> Result<()> {
    tx.send(
        "UPDATE event_log SET superseded_by = $1, changed_ms = $2 WHERE seq = $3",
        &[by.into(), now.milliseconds().into(), seq.into()],
    )?;
    tx.send("INSERT INTO event_versions (hash, seq) VALUES ($1, $2)", &[hash.into(), seq.into()])
}
