//! One student: rings, sums by day and subject, the events behind numbers.

use std::collections::HashMap;

use lyceum_adaptive::repository::log::{self, Asked};
use lyceum_adaptive::today as learning;
use lyceum_bridge::analytics::{self, Behind, Report, Who};
use lyceum_bridge::need::Need;
use lyceum_bridge::today::SubjectDay;
use lyceum_bridge::zone::{Range, Zone};
use lyceum_console::chart::{self, Bar};
use lyceum_console::student::{Event, FACTS, Facts, Ring, Student, Total};
use lyceum_console::{Cell, List, Row, screens, words};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_events::facts::{Measure, Sums};
use lyceum_roster::fields;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, ORG, USER};
use lyceum_roster::record::Object;
use lyceum_store::Tx;

use super::answers::answers;
use super::students::{behind, link, minutes, xp};
use super::today::label;
use super::visitor::query;
use super::{Visitor, deadline, listed, page, shown};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::Route;

/// Days that charts show: the first unless another is chosen.
const RANGES: [u32; 3] = [30, 7, 90];

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/students/{id}", &screens::STUDENTS, show),
        page("/students/{id}/facts", &screens::STUDENTS, facts),
        page("/students/{id}/event", &screens::STUDENTS, event),
    ]
}

/// What the page is made from.
struct Known {
    user: Object,
    school: String,
    need: Need,
    subjects: Vec<SubjectDay>,
    report: Report,
    asked: Vec<Asked>,
    lessons: HashMap<String, Object>,
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let (now, zone, id) =
        (context.app.clock.now(), visitor.zone.clone(), context.param("id").to_owned());
    let query = query(&context);
    let chosen = RANGES.into_iter().find(|days| query.own("days") == days.to_string());
    let days = zone.days(now, chosen.unwrap_or(RANGES[0]));
    let (first, today) = (days[0].to_string(), days[days.len() - 1].to_string());
    let range = Range::inclusive(&zone, Some(&first), Some(&today))?;
    let (of, asked_zone) = (id.clone(), zone.clone());
    let known = context.app.db.scan(deadline(), move |tx| {
        let user = fields::in_use(tx, &USER, &of)?;
        let (need, subjects) = learning::student(tx, now, &asked_zone, &of)?;
        let report = analytics::activity(tx, Who::Id(&of), range, &asked_zone)?;
        let asked = log::asked(tx, &of)?;
        let ids = asked.iter().map(|asked| asked.lesson.as_str());
        let lessons = fields::of_all(tx, &COMPONENT_RESOURCE, ids)?;
        Ok(Known { school: school(tx, &user)?, user, need, subjects, report, asked, lessons })
    });
    let Known { user, school, need, subjects, report, asked, lessons } = known.await?;
    let by_day = |measure: Measure, unit: &str, scale: f64| -> Vec<Bar> {
        let bar = |day| bar(&id, &report, day, measure, (unit, scale));
        days.iter().map(bar).collect()
    };
    let goal: i64 = subjects.iter().map(|subject| subject.goal_xp).sum();
    #[expect(clippy::cast_precision_loss, reason = "goals are small")]
    let goal = (goal > 0).then_some(goal as f64);
    let ranges = [7, 30, 90].map(|count| {
        let value = count.to_string();
        (count, count as usize == days.len(), query.link(&[("days", &value), ("page", "")]))
    });
    let view = Student {
        frame: visitor.frame(name(&user)),
        about: about(&user, &school),
        reasons: need.reasons.iter().map(label).collect(),
        rings: subjects.iter().map(|subject| ring(&id, subject, &today)).collect(),
        ranges: ranges.into(),
        has_work: !report.facts.is_empty(),
        xp: chart::bars(&by_day(Measure::Xp, "XP", 1.0), "XP by day", "XP", goal),
        time: chart::bars(
            &by_day(Measure::Active, "min", 60.0),
            "Active minutes by day",
            "min",
            None,
        ),
        totals: totals(&id, &report, &first, &today),
        answers: answers(&id, query, &asked, &lessons, &zone),
        id,
    };
    listed("answers", &view.answers, &view)
}

