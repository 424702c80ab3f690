//! The arguments that work on lessons needs besides the transaction.

use lyceum_assessment::Items;
use lyceum_bridge::school_hours::SchoolHours;
use lyceum_bridge::today::Moment;
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_roster::kinds::USER;
use lyceum_roster::reach::check_changes;

use crate::caches::LessonCaches;

/// The context of a lesson's work: time, caches and the server's address.
#[derive(Clone, Copy)]
pub struct LessonContext<'a> {
    /// The current time.
    pub now: Timestamp,
    /// The server's address, from which ids in events are made.
    pub base_url: &'a str,
    /// The part of the roster that the caller has access to.
    pub reach: &'a Reach,
    /// The school hours of organizations that set none.
    pub usual_hours: &'a SchoolHours,
    /// The cache of items.
    pub items: &'a Items,
    /// The cache of other data.
    pub memory: &'a LessonCaches,
}

impl LessonContext<'_> {
    /// The moment of the work.
    pub fn moment(&self) -> Moment {
        Moment { now: self.now, usual_hours: self.usual_hours.clone() }
    }

    /// Refuses to change the student's work under the reach of a teacher. Errors: `Forbidden`.
    pub(crate) fn check_changes(&self, student: &str) -> Result<()> {
        check_changes(&USER, student, self.reach)
    }
}
