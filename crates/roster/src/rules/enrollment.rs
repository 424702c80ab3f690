//! Rules of enrollments: by class, or by course through its default class (docs/decisions/012).

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;
use serde_json::Value;

use super::{is_missing, reference};
use crate::kinds::CLASS;
use crate::record::{Object, members};
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
    if let Some(class) = id_of(object.get("class"))
        && let Some(stored) = repository::find(tx, &CLASS, &class)?
    {
        let class = members(&stored.body, stored.extra.as_deref())?;
        for name in ["school", "course"] {
            if is_missing(object, name)
                && let Some(id) = id_of(class.get(name))
            {
                object.insert(name.into(), reference(&id));
            }
        }
    }
    Ok(())
}

fn id_of(value: Option<&Value>) -> Option<String> {
    Some(value?.get("sourcedId")?.as_str()?.to_owned())
}
