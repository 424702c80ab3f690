//! The class to whose students a list is limited.

use std::collections::HashSet;

use lyceum_bridge::today::StudentDay;
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_roster::kinds::CLASS;
use lyceum_roster::screens::classes::{self, ListedClass};
use lyceum_roster::{fields, repository};
use lyceum_store::Tx;

/// The sourcedId of the roster user that a guide is: the teacher of the reach; for a guide without a limit, the user with
/// the guide's e-mail address. This only chooses what is shown first; it gives access to nothing.
pub fn teacher_of(tx: &mut Tx<'_>, email: &str, reach: &Reach) -> Result<Option<String>> {
    match reach {
        Reach::ClassesOf(teacher) => Ok(Some(teacher.clone())),
        Reach::Everything => {
            let email = email.to_ascii_lowercase();
            Ok(repository::users_with_emails(tx, &[&email])?.remove(&email))
        }
        Reach::Organizations(_) => Ok(None),
    }
}

/// The value of [`ChosenClass::class`] for all classes that the viewer teaches.
pub const OWN_CLASSES: &str = "*";

/// The class to whose students a list is limited.
#[derive(Clone, Debug, Default)]
pub struct ChosenClass {
    /// The viewer's e-mail address, which finds the own classes of a guide without a limit.
    pub viewer: String,
    /// The sourcedId; [`OWN_CLASSES`] for all classes that the viewer teaches; empty for all students.
    pub class: String,
}

impl ChosenClass {
    /// Keeps the days of the students of the class, and answers the classes from which the viewer chooses: the own ones.
    /// Errors: `NotFound` for a class that does not lie within the reach.
    pub(super) fn limit_days(
        &self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        reach: &Reach,
        days: &mut Vec<StudentDay>,
    ) -> Result<Vec<ListedClass>> {
        let own = match teacher_of(tx, &self.viewer, reach)? {
            Some(teacher) => classes::taught_by(tx, now, &teacher, reach)?,
            None => Vec::new(),
        };
        let chosen: Vec<&str> = match self.class.as_str() {
            "" => return Ok(own),
            OWN_CLASSES => own.iter().map(|class| class.id.as_str()).collect(),
            class => {
                fields::in_use_within(tx, &CLASS, class, reach)?;
                vec![class]
            }
        };
        let members = repository::students_by_class(tx, now, &chosen)?;
        let members: HashSet<&str> = members.values().flatten().map(String::as_str).collect();
        days.retain(|day| members.contains(day.learner.id.as_str()));
        Ok(own)
    }
}
