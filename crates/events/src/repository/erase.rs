//! Removes what names a person from the event log. Events, their facts and all totals stay; the actor becomes a
//! pseudonym.

use std::collections::BTreeMap;

use lyceum_core::redaction::{Redaction, TextOwner};
use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use lyceum_store::dialect::is_one_of_numbers;
use serde_json::{Value, json};

use super::{blocks, json_list};
use crate::words::words;

/// A person to erase from the log.
#[derive(Clone, Debug)]
pub struct ErasedActor {
    /// The numbers of the person's actors.
    pub numbers: Vec<i64>,
    /// The name that replaces the person's sourcedId.
    pub pseudonym: String,
    /// The person's strings.
    pub redaction: Redaction,
}

impl ErasedActor {
    /// The IRI of one of the actors, which ends in `/users/` and the pseudonym.
    fn iri(&self, number: i64) -> String {
        format!("urn:lyceum:erased:{number}/users/{}", self.pseudonym)
    }
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasedTexts {
    /// The number of texts that were changed.
    pub changed: u64,
    /// The number of texts that were read.
    pub read: u64,
    /// Where to continue; `None` at the end.
    pub next: Option<i64>,
}

/// Renames the person's actors, and answers how many had another name. Facts name actors by number, so they do not change.
pub fn rename_actors(tx: &mut Tx<'_>, erased: &ErasedActor) -> Result<u64> {
    let sql =
        "UPDATE event_actors SET iri = $1, email = '', person = $2 WHERE id = $3 AND iri <> $1";
    let mut renamed = 0;
    for &number in &erased.numbers {
        let iri = erased.iri(number);
        renamed += tx.execute(sql, &[(&iri).into(), (&erased.pseudonym).into(), number.into()])?;
    }
    Ok(renamed)
}

/// Erases the person from the texts that are in rows of the log: the next `most` rows behind `after`.
pub fn erase_rows(
    tx: &mut Tx<'_>,
    erased: &ErasedActor,
    after: i64,
    most: i64,
) -> Result<ErasedTexts> {
    let sql = "SELECT seq, actor, CASE WHEN block IS NULL THEN body ELSE '' END FROM event_log \
               WHERE seq > $1 ORDER BY seq LIMIT $2";
    let rows: Vec<(i64, i64, String)> = tx.rows(sql, &[after.into(), most.into()])?;
    let mut done = ErasedTexts { next: rows.last().map(|row| row.0), ..ErasedTexts::default() };
    for (seq, actor, text) in rows.iter().filter(|row| !row.2.is_empty()) {
        done.read += 1;
        if let Some(text) = erased.text(*actor, text)? {
            move_to_row(tx, *seq, &text)?;
            done.changed += 1;
        }
    }
    Ok(done)
}

/// Erases the person from the next `most` blocks behind `after`. A changed text moves to its row, because the new text
/// may not fit into the block.
pub fn erase_blocks(
    tx: &mut Tx<'_>,
    erased: &ErasedActor,
    after: i64,
    most: i64,
) -> Result<ErasedTexts> {
    let sql = "SELECT id, packed FROM event_blocks WHERE id > $1 ORDER BY id LIMIT $2";
    let packed: Vec<(i64, Vec<u8>)> = tx.rows(sql, &[after.into(), most.into()])?;
    let mut done =
        ErasedTexts { next: packed.last().map(|block| block.0), ..ErasedTexts::default() };
    for (block, packed) in packed {
        let texts = blocks::texts(&packed)?;
        let actors = actors_in(tx, block, &texts)?;
        let mut rest: Vec<(i64, &str)> = Vec::with_capacity(texts.len());
        for (seq, text) in &texts {
            let goes = match actors.get(seq) {
                Some(actor) => match erased.text(*actor, text)? {
                    Some(text) => move_to_row(tx, *seq, &text).map(|()| true)?,
                    None => false,
                },
                // The row was withdrawn because its id was taken.
                None => erased.redaction.names_in_json(text, TextOwner::Person),
            };
            if !goes {
                rest.push((*seq, text));
            }
        }
        done.read += texts.len() as u64;
        done.changed += (texts.len() - rest.len()) as u64;
        if rest.is_empty() {
            tx.send("DELETE FROM event_blocks WHERE id = $1", &[block.into()])?;
        } else if rest.len() < texts.len() {
            let packed = blocks::packed(&rest)?;
            let sql = "UPDATE event_blocks SET packed = $1 WHERE id = $2";
            tx.send(sql, &[packed[..].into(), block.into()])?;
        }
    }
    Ok(done)
}

/// The actors of the events whose rows name the block.
fn actors_in(tx: &mut Tx<'_>, block: i64, texts: &[(i64, String)]) -> Result<BTreeMap<i64, i64>> {
    let sql = format!(
        "SELECT seq, actor FROM event_log WHERE {} AND block = $2",
        is_one_of_numbers(tx.dialect(), "seq", "$1")
    );
    let seqs: Vec<i64> = texts.iter().map(|(seq, _)| *seq).collect();
    let seqs = json_list(&seqs)?;
    Ok(tx.rows::<(i64, i64)>(&sql, &[(&seqs).into(), block.into()])?.into_iter().collect())
}

fn move_to_row(tx: &mut Tx<'_>, seq: i64, text: &str) -> Result<()> {
    let sql = "UPDATE event_log SET body = $1, block = NULL WHERE seq = $2";
    tx.send(sql, &[text.into(), seq.into()])
}

/// Removes entity descriptions and rejected envelopes that contain one of the person's strings. Returns their number.
pub fn erase_beside_log(tx: &mut Tx<'_>, redaction: &Redaction) -> Result<u64> {
    let names = |text: &str| redaction.names_in_json(text, TextOwner::Others);
    let mut gone: Vec<(String, String)> = Vec::new();
    tx.query("SELECT id, client, body FROM event_entities", &[], |row| {
        if names(row.text(0)?) || names(row.text(2)?) {
            gone.push((row.string(0)?, row.string(1)?));
        }
        Ok(true)
    })?;
    for (id, client) in &gone {
        let sql = "DELETE FROM event_entities WHERE id = $1 AND client = $2";
        tx.send(sql, &[id.into(), client.into()])?;
    }
    let mut rejected: Vec<i64> = Vec::new();
    tx.query("SELECT id, message, faults, body FROM event_refusals", &[], |row| {
        if names(row.text(1)?) || names(row.text(2)?) || names(row.text(3)?) {
            rejected.push(row.int(0)?);
        }
        Ok(true)
    })?;
    for id in &rejected {
        tx.send("DELETE FROM event_refusals WHERE id = $1", &[(*id).into()])?;
    }
    Ok((gone.len() + rejected.len()) as u64)
}

impl ErasedActor {
    /// The text of an event without the person; `None` if it does not name the person.
    fn text(&self, actor: i64, text: &str) -> Result<Option<String>> {
        let is_own = self.numbers.contains(&actor);
        let is_named = is_own || self.redaction.names_in_json(text, TextOwner::Others);
        if !is_named {
            return Ok(None);
        }
        let mut event: Value = serde_json::from_str(text).map_err(Problem::internal)?;
        if is_own {
            event = self.own_event(actor, event);
        } else {
            self.redaction.redact_json(&mut event, TextOwner::Others);
        }
        let erased = event.to_string();
        Ok((erased != text).then_some(erased))
    }

