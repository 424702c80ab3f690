//! Deletes records: marked first, removed for good by a purge.

use lyceum_core::time::Timestamp;
use lyceum_core::{Dialect, Problem, ProblemKind, Result, limits};
use lyceum_store::Tx;

use super::credentials;
use super::put::update;
use super::read::find;
use crate::kind::{Kind, Type};
use crate::kinds::{self, USER};
use crate::record::{Record, Stamp, members};

/// Marks a record `tobedeleted`, with `cascade` also the active records that refer to it, and
/// those that refer to them. Answers how many were marked.
///
/// Errors: `NotFound`; `Conflict` for a cascade above its limit.
pub fn delete(
    tx: &mut Tx<'_>,
    kind: &'static Kind,
    sourced_id: &str,
    now: Timestamp,
    cascade: bool,
) -> Result<u64> {
    if find(tx, kind, sourced_id)?.is_none() {
        return Err(Problem::not_found(kind.one, sourced_id));
    }
    let mut waiting = vec![(kind, sourced_id.to_owned())];
    let mut marked = 0;
    while let Some((kind, id)) = waiting.pop() {
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
                format!(
                    "more than {} records refer to '{sourced_id}', directly or through others; \
                     delete parts of them first",
                    limits::CASCADE_MAX_RECORDS
                ),
            ));
        }
    }
    Ok(marked)
}

/// Marks one record; false if it is marked already.
fn mark(tx: &mut Tx<'_>, kind: &'static Kind, sourced_id: &str, now: Timestamp) -> Result<bool> {
    let Some(stored) = find(tx, kind, sourced_id)? else { return Ok(false) };
    let mut object = members(&stored.body, stored.extra.as_deref())?;
    if object.get("status").is_some_and(|status| status == "tobedeleted") {
        return Ok(false);
    }
    object.insert("status".into(), "tobedeleted".into());
    let record = Record::parse(kind, &object, Dialect::Platform, Stamp::Now(now))?;
    update(tx, &record, stored, None)?;
    Ok(true)
}

/// The active records that refer to the record.
fn referrers(
    tx: &mut Tx<'_>,
    target: &Kind,
    sourced_id: &str,
) -> Result<Vec<(&'static Kind, String)>> {
    let mut found = Vec::new();
    for kind in kinds::ALL {
        for sql in referring(kind, target) {
            tx.query(&sql, &[sourced_id.into()], |row| {
                found.push((*kind, row.text(0)?.to_owned()));
                Ok(true)
            })?;
        }
    }
    Ok(found)
}

/// The statements that find records of `kind` which refer to a record of `target`, one a field;
/// each is an indexed look-up.
fn referring(kind: &'static Kind, target: &Kind) -> Vec<String> {
    let by_column = kind.columns().filter_map(|(field, column)| match field.ty {
        Type::Reference(to) if to == target.one => Some(format!(
            "SELECT sourced_id FROM {} WHERE {column} = $1 AND status = 'active'",
            kind.table
        )),
        _ => None,
    });
    let by_link = link_fields(kind, target).into_iter().map(|link| {
        format!(
            "SELECT t.sourced_id FROM roster_link l JOIN {} t ON t.seq = l.owner \
             WHERE l.field = '{link}' AND l.value = $1 AND t.status = 'active'",
            kind.table
        )
    });
    by_column.chain(by_link).collect()
}

fn link_fields(kind: &'static Kind, target: &Kind) -> Vec<String> {
    let points = |ty: Type| match ty {
        Type::References(to) | Type::Reference(to) => to == target.one,
        _ => false,
    };
    let mut links = Vec::new();
    for field in kind.fields {
        match field.ty {
            Type::References(_) if points(field.ty) => {
                links.push(format!("{}.{}", kind.one, field.name));
            }
            Type::Objects(members) => links.extend(
                members
                    .iter()
                    .filter(|member| points(member.ty))
                    .map(|member| format!("{}.{}.{}", kind.one, field.name, member.name)),
            ),
            _ => {}
        }
    }
    links
}

/// What a purge did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Records removed for good.
    pub removed: u64,
    /// Records kept, because active ones still refer to them.
    pub kept: u64,
}

/// Removes the records of the kind that were marked before the instant, at most `most` of them,
/// beginning behind `after`. Records to which active ones refer stay, so that nothing dangles.
/// Answers what it did, and where to go on.
pub fn purge(
    tx: &mut Tx<'_>,
    kind: &'static Kind,
    before: Timestamp,
    after: i64,
    most: i64,
) -> Result<(Purged, Option<i64>)> {
    let sql = format!(
        "SELECT seq, sourced_id, body, extra FROM {} WHERE status = 'tobedeleted' \
         AND date_last_modified < $1 AND seq > $2 ORDER BY seq LIMIT $3",
        kind.table
    );
    let before = before.to_string();
    let mut marked = Vec::new();
    tx.query(&sql, &[(&before).into(), after.into(), most.into()], |row| {
        let extra = row.opt_text(3)?.map(str::to_owned);
        marked.push((row.int(0)?, row.text(1)?.to_owned(), row.text(2)?.to_owned(), extra));
        Ok(true)
    })?;
    let mut purged = Purged::default();
    for (seq, sourced_id, body, extra) in &marked {
        if !referrers(tx, kind, sourced_id)?.is_empty() {
            purged.kept += 1;
            continue;
        }
        for link in &Record::stored(kind, body, extra.as_deref())?.links {
            tx.send(
                "DELETE FROM roster_link WHERE field = $1 AND value = $2 AND owner = $3",
                &[(&link.field).into(), (&link.value).into(), (*seq).into()],
            )?;
        }
        tx.send(&format!("DELETE FROM {} WHERE seq = $1", kind.table), &[(*seq).into()])?;
        if *kind == USER {
            credentials::forget(tx, sourced_id)?;
        }
        purged.removed += 1;
    }
    Ok((purged, marked.last().map(|(seq, ..)| *seq)))
}
