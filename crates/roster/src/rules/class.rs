//! Rules of classes: a class names its school in two ways, and other records follow it.

use std::collections::BTreeSet;

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use super::is_missing;
use crate::kinds::ORG;
use crate::record::{Object, Record};
use crate::repository;

/// Stores the school both as `school`, which clients of the standard read, and as `org`, which clients of the
/// platform read.
#[expect(clippy::unnecessary_wraps, reason = "every rule of a kind has this form")]
pub(crate) fn name_school_twice(_: &mut Tx<'_>, class: &mut Object, _: Timestamp) -> Result<()> {
    for (from, to) in [("org", "school"), ("school", "org")] {
        let known = class.get(from).filter(|known| !known.is_null()).cloned();
        if let Some(known) = known.filter(|_| is_missing(class, to)) {
            class.insert(to.into(), known);
        }
    }
    Ok(())
}

/// Removes the former school from a class whose change names the new one in only one of the two ways.
pub(crate) fn forget_former_school(class: &mut Object, change: &Object) {
    let school = |class: &Object, name: &str| class.get(name)?.get("sourcedId").cloned();
    for (named, other) in [("school", "org"), ("org", "school")] {
        let is_alone = change.contains_key(named) && !change.contains_key(other);
        if is_alone && school(class, named) != school(class, other) {
            class.shift_remove(other);
        }
    }
}

/// Makes the transaction depend on the schools of classes. Enrollments and line items get their school from the
/// class. They need not depend on the school themselves, which would make them wait for each other.
pub(crate) fn depend_on_schools(tx: &mut Tx<'_>, classes: &[&Record]) -> Result<()> {
    // Sorted, so that two imports do not wait for each other in a circle.
    let schools: BTreeSet<&str> = classes.iter().filter_map(|class| school(class)).collect();
    schools.into_iter().try_for_each(|school| repository::depend_on(tx, &ORG, school))
}

fn school(class: &Record) -> Option<&str> {
    let school = class.references.iter().find(|one| one.path == "class.school.sourcedId");
    school.map(|school| school.sourced_id.as_str())
}
