//! Classes: all of them, those of a course, one.

use lyceum_core::text::{distinct, folded};
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_store::Tx;

use crate::fields;
use crate::kinds::{CLASS, COURSE, ORG};
use crate::record::Object;
use crate::repository::{self, MemberCounts, RecordUse};

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
    /// The active classes that the page shows.
    pub shown: Vec<ListedClass>,
    /// The number of classes on all pages.
    pub total: usize,
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

/// Reads the list of the classes within the reach. `show` receives all classes that the filter admits, by school and title.
/// It returns the places of those that the page shows, in its order, and the number of classes on all pages. The classes
/// have the numbers of their members before that only if these decide.
pub fn read(
    tx: &mut Tx<'_>,
    now: Timestamp,
    filter: &ClassFilter,
    sizes_decide: bool,
    show: impl FnOnce(&[ListedClass]) -> (Vec<usize>, usize),
    reach: &Reach,
) -> Result<ClassList> {
    let mut classes: Vec<ListedClass> = repository::active_classes(tx, reach)?
        .into_iter()
        .map(|class| ListedClass {
            id: class.id,
            title: class.title,
            code: class.code,
            course: class.course,
            school_id: class.school,
            ..ListedClass::default()
        })
        .collect();
    add_names(tx, &mut classes, reach)?;
    let schools = distinct(classes.iter().map(|class| &class.school));
    let subjects = distinct(classes.iter().flat_map(|class| &class.subjects));
    classes.retain(|class| filter.admits(class));
    if sizes_decide {
        add_sizes(tx, now, &mut classes, reach)?;
    }
    let (places, total) = show(&classes);
    let mut shown: Vec<ListedClass> =
        places.into_iter().map(|place| std::mem::take(&mut classes[place])).collect();
    if !sizes_decide {
        add_sizes(tx, now, &mut shown, reach)?;
    }
    Ok(ClassList { schools, subjects, shown, total })
}

/// Adds the numbers of members.
fn add_sizes(
    tx: &mut Tx<'_>,
    now: Timestamp,
    classes: &mut [ListedClass],
    reach: &Reach,
) -> Result<()> {
    let ids: Vec<&str> = classes.iter().map(|class| class.id.as_str()).collect();
    let sizes = repository::class_sizes(tx, now, &ids, reach)?;
    for class in classes {
        class.members = sizes.get(&class.id).copied().unwrap_or_default();
    }
    Ok(())
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
    let class = |record: &Object| {
        let text = |field| fields::text(record, field).to_owned();
        let reference = |field| fields::reference(record, field).to_owned();
        ListedClass {
            id: text("sourcedId"),
            title: text("title"),
            code: text("classCode"),
            course: reference("course"),
            school_id: reference("school"),
            ..ListedClass::default()
        }
    };
    let mut classes: Vec<ListedClass> = records.iter().map(class).collect();
    add_names(tx, &mut classes, reach)?;
    add_sizes(tx, now, &mut classes, reach)?;
    Ok(classes)
}

/// Adds the names of courses and schools within the reach, and sorts the classes by school and title.
fn add_names(tx: &mut Tx<'_>, classes: &mut [ListedClass], reach: &Reach) -> Result<()> {
    let courses = classes.iter().map(|class| class.course.as_str());
    let courses = fields::of_all_within(tx, &COURSE, courses, reach)?;
    let schools = classes.iter().map(|class| class.school_id.as_str());
    let schools = fields::of_all_within(tx, &ORG, schools, reach)?;
    for class in &mut *classes {
        if let Some(course) = courses.get(&class.course) {
            fields::text(course, "title").clone_into(&mut class.course_title);
            class.subjects = fields::texts(course, "subjects");
        }
        if let Some(school) = schools.get(&class.school_id) {
            fields::text(school, "name").clone_into(&mut class.school);
        }
    }
    classes.sort_by_cached_key(|class| (folded(&class.school), folded(&class.title)));
    Ok(())
}
