//! Students: the list of all students with today's work.

pub(crate) mod view;

use lyceum_adaptive::screens::students::{self as screen, DecidingWork};
use lyceum_api::bridge::school_hours::moment;
use lyceum_api::{Context, Route};
use lyceum_bridge::today::StudentDay;
use lyceum_console::{Cell, List, ListFilter, ListQuery, ShownPlaces, links, screens, t, words};
use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_events::facts::{Measure, MeasureSums};
use lyceum_http::answer::Answer;
use lyceum_store::Tx;

use super::today::{chosen_class, class_filter};
use super::visitor::query;
use super::{Visitor, deadline, page, show_list};
use crate::console::students::view::{COLUMNS, StudentsPage};

pub(super) fn routes() -> Vec<Route> {
    vec![page("/students", &screens::STUDENTS, show).within_reach()]
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let (moment, query) = (moment(&context), query(&context));
    let now = moment.now;
    let filter = screen::StudentFilter {
        school: query.parameter("school").to_owned(),
        grade: query.parameter("grade").to_owned(),
        class: chosen_class(&visitor, &query),
        is_enrolled: match query.parameter("enrolled") {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        },
    };
    let (reach, deciding, asked) = (context.reach(), deciding_work(&query), query.clone());
    let read = move |tx: &mut Tx<'_>| {
        let show = |days: &[StudentDay]| {
            let shown =
                ShownPlaces::of(COLUMNS, &asked, days, |day, column| cell(day, column, now));
            (shown.places, shown.total)
        };
        screen::read(tx, &moment, &filter, deciding, show, &reach)
    };
    let students = context.app.db.scan(deadline(), read).await?;
    let today = visitor.zone().day_of(now);
    let classes = class_filter(&students.classes, query.parameter("class"));
    let cell = |day: &StudentDay, column: &str| cell(day, column, now);
    let list = List::of_shown("Students", COLUMNS, query, &students.shown, students.total, cell)
        .or_else("There are no students yet. Import a roster, or create users over the API.")
        .choices(classes)
        .choice(ListFilter::of(
            "enrolled",
            "Enrolled now",
            [("yes", t!("Yes")), ("no", t!("No"))].into_iter(),
        ))
        .choice(ListFilter::of(
            "school",
            "School",
            students.schools.iter().map(|name| (name, name)),
        ))
        .choice(ListFilter::of(
            "grade",
            "Grade",
            students.grades.iter().map(|code| (code, words::grade(code))),
        ));
    let view = StudentsPage {
        frame: visitor.frame(t!("Students")),
        day: visitor.calendar.day(today),
        list,
    };
    show_list("students", &view.list, &view)
}

/// The numbers that decide which students the page shows.
fn deciding_work(query: &ListQuery) -> DecidingWork {
    match query.order().0 {
        _ if query.needs_all_cells() => DecidingWork::Everything,
        "goal" => DecidingWork::Everything,
        "xp" | "accuracy" | "minutes" | "seen" => DecidingWork::Sums,
        _ => DecidingWork::Nothing,
    }
}

/// The cell of a student's day in a column of the list.
fn cell(day: &StudentDay, column: &str, now: Timestamp) -> Cell {
    let id = &day.learner.id;
    let to = |cell: Cell| cell.to(links::events_behind(id, &day.date, &day.date, ""));
    match column {
        "name" => name(day).to(links::student(id)),
        "grade" => Cell::of(day.learner.grade.as_str(), words::grade(&day.learner.grade)),
        "school" => Cell::text(&day.school),
        "xp" => to(Cell::thousandths(day.xp())),
        "goal" => goal(day),
        "accuracy" => to(accuracy(&day.sums)),
        "minutes" => to(Cell::minutes(day.sums.of(Measure::Active))),
        // The last column.
        _ => last_seen_cell(day, now),
    }
}

/// The name. Students who are not enrolled now are marked.
fn name(day: &StudentDay) -> Cell {
    let name = day.learner.name();
    match day.is_enrolled {
        true => Cell::text(name),
        false => Cell::of(name.as_str(), t!("{name} (not enrolled)", name = name.as_str())),
    }
}

/// The daily goal for all subjects, linked to the student's page, which splits it by subject.
pub(super) fn goal(day: &StudentDay) -> Cell {
    match day.goal_xp {
        0 => Cell::none(),
        goal => Cell::count(goal).to(links::student(&day.learner.id)),
    }
}

/// The share of right answers.
pub(super) fn accuracy(sums: &MeasureSums) -> Cell {
    Cell::share(sums.of(Measure::CorrectQuestions), sums.of(Measure::TotalQuestions))
}

/// The time since the last event of the day.
pub(super) fn last_seen_cell(day: &StudentDay, now: Timestamp) -> Cell {
    match day.last {
        Some(last) => Cell::of(last.to_string(), words::ago(last, now)),
        None => Cell::missing(&t!("not today")),
    }
}
