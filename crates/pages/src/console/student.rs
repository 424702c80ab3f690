//! A student: goals, totals by day and subject, and the events behind each number.

pub(crate) mod view;

use lyceum_adaptive::screens::student as screen;
use lyceum_adaptive::screens::teaching::{self, AssignableTests};
use lyceum_adaptive::time_limit::ExtraTime;
use lyceum_api::bridge::school_hours::moment;
use lyceum_api::{Context, Route};
use lyceum_bridge::analytics::ContributingEvent;
use lyceum_bridge::today::SubjectDay;
use lyceum_console::chart::{self, Bar};
use lyceum_console::{Cell, List, ListQuery, Row, links, plural, screens, t, words};
use lyceum_core::{Problem, Result};
use lyceum_events::facts::{Measure, MeasureSums};
use lyceum_http::answer::Answer;
use lyceum_store::Tx;

use super::answers::{QuestionTextsByPlace, answers, words_of_page};
use super::teaching::forms;
use super::today::label;
use super::visitor::query;
use super::{Visitor, deadline, page, show_list, show_page};
use crate::calendar::Calendar;
use crate::console::student::view::{
    FACTS, GoalRing, StudentEventPage, StudentFactsPage, StudentPage, StudentTotals,
};

/// The numbers of days that charts can show. The first is the default.
const RANGES: [u32; 3] = [30, 7, 90];

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/students/{id}", &screens::STUDENTS, show).within_reach(),
        page("/students/{id}/facts", &screens::STUDENTS, facts).within_reach(),
        page("/students/{id}/event", &screens::STUDENTS, event).within_reach(),
    ]
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let (moment, query) = (moment(&context), query(&context));
    let id = context.param("id").to_owned();
    let chosen = RANGES.into_iter().find(|days| query.parameter("days") == days.to_string());
    let (day_count, of, reach) = (chosen.unwrap_or(RANGES[0]), id.clone(), context.reach());
    let read = move |tx: &mut Tx<'_>| {
        let student = screen::read(tx, &moment, &of, day_count, &reach)?;
        let courses = teaching::of_student(tx, moment.now, &of, &reach)?;
        Ok((student, courses, AssignableTests::read(tx, &reach)?))
    };
    let (student, courses, tests) = context.app.db.scan(deadline(), read).await?;
    let words = words_of_page(&context, &id, &query, &student.answers, &visitor.calendar).await?;
    let page = links::student(&id);
    let extra_time = student.extra_time.unwrap_or(ExtraTime::NONE);
    let whom = (page.as_str(), t!("this student"));
    let teaching = forms(&context, &visitor, whom, courses, tests, Some(extra_time));
    let view =
        StudentPage { teaching: Some(teaching), ..view(&visitor, &id, query, &student, &words) };
    show_list("answers", &view.answers, &view)
}

fn view(
    visitor: &Visitor,
    id: &str,
    query: ListQuery,
    student: &screen::StudentDetails,
    words: &QuestionTextsByPlace,
) -> StudentPage {
    let day_count = student.days.len();
    let ranges = [7, 30, 90].map(|count| {
        let href = query.link(&[("days", &count.to_string()), ("page", "")]);
        (count, count as usize == day_count, href)
    });
    #[expect(clippy::cast_precision_loss, reason = "goals are small")]
    let goal = (student.goal_xp > 0).then_some(student.goal_xp as f64);
    let bars = |measure: Measure, unit: &str, scale: f64| -> Vec<Bar> {
        student
            .days
            .iter()
            .map(|day| bar(id, day, measure, unit, scale, &visitor.calendar))
            .collect()
    };
    let (xp, min) = (t!("XP"), t!("min"));
    let minutes = bars(Measure::Active, &min, 60.0);
    StudentPage {
        frame: visitor.frame(&student.name),
        about: about(id, student),
        reasons: student.reasons.iter().map(label).collect(),
        rings: rings(id, student),
        ranges: ranges.into(),
        has_work: student.total.events > 0,
        xp: chart::bars(&bars(Measure::Xp, &xp, 1.0), &t!("XP by day"), &xp, goal),
        time: chart::bars(&minutes, &t!("Active minutes by day"), &min, None),
        totals: totals(id, student),
        person: links::person(id),
        answers: answers(id, query, &student.answers, words, &visitor.calendar),
        teaching: None,
    }
}

fn about(id: &str, student: &screen::StudentDetails) -> Vec<String> {
    let grades = words::grades(&student.grades);
    let extra_time = student.extra_time.map(describe_extra_time).unwrap_or_default();
    let mut about =
        vec![grades, student.school.clone(), student.email.clone(), id.to_owned(), extra_time];
    about.retain(|part| !part.is_empty());
    about
}

/// Extra time in words, such as "1.5 × the time and 10 minutes in tests".
fn describe_extra_time(ExtraTime { percent, minutes }: ExtraTime) -> String {
    let factor = words::factor(percent);
    match (percent, minutes) {
        (_, 0) => t!("{n} × the time in tests", n = factor),
        (100, _) => plural!(minutes, "{n} minute more in tests", "{n} minutes more in tests"),
        _ => plural!(
            minutes,
            "{factor} × the time and {n} minute more in tests",
            "{factor} × the time and {n} minutes more in tests",
            factor = factor,
        ),
    }
}

/// The bar for one day.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn bar(
    id: &str,
    (day, sums): &(String, MeasureSums),
    measure: Measure,
    unit: &str,
    scale: f64,
    calendar: &Calendar,
) -> Bar {
    let value = sums.of(measure) as f64 / 1000.0 / scale;
    Bar {
        value,
        description: format!("{}: {} {unit}", calendar.named_day(day), words::number(value)),
        href: (sums.of(measure) != 0).then(|| links::events_behind(id, day, day, "")),
        label: calendar.named_day(day),
    }
}

