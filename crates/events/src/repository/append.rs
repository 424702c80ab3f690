//! Appends events to the log. Each id counts once; a correction is a new version of its event.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::log::is_only_writer;
use lyceum_store::outbox::{self, Change};
use lyceum_store::{IN_LIST_MARKS, Signal, Tx, Value, in_lists};
use sha2::{Digest, Sha256};

use super::blocks::Blocks;
use super::names::{self, KnownNames, LookedUpNames, NamePair, Named};
use super::read::{LOG, LoggedEvent, numbered, select};
use super::run_lists::IDS;
use super::spans::Spans;
use super::{COLLECTION, RUN_MIN_RECORDS, facts};
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

/// An event to append.
#[derive(Clone, Copy)]
struct EventToAppend<'a> {
    client: &'a str,
    event: &'a Event,
    source: i64,
    actor: i64,
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
/// In a transaction that sees the latest state (`log::write_latest`), the claim of an id waits only for an unfinished
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
    let said = said.into_iter().zip(actors).zip(sources);
    let items: Vec<EventToAppend<'_>> = said
        .map(|(((event, client), actor), source)| EventToAppend { client, event, source, actor })
        .collect();
    let seqs = tx.take_numbers("event_log", "seq", items.len())?;
    let rows: Vec<(EventToAppend<'_>, i64)> = items.into_iter().zip(seqs).collect();
    // Done before the ids are claimed, because nearly all events are new.
    let blocks = insert(tx, now, &rows)?;
    let mut keys: Vec<(i64, i64)> =
        rows.iter().map(|(item, seq)| (item.event.hash, *seq)).collect();
    let taken = match is_only_writer(tx) && keys.len() >= RUN_MIN_RECORDS {
        true => IDS.claim_in_run(tx, &mut keys)?,
        false => IDS.claim(tx, &mut keys)?,
    };
    let is_new = |(item, seq): &(EventToAppend<'_>, i64)| {
        taken.get(&item.event.hash).is_none_or(|holder| holder == seq)
    };
    let blocks_of = |are_new: bool| {
        let rows = rows.iter().zip(&blocks).filter(move |(row, _)| is_new(row) == are_new);
        rows.map(|((_, seq), block)| (*seq, *block))
    };
    withdraw(tx, blocks_of(false), blocks_of(true))?;
    let (new, open): (Vec<_>, Vec<_>) = rows.iter().copied().partition(is_new);
    // Those of corrections, too, before the first one holds the list of facts.
    let mut contexts = facts::ContextRows::default();
    for (item, _) in &rows {
        contexts.add(&item.event.facts);
    }
    contexts.write(tx)?;
    count(tx, &new)?;
    let open: Vec<i64> = open.into_iter().map(|(item, _)| item.event.hash).collect();
    let known = holders(tx, &open)?;
    let mut answers = Vec::with_capacity(rows.len());
    for row in &rows {
        let (item, seq) = *row;
        answers.push(match known.get(&item.event.hash) {
            _ if is_new(row) => Appended::New { seq },
            Some(holder) if is_same(holder, &item) => Appended::Same { seq: holder.seq },
            _ => version(tx, now, item)?,
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
    rows: &[(EventToAppend<'_>, i64)],
    answers: &[Appended],
) -> Result<()> {
    let wanted = outbox::wanted(tx)?;
    if wanted.is_empty() {
        return Ok(());
    }
    let counts =
        |answer: &Appended| matches!(answer, Appended::New { .. } | Appended::Correction { .. });
    let events = rows.iter().zip(answers).filter(|(_, answer)| counts(answer));
    let events = events.map(|((item, _), _)| item.event);
    let changes: Vec<Change<'_>> = events
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
fn withdraw(
    tx: &mut Tx<'_>,
    gone: impl Iterator<Item = (i64, Option<i64>)>,
    stay: impl Iterator<Item = (i64, Option<i64>)>,
) -> Result<()> {
    let (seqs, blocks): (Vec<i64>, BTreeSet<Option<i64>>) = gone.unzip();
    if seqs.is_empty() {
        return Ok(());
    }
    let named: BTreeSet<Option<i64>> = stay.map(|(_, block)| block).collect();
    let blocks: Vec<i64> = blocks.difference(&named).copied().flatten().collect();
    for (table, key, numbers) in [("event_log", "seq", seqs), ("event_blocks", "id", blocks)] {
        let sql = format!("DELETE FROM {table} WHERE {key} IN ({})", *IN_LIST_MARKS);
        for list in in_lists(&numbers) {
            tx.send(&sql, &list.into_iter().map(Value::Int).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

/// Inserts rows into the log; returns their blocks.
fn insert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    rows: &[(EventToAppend<'_>, i64)],
) -> Result<Vec<Option<i64>>> {
    let now = now.milliseconds();
    let texts: Vec<(i64, &str)> =
        rows.iter().map(|(item, seq)| (*seq, item.event.body())).collect();
    let blocks = Blocks::pack(&texts)?;
    let mut values: Vec<Value<'_>> = Vec::with_capacity(rows.len() * 9);
    for ((EventToAppend { event, source, actor, .. }, seq), block) in rows.iter().zip(&blocks.of) {
        values.extend([
            Value::Int(*seq),
            (*source).into(),
            (*actor).into(),
            event.time.milliseconds().into(),
            event.send_time.milliseconds().into(),
            now.into(),
            now.into(),
            block.map_or(event.body(), |_| "").into(),
            (*block).into(),
        ]);
    }
    let columns = words![seq source actor event_ms send_ms received_ms changed_ms body block];
    // Rows go first, because they are streamed, which requires that PostgreSQL has answered all earlier statements.
    tx.send_rows("event_log", columns, &values, "")?;
    blocks.write(tx)?;
    Ok(blocks.of)
}

/// Counts events, and writes their spans and facts.
fn count(tx: &mut Tx<'_>, rows: &[(EventToAppend<'_>, i64)]) -> Result<()> {
    let (mut spans, mut facts) = (Spans::default(), facts::FactRows::default());
    for (item, seq) in rows {
        tx.tally(COLLECTION, *seq, 1);
        spans.add(*seq, item.source, item.event.time);
        facts.add(item.actor, *seq, &item.event.facts);
    }
    spans.write(tx)?;
    facts.write(tx)
}

/// The events that hold the hashes.
fn holders(tx: &mut Tx<'_>, hashes: &[i64]) -> Result<BTreeMap<i64, LoggedEvent>> {
    let held = IDS.numbers(tx, hashes)?;
    let mut events = BTreeMap::new();
    numbered(tx, &held.values().copied().collect::<Vec<_>>(), |logged| {
        events.insert(logged.seq, logged);
        Ok(())
    })?;
    Ok(held.into_iter().filter_map(|(hash, seq)| Some((hash, events.remove(&seq)?))).collect())
}

/// Whether the event changes nothing, because it already exists or its id belongs to another client.
fn is_same(holder: &LoggedEvent, &EventToAppend { client, event, .. }: &EventToAppend<'_>) -> bool {
    holder.event.id == event.id
        && (holder.client != client
            || holder.event.send_time >= event.send_time && has_same_content(&holder.event, event))
}

/// Whether two events have the same content.
fn has_same_content(one: &Event, other: &Event) -> bool {
    one.body() == other.body() || one.content() == other.content()
}

/// Appends one event whose id or hash may be taken.
fn version(tx: &mut Tx<'_>, now: Timestamp, item: EventToAppend<'_>) -> Result<Appended> {
    facts::wait_to_correct(tx)?;
    for _ in 0..CLAIM_ATTEMPTS {
        let (hash, holder) = find(tx, &item.event.id)?;
        if let Some(holder) = holder {
            return version_of(tx, now, item, hash, holder);
        }
        let seq = tx.take_numbers("event_log", "seq", 1)?[0];
        if IDS.claim(tx, &mut [(hash, seq)])?.values().all(|holder| *holder == seq) {
            insert(tx, now, &[(item, seq)])?;
            count(tx, &[(item, seq)])?;
            return Ok(Appended::New { seq });
        }
        // Another transaction may have claimed the hash since it was looked for.
    }
    Err(Problem::internal("an id is taken, but its event is missing"))
}

/// Appends one event whose id an event has, unless nothing changes.
fn version_of(
    tx: &mut Tx<'_>,
    now: Timestamp,
    item: EventToAppend<'_>,
    hash: i64,
    holder: LoggedEvent,
) -> Result<Appended> {
    let event = item.event;
    if is_same(&holder, &item) {
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
    insert(tx, now, &[(item, seq)])?;
    if !wins {
        supersede(tx, now, hash, seq, holder.seq)?;
        return Ok(Appended::Older { seq });
    }
    tx.tally(COLLECTION, holder.seq, -1);
    supersede(tx, now, hash, holder.seq, seq)?;
    facts::take_away(tx, holder.actor, holder.seq, &holder.event.facts)?;
    count(tx, &[(item, seq)])?;
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