/// The bar of a day.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn bar(
    id: &str,
    report: &Report,
    day: &impl ToString,
    measure: Measure,
    (unit, scale): (&str, f64),
) -> Bar {
    let day = day.to_string();
    let of_day = report.facts.iter().filter(|(known, _)| known.0.to_string() == day);
    let sum: i64 = of_day.flat_map(|(_, facts)| facts.values()).map(|m| m.sums.of(measure)).sum();
    let value = sum as f64 / 1000.0 / scale;
    Bar {
        value,
        says: format!("{day}: {} {unit}", words::number(value)),
        href: (sum != 0).then(|| behind(id, &day, &day, "")),
        label: day[5..].to_owned(),
    }
}

fn name(user: &Object) -> String {
    let names = [fields::text(user, "givenName"), fields::text(user, "familyName")].join(" ");
    if names.trim().is_empty() {
        return fields::text(user, "sourcedId").to_owned();
    }
    names.trim().to_owned()
}

fn school(tx: &mut Tx<'_>, user: &Object) -> Result<String> {
    let orgs = fields::of_all(tx, &ORG, std::iter::once(fields::reference(user, "primaryOrg")))?;
    Ok(orgs.values().next().map(|org| fields::text(org, "name").to_owned()).unwrap_or_default())
}

fn about(user: &Object, school: &str) -> Vec<String> {
    let grades = fields::texts(user, "grades").join(", ");
    let grade = if grades.is_empty() { String::new() } else { format!("Grade {grades}") };
    let mut about = vec![
        grade,
        school.to_owned(),
        fields::text(user, "email").to_owned(),
        fields::text(user, "sourcedId").to_owned(),
    ];
    about.retain(|part| !part.is_empty());
    about
}

#[expect(clippy::cast_precision_loss, reason = "a day's sums are small")]
fn ring(id: &str, subject: &SubjectDay, today: &str) -> Ring {
    let (xp, goal) = (subject.sums.of(Measure::Xp), subject.goal_xp);
    let shown = words::thousandths(xp);
    let says = match goal {
        0 => format!("{shown} XP, no goal"),
        _ => format!("{shown} of {goal} XP"),
    };
    Ring {
        ring: chart::ring(xp as f64 / 1000.0, goal as f64, &shown, &says),
        href: behind(id, today, today, &subject.subject),
        subject: subject.subject.clone(),
        says,
    }
}

/// The range by subject, and in all.
fn totals(id: &str, report: &Report, from: &str, to: &str) -> Vec<Total> {
    let mut subjects: Vec<(String, Sums)> = Vec::new();
    let mut all = Sums::default();
    for (subject, metrics) in report.facts.values().flatten() {
        all.add(&metrics.sums, 1);
        match subjects.iter_mut().find(|(known, _)| known == subject) {
            Some((_, sums)) => sums.add(&metrics.sums, 1),
            None => subjects.push((subject.clone(), metrics.sums)),
        }
    }
    subjects.sort_by(|a, b| a.0.cmp(&b.0));
    subjects.push((String::new(), all));
    let rows = subjects.into_iter();
    rows.map(|(subject, sums)| {
        let href = behind(id, from, to, &subject);
        total(subject, &sums, href)
    })
    .collect()
}

fn total(subject: String, sums: &Sums, href: String) -> Total {
    let of = |measure| words::thousandths(sums.of(measure));
    let span = |measure| words::span(sums.of(measure) / 1000);
    let (right, answers) = (sums.of(Measure::CorrectQuestions), sums.of(Measure::TotalQuestions));
    Total {
        subject,
        href,
        xp: of(Measure::Xp),
        questions: of(Measure::TotalQuestions),
        correct: of(Measure::CorrectQuestions),
        accuracy: words::share(right, answers),
        units: of(Measure::MasteredUnits),
        active: span(Measure::Active),
        waste: span(Measure::Waste),
    }
}

