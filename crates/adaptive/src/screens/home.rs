//! The home of a student: today's goals, the last days, the next lesson, courses and assigned tests.

use std::collections::HashSet;

use jiff::civil::Date;
use lyceum_bridge::analytics::{self, StudentName};
use lyceum_bridge::today::{Moment, SubjectDay, zone_of};
use lyceum_bridge::zone::{InstantRange, Zone};
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result, limits::PAGE_MAX_RECORDS};
use lyceum_events::facts::{Measure, MeasureSums};
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_store::Tx;

use crate::due::last_day;
use crate::lesson::LessonCourse;
use crate::lesson_context::LessonContext;
use crate::limits::STREAK_MAX_DAYS;
use crate::repository::attempts;
use crate::student_lessons::{self, FoundLesson, StudentCourse, StudentLesson};
use crate::test_assignments::{self, AssignmentFilter};
use crate::today;

/// The days of the picture of the week.
const WEEK_DAYS: u32 = 7;
/// The days that are read at once to count the streak.
const STREAK_STEP_DAYS: u32 = 28;

/// The data of the home.
#[derive(Debug)]
pub struct StudentHome {
    /// The given name; the full name or the sourcedId if there is none.
    pub name: String,
    /// Today, subject by subject.
    pub today: Vec<SubjectDay>,
    /// XP in thousandths on each of the last seven days, earliest first.
    pub week: Vec<(Date, i64)>,
    /// The number of days in a row with work, up to today, or up to yesterday if today has none yet; at most
    /// [`STREAK_MAX_DAYS`].
    pub streak_days: u32,
    /// Whether the student worked today.
    pub is_active_today: bool,
    /// The next lesson: the one that was started last and is not complete, otherwise the first that was not started.
    pub next: Option<FoundLesson>,
    /// The courses.
    pub courses: Vec<StudentCourse>,
    /// The assigned tests that are not finished, in the order in which they were assigned.
    pub assigned: Vec<AssignedTest>,
}

/// An assigned test.
#[derive(Debug, PartialEq)]
pub struct AssignedTest {
    /// The lesson.
    pub lesson: StudentLesson,
    /// When the assignment expires.
    pub expires: Option<Timestamp>,
    /// The last day, if it expires with a day at the student's school.
    pub last_day: Option<Date>,
}

/// Reads the home of a student. Days are those of the school's time zone; of `zone` if no school hours are set.
/// Errors: `NotFound`.
pub fn read(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    zone: &Zone,
    student: &str,
) -> Result<StudentHome> {
    let user = fields::in_use(tx, &USER, student)?;
    let names = [fields::text(&user, "givenName").to_owned(), fields::full_name(&user)];
    let name = names.into_iter().find(|name| !name.is_empty());
    let moment = Moment::usual(context.now, zone);
    let zone = &zone_of(tx, &moment, student)?;
    let (_, today) = today::student(tx, &moment, student)?;
    let (is_active_today, streak_days) = streak(tx, context.now, zone, student)?;
    let courses = student_lessons::courses(tx, context.now, student)?;
    Ok(StudentHome {
        name: name.unwrap_or_else(|| student.to_owned()),
        today,
        week: week(tx, context.now, zone, student)?,
        streak_days,
        is_active_today,
        next: next(&courses),
        assigned: assigned(tx, context, student)?,
        courses,
    })
}

fn week(tx: &mut Tx<'_>, now: Timestamp, zone: &Zone, student: &str) -> Result<Vec<(Date, i64)>> {
    let dates = zone.days(now, WEEK_DAYS);
    let range = range(zone, &dates);
    let report =
        analytics::activity(tx, StudentName::Id(student), range, zone, &Reach::Everything)?;
    let xp = |date: &Date| {
        let day = report.facts.iter().find(|(day, _)| day.0 == *date);
        let subjects = day.into_iter().flat_map(|(_, by_subject)| by_subject.values());
        subjects.map(|metrics| metrics.sums.of(Measure::Xp)).sum()
    };
    Ok(dates.iter().map(|date| (*date, xp(date))).collect())
}

