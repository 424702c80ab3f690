//! Resets a student's progress in a course.

use std::collections::{BTreeSet, HashMap};

use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_roster::fields;
use lyceum_roster::kinds::{
    ASSESSMENT_LINE_ITEM, ASSESSMENT_RESULT, CLASS, COMPONENT_RESOURCE, COURSE, COURSE_COMPONENT,
    USER,
};
use lyceum_roster::reach::check_changes;
use lyceum_roster::record::Object;
use lyceum_roster::repository;
use lyceum_roster::results::mark_deleted;
use lyceum_store::Tx;

/// Marks the student's assessment results in the course `tobedeleted`, and returns their number. A result belongs to
/// the course if its assessment line item, or a parent of it, names the course or one of its classes, components or
/// lessons. Results in a class's gradebook stay, because the teacher owns them.
///
/// Errors: `NotFound` for an unknown or deleted user or course; `Forbidden` for the reach of a teacher.
pub fn reset(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    course: &str,
    reach: &Reach,
) -> Result<usize> {
    fields::in_use_within(tx, &USER, user, reach)?;
    check_changes(&USER, user, reach)?;
    fields::in_use_within(tx, &COURSE, course, reach)?;
    let stored = repository::referring_to(tx, &ASSESSMENT_RESULT, "student", &[user])?;
    let mut results = stored.iter().map(fields::of).collect::<Result<Vec<_>>>()?;
    let items = items(tx, &results)?;
    let courses = courses(tx, &items)?;
    results.retain(|result| {
        is_of(course, fields::reference(result, "assessmentLineItem"), &items, &courses)
    });
    mark_deleted(tx, now, results)
}

/// The line items of the results and their parents. It needs one statement for each level.
fn items(tx: &mut Tx<'_>, results: &[Object]) -> Result<HashMap<String, Object>> {
    let name =
        |name: &'static str| move |record: &Object| fields::reference(record, name).to_owned();
    let mut wanted: BTreeSet<String> = results.iter().map(name("assessmentLineItem")).collect();
    let mut items: HashMap<String, Object> = HashMap::new();
    while !wanted.is_empty() {
        let found = fields::of_all(tx, &ASSESSMENT_LINE_ITEM, wanted.iter().map(String::as_str))?;
        wanted = found.values().map(name("parentAssessmentLineItem")).collect();
        items.extend(found);
        wanted.retain(|id| !id.is_empty() && !items.contains_key(id));
    }
    Ok(items)
}

/// The course that each line item names, by the item's id, without its parents. It needs four statements.
fn courses(
    tx: &mut Tx<'_>,
    items: &HashMap<String, Object>,
) -> Result<HashMap<String, BTreeSet<String>>> {
    let named = |name: &'static str| items.values().map(move |item| fields::reference(item, name));
    let classes = fields::of_all(tx, &CLASS, named("class"))?;
    let lessons = fields::of_all(tx, &COMPONENT_RESOURCE, named("componentResource"))?;
    let of_lessons = lessons.values().map(|lesson| fields::reference(lesson, "courseComponent"));
    let components = fields::of_all(tx, &COURSE_COMPONENT, named("component").chain(of_lessons))?;
    let course_in = |records: &HashMap<String, Object>, id: &str| {
        records.get(id).map(|record| fields::reference(record, "course").to_owned())
    };
    let mut courses = HashMap::new();
    for (id, item) in items {
        let lesson = lessons.get(fields::reference(item, "componentResource"));
        let component = lesson.map(|lesson| fields::reference(lesson, "courseComponent"));
        let named = [
            Some(fields::reference(item, "course").to_owned()),
            course_in(&classes, fields::reference(item, "class")),
            course_in(&components, fields::reference(item, "component")),
            component.and_then(|component| course_in(&components, component)),
        ];
        courses.insert(id.clone(), named.into_iter().flatten().collect());
    }
    Ok(courses)
}

fn is_of(
    course: &str,
    item: &str,
    items: &HashMap<String, Object>,
    courses: &HashMap<String, BTreeSet<String>>,
) -> bool {
    let mut next = item;
    // Line items form a tree, because the roster refuses cycles. So this loop ends.
    while let Some(item) = items.get(next) {
        if courses.get(next).is_some_and(|courses| courses.contains(course)) {
            return true;
        }
        next = fields::reference(item, "parentAssessmentLineItem");
    }
    false
}
