//! Rules of trees: a record must not be its own ancestor, and the components of a tree belong to one course.

use std::collections::HashSet;

use lyceum_core::{Problem, Result, message};
use lyceum_store::Tx;

use crate::kinds::{COURSE, COURSE_COMPONENT};
use crate::record::{Record, Status};
use crate::repository;

/// Refuses a session that would become its own ancestor.
pub(crate) fn session_place(
    tx: &mut Tx<'_>,
    session: &Record,
    before: Option<&Record>,
) -> Result<()> {
    refuse_cycle(tx, session, before, "parent")
}

/// Refuses a line item that would become its own ancestor.
pub(crate) fn line_item_place(
    tx: &mut Tx<'_>,
    item: &Record,
    before: Option<&Record>,
) -> Result<()> {
    refuse_cycle(tx, item, before, "parentAssessmentLineItem")
}

/// Refuses a component that would become its own ancestor, or whose parent or child belongs to another course.
pub(crate) fn component_place(
    tx: &mut Tx<'_>,
    component: &Record,
    before: Option<&Record>,
) -> Result<()> {
    refuse_two_courses(tx, component, before)?;
    refuse_cycle(tx, component, before, "parent")
}

/// Refuses an org that would become its own ancestor, or a tree with too many levels. Also refuses to change the type of a school while other
/// records name it as their school.
pub(crate) fn org_place(tx: &mut Tx<'_>, org: &Record, before: Option<&Record>) -> Result<()> {
    let is_school = |org: &Record| org.collections().contains(&"schools");
    if !is_school(org)
        && before.is_some_and(is_school)
        && let Some((one, id)) = repository::of_school(tx, &org.sourced_id)?
    {
        let message = message!(
            "must stay 'school' because the {one} '{id}' refers to this org as its school"
        );
        return Err(Problem::invalid("org.type", message));
    }
    refuse_cycle(tx, org, before, "parent")?;
    repository::check_depth(tx, org, before)
}

fn refuse_cycle(
    tx: &mut Tx<'_>,
    record: &Record,
    before: Option<&Record>,
    parent: &str,
) -> Result<()> {
    if before.is_some_and(|before| before.column(parent) == record.column(parent)) {
        return Ok(());
    }
    let mut seen = HashSet::from([record.sourced_id.clone()]);
    let mut next = record.column(parent).map(str::to_owned);
    while let Some(ancestor) = next {
        if !seen.insert(ancestor.clone()) {
            return Err(Problem::invalid(
                format!("{one}.{parent}.sourcedId", one = record.kind.one),
                message!(
                    "must not be '{ancestor}', because that record is below this one; a tree has \
                     no cycles"
                ),
            ));
        }
        let Some(stored) = repository::find(tx, record.kind, &ancestor)? else { break };
        // No record refers to a new record yet. So only records that move can close a cycle.
        if before.is_some() {
            repository::depend_on(tx, record.kind, &ancestor)?;
        }
        next = record.read_former(&stored)?.column(parent).map(str::to_owned);
    }
    Ok(())
}

fn refuse_two_courses(tx: &mut Tx<'_>, component: &Record, before: Option<&Record>) -> Result<()> {
    // All rules apply to a record that is restored.
    let in_use = before.filter(|before| before.status == Status::Active);
    let moves = |field| in_use.is_none_or(|before| before.column(field) != component.column(field));
    let Some(course) = component.column("course") else { return Ok(()) };
    if !moves("course") && !moves("parent") {
        return Ok(());
    }
    repository::depend_on(tx, &COURSE, course)?;
    if let Some(parent) = component.column("parent")
        && let Some(stored) = repository::find(tx, &COURSE_COMPONENT, parent)?
    {
        repository::depend_on(tx, &COURSE_COMPONENT, parent)?;
        let other = component.read_former(&stored)?;
        if let Some(other) = other.column("course").filter(|other| *other != course) {
            return Err(Problem::invalid(
                "courseComponent.parent.sourcedId",
                message!(
                    "must be a component of the course '{course}' ('{parent}' belongs to the \
                     course '{other}')"
                ),
            ));
        }
    }
    if before.is_some()
        && let Some(child) = repository::child_of_another_course(tx, &component.sourced_id, course)?
    {
        return Err(Problem::invalid(
            "courseComponent.course.sourcedId",
            message!(
                "must not change, because the component '{child}' below this one does not belong \
                 to the course '{course}'; set its parent to null first"
            ),
        ));
    }
    Ok(())
}