/// The instants of consecutive days, earliest first.
fn range(zone: &Zone, days: &[Date]) -> InstantRange {
    let first = days.first().copied().unwrap_or_default();
    let last = days.last().copied().unwrap_or_default();
    InstantRange { from: zone.start_of(first), to: zone.start_of(last.tomorrow().unwrap_or(last)) }
}

/// Whether the student worked today, and the days in a row with work.
fn streak(tx: &mut Tx<'_>, now: Timestamp, zone: &Zone, student: &str) -> Result<(bool, u32)> {
    let days = zone.days(now, STREAK_MAX_DAYS);
    let (mut is_active_today, mut count) = (false, 0);
    let mut is_today = true;
    for part in days.rchunks(STREAK_STEP_DAYS as usize) {
        let active = active_days(tx, zone, student, part)?;
        for day in part.iter().rev() {
            match (active.contains(day), is_today) {
                (true, _) => count += 1,
                (false, true) => {}
                (false, false) => return Ok((is_active_today, count)),
            }
            is_active_today |= is_today && count == 1;
            is_today = false;
        }
    }
    Ok((is_active_today, count))
}

/// The days, earliest first, on which events or answers of the student arrived.
fn active_days(
    tx: &mut Tx<'_>,
    zone: &Zone,
    student: &str,
    days: &[Date],
) -> Result<HashSet<Date>> {
    let range = range(zone, days);
    let report =
        analytics::activity(tx, StudentName::Id(student), range, zone, &Reach::Everything)?;
    let has_events = |sums: &MeasureSums| sums.events > 0;
    let mut active: HashSet<Date> = report
        .facts
        .iter()
        .filter(|(_, by_subject)| by_subject.values().any(|metrics| has_events(&metrics.sums)))
        .map(|(day, _)| day.0)
        .collect();
    let instants = range.from.milliseconds()..range.to.milliseconds();
    for at in attempts::answer_instants(tx, instants, student)? {
        active.insert(zone.day_of(at));
    }
    Ok(active)
}

fn next(courses: &[StudentCourse]) -> Option<FoundLesson> {
    let all =
        courses.iter().flat_map(|course| course.lessons().map(move |lesson| (course, lesson)));
    let open = all.filter(|(_, lesson)| lesson.is_to_do());
    let (mut first, mut started) = (None, None::<(&StudentCourse, &StudentLesson)>);
    for (course, lesson) in open {
        first.get_or_insert((course, lesson));
        let is_later = started.is_none_or(|(_, other)| other.started < lesson.started);
        if lesson.started.is_some() && is_later {
            started = Some((course, lesson));
        }
    }
    let (course, lesson) = started.or(first)?;
    let course = LessonCourse { id: course.id.clone(), title: course.title.clone() };
    Some(FoundLesson { lesson: lesson.clone(), course })
}

fn assigned(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
) -> Result<Vec<AssignedTest>> {
    let filter = AssignmentFilter {
        student: Some(student.to_owned()),
        status: None,
        subject: None,
        grade: None,
        limit: PAGE_MAX_RECORDS,
        offset: 0,
    };
    let zone = zone_of(tx, &context.moment(), student)?;
    let page = test_assignments::list(tx, context.now, &filter, &Reach::Everything)?;
    let mut assigned: Vec<AssignedTest> = Vec::new();
    for one in page.test_assignments {
        let is_open = ["assigned", "in_progress"].contains(&one.assignment_status.as_str());
        let id = &one.component_resource_sourced_id;
        if !is_open || assigned.iter().any(|known| known.lesson.id == *id) {
            continue;
        }
        match student_lessons::find(tx, context, student, id) {
            Ok(found) => {
                let last_day = one.expires_at.and_then(|expires| last_day(&zone, expires));
                let (lesson, expires) = (found.lesson, one.expires_at);
                assigned.push(AssignedTest { lesson, expires, last_day });
            }
            Err(problem) if problem.kind == lyceum_core::ProblemKind::NotFound => {}
            Err(problem) => return Err(problem),
        }
    }
    Ok(assigned)
}
