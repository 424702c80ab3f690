//! Today: the students who need attention now and why, and who works, is idle or absent.

use lyceum_bridge::need::{self, RULES, StudentInNeed};
use lyceum_bridge::today::{self, Moment, Presence, StudentDay};
use lyceum_core::text::{distinct, folded};
use lyceum_core::{Reach, Result};
use lyceum_roster::screens::classes::ListedClass;
use lyceum_store::Tx;

use super::chosen_class::ChosenClass;
use crate::today::add_work;

/// The students to list. An empty field admits everybody.
#[derive(Clone, Debug, Default)]
pub struct TodayFilter {
    /// The presence of the students who are shown; without it, those who need attention and are not absent.
    pub presence: Option<Presence>,
    /// The id of a rule that gives a reason.
    pub rule: String,
    /// The name of the school.
    pub school: String,
    /// The class.
    pub class: ChosenClass,
}

impl TodayFilter {
    fn admits(&self, need: &StudentInNeed) -> bool {
        let has_rule = need.reasons.iter().any(|reason| reason.rule.id == self.rule);
        (self.rule.is_empty() || has_rule)
            && (self.school.is_empty() || need.day.school == self.school)
    }
}

/// Numbers of students.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StudentCounts {
    /// All students.
    pub all: usize,
    /// The number of students who work now.
    pub working: usize,
    /// The number of students who worked today, but not in the last minutes.
    pub idle: usize,
    /// The number of students who did nothing although school has begun.
    pub absent: usize,
    /// The number of students who need attention and are not absent.
    pub in_need: usize,
    /// The number of students in need who are behind their daily goal.
    pub behind: usize,
}

impl StudentCounts {
    /// Counts the students of a day.
    pub fn of<'d>(days: impl Iterator<Item = &'d StudentDay>, moment: &Moment) -> Self {
        let mut counts = Self::default();
        for day in days {
            counts.add(day, moment);
        }
        counts
    }

    fn add(&mut self, day: &StudentDay, moment: &Moment) {
        self.all += 1;
        let presence = day.presence(moment.now);
        match presence {
            Presence::Working => self.working += 1,
            Presence::Idle => self.idle += 1,
            Presence::Absent => self.absent += 1,
            Presence::Off => {}
        }
        let reasons = need::reasons(day, RULES, moment.now);
        if presence != Presence::Absent && !reasons.is_empty() {
            self.in_need += 1;
            self.behind += usize::from(reasons.iter().any(need::NeedReason::is_behind));
        }
    }
}

/// The data of the page.
#[derive(Debug)]
pub struct TodayList {
    /// How many enrolled students of the class do what.
    pub counts: StudentCounts,
    /// The classes of the viewer.
    pub classes: Vec<ListedClass>,
    /// The schools of all whom the presence admits.
    pub schools: Vec<String>,
    /// The students that the filter admits. Those who need attention: students behind their pace first, then by the
    /// weight of the reasons. Others: by name.
    pub needs: Vec<StudentInNeed>,
}

/// Reads the page, with the enrolled students within the reach. Errors: `NotFound` for a class outside of it.
pub fn read(
    tx: &mut Tx<'_>,
    moment: &Moment,
    filter: &TodayFilter,
    reach: &Reach,
) -> Result<TodayList> {
    let mut days = today::students(tx, moment, reach)?;
    let classes = filter.class.limit_days(tx, moment.now, reach, &mut days)?;
    today::add_goals(tx, moment.now, &mut days)?;
    days.retain(|day| day.is_enrolled);
    add_work(tx, &mut days)?;
    let counts = StudentCounts::of(days.iter(), moment);
    let mut needs = match filter.presence {
        None => {
            let present =
                days.into_iter().filter(|day| day.presence(moment.now) != Presence::Absent);
            need::students_in_need(present.collect(), RULES, moment.now)
        }
        Some(presence) => {
            let mut found: Vec<StudentInNeed> = days
                .into_iter()
                .filter(|day| day.presence(moment.now) == presence)
                .map(|day| StudentInNeed { reasons: need::reasons(&day, RULES, moment.now), day })
                .collect();
            found.sort_by_cached_key(|need| folded(&need.day.learner.name()));
            found
        }
    };
    let schools = distinct(needs.iter().map(|need| &need.day.school));
    needs.retain(|need| filter.admits(need));
    Ok(TodayList { counts, classes, schools, needs })
}
