//! Trees of records: no record is its own ancestor.

use std::collections::HashSet;

use lyceum_core::{Problem, Result};
use lyceum_store::Tx;

use crate::record::Record;
use crate::repository;

/// Refuses a record that would become its own ancestor by the reference field `parent`.
pub(super) fn refuse_cycle(tx: &mut Tx<'_>, record: &Record, parent: &str) -> Result<()> {
    let column = |columns: &[Option<String>]| {
        let at = record.kind.columns().position(|(field, _)| field.name == parent);
        at.and_then(|at| columns[at].clone())
    };
    let mut seen = HashSet::from([record.sourced_id.clone()]);
    let mut next = column(&record.columns);
    while let Some(ancestor) = next {
        if !seen.insert(ancestor.clone()) {
            return Err(Problem::invalid(
                format!("{}.{parent}.sourcedId", record.kind.one),
                format!("'{ancestor}' has this record above itself; a tree has no cycles"),
            ));
        }
        let Some(stored) = repository::find(tx, record.kind, &ancestor)? else { break };
        next = column(&Record::stored(record.kind, &stored.body, stored.extra.as_deref())?.columns);
    }
    Ok(())
}