/// The student that a page below is about: page and name.
pub(super) fn whose(tx: &mut Tx<'_>, id: &str) -> Result<(String, String)> {
    let user = fields::in_use(tx, &USER, id)?;
    Ok((link(id), name(&user)))
}

async fn facts(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, zone, query) = (context.param("id").to_owned(), visitor.zone.clone(), query(&context));
    let today = zone.day_of(context.app.clock.now()).to_string();
    let or_today = |name| match query.own(name) {
        "" => today.clone(),
        day => day.to_owned(),
    };
    let (from, to, subject) = (or_today("from"), or_today("to"), query.own("subject").to_owned());
    let range = Range::inclusive(&zone, Some(&from), Some(&to))?;
    let (of, only) = (id.clone(), subject.clone());
    let found = context.app.db.scan(deadline(), move |tx| {
        let only = (!only.is_empty()).then_some(only.as_str());
        Ok((whose(tx, &of)?, analytics::behind(tx, Who::Id(&of), range, only)?))
    });
    let (student, events) = found.await?;
    let mut sums = Sums::default();
    for event in &events {
        sums.add(&event.sums, 1);
    }
    let rows = events.iter().map(|event| fact(&id, event, &zone)).collect();
    let days = if from == to { from } else { format!("{from} to {to}") };
    let view = Facts {
        frame: visitor.frame(format!("Events of {}", student.1)),
        which: if subject.is_empty() { days } else { format!("{days}, {subject}") },
        total: total(subject, &sums, String::new()),
        student,
        list: List::new("Events", FACTS, query, rows)
            .or_else("No event has a part in these days: nothing was sent."),
    };
    listed("events", &view.list, &view)
}

fn fact(id: &str, behind: &Behind, zone: &Zone) -> Row {
    let event = &behind.logged.event;
    let href = format!("{}/event?number={}", link(id), behind.logged.seq);
    let of = |measure| xp(behind.sums.of(measure)).to(&href);
    let content = event.content();
    let object = &content["object"];
    let titles = [&object["activity"]["name"], &object["name"], &content["type"]];
    let title = titles.into_iter().find_map(|title| title.as_str()).unwrap_or("event");
    vec![
        Cell::when(event.time, zone.written(event.time)),
        Cell::text(&behind.subject),
        Cell::text(&behind.app),
        Cell::text(title).to(&href),
        of(Measure::Xp),
        of(Measure::TotalQuestions),
        of(Measure::CorrectQuestions),
        of(Measure::MasteredUnits),
        minutes(behind.sums.of(Measure::Active)).to(&href),
        minutes(behind.sums.of(Measure::Waste)).to(&href),
    ]
}

async fn event(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let number: i64 = query(&context).own("number").parse().unwrap_or_default();
    let of = id.clone();
    let found = context.app.db.read(move |tx| {
        let student = whose(tx, &of)?;
        let mut found = None;
        lyceum_events::scan(tx, number.saturating_sub(1), 1, |logged| {
            found = Some(logged).filter(|logged| logged.seq == number);
            Ok(())
        })?;
        let actors = analytics::actors_of(tx, Who::Id(&of))?;
        Ok((student, found.filter(|logged| actors.contains(&logged.actor))))
    });
    let (student, Some(logged)) = found.await? else {
        let message = format!("the student '{id}' has no event {number} that counts");
        return Err(Problem::new(ProblemKind::NotFound, message));
    };
    let body = serde_json::to_string_pretty(&logged.event.content()).map_err(Problem::internal)?;
    let facts = vec![
        ("Id", logged.event.id.clone()),
        ("Happened", visitor.zone.written(logged.event.time)),
        ("Sent", visitor.zone.written(logged.event.send_time)),
        ("Arrived", visitor.zone.written(logged.received)),
        ("Sensor", logged.event.sensor.clone()),
        ("Client", logged.client.clone()),
    ];
    shown(&Event { frame: visitor.frame(format!("Event {number}")), student, facts, body })
}
