//! Today: the students who need attention now, and why.

use lyceum_bridge::need::{self, Need, RULES};
use lyceum_bridge::zone::Zone;
use lyceum_core::text::distinct;
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_store::Tx;

/// The students to list. An empty field admits everybody.
#[derive(Clone, Debug, Default)]
pub struct TodayFilter {
    /// The id of a rule that gives a reason.
    pub rule: String,
    /// The name of the school.
    pub school: String,
}

impl TodayFilter {
    fn admits(&self, need: &Need) -> bool {
        let has_rule = need.reasons.iter().any(|reason| reason.rule.id == self.rule);
        (self.rule.is_empty() || has_rule)
            && (self.school.is_empty() || need.day.school == self.school)
    }
}

/// The data of the page.
#[derive(Debug)]
pub struct TodayList {
    /// The number of active students.
    pub student_count: usize,
    /// The number of students who need attention.
    pub need_count: usize,
    /// The number of those who are behind their daily goal.
    pub behind_count: usize,
    /// The schools of all who need attention.
    pub schools: Vec<String>,
    /// Those that the filter admits: students behind their pace first, then by the weight of the reasons.
    pub needs: Vec<Need>,
}

/// Reads the page, with the people within the reach.
pub fn read(
    tx: &mut Tx<'_>,
    now: Timestamp,
    zone: &Zone,
    filter: &TodayFilter,
    reach: &Reach,
) -> Result<TodayList> {
    let students = crate::today::students(tx, now, zone, reach)?;
    let student_count = students.len();
    let mut needs = need::needs(students, RULES, now, zone);
    let need_count = needs.len();
    let behind_count = needs.iter().filter(|need| need.is_behind()).count();
    let schools = distinct(needs.iter().map(|need| &need.day.school));
    needs.retain(|need| filter.admits(need));
    Ok(TodayList { student_count, need_count, behind_count, schools, needs })
}
