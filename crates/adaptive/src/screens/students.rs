//! Students: everybody who learns, with what they did today.
//!
//! A page reads for everybody only what decides which rows it shows, and the rest for these rows. Sums of the day are
//! not stored: memberships change with the date, goals with courses, and a day is another one in each time zone.

use lyceum_bridge::today::{self, Moment, StudentDay};
use lyceum_core::text::{distinct, folded};
use lyceum_core::{Reach, Result};
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
    /// Whether the students are enrolled now.
    pub is_enrolled: Option<bool>,
}

impl StudentFilter {
    fn admits(&self, day: &StudentDay) -> bool {
        (self.school.is_empty() || day.school == self.school)
            && (self.grade.is_empty() || day.learner.grade == self.grade)
    }
}

/// The part of all students' work that decides which students a page shows. The rest is read for the students of the
/// page only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidingWork {
    /// The order is one of the usual order, names, grades and schools.
    Nothing,
    /// The order is one of XP and other sums of the day.
    Sums,
    /// The order is by goals, words are searched, or a file has all students.
    Everything,
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
    /// The days of the students that the page shows.
    pub shown: Vec<StudentDay>,
    /// The number of students on all pages.
    pub total: usize,
}

/// Reads the page, with the people within the reach. `show` receives all days that the filter admits, by the names of the
/// students, with what decides. It returns the places of those that the page shows, in its order, and the number of students
/// on all pages. Errors: `NotFound` for a class outside of the reach.
pub fn read(
    tx: &mut Tx<'_>,
    moment: &Moment,
    filter: &StudentFilter,
    deciding: DecidingWork,
    show: impl FnOnce(&[StudentDay]) -> (Vec<usize>, usize),
    reach: &Reach,
) -> Result<StudentList> {
    let mut days = today::students(tx, moment, reach)?;
    let classes = filter.class.limit_days(tx, moment.now, reach, &mut days)?;
    let schools = distinct(days.iter().map(|day| &day.school));
    let grades = distinct(days.iter().map(|day| &day.learner.grade));
    days.retain(|day| filter.admits(day));
    let goals_decide = deciding == DecidingWork::Everything || filter.is_enrolled.is_some();
    if goals_decide {
        today::add_goals(tx, moment.now, &mut days)?;
        days.retain(|day| {
            filter.is_enrolled.is_none_or(|is_enrolled| day.is_enrolled == is_enrolled)
        });
    }
    days.sort_by_cached_key(|day| folded(&day.learner.name()));
    if deciding != DecidingWork::Nothing {
        add_work(tx, &mut days)?;
    }
    let (places, total) = show(&days);
    let mut shown: Vec<StudentDay> =
        places.into_iter().map(|place| std::mem::take(&mut days[place])).collect();
    if deciding == DecidingWork::Nothing {
        add_work(tx, &mut shown)?;
    }
    if !goals_decide {
        today::add_goals(tx, moment.now, &mut shown)?;
    }
    Ok(StudentList { classes, schools, grades, shown, total })
}
