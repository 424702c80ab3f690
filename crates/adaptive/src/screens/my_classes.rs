//! Home of a teacher: their classes, and what their students do today.

use std::collections::{HashMap, HashSet};

use lyceum_bridge::need::{self, RULES, StudentInNeed};
use lyceum_bridge::today::{Moment, Presence, StudentDay};
use lyceum_core::{Reach, Result};
use lyceum_roster::repository;
use lyceum_roster::screens::classes::{self, ListedClass};
use lyceum_store::Tx;

use super::today::StudentCounts;

pub use crate::screens::chosen_class::teacher_of;

/// The data of the page.
#[derive(Debug)]
pub struct TeacherHome {
    /// The teacher's classes, by school and title.
    pub classes: Vec<ClassToday>,
    /// How many students of all these classes do what.
    pub counts: StudentCounts,
    /// Their XP today, in thousandths.
    pub xp: i64,
    /// The students who need attention and are not absent, as on the page Today.
    pub needs: Vec<StudentInNeed>,
}

/// The work of the students of a class today.
#[derive(Debug)]
pub struct ClassToday {
    /// The class.
    pub class: ListedClass,
    /// How many students do what.
    pub counts: StudentCounts,
    /// Their XP today, in thousandths.
    pub xp: i64,
}

/// Reads the page. `None` for a person who teaches no class.
pub fn read(
    tx: &mut Tx<'_>,
    moment: &Moment,
    email: &str,
    reach: &Reach,
) -> Result<Option<TeacherHome>> {
    let Some(teacher) = teacher_of(tx, email, reach)? else { return Ok(None) };
    let classes = classes::taught_by(tx, moment.now, &teacher, reach)?;
    if classes.is_empty() {
        return Ok(None);
    }
    let days = crate::today::students(tx, moment, &Reach::ClassesOf(teacher))?;
    let ids: Vec<&str> = classes.iter().map(|class| class.id.as_str()).collect();
    let members = repository::students_by_class(tx, moment.now, &ids)?;
    let days_by_id: HashMap<&str, &StudentDay> =
        days.iter().map(|day| (day.learner.id.as_str(), day)).collect();
    let of_class = |class: ListedClass| {
        let students = members.get(&class.id).map(Vec::as_slice).unwrap_or_default();
        let found: Vec<&StudentDay> =
            students.iter().filter_map(|id| days_by_id.get(id.as_str()).copied()).collect();
        let counts = StudentCounts::of(found.iter().copied(), moment);
        ClassToday { class, counts, xp: found.iter().map(|day| day.xp()).sum() }
    };
    let classes: Vec<ClassToday> = classes.into_iter().map(of_class).collect();
    let learning: HashSet<&str> = members.values().flatten().map(String::as_str).collect();
    let own: Vec<StudentDay> =
        days.iter().filter(|day| learning.contains(day.learner.id.as_str())).cloned().collect();
    let counts = StudentCounts::of(own.iter(), moment);
    let xp = own.iter().map(StudentDay::xp).sum();
    let present = own.into_iter().filter(|day| day.presence(moment.now) != Presence::Absent);
    let needs = need::students_in_need(present.collect(), RULES, moment.now);
    Ok(Some(TeacherHome { classes, counts, xp, needs }))
}
