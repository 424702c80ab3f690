//! Students: everybody who learns, with what they did today.

use std::ops::Range;

use lyceum_bridge::today::{self, Moment, StudentDay};
use lyceum_core::text::{distinct, folded};
use lyceum_core::{Reach, Result};
use lyceum_roster::screens::at_places;
use lyceum_roster::screens::classes::ListedClass;
use lyceum_store::Tx;

use super::chosen_class::ChosenClass;
use crate::today::add_work;

/// The students to list. An empty field admits everybody.
#[derive(Clone, Debug, Default)]
pub struct StudentFilter {
    /// The name of the school.
    pub school: String,
    /// The grade.
    pub grade: String,
    /// The class.
    pub class: ChosenClass,
}

impl StudentFilter {
    fn admits(&self, day: &StudentDay) -> bool {
        (self.school.is_empty() || day.school == self.school)
            && (self.grade.is_empty() || day.learner.grade == self.grade)
    }
}

/// The data of the page.
#[derive(Debug)]
pub struct StudentList {
    /// The classes of the viewer.
    pub classes: Vec<ListedClass>,
    /// The schools of all students.
    pub schools: Vec<String>,
    /// The grades of all students.
    pub grades: Vec<String>,
    /// The day of each student that the filter admits, by their names.
    pub days: Vec<StudentDay>,
}

/// Reads the page, with the people within the reach. Only the students at these places of the list have goals and work;
/// without places, all students do. Errors: `NotFound` for a class outside of the reach.
pub fn read(
    tx: &mut Tx<'_>,
    moment: &Moment,
    filter: &StudentFilter,
    places: Option<Range<usize>>,
    reach: &Reach,
) -> Result<StudentList> {
    let mut days = today::students(tx, moment, reach)?;
    let classes = filter.class.limit_days(tx, moment.now, reach, &mut days)?;
    let schools = distinct(days.iter().map(|day| &day.school));
    let grades = distinct(days.iter().map(|day| &day.learner.grade));
    days.retain(|day| filter.admits(day));
    days.sort_by_cached_key(|day| folded(&day.learner.name()));
    add_work(tx, moment.now, at_places(&mut days, places))?;
    Ok(StudentList { classes, schools, grades, days })
}
