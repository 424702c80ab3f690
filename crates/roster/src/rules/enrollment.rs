//! Rules of enrollments: by class, or by course through its default class. The course is always
//! that of the class.

use std::collections::{BTreeSet, HashMap};

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result, message};
use lyceum_store::Tx;
use serde_json::Value;

use super::{is_missing, reference};
use crate::kinds::CLASS;
use crate::record::{ModifiedTime, Object, Record, Status, members};
use crate::{default_class, repository};

/// Derives `class` from `course` and `school` from the class.
pub(crate) fn derive_class_and_school(
    tx: &mut Tx<'_>,
    object: &mut Object,
    now: Timestamp,
) -> Result<()> {
    if is_missing(object, "class")
        && let Some(course) = id_of(object.get("course"))
    {
        let school = id_of(object.get("school"));
        let class = default_class::find_or_make(tx, now, &course, school.as_deref())?;
        object.insert("class".into(), reference(&class));
    }
    if is_missing(object, "school")
        && let Some(class) = id_of(object.get("class"))
        && let Some(stored) = repository::find(tx, &CLASS, &class)?
    {
        let class = members(&stored.body, stored.extra.as_deref())?;
        if let Some(school) = id_of(class.get("school")) {
            object.insert("school".into(), reference(&school));
        }
    }
    Ok(())
}

/// Derives `course` from the class. Refuses active enrollments that name another course.
pub(crate) fn derive_course(
    tx: &mut Tx<'_>,
    enrollments: &mut [&mut Record],
) -> Result<HashMap<String, Problem>> {
    let classes: BTreeSet<&str> =
        enrollments.iter().filter_map(|one| one.column("class")).collect();
    let courses = repository::courses_of_classes(tx, &classes)?;
    let mut refused = HashMap::new();
    for enrollment in enrollments {
        let Some(class) = enrollment.column("class") else { continue };
        let Some(course) = courses.get(class) else { continue };
        match enrollment.column("course") {
            Some(named) if named == course => {}
            Some(named) if enrollment.status == Status::Active => {
                let message = message!(
                    "must be '{course}', the course of the class '{class}' (got '{named}'); leave it out, or send \
                     another class"
                );
                let problem = Problem::invalid("enrollment.course.sourcedId", message);
                refused.insert(enrollment.sourced_id.clone(), problem);
            }
            _ => {
                let stamp = ModifiedTime::Stored;
                **enrollment = enrollment.with_references(&[("course", course)], stamp)?;
            }
        }
    }
    Ok(refused)
}

/// Removes the course from a changed enrollment, and the school of a former class, unless the change names them.
pub(crate) fn forget_former_class(enrollment: &mut Object, change: &Object) {
    let follows = |name: &str| name == "course" || change.contains_key("class");
    for name in ["course", "school"] {
        if follows(name) && !change.contains_key(name) {
            enrollment.shift_remove(name);
        }
    }
}

fn id_of(value: Option<&Value>) -> Option<String> {
    Some(value?.get("sourcedId")?.as_str()?.to_owned())
}
