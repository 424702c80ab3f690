//! Trees of records: no record is its own ancestor, and the components of a tree belong to one course.

use std::collections::HashSet;

use lyceum_core::{Problem, Result};
use lyceum_store::Tx;

use crate::kinds::{COURSE, COURSE_COMPONENT};
use crate::record::{Record, Status};
use crate::repository::{self, Stored};

/// The column of a single-valued reference.
fn column<'r>(record: &'r Record, field: &str) -> Option<&'r str> {
    let at = record.kind.columns().position(|(known, _)| known.name == field);
    record.columns[at?].as_deref()
}

fn read(record: &Record, stored: &Stored) -> Result<Record> {
    Record::stored(record.kind, &stored.body, stored.extra.as_deref())
}

/// Refuses a record that would become its own ancestor by the reference field `parent`.
pub(super) fn refuse_cycle(
    tx: &mut Tx<'_>,
    record: &Record,
    before: Option<&Record>,
    parent: &str,
) -> Result<()> {
    if before.is_some_and(|before| column(before, parent) == column(record, parent)) {
        return Ok(());
    }
    let mut seen = HashSet::from([record.sourced_id.clone()]);
    let mut next = column(record, parent).map(str::to_owned);
    while let Some(ancestor) = next {
        if !seen.insert(ancestor.clone()) {
            return Err(Problem::invalid(
                format!("{}.{parent}.sourcedId", record.kind.one),
                format!("'{ancestor}' has this record above itself; a tree has no cycles"),
            ));
        }
        let Some(stored) = repository::find(tx, record.kind, &ancestor)? else { break };
        // Nobody refers to a new record yet, so that only what moves can close a cycle with another that moves.
        if before.is_some() {
            repository::depend_on(tx, record.kind, &ancestor)?;
        }
        next = column(&read(record, &stored)?, parent).map(str::to_owned);
    }
    Ok(())
}

/// Refuses a component whose parent, or a child of which, belongs to another course.
pub(super) fn refuse_two_courses(
    tx: &mut Tx<'_>,
    component: &Record,
    before: Option<&Record>,
) -> Result<()> {
    // What was deleted comes back under the rules.
    let in_use = before.filter(|before| before.status == Status::Active);
    let moves =
        |field| in_use.is_none_or(|before| column(before, field) != column(component, field));
    let Some(course) = column(component, "course") else { return Ok(()) };
    if !moves("course") && !moves("parent") {
        return Ok(());
    }
    repository::depend_on(tx, &COURSE, course)?;
    if let Some(parent) = column(component, "parent")
        && let Some(stored) = repository::find(tx, &COURSE_COMPONENT, parent)?
    {
        repository::depend_on(tx, &COURSE_COMPONENT, parent)?;
        let other = read(component, &stored)?;
        if let Some(other) = column(&other, "course").filter(|other| *other != course) {
            return Err(Problem::invalid(
                "courseComponent.parent.sourcedId",
                format!(
                    "'{parent}' belongs to the course '{other}', this component to '{course}'; name a \
                     parent in '{course}'"
                ),
            ));
        }
    }
    if before.is_some()
        && let Some(child) = repository::child_of_another_course(tx, &component.sourced_id, course)?
    {
        return Err(Problem::invalid(
            "courseComponent.course.sourcedId",
            format!(
                "the component '{child}' below this one belongs to another course than '{course}'; set \
                 its parent to null first"
            ),
        ));
    }
    Ok(())
}