    /// An event of the person with only what says nothing about who it was: numbers, types, times, ids, and the names
    /// of course, activity and app. All other texts may name the person in any way.
    fn own_event(&self, actor: i64, event: Value) -> Value {
        let kind = event["actor"].get("type").cloned().unwrap_or_else(|| "Person".into());
        let mut event = self.impersonal("", "", event).unwrap_or_default();
        event["actor"] = json!({ "id": self.iri(actor), "type": kind });
        event
    }

    /// The impersonal part of a member of the object `owner`; `None` if the whole member goes.
    fn impersonal(&self, owner: &str, name: &str, value: Value) -> Option<Value> {
        match value {
            Value::String(text) => {
                let is_kept = name == "@context"
                    || PUBLIC_TEXTS.contains(&name)
                    || NAMED_THINGS.contains(&name)
                    || name == "name" && NAMED_THINGS.contains(&owner)
                    // Metrics may be sent as text.
                    || name == "value" && text.parse::<f64>().is_ok();
                let redacted = self.redaction.redacted(&text, TextOwner::Person);
                is_kept.then(|| Value::String(redacted.unwrap_or(text)))
            }
            Value::Array(list) => {
                let list = list.into_iter();
                Some(list.filter_map(|one| self.impersonal(owner, name, one)).collect())
            }
            Value::Object(members) => {
                let names = |member: &str| self.redaction.names_in(member, TextOwner::Person);
                let kept = members.into_iter().filter(|(member, _)| !names(member));
                let kept = kept.filter_map(|(member, value)| {
                    let value = self.impersonal(name, &member, value)?;
                    Some((member, value))
                });
                Some(kept.collect())
            }
            value => Some(value),
        }
    }
}

/// Members whose texts come from vocabularies, or are ids and times.
const PUBLIC_TEXTS: &[&str] = words![
    id type action profile eventTime startDate endDate start_date end_date startedAtTime endedAtTime
    object subject courseId
];

/// Members with things whose names say nothing about a person.
const NAMED_THINGS: &[&str] = words![course activity app edApp];
