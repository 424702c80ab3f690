//! Many records in one request.

use lyceum_core::{Detail, Problem, Result};
use lyceum_store::Tx;
use serde_json::Value;

use crate::collections::Collection;
use crate::record::Object;
use crate::repository;
use crate::write::{self, Rules};

/// What became of one record.
#[derive(Debug)]
pub struct Outcome {
    /// The number of its line, from 1.
    pub line: u64,
    /// Its id, where it has one.
    pub sourced_id: Option<String>,
    /// What was done, or why not.
    pub result: Result<repository::Outcome>,
}

impl repository::Outcome {
    /// The word of results and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
        }
    }
}

/// Creates or replaces the records of the lines. Each `Err` of a line says why it is no record.
///
/// Errors: with `atomic`, `Invalid` with every fault and its line, and nothing is written;
/// without it, the refused lines are in the outcomes and the others are written.
pub fn load(
    tx: &mut Tx<'_>,
    collection: Collection,
    lines: &[(u64, Result<Value, String>)],
    atomic: bool,
    rules: &Rules,
) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::with_capacity(lines.len());
    for (line, record) in lines {
        let object = match record {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err("must be an object".to_owned()),
            Err(message) => Err(message.clone()),
        };
        let result = object
            .map_err(|message| Problem::invalid(collection.kind.one, message))
            .and_then(|object| put(tx, collection, object, rules));
        let sourced_id = match &result {
            Ok((id, _)) => Some(id.clone()),
            Err(_) => record.as_ref().ok().and_then(id_of),
        };
        let result = result.map(|(_, outcome)| outcome);
        outcomes.push(Outcome { line: *line, sourced_id, result });
    }
    if atomic { all_or_nothing(outcomes) } else { Ok(outcomes) }
}

fn id_of(record: &Value) -> Option<String> {
    Some(record.get("sourcedId")?.as_str()?.to_owned())
}

fn put(
    tx: &mut Tx<'_>,
    collection: Collection,
    object: &Object,
    rules: &Rules,
) -> Result<(String, repository::Outcome)> {
    let record = write::prepared(tx, collection, object.clone(), rules)?;
    let put = repository::upsert(tx, &record, None)?;
    Ok((record.sourced_id, put.outcome))
}

fn all_or_nothing(outcomes: Vec<Outcome>) -> Result<Vec<Outcome>> {
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
