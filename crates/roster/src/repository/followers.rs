//! Enrollments follow their class to another course or school.

use lyceum_core::Result;
use lyceum_store::Tx;

use super::put::rewrite_all;
use super::references::referring_to;
use crate::kinds::ENROLLMENT;
use crate::record::{ModifiedTime, Record};

/// Writes the active enrollments of a class that has changed. They get its course, and its school unless they named another
/// one. Deleted enrollments follow when they are restored.
pub(super) fn move_enrollments(tx: &mut Tx<'_>, class: &Record, former: &Record) -> Result<()> {
    let moved = |field: &str| {
        let id = class.column(field).filter(|id| former.column(field) != Some(*id))?;
        Some((id.to_owned(), former.column(field).map(str::to_owned)))
    };
    let (course, school) = (moved("course"), moved("school"));
    if course.is_none() && school.is_none() {
        return Ok(());
    }
    let stored = referring_to(tx, &ENROLLMENT, "class", &[&class.sourced_id])?;
    let stamp = ModifiedTime::Now(class.date_last_modified);
    let mut enrollments = Vec::with_capacity(stored.len());
    for before in &stored {
        let enrollment = Record::stored(&ENROLLMENT, &before.body, before.extra.as_deref())?;
        let mut references = Vec::new();
        references.extend(course.as_ref().map(|(course, _)| ("course", course.as_str())));
        let is_at_former =
            |former: &Option<String>| enrollment.column("school") == former.as_deref();
        let school = school.as_ref().filter(|(_, former)| is_at_former(former));
        references.extend(school.map(|(school, _)| ("school", school.as_str())));
        enrollments.push((enrollment.with_references(&references, stamp)?, before));
    }
    let changed = enrollments
        .iter()
        .filter(|(one, before)| !one.same_as(&before.body, before.extra.as_deref()));
    let changed: Vec<_> = changed.map(|(one, before)| (one, *before)).collect();
    rewrite_all(tx, &ENROLLMENT, &changed)
}
