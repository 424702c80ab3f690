//! Stores an accepted envelope in addition to its events: entities and the state of its job.

use std::collections::BTreeMap;

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, Value};

use super::append::Appended;
use super::read::of_numbers;
use crate::actor_filter::ActorFilter;
use crate::envelope::Envelope;
use crate::limits;

/// An envelope whose events were appended.
#[derive(Clone, Copy, Debug)]
pub struct Accepted<'a> {
    /// The number of its job.
    pub job: i64,
    /// The client that sent it.
    pub client: &'a str,
    /// The envelope.
    pub envelope: &'a Envelope,
    /// The outcomes of its events.
    pub appended: &'a [Appended],
}

/// Takes numbers for the jobs of envelopes.
pub fn take_jobs(tx: &mut Tx<'_>, envelopes: usize) -> Result<Vec<i64>> {
    tx.take_numbers("event_batches", "id", envelopes)
}

/// Records accepted envelopes, and stores the latest description that a client sent of each entity.
pub fn accept(tx: &mut Tx<'_>, now: Timestamp, accepted: &[Accepted<'_>]) -> Result<()> {
    let at = now.milliseconds();
    let mut described = Vec::new();
    for one in accepted {
        described.extend(one.envelope.entities.iter().map(|entity| (entity, one)));
    }
    // Sorted, so that two transactions never wait for each other in a circle.
    described.sort_by_key(|(entity, one)| (&entity.id, one.client));
    for (entity, Accepted { client, envelope, .. }) in described {
        // In separate statements, because one statement of PostgreSQL cannot change a row twice.
        tx.send_rows(
            "event_entities",
            &["id", "client", "send_ms", "received_ms", "body"],
            &[
                (&entity.id).into(),
                (*client).into(),
                envelope.send_time.milliseconds().into(),
                at.into(),
                (&entity.body).into(),
            ],
            "ON CONFLICT (id, client) DO UPDATE SET send_ms = excluded.send_ms, \
             received_ms = excluded.received_ms, body = excluded.body \
             WHERE excluded.send_ms > event_entities.send_ms OR \
             (excluded.send_ms = event_entities.send_ms AND excluded.body > event_entities.body)",
        )?;
    }
    let seqs: Vec<String> = accepted
        .iter()
        .map(|one| runs(&one.appended.iter().map(Appended::seq).collect::<Vec<_>>()))
        .collect();
    let rows: Vec<Value<'_>> = accepted
        .iter()
        .zip(&seqs)
        .flat_map(|(one, seqs)| [one.job.into(), at.into(), Value::Text(seqs)])
        .collect();
    tx.send_rows("event_batches", &["id", "received_ms", "seqs"], &rows, "")?;
    for one in accepted {
        forget(tx, now, one.job)?;
    }
    Ok(())
}

/// The state of an accepted envelope's job. The job was done before the envelope was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedEnvelope {
    /// When it was done.
    pub at: Timestamp,
    /// Number and id of each event, in the order in which they were sent.
    pub events: Vec<(i64, String)>,
}

/// Reads the state of a job, with the events of those actors. `None` if its envelope has events, but none of theirs.
pub fn finished_job(
    tx: &mut Tx<'_>,
    job: i64,
    actors: &ActorFilter,
) -> Result<Option<AcceptedEnvelope>> {
    let sql = "SELECT received_ms, seqs FROM event_batches WHERE id = $1";
    let Some((at, seqs)) = tx.row::<(Timestamp, String)>(sql, &[job.into()])? else {
        return Ok(None);
    };
    let seqs = numbers(&seqs);
    let events = of_numbers(tx, &seqs)?;
    let had_events = !events.is_empty();
    let seen = actors.keep(tx, events)?;
    if had_events && seen.is_empty() {
        return Ok(None);
    }
    let ids: BTreeMap<i64, String> =
        seen.into_iter().map(|logged| (logged.seq, logged.event.id)).collect();
    // If an event was sent twice in one envelope, its number occurs twice.
    let events = seqs.iter().filter_map(|seq| Some((*seq, ids.get(seq)?.clone())));
    Ok(Some(AcceptedEnvelope { at, events: events.collect() }))
}

/// Removes old states of jobs, a few at a time and only for some envelopes.
fn forget(tx: &mut Tx<'_>, now: Timestamp, job: i64) -> Result<()> {
    if job % FORGET_EVERY != 0 {
        return Ok(());
    }
    let until = now.plus_seconds(-limits::EVENT_JOB_KEPT_DAYS * 86_400).milliseconds();
    tx.send(
        "DELETE FROM event_batches WHERE received_ms < $1 AND id IN \
         (SELECT id FROM event_batches ORDER BY id LIMIT $2)",
        &[until.into(), (2 * FORGET_EVERY).into()],
    )
}

/// The number of envelopes between two removals.
const FORGET_EVERY: i64 = 64;

/// Numbers as text, in which ranges are shortened: `1-100,7`.
fn runs(seqs: &[i64]) -> String {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for &seq in seqs {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == seq => *last = seq,
            _ => runs.push((seq, seq)),
        }
    }
    let text = |(first, last): (i64, i64)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    runs.into_iter().map(text).collect::<Vec<_>>().join(",")
}

/// Parses the text that [`runs`] wrote.
fn numbers(text: &str) -> Vec<i64> {
    let number = |text: &str| text.parse::<i64>().ok();
    text.split(',')
        .filter_map(|run| match run.split_once('-') {
            Some((first, last)) => Some(number(first)?..=number(last)?),
            None => number(run).map(|seq| seq..=seq),
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_read_as_written() {
        for (seqs, text) in [(&[][..], ""), (&[5], "5"), (&[1, 2, 3, 9, 3, 4], "1-3,9,3-4")] {
            assert_eq!((runs(seqs).as_str(), numbers(text).as_slice()), (text, seqs));
        }
    }
}
