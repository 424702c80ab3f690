//! Rules of references: the target must be of the right type, and active when the reference is made.

use std::collections::{BTreeSet, HashMap};

use lyceum_core::{Detail, Problem, Result, message};
use lyceum_store::Tx;

use crate::default_class;
use crate::kind::{RecordKind, ReferenceTarget};
use crate::kinds::{CLASS, COURSE};
use crate::record::{Record, RecordReference, Status, StoredRecord};
use crate::repository::{self, IdsByKind};

/// The records with references that are not allowed, by sourcedId, with all errors. Runs one statement, and one more
/// for each class or course whose org is not a school.
pub(super) fn refused<'r>(
    tx: &mut Tx<'_>,
    records: &[(&'r Record, Option<&StoredRecord>)],
) -> Result<HashMap<&'r str, Problem>> {
    let mut schools = BTreeSet::new();
    let mut in_use = IdsByKind::new();
    let active = records.iter().filter(|(record, _)| record.status == Status::Active);
    for (record, _) in active.clone() {
        for pointer in &record.references {
            match pointer.target {
                ReferenceTarget::Any => {}
                ReferenceTarget::School => {
                    schools.insert(pointer.sourced_id.as_str());
                }
                ReferenceTarget::InUse => {
                    in_use.entry(pointer.kind.one).or_default().insert(&pointer.sourced_id);
                }
            }
        }
    }
    let unfit = repository::unfit(tx, &schools, &in_use)?;
    let (mut refused, mut known) = (HashMap::new(), NamedRecords::new());
    if unfit.is_empty() {
        return Ok(refused);
    }
    for (record, before) in active {
        let former = former_references(record, *before)?;
        let is_former = |pointer: &RecordReference| {
            let same = |one: &RecordReference| {
                (&one.path, &one.sourced_id) == (&pointer.path, &pointer.sourced_id)
            };
            former.iter().any(same)
        };
        let mut faults = Vec::new();
        for pointer in record.references.iter().filter(|pointer| !is_former(pointer)) {
            faults.extend(fault(tx, &mut known, record, pointer, &unfit)?);
        }
        if !faults.is_empty() {
            refused.insert(record.sourced_id.as_str(), Problem::invalid_all(faults));
        }
    }
    Ok(refused)
}

/// The references of the stored record. Empty if it is deleted, so that all rules apply when it is restored.
fn former_references(
    record: &Record,
    before: Option<&StoredRecord>,
) -> Result<Vec<RecordReference>> {
    let Some(before) = before.filter(|before| before.is_active()) else { return Ok(Vec::new()) };
    Ok(record.read_former(before)?.references)
}

fn fault(
    tx: &mut Tx<'_>,
    known: &mut NamedRecords,
    record: &Record,
    pointer: &RecordReference,
    unfit: &HashMap<(String, String), String>,
) -> Result<Option<Detail>> {
    let of = |what: &str| unfit.get(&(what.to_owned(), pointer.sourced_id.clone()));
    let (one, id) = (pointer.kind.one, &pointer.sourced_id);
    let message = if pointer.target == ReferenceTarget::InUse && of(one).is_some() {
        message!(
            "must not refer to the deleted {one} '{id}'; restore it with PATCH and the status \
             'active', or send another sourcedId"
        )
    } else if pointer.target == ReferenceTarget::School
        && let Some(ty) = of("school").filter(|ty| !ty.starts_with("ext:"))
        && !follows_course(tx, known, record, id)?
    {
        message!("must be a school; the org '{id}' has the type '{ty}'")
    } else {
        return Ok(None);
    };
    Ok(Some(Detail { path: pointer.path.clone(), message }))
}

/// References of stored records by path, read once for all records of a call.
type NamedRecords = HashMap<(&'static str, String), Option<String>>;

fn named_records(
    tx: &mut Tx<'_>,
    known: &mut NamedRecords,
    (kind, id): (&'static RecordKind, &str),
    path: &str,
) -> Result<Option<String>> {
    let key = (kind.one, id.to_owned());
    if let Some(named) = known.get(&key) {
        return Ok(named.clone());
    }
    let found = match repository::find(tx, kind, id)? {
        None => None,
        Some(stored) => {
            let record = Record::stored(kind, &stored.body, stored.extra.as_deref())?;
            record.references.into_iter().find(|one| one.path == path).map(|one| one.sourced_id)
        }
    };
    known.insert(key, found.clone());
    Ok(found)
}

/// Whether the request did not name the school: it is the organization of the course whose default class this is, or
/// the school of such a class.
fn follows_course(
    tx: &mut Tx<'_>,
    known: &mut NamedRecords,
    record: &Record,
    school: &str,
) -> Result<bool> {
    let id = |field: &str| {
        let path = format!("{}.{field}.sourcedId", record.kind.one);
        let pointer = record.references.iter().find(|pointer| pointer.path == path);
        pointer.map(|pointer| pointer.sourced_id.as_str())
    };
    if let ("class", Some(course)) = (record.kind.one, id("course")) {
        let is_default = default_class::year_in(&record.sourced_id, course, school).is_some();
        let owner = named_records(tx, known, (&COURSE, course), "course.org.sourcedId")?;
        return Ok(is_default && owner.as_deref() == Some(school));
    }
    let Some(class) = id("class") else { return Ok(false) };
    let of_class = named_records(tx, known, (&CLASS, class), "class.school.sourcedId")?;
    Ok(of_class.as_deref() == Some(school))
}
