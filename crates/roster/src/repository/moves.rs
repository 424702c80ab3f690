//! Records that move, and those that move with them: they enter or leave the reach of limited callers without a change of
//! their own. They get the stamp of the move, and what an organization loses is noted, so that consumers learn of both.

use std::collections::BTreeSet;

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use crate::kind::{Field, FieldType, OrganizationPath, RecordKind};
use crate::kinds::{self, CLASS, COURSE, ORG, USER};
use crate::record::{Record, StoredRecord};

/// Stamps what belongs to the record if it belongs to other organizations than before. Call it after the record is
/// written, with its links and its place.
pub(super) fn follow(tx: &mut Tx<'_>, record: &Record, before: &Record) -> Result<()> {
    let (is, was) = (places(record), places(before));
    if is != was {
        let lost: Vec<&String> = was.difference(&is).collect();
        note_move(tx, record.kind, &record.sourced_id, &lost, record.date_last_modified)?;
    }
    if *record.kind == CLASS && course_at(record) != course_at(before) {
        share_course(tx, record)?;
        if let Some((course, school)) = course_at(before)
            && is_foreign(tx, &record.sourced_id, (course, school))?
        {
            let lost = school.to_owned();
            note_move(tx, &COURSE, course, &[&lost], record.date_last_modified)?;
        }
    }
    Ok(())
}

/// Stamps the course of a new class if the class lets its school see a course that is owned elsewhere.
pub(super) fn share_course(tx: &mut Tx<'_>, class: &Record) -> Result<()> {
    let place = if *class.kind == CLASS { course_at(class) } else { None };
    match place {
        Some(place) if is_foreign(tx, &class.sourced_id, place)? => {
            note_move(tx, &COURSE, place.0, &[], class.date_last_modified)
        }
        _ => Ok(()),
    }
}

/// Notes that a record vanishes or gets another id.
pub(super) fn note_gone(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    stored: &StoredRecord,
    now: Timestamp,
) -> Result<()> {
    let record = Record::stored(kind, &stored.body, stored.extra.as_deref())?;
    let (id, places) = ((kind.one, record.sourced_id.as_str()), places(&record));
    if places.is_empty() {
        return tx.note_removed(id, None, now);
    }
    places.iter().try_for_each(|place| tx.note_removed(id, Some(place), now))
}

/// The organizations to which a record belongs by its own fields.
fn places(record: &Record) -> BTreeSet<String> {
    let column = |field: &str| record.column(field).map(str::to_owned).into_iter().collect();
    match record.kind.organization {
        OrganizationPath::Itself => column("parent"),
        OrganizationPath::School => column("school"),
        OrganizationPath::Course => column("org"),
        OrganizationPath::Roles => {
            let roles = record.links.iter().filter(|link| link.field == "user.roles.org");
            roles.map(|link| link.value.clone()).collect()
        }
        _ => BTreeSet::new(),
    }
}

fn course_at(class: &Record) -> Option<(&str, &str)> {
    class.column("course").zip(class.column("school"))
}

/// Whether no other class than this lets the school see the course, which belongs to another part of the network.
fn is_foreign(tx: &mut Tx<'_>, class: &str, (course, school): (&str, &str)) -> Result<bool> {
    let sql = "SELECT 1 FROM courses c WHERE c.sourced_id = $1 AND c.org_id IS NOT NULL \
               AND NOT EXISTS (SELECT 1 FROM roster_org_below b WHERE b.root = c.org_id AND b.org = $2) \
               AND NOT EXISTS (SELECT 1 FROM classes k WHERE k.course_id = $1 AND k.school_id = $2 \
               AND k.sourced_id <> $3)";
    let found = tx.query_one(sql, &[course.into(), school.into(), class.into()], |_| Ok(()))?;
    Ok(found.is_some())
}

/// Stamps the record that moved and all that belongs to it, and notes that the organizations lost them.
fn note_move(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    id: &str,
    lost: &[&String],
    now: Timestamp,
) -> Result<()> {
    let own = match *kind == ORG {
        true => {
            "t.sourced_id IN (SELECT b.org FROM roster_org_below b WHERE b.root = $id)".to_owned()
        }
        false => "t.sourced_id = $id".to_owned(),
    };
    let mut moved = vec![(kind, own)];
    let mut at = 0;
    while let Some((kind, condition)) = moved.get(at).cloned() {
        let ids = format!("(SELECT t.sourced_id FROM {} t WHERE {condition})", kind.table);
        moved.extend(belonging(kind, &ids));
        at += 1;
    }
    for (kind, condition) in moved {
        let stamp = tx.stamp_rows(kind.table, now)?;
        let text = stamp.to_string();
        let sql = format!(
            "UPDATE {} AS t SET version = version + 1, date_last_modified = $1, \
             body = replace(body, '\"dateLastModified\":\"' || date_last_modified, '\"dateLastModified\":\"' || $1) \
             WHERE {} AND date_last_modified <> $1",
            kind.table,
            condition.replace("$id", "$2")
        );
        tx.send(&sql, &[text.as_str().into(), id.into()])?;
        for org in lost {
            let sql = format!(
                "INSERT INTO removed_records (kind, id, stamp, org) \
                 SELECT '{}', t.sourced_id, CAST($1 AS BIGINT), CAST($2 AS TEXT) FROM {} t WHERE {}",
                kind.one,
                kind.table,
                condition.replace("$id", "$3")
            );
            let values = [stamp.milliseconds().into(), org.as_str().into(), id.into()];
            tx.send(&sql, &values)?;
        }
    }
    Ok(())
}

/// The kinds whose records belong where the records of the kind with these ids do, each with the condition that finds
/// them as `t`.
fn belonging(kind: &'static RecordKind, ids: &str) -> Vec<(&'static RecordKind, String)> {
    let within = |other: &'static RecordKind| match other.organization {
        OrganizationPath::Through(field) | OrganizationPath::ThroughIfAny(field) => {
            let field = other.field(field)?;
            let is_it = matches!(field.ty, FieldType::Reference(to) if to == kind.one);
            is_it
                .then(|| Field::column_name(field))
                .flatten()
                .map(|column| format!("t.{column} IN {ids}"))
        }
        OrganizationPath::UserOfSameId if *kind == USER => Some(format!("t.sourced_id IN {ids}")),
        OrganizationPath::School if *kind == ORG => Some(format!("t.school_id IN {ids}")),
        OrganizationPath::Course if *kind == ORG => Some(format!("t.org_id IN {ids}")),
        OrganizationPath::Roles if *kind == ORG => Some(format!(
            "t.seq IN (SELECT l.owner FROM roster_link l \
             WHERE l.field = 'user.roles.org' AND l.value IN {ids})"
        )),
        _ => None,
    };
    kinds::ALL.iter().filter_map(|other| Some((*other, within(other)?))).collect()
}
