//! Students: everybody who learns, with what they did today.

use std::collections::BTreeSet;

use lyceum_adaptive::today as learning;
use lyceum_bridge::today::StudentDay;
use lyceum_console::students::{COLUMNS, Students};
use lyceum_console::{Cell, Choice, List, Row, screens, words};
use lyceum_core::Result;
use lyceum_core::text::segment;
use lyceum_core::time::Timestamp;
use lyceum_events::facts::{Measure, Sums};
use lyceum_roster::repository::Learner;

use super::visitor::query;
use super::{Visitor, deadline, listed, page};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![page("/students", &screens::STUDENTS, show)]
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let (now, zone) = (context.app.clock.now(), visitor.zone.clone());
    let scanned =
        context.app.db.scan(deadline(), move |tx| learning::students(tx, now, &zone)).await?;
    let query = query(&context);
    let (school, grade) = (query.own("school").to_owned(), query.own("grade").to_owned());
    let (schools, grades) =
        (all(&scanned, |day| &day.school), all(&scanned, |day| &day.learner.grade));
    let is_wanted = |day: &&StudentDay| {
        (school.is_empty() || day.school == school)
            && (grade.is_empty() || day.learner.grade == grade)
    };
    let day = visitor.zone.day_of(now).to_string();
    let mut wanted: Vec<&StudentDay> = scanned.iter().filter(is_wanted).collect();
    wanted.sort_by_cached_key(|day| words::folded(&name(&day.learner)));
    let rows = wanted.into_iter().map(|student| row(student, now, &day)).collect();
    let list = List::new("Students", COLUMNS, query, rows)
        .or_else("There are no students yet. Import a roster, or create users over the API.")
        .choice(Choice::of("school", "School", schools.iter().map(|name| (name, name))))
        .choice(Choice::of("grade", "Grade", grades.iter().map(|name| (name, name))));
    let view = Students { frame: visitor.frame("Students"), day, list };
    listed("students", &view.list, &view)
}

/// What there is of it among the students, in order.
fn all(days: &[StudentDay], of: fn(&StudentDay) -> &String) -> Vec<String> {
    let names: BTreeSet<&String> = days.iter().map(of).filter(|name| !name.is_empty()).collect();
    names.into_iter().cloned().collect()
}

fn row(day: &StudentDay, now: Timestamp, today: &str) -> Row {
    let id = &day.learner.id;
    let to = |cell: Cell| cell.to(behind(id, today, today, ""));
    vec![
        Cell::text(name(&day.learner)).to(link(id)),
        Cell::text(&day.learner.grade),
        Cell::text(&day.school),
        to(xp(day.xp())),
        goal(day),
        to(accuracy(&day.sums)),
        to(minutes(day.sums.of(Measure::Active))),
        match day.last {
            Some(last) => Cell::of(last.to_string(), words::ago(last, now)),
            None => Cell::missing("not today"),
        },
    ]
}

/// A learner's name, or the sourcedId where there is none.
pub(super) fn name(learner: &Learner) -> String {
    let name = format!("{} {}", learner.given_name, learner.family_name);
    if name.trim().is_empty() { learner.id.clone() } else { name.trim().to_owned() }
}

/// The page of a student.
pub(super) fn link(id: &str) -> String {
    format!("/console/students/{}", segment(id))
}

/// The page of the events behind a number: of the days, of one subject or of all.
pub(super) fn behind(id: &str, from: &str, to: &str, subject: &str) -> String {
    let subject = segment(subject);
    format!("{}/facts?from={from}&to={to}&subject={subject}", link(id))
}

/// The daily goal, which the student's page has by subject.
pub(super) fn goal(day: &StudentDay) -> Cell {
    match day.goal_xp {
        0 => Cell::none(),
        goal => Cell::of(goal, goal.to_string()).to(link(&day.learner.id)),
    }
}

/// XP, from thousandths.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub(super) fn xp(thousandths: i64) -> Cell {
    Cell::of(thousandths as f64 / 1000.0, words::thousandths(thousandths))
}

/// Minutes, from milliseconds.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub(super) fn minutes(milliseconds: i64) -> Cell {
    let minutes = milliseconds as f64 / 60_000.0;
    Cell::of(minutes, words::number(minutes))
}

/// The share of right answers, in percent.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub(super) fn accuracy(sums: &Sums) -> Cell {
    let (right, all) = (sums.of(Measure::CorrectQuestions), sums.of(Measure::TotalQuestions));
    if all == 0 {
        return Cell::none();
    }
    Cell::of(right as f64 * 100.0 / all as f64, words::share(right, all))
}
