//! Deletes records: marks them, until a purge removes them for good.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_store::Tx;

use super::put::update;
use super::reach::{RecordUse, ids_within};
use super::read::find;
use super::referrers::referring;
use crate::kind::RecordKind;
use crate::kinds;
use crate::limits;
use crate::record::{Record, members};

/// Marks a record `tobedeleted`, with `cascade` also the active records that refer to it, and
/// those that refer to them. Answers how many were marked.
///
/// Errors: `NotFound`; `Conflict` for a cascade above its limit; `Forbidden` for a record outside of the reach.
pub fn delete(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    sourced_id: &str,
    now: Timestamp,
    cascade: bool,
    reach: &Reach,
) -> Result<u64> {
    if find(tx, kind, sourced_id)?.is_none() {
        return Err(Problem::not_found(kind.one, sourced_id));
    }
    let mut waiting = vec![(kind, sourced_id.to_owned())];
    let mut marked = 0;
    while let Some((kind, id)) = waiting.pop() {
        check_cascade(tx, (kind, &id), reach)?;
        if !mark(tx, kind, &id, now)? {
            continue;
        }
        marked += 1;
        if cascade {
            waiting.extend(referrers(tx, kind, &id)?);
        }
        if marked + waiting.len() as u64 > limits::CASCADE_MAX_RECORDS {
            return Err(Problem::new(
                ProblemKind::Conflict,
                message!(
                    "more than {most} records refer to '{sourced_id}', directly or through others; \
                     delete some of them first",
                    most = limits::CASCADE_MAX_RECORDS
                ),
            ));
        }
    }
    Ok(marked)
}

/// Refuses to mark a record outside of the reach, without naming it. Errors: `Forbidden`.
fn check_cascade(
    tx: &mut Tx<'_>,
    (kind, id): (&'static RecordKind, &str),
    reach: &Reach,
) -> Result<()> {
    if !reach.is_limited() || !ids_within(tx, kind, &[id], reach, RecordUse::Change)?.is_empty() {
        return Ok(());
    }
    let message = message!(
        "this would delete a record that does not belong only to {reach}, to which your access is limited; ask for a \
         client without this limit"
    );
    Err(Problem::new(ProblemKind::Forbidden, message))
}

/// Marks one record; false if it is marked already.
fn mark(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    sourced_id: &str,
    now: Timestamp,
) -> Result<bool> {
    let Some(stored) = find(tx, kind, sourced_id)? else { return Ok(false) };
    let mut object = members(&stored.body, stored.extra.as_deref())?;
    if object.get("status").is_some_and(|status| status == "tobedeleted") {
        return Ok(false);
    }
    object.insert("status".into(), "tobedeleted".into());
    let record = Record::from_server(kind, &object, now)?;
    update(tx, &record, stored, None)?;
    Ok(true)
}

/// The active records that refer to the record.
fn referrers(
    tx: &mut Tx<'_>,
    target: &RecordKind,
    sourced_id: &str,
) -> Result<Vec<(&'static RecordKind, String)>> {
    let mut found = Vec::new();
    for kind in kinds::ALL {
        for from in referring(kind, target) {
            let sql = format!("SELECT t.sourced_id {from} AND t.status = 'active'");
            tx.query(&sql, &[sourced_id.into()], |row| {
                found.push((*kind, row.text(0)?.to_owned()));
                Ok(true)
            })?;
        }
    }
    Ok(found)
}
