//! Courses: all of them.

use std::collections::HashMap;

use lyceum_core::text::{distinct, folded};
use lyceum_core::{Reach, Result};
use lyceum_store::Tx;

use crate::fields;
use crate::kinds::{COURSE, ORG};
use crate::record::{Object, members};
use crate::repository::{self, RecordUse};

/// A course.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedCourse {
    /// The sourcedId.
    pub id: String,
    /// Its name.
    pub title: String,
    /// Its short code.
    pub code: String,
    /// Its subjects.
    pub subjects: Vec<String>,
    /// Its grades.
    pub grades: Vec<String>,
    /// The name of its organization.
    pub org: String,
    /// The number of its active classes.
    pub class_count: i64,
}

/// The data of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CourseList {
    /// The subjects of all courses.
    pub subjects: Vec<String>,
    /// The active courses, by title: all, or those of a subject.
    pub courses: Vec<ListedCourse>,
}

/// Reads the list of the courses within the reach, of one subject or, if it is empty, of all.
pub fn read(tx: &mut Tx<'_>, subject: &str, reach: &Reach) -> Result<CourseList> {
    let mut records = Vec::new();
    repository::each(tx, &COURSE, |body, extra| {
        let record = members(body, extra)?;
        if fields::text(&record, "status") == "active" {
            records.push(record);
        }
        Ok(())
    })?;
    if reach.is_limited() {
        let ids: Vec<&str> =
            records.iter().map(|record| fields::text(record, "sourcedId")).collect();
        let within = repository::ids_within(tx, &COURSE, &ids, reach, RecordUse::See)?;
        records.retain(|record| within.contains(fields::text(record, "sourcedId")));
    }
    let orgs = fields::of_all_within(tx, &ORG, records.iter().map(org_of), reach)?;
    let class_counts = repository::class_counts(tx, reach)?;
    let mut courses: Vec<ListedCourse> =
        records.iter().map(|record| course(record, &orgs, &class_counts)).collect();
    courses.sort_by_cached_key(|course| folded(&course.title));
    let subjects = distinct(courses.iter().flat_map(|course| &course.subjects));
    courses.retain(|course| subject.is_empty() || course.subjects.iter().any(|one| one == subject));
    Ok(CourseList { subjects, courses })
}

/// A course. Errors: `NotFound`.
pub fn one(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<ListedCourse> {
    let record = fields::in_use_within(tx, &COURSE, id, reach)?;
    let orgs = fields::of_all_within(tx, &ORG, std::iter::once(org_of(&record)), reach)?;
    let class_counts = repository::class_counts(tx, reach)?;
    Ok(course(&record, &orgs, &class_counts))
}

fn org_of(record: &Object) -> &str {
    fields::reference(record, "org")
}

fn course(
    record: &Object,
    orgs: &HashMap<String, Object>,
    class_counts: &HashMap<String, i64>,
) -> ListedCourse {
    let text = |name: &str| fields::text(record, name).to_owned();
    let org = orgs.get(org_of(record));
    let id = text("sourcedId");
    ListedCourse {
        title: text("title"),
        code: text("courseCode"),
        subjects: fields::texts(record, "subjects"),
        grades: fields::texts(record, "grades"),
        org: org.map(|org| fields::text(org, "name").to_owned()).unwrap_or_default(),
        class_count: class_counts.get(&id).copied().unwrap_or_default(),
        id,
    }
}
