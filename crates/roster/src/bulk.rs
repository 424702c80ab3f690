//! Creates or replaces many records in one request.

use std::collections::{HashMap, HashSet};

use lyceum_core::{Detail, Message, Problem, Reach, Result, messages};
use lyceum_store::Tx;
use serde_json::Value;

use crate::collections::Collection;
use crate::record::{Record, RecordReference};
use crate::write::{self, WriteRules};
use crate::{reach, repository, rules};

/// The most records that are written together, with a few SQL statements for all of them.
const BATCH_RECORDS: usize = 500;

/// Polls for changed records do not wait for a request with more records.
const LONG_WRITE_RECORDS: usize = 1000;

/// The outcome of one record.
#[derive(Debug)]
pub struct LineOutcome {
    /// The number of its line, from 1.
    pub line: u64,
    /// Its id, if it has one.
    pub sourced_id: Option<String>,
    /// The write, or the reason why the record was rejected.
    pub result: Result<repository::WriteOutcome>,
    /// A notice for the caller although the record was written, as of [`write::notices`].
    pub notice: Option<Detail>,
}

impl repository::WriteOutcome {
    /// The word for this outcome in responses and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
        }
    }
}

/// Creates or replaces the records of the lines, batch by batch. An `Err` in a line says why it
/// is not a record.
///
/// Errors: with `atomic`, `Invalid` with every error and its line, and nothing is written;
/// without it, the outcomes contain the rejected lines and the other lines are written.
pub fn load(
    tx: &mut Tx<'_>,
    collection: Collection,
    lines: &[(u64, Result<Value, Message>)],
    atomic: bool,
    rules: &WriteRules,
) -> Result<Vec<LineOutcome>> {
    if lines.len() > LONG_WRITE_RECORDS {
        tx.stamp_at_end();
    }
    let mut outcomes = Vec::with_capacity(lines.len());
    let mut batch = LineBatch::default();
    for (line, value) in lines {
        let record = read(tx, collection, value, rules);
        if record.as_ref().is_ok_and(|record| !batch.takes(record)) {
            outcomes.extend(std::mem::take(&mut batch).write(tx, collection, &rules.reach)?);
        }
        batch.add(*line, value, record);
    }
    outcomes.extend(batch.write(tx, collection, &rules.reach)?);
    if atomic { all_or_nothing(outcomes) } else { Ok(outcomes) }
}

fn read(
    tx: &mut Tx<'_>,
    collection: Collection,
    value: &Result<Value, Message>,
    rules: &WriteRules,
) -> Result<Record> {
    let message = match value {
        Ok(Value::Object(object)) => {
            return write::prepared(tx, collection, object.clone(), rules);
        }
        Ok(_) => messages::MUST_BE_OBJECT.into(),
        Err(message) => message.clone(),
    };
    Err(Problem::invalid(collection.kind.one, message))
}

/// Lines that are written together, because none of their records depends on another one.
#[derive(Default)]
struct LineBatch {
    /// Each line with its id, if it has one.
    lines: Vec<(u64, Option<String>)>,
    /// The record of each line, or why it was rejected.
    records: Vec<Result<Record>>,
    ids: HashSet<String>,
}

impl LineBatch {
    fn takes(&self, record: &Record) -> bool {
        let is_in =
            |one: &RecordReference| one.kind == record.kind && self.ids.contains(&one.sourced_id);
        // A cycle can be found only after the parent is stored, so records of a tree are written one by one.
        let stands_alone = rules::are_ordered(record.kind);
        self.ids.len() < if stands_alone { 1 } else { BATCH_RECORDS }
            && !self.ids.contains(&record.sourced_id)
            && !record.references.iter().any(is_in)
    }

    fn add(&mut self, line: u64, value: &Result<Value, Message>, record: Result<Record>) {
        let id = match &record {
            Ok(record) => Some(record.sourced_id.clone()),
            Err(_) => value.as_ref().ok().and_then(id_of),
        };
        self.ids.extend(record.as_ref().ok().map(|record| record.sourced_id.clone()));
        self.lines.push((line, id));
        self.records.push(record);
    }

    fn write(
        mut self,
        tx: &mut Tx<'_>,
        collection: Collection,
        reach: &Reach,
    ) -> Result<Vec<LineOutcome>> {
        let kind = collection.kind;
        let ids: Vec<&str> = self.ids.iter().map(String::as_str).collect();
        let stored = repository::present(tx, kind, &ids)?;
        let is_new = |record: &&Record| {
            let stored = stored.get(&record.sourced_id);
            stored.is_none_or(|stored| !record.same_as(&stored.body, stored.extra.as_deref()))
        };
        let written = self.records.iter().flatten().filter(is_new);
        let mut refused: HashMap<String, Problem> = repository::check_all(tx, written)?
            .into_iter()
            .map(|(id, problem)| (id.to_owned(), problem))
            .collect();
        let all: Vec<_> = self.records.iter().flatten().collect();
        let all: Vec<_> = all.iter().map(|one| (*one, stored.get(&one.sourced_id))).collect();
        let outside = reach::refused(tx, kind, &all, reach)?.into_iter();
        refused.extend(outside.map(|(id, problem)| (id.to_owned(), problem)));
        let sound = self.records.iter().flatten();
        let sound = sound.filter(|record| !refused.contains_key(&record.sourced_id));
        let sound: Vec<_> = sound.map(|one| (one, stored.get(&one.sourced_id))).collect();
        let broken = rules::refused(tx, &sound)?.into_iter();
        let broken: Vec<_> = broken.map(|(id, problem)| (id.to_owned(), problem)).collect();
        refused.extend(broken);
        let mut good = Vec::with_capacity(self.records.len());
        let mut results = Vec::with_capacity(self.records.len());
        for record in self.records.drain(..) {
            let sound = record.and_then(|record| match refused.remove(&record.sourced_id) {
                Some(problem) => Err(problem),
                None => Ok(record),
            });
            results.push(sound.map(|record| good.push(record)));
        }
        let outcomes = repository::put_among(tx, kind, &good, &stored)?.into_iter();
        let mut outcomes = outcomes.zip(write::notices(tx, kind, &good)?);
        let outcome = |((line, sourced_id), result): (_, Result<()>)| {
            let result = result.map(|()| outcomes.next().expect("each good record has an outcome"));
            let (result, notice) = match result {
                Ok((outcome, notice)) => (Ok(outcome), notice),
                Err(problem) => (Err(problem), None),
            };
            LineOutcome { line, sourced_id, result, notice }
        };
        Ok(self.lines.into_iter().zip(results).map(outcome).collect())
    }
}

fn id_of(record: &Value) -> Option<String> {
    Some(record.get("sourcedId")?.as_str()?.to_owned())
}

fn all_or_nothing(outcomes: Vec<LineOutcome>) -> Result<Vec<LineOutcome>> {
    let mut faults = Vec::new();
    for outcome in &outcomes {
        let Err(problem) = &outcome.result else { continue };
        let path = |path: &str| format!("line {}: {path}", outcome.line);
        if problem.details.is_empty() {
            faults.push(Detail { path: path(""), message: problem.message.clone() });
        }
        faults.extend(
            problem
                .details
                .iter()
                .map(|detail| Detail { path: path(&detail.path), message: detail.message.clone() }),
        );
    }
    if faults.is_empty() { Ok(outcomes) } else { Err(Problem::invalid_all(faults)) }
}