fn rings(id: &str, student: &screen::StudentDetails) -> Vec<GoalRing> {
    let today = student.days.last().map(|(day, _)| day.as_str()).unwrap_or_default();
    student.today.iter().map(|subject| ring(id, subject, today)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a day's sums are small")]
fn ring(id: &str, subject: &SubjectDay, today: &str) -> GoalRing {
    let (xp, goal) = (subject.sums.of(Measure::Xp), subject.goal_xp);
    let shown = words::thousandths(xp);
    let description = match goal {
        0 => t!("{xp} XP, no goal", xp = shown),
        _ => t!("{xp} of {goal} XP", xp = shown, goal = goal),
    };
    GoalRing {
        ring: chart::ring(xp as f64 / 1000.0, goal as f64, &shown, &description),
        href: links::events_behind(id, today, today, &subject.subject),
        subject: subject.subject.clone(),
        description,
    }
}

/// The totals of the days for each subject and for all subjects.
fn totals(id: &str, student: &screen::StudentDetails) -> Vec<StudentTotals> {
    let day =
        |at: Option<&(String, MeasureSums)>| at.map(|(day, _)| day.clone()).unwrap_or_default();
    let (from, to) = (day(student.days.first()), day(student.days.last()));
    let all = (String::new(), student.total);
    let rows = student.subjects.iter().map(|(subject, sums)| (subject.clone(), *sums));
    let row = |(subject, sums): (String, MeasureSums)| {
        let href = links::events_behind(id, &from, &to, &subject);
        total(subject, &sums, href)
    };
    rows.chain([all]).map(row).collect()
}

fn total(subject: String, sums: &MeasureSums, href: String) -> StudentTotals {
    let sum_of = |measure| words::thousandths(sums.of(measure));
    let span = |measure| words::span(sums.of(measure) / 1000);
    let (right, answers) = (sums.of(Measure::CorrectQuestions), sums.of(Measure::TotalQuestions));
    StudentTotals {
        subject,
        href,
        xp: sum_of(Measure::Xp),
        questions: sum_of(Measure::TotalQuestions),
        correct: sum_of(Measure::CorrectQuestions),
        accuracy: words::share(right, answers),
        units: sum_of(Measure::MasteredUnits),
        active: span(Measure::Active),
        waste: span(Measure::Waste),
    }
}

async fn facts(context: Context, visitor: Visitor) -> Result<Answer> {
    let (moment, query) = (moment(&context), query(&context));
    let own = |name| query.parameter(name).to_owned();
    let selection = screen::Selection { from: own("from"), to: own("to"), subject: own("subject") };
    let id = context.param("id").to_owned();
    let (of, reach) = (id.clone(), context.reach());
    let read = move |tx: &mut Tx<'_>| screen::events_behind(tx, &moment, &of, &selection, &reach);
    let found = context.app.db.scan(deadline(), read).await?;
    let screen::Selection { from, to, subject } = &found.selection;
    let [first, last] = [from, to].map(|day| visitor.calendar.named_day(day));
    let days = if from == to { first } else { t!("{first} to {last}", first = first, last = last) };
    let rows = found.events.iter().map(|event| fact(&id, event, &visitor.calendar)).collect();
    let view = StudentFactsPage {
        frame: visitor.frame(t!("Events of {name}", name = found.student)),
        which: if subject.is_empty() { days } else { format!("{days}, {subject}") },
        total: total(subject.clone(), &found.total, String::new()),
        student: (links::student(&id), found.student),
        list: List::new("Events", FACTS, query, rows).or_else("No app sent events for these days."),
    };
    show_list("events", &view.list, &view)
}

fn fact(id: &str, behind: &ContributingEvent, calendar: &Calendar) -> Row {
    let event = &behind.logged.event;
    let href = links::student_event(id, behind.logged.seq);
    let cell_of = |measure| Cell::thousandths(behind.sums.of(measure)).to(&href);
    let minutes = |measure| Cell::minutes(behind.sums.of(measure)).to(&href);
    let content = event.content();
    let object = &content["object"];
    let titles = [&object["activity"]["name"], &object["name"], &content["type"]];
    let title = titles.into_iter().find_map(|title| title.as_str()).unwrap_or("event");
    vec![
        Cell::when(event.time, calendar.moment(event.time)),
        Cell::text(&behind.subject),
        Cell::text(&behind.app),
        Cell::text(title).to(&href),
        cell_of(Measure::Xp),
        cell_of(Measure::TotalQuestions),
        cell_of(Measure::CorrectQuestions),
        cell_of(Measure::MasteredUnits),
        minutes(Measure::Active),
        minutes(Measure::Waste),
    ]
}

async fn event(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let number: i64 = query(&context).parameter("number").parse().unwrap_or_default();
    let (of, reach) = (id.clone(), context.reach());
    let found = context.app.db.read(move |tx| screen::event(tx, &of, number, &reach)).await?;
    let logged = &found.logged;
    let body = serde_json::to_string_pretty(&logged.event.content()).map_err(Problem::internal)?;
    let facts = vec![
        (t!("Id"), logged.event.id.clone()),
        (t!("Happened"), visitor.calendar.moment_with_seconds(logged.event.time)),
        (t!("Sent"), visitor.calendar.moment_with_seconds(logged.event.send_time)),
        (t!("Arrived"), visitor.calendar.moment_with_seconds(logged.received)),
        (t!("Sensor"), logged.event.sensor.clone()),
        (t!("Client"), logged.client.clone()),
    ];
    let (frame, student) =
        (visitor.frame(t!("Event {n}", n = number)), (links::student(&id), found.student));
    show_page(&StudentEventPage { frame, student, facts, body })
}
