//! The lessons, tests and courses that the forms of a class or a student offer.

use std::collections::BTreeSet;

use lyceum_bridge::enroll;
use lyceum_core::text::distinct;
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_roster::fields;
use lyceum_roster::grade::comparable;
use lyceum_roster::kinds::COURSE;
use lyceum_roster::reach::keep_within;
use lyceum_roster::repository::RecordUse;
use lyceum_store::Tx;

use crate::lesson_list;
use crate::test_choice::assignable;

/// A course with its lessons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CourseLessons {
    /// The sourcedId.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The sourcedId and title of each lesson, in the order of their creation.
    pub lessons: Vec<(String, String)>,
}

/// The subjects and grades with tests to assign in courses within the reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssignableTests {
    /// The subjects, sorted.
    pub subjects: Vec<String>,
    /// The grades, as they are compared, sorted.
    pub grades: Vec<String>,
}

impl AssignableTests {
    /// Reads them. The number of statements is fixed.
    pub fn read(tx: &mut Tx<'_>, reach: &Reach) -> Result<Self> {
        let mut tests = assignable(tx)?;
        keep_within(tx, &COURSE, reach, RecordUse::See, &mut tests, |test| &test.course)?;
        let grades: BTreeSet<String> =
            tests.iter().flat_map(|test| &test.grades).map(|grade| comparable(grade)).collect();
        Ok(Self {
            subjects: distinct(tests.iter().map(|test| &test.subject)),
            grades: grades.into_iter().collect(),
        })
    }
}

/// The courses within the reach in which a student learns now, with their lessons. Runs a fixed number of statements.
pub fn of_student(
    tx: &mut Tx<'_>,
    now: Timestamp,
    student: &str,
    reach: &Reach,
) -> Result<Vec<CourseLessons>> {
    let courses = enroll::learned(tx, now, student)?;
    let courses: Vec<&str> = courses.iter().map(String::as_str).collect();
    of_courses(tx, &courses, reach)
}

/// The courses that lie within the reach, by title, with their lessons.
pub fn of_courses(tx: &mut Tx<'_>, courses: &[&str], reach: &Reach) -> Result<Vec<CourseLessons>> {
    let records = fields::of_all_within(tx, &COURSE, courses.iter().copied(), reach)?;
    let in_use = records.into_iter().filter(|(_, record)| fields::is_in_use(record));
    let mut found: Vec<CourseLessons> = in_use
        .map(|(id, record)| CourseLessons {
            id,
            title: fields::text(&record, "title").to_owned(),
            lessons: Vec::new(),
        })
        .collect();
    found
        .sort_by_cached_key(|course| (lyceum_core::text::folded(&course.title), course.id.clone()));
    let ids: Vec<&str> = found.iter().map(|course| course.id.as_str()).collect();
    for lesson in lesson_list::of_courses(tx, &ids)? {
        let title = fields::text(&fields::of(&lesson.records.lesson)?, "title").to_owned();
        let course = found.iter_mut().find(|course| course.id == lesson.course);
        if let Some(course) = course {
            course.lessons.push((lesson.id, title));
        }
    }
    Ok(found)
}
