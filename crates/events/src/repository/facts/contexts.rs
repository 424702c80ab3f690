//! The subjects of facts: course, subject and app.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lyceum_core::Result;
use lyceum_store::dialect::is_one_of_numbers;
use lyceum_store::{Tx, Value, columns};

use super::json_list;
use crate::facts::{FactContext, Facts};

/// The contexts of facts that are written together. They are written before the sums are locked: a transaction
/// that stores the same context waits for this one, and may wait for the lock itself.
#[derive(Default)]
pub(crate) struct ContextRows(BTreeMap<i64, FactContext>);

impl ContextRows {
    /// Adds the context of an event's facts.
    pub(crate) fn add(&mut self, facts: &Facts) {
        if let Some((number, context)) = &facts.context {
            self.0.entry(*number).or_insert_with(|| context.clone());
        }
    }

    /// Writes the contexts that are not stored yet.
    pub(crate) fn write(&self, tx: &mut Tx<'_>) -> Result<()> {
        let contexts: Vec<Value<'_>> = self
            .0
            .iter()
            .flat_map(|(number, FactContext { course, subject, app })| {
                [(*number).into(), course.into(), subject.into(), app.into()]
            })
            .collect();
        let columns = ["id", "course", "subject", "app"];
        tx.send_rows("event_contexts", &columns, &contexts, "ON CONFLICT DO NOTHING")
    }
}

columns!(FactContext { course: "course", subject: "subject", app: "app" });

/// The contexts of the numbers.
pub(super) fn contexts(
    tx: &mut Tx<'_>,
    numbers: BTreeSet<i64>,
) -> Result<HashMap<i64, FactContext>> {
    let sql = format!(
        "SELECT id, {} FROM event_contexts WHERE {}",
        FactContext::COLUMNS,
        is_one_of_numbers(tx.dialect(), "id", "$1")
    );
    let numbers = json_list(&Vec::from_iter(numbers))?;
    Ok(tx.rows::<(i64, FactContext)>(&sql, &[(&numbers).into()])?.into_iter().collect())
}
