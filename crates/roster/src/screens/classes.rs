//! Classes: all of them, those of a course, one.

use std::collections::HashMap;
use std::ops::Range;

use lyceum_core::text::{distinct, folded};
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_store::Tx;

use crate::fields;
use crate::kinds::{CLASS, COURSE, ORG};
use crate::record::{Object, members};
use crate::repository::{self, MemberCounts, RecordUse};
use crate::screens::at_places;

/// The classes to list. An empty field admits all.
#[derive(Clone, Debug, Default)]
pub struct ClassFilter {
    /// The name of the school.
    pub school: String,
    /// A subject of the course.
    pub subject: String,
}

impl ClassFilter {
    fn admits(&self, class: &ListedClass) -> bool {
        (self.school.is_empty() || class.school == self.school)
            && (self.subject.is_empty() || class.subjects.contains(&self.subject))
    }
}

/// The data of the list of classes.
#[derive(Debug)]
pub struct ClassList {
    /// The schools of all classes.
    pub schools: Vec<String>,
    /// The subjects of all classes.
    pub subjects: Vec<String>,
    /// The active classes that the filter admits, by school and title.
    pub classes: Vec<ListedClass>,
}

/// A class.
#[derive(Clone, Debug, Default)]
pub struct ListedClass {
    /// The sourcedId.
    pub id: String,
    /// Its name.
    pub title: String,
    /// Its short code.
    pub code: String,
    /// The sourcedId of its course.
    pub course: String,
    /// The title of its course.
    pub course_title: String,
    /// The subjects of its course.
    pub subjects: Vec<String>,
    /// The sourcedId of its school.
    pub school_id: String,
    /// The name of its school.
    pub school: String,
    /// The numbers of its members.
    pub members: MemberCounts,
}

/// Reads the list of the classes within the reach. Only the classes at these places of the list have the numbers of their
/// members; without places, all classes do.
pub fn read(
    tx: &mut Tx<'_>,
    now: Timestamp,
    filter: &ClassFilter,
    places: Option<Range<usize>>,
    reach: &Reach,
) -> Result<ClassList> {
    let mut records = Vec::new();
    repository::each_within(tx, &CLASS, reach, |body, extra| {
        let record = members(body, extra)?;
        if fields::text(&record, "status") == "active" {
            records.push(record);
        }
        Ok(())
    })?;
    let mut classes = names_by_id(tx, &records, &HashMap::new(), reach)?;
    let schools = distinct(classes.iter().map(|class| &class.school));
    let subjects = distinct(classes.iter().flat_map(|class| &class.subjects));
    classes.retain(|class| filter.admits(class));
    let counted = at_places(&mut classes, places);
    let ids: Vec<&str> = counted.iter().map(|class| class.id.as_str()).collect();
    let sizes = repository::class_sizes(tx, now, &ids, reach)?;
    for class in counted {
        class.members = sizes.get(&class.id).copied().unwrap_or_default();
    }
    Ok(ClassList { schools, subjects, classes })
}

/// The active classes of a course within the reach, by school and title.
pub fn of_course(
    tx: &mut Tx<'_>,
    now: Timestamp,
    course: &str,
    reach: &Reach,
) -> Result<Vec<ListedClass>> {
    let stored = repository::referring_to(tx, &CLASS, "course", &[course])?;
    let mut records = stored.iter().map(fields::of).collect::<Result<Vec<_>>>()?;
    retain_within(tx, &mut records, reach)?;
    some(tx, now, &records, reach)
}

/// The active classes within the reach that a user teaches now, by school and title.
pub fn taught_by(
    tx: &mut Tx<'_>,
    now: Timestamp,
    teacher: &str,
    reach: &Reach,
) -> Result<Vec<ListedClass>> {
    let ids = repository::classes_of_member(tx, now, teacher, "teacher")?;
    let found = fields::of_all(tx, &CLASS, ids.iter().map(String::as_str))?;
    let mut records: Vec<Object> = found.into_values().filter(fields::is_in_use).collect();
    retain_within(tx, &mut records, reach)?;
    some(tx, now, &records, reach)
}

/// A class. Errors: `NotFound`.
pub fn one(tx: &mut Tx<'_>, now: Timestamp, id: &str, reach: &Reach) -> Result<ListedClass> {
    let record = fields::in_use_within(tx, &CLASS, id, reach)?;
    Ok(some(tx, now, &[record], reach)?.remove(0))
}

fn retain_within(tx: &mut Tx<'_>, records: &mut Vec<Object>, reach: &Reach) -> Result<()> {
    if reach.is_limited() {
        let ids: Vec<&str> =
            records.iter().map(|record| fields::text(record, "sourcedId")).collect();
        let within = repository::ids_within(tx, &CLASS, &ids, reach, RecordUse::See)?;
        records.retain(|record| within.contains(fields::text(record, "sourcedId")));
    }
    Ok(())
}

fn some(
    tx: &mut Tx<'_>,
    now: Timestamp,
    records: &[Object],
    reach: &Reach,
) -> Result<Vec<ListedClass>> {
    let ids: Vec<&str> = records.iter().map(|record| fields::text(record, "sourcedId")).collect();
    let sizes = repository::class_sizes(tx, now, &ids, reach)?;
    names_by_id(tx, records, &sizes, reach)
}

/// The classes of these records, with the names of what they refer to, by school and title.
fn names_by_id(
    tx: &mut Tx<'_>,
    records: &[Object],
    sizes: &HashMap<String, MemberCounts>,
    reach: &Reach,
) -> Result<Vec<ListedClass>> {
    let courses = records.iter().map(|record| fields::reference(record, "course"));
    let courses = fields::of_all_within(tx, &COURSE, courses, reach)?;
    let schools = records.iter().map(|record| fields::reference(record, "school"));
    let schools = fields::of_all_within(tx, &ORG, schools, reach)?;
    let class = |record: &Object| {
        let (id, course) = (fields::text(record, "sourcedId"), fields::reference(record, "course"));
        let school = schools.get(fields::reference(record, "school"));
        let of_course = courses.get(course);
        ListedClass {
            id: id.to_owned(),
            title: fields::text(record, "title").to_owned(),
            code: fields::text(record, "classCode").to_owned(),
            course: course.to_owned(),
            course_title: of_course
                .map(|course| fields::text(course, "title").to_owned())
                .unwrap_or_default(),
            subjects: of_course.map(|course| fields::texts(course, "subjects")).unwrap_or_default(),
            school_id: fields::reference(record, "school").to_owned(),
            school: school
                .map(|school| fields::text(school, "name").to_owned())
                .unwrap_or_default(),
            members: sizes.get(id).copied().unwrap_or_default(),
        }
    };
    let mut classes: Vec<ListedClass> = records.iter().map(class).collect();
    classes.sort_by_cached_key(|class| (folded(&class.school), folded(&class.title)));
    Ok(classes)
}
