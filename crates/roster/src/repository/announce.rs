//! Announces written records to webhooks.

use std::borrow::Cow;

use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use lyceum_store::outbox::{self, Change};

use crate::record::{Record, Status, members};

/// Announces records that were created (`is_new`) or rewritten. Call it after the statements that write them.
pub(super) fn announce(tx: &mut Tx<'_>, records: &[&Record], is_new: bool) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    let wanted = outbox::wanted(tx)?;
    if wanted.is_empty() {
        return Ok(());
    }
    let mut changes = Vec::new();
    for record in records {
        let action = match (record.status, is_new) {
            (Status::ToBeDeleted, _) => "deleted",
            (Status::Active, true) => "created",
            (Status::Active, false) => "updated",
        };
        let topic = format!("{}.{action}", record.kind.one);
        if wanted.contains(&topic, "") {
            changes.push(Change {
                topic: topic.into(),
                object: &record.sourced_id,
                sensor: "",
                at: record.date_last_modified,
                data: data(record)?,
            });
        }
    }
    outbox::write(tx, &changes)
}

/// The record as the platform dialect shows it, without `href`s.
fn data(record: &Record) -> Result<Cow<'_, str>> {
    match record.extra.as_deref() {
        None => Ok(record.body.replace('\t', "").into()),
        extra => {
            let members = members(&record.body, extra)?;
            serde_json::to_string(&members).map(Cow::from).map_err(Problem::internal)
        }
    }
}
