//! Classes as people look at them: what they are, who is in one, what those did.

use std::collections::HashMap;

use lyceum_core::Result;
use lyceum_roster::fields;
use lyceum_roster::kinds::{CLASS, COURSE, ORG};
use lyceum_roster::record::{Object, members};
use lyceum_roster::repository::{self, Member, Members};
use lyceum_store::Tx;

use crate::analytics::{self, Report};
use crate::zone::{Range, Zone};

/// A class.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// The sourcedId.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Its short code.
    pub code: String,
    /// The sourcedId of its course.
    pub course: String,
    /// What its course is called.
    pub course_title: String,
    /// The subjects of its course.
    pub subjects: Vec<String>,
    /// What its school is called.
    pub school: String,
    /// How many are in it.
    pub members: Members,
}

/// Every active class, by school and title.
pub fn all(tx: &mut Tx<'_>) -> Result<Vec<Class>> {
    let mut records = Vec::new();
    repository::each(tx, &CLASS, |body, extra| {
        let record = members(body, extra)?;
        if fields::text(&record, "status") == "active" {
            records.push(record);
        }
        Ok(())
    })?;
    let sizes = repository::class_sizes(tx, None)?;
    named(tx, &records, &sizes)
}

/// The active classes of a course, by school and title.
pub fn of_course(tx: &mut Tx<'_>, course: &str) -> Result<Vec<Class>> {
    let stored = repository::referring_to(tx, &CLASS, "course", &[course])?;
    some(tx, &stored.iter().map(fields::of).collect::<Result<Vec<_>>>()?)
}

/// A class. Errors: `NotFound`.
pub fn one(tx: &mut Tx<'_>, id: &str) -> Result<Class> {
    let record = fields::in_use(tx, &CLASS, id)?;
    Ok(some(tx, &[record])?.remove(0))
}

fn some(tx: &mut Tx<'_>, records: &[Object]) -> Result<Vec<Class>> {
    let ids: Vec<&str> = records.iter().map(|record| fields::text(record, "sourcedId")).collect();
    let sizes = repository::class_sizes(tx, Some(&ids))?;
    named(tx, records, &sizes)
}

/// The classes of these records, with the names of what they refer to, by school and title.
fn named(
    tx: &mut Tx<'_>,
    records: &[Object],
    sizes: &HashMap<String, Members>,
) -> Result<Vec<Class>> {
    let courses = records.iter().map(|record| fields::reference(record, "course"));
    let courses = fields::of_all(tx, &COURSE, courses)?;
    let schools = records.iter().map(|record| fields::reference(record, "school"));
    let schools = fields::of_all(tx, &ORG, schools)?;
    let class = |record: &Object| {
        let (id, course) = (fields::text(record, "sourcedId"), fields::reference(record, "course"));
        let school = schools.get(fields::reference(record, "school"));
        let of_course = courses.get(course);
        Class {
            id: id.to_owned(),
            title: fields::text(record, "title").to_owned(),
            code: fields::text(record, "classCode").to_owned(),
            course: course.to_owned(),
            course_title: of_course
                .map(|course| fields::text(course, "title").to_owned())
                .unwrap_or_default(),
            subjects: of_course.map(|course| fields::texts(course, "subjects")).unwrap_or_default(),
            school: school
                .map(|school| fields::text(school, "name").to_owned())
                .unwrap_or_default(),
            members: sizes.get(id).copied().unwrap_or_default(),
        }
    };
    let mut classes: Vec<Class> = records.iter().map(class).collect();
    classes.sort_by_cached_key(|class| (class.school.clone(), class.title.to_lowercase()));
    Ok(classes)
}

/// What a student of a class did.
pub struct Work {
    /// The sourcedId.
    pub id: String,
    /// First and last name; the sourcedId where there is neither.
    pub name: String,
    /// What the student did in the range, by day and subject: as [`analytics::activity`] says.
    pub report: Report,
}

/// What each student of a class did in a range, by their names. A fixed number of statements, however many
/// students there are.
pub fn work(tx: &mut Tx<'_>, class: &str, range: Range, zone: &Zone) -> Result<Vec<Work>> {
    let students = repository::in_class(tx, class, "student")?;
    let users: Vec<(&str, &str)> = students.iter().map(|one| (&*one.id, &*one.email)).collect();
    let reports = analytics::activities(tx, &users, range, zone)?;
    let work = students.into_iter().zip(reports).map(|(Member { id, name, .. }, report)| {
        let name = if name.is_empty() { id.clone() } else { name };
        Work { id, name, report }
    });
    Ok(work.collect())
}
