//! Classes: all of them; one with what its students did by day.

use lyceum_bridge::analytics::Report;
use lyceum_bridge::classes::{self, Class, Work};
use lyceum_bridge::zone::Range;
use lyceum_console::classes::{
    Accuracy, COLUMNS, Chosen, Class as ClassPage, Classes, HeatCell, HeatRow, STUDENTS,
};
use lyceum_console::plot::{self, Point};
use lyceum_console::{Cell, Choice, List, Row, screens, words};
use lyceum_core::Result;
use lyceum_core::text::segment;
use lyceum_events::facts::{Measure, Sums};

use super::students::{accuracy, behind, link as student_link, minutes, xp};
use super::visitor::query;
use super::{Visitor, deadline, listed, page};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::Route;

/// Days that can be shown: the first unless another is chosen.
const SPANS: [u32; 4] = [14, 7, 28, 90];
/// Percent of right answers between which practice teaches most.
const BAND: (f64, f64) = (80.0, 85.0);

pub(super) fn routes() -> Vec<Route> {
    vec![page("/classes", &screens::CLASSES, all), page("/classes/{id}", &screens::CLASSES, one)]
}

/// The page of a class.
pub(super) fn link(id: &str) -> String {
    format!("/console/classes/{}", segment(id))
}

async fn all(context: Context, visitor: Visitor) -> Result<Answer> {
    let found = context.app.db.scan(deadline(), classes::all).await?;
    let query = query(&context);
    let (school, subject) = (query.own("school").to_owned(), query.own("subject").to_owned());
    let (mut schools, mut subjects): (Vec<_>, Vec<_>) = (
        found.iter().map(|class| class.school.clone()).collect(),
        found.iter().flat_map(|class| class.subjects.clone()).collect(),
    );
    for names in [&mut schools, &mut subjects] {
        names.sort();
        names.dedup();
        names.retain(|name| !name.is_empty());
    }
    let is_wanted = |class: &&Class| {
        (school.is_empty() || class.school == school)
            && (subject.is_empty() || class.subjects.contains(&subject))
    };
    let rows = found.iter().filter(is_wanted).map(row).collect();
    let list = List::new("Classes", COLUMNS, query, rows)
        .or_else("There are no classes yet. Import a roster, or create classes over the API.")
        .choice(Choice::of("school", "School", schools.iter().map(|name| (name, name))))
        .choice(Choice::of("subject", "Subject", subjects.iter().map(|name| (name, name))));
    let view = Classes { frame: visitor.frame("Classes"), list };
    listed("classes", &view.list, &view)
}

fn row(class: &Class) -> Row {
    vec![
        Cell::text(&class.title).to(link(&class.id)),
        Cell::text(&class.code),
        Cell::text(&class.course_title).to(super::courses::link(&class.course)),
        Cell::text(&class.school),
        Cell::of(class.members.students, class.members.students.to_string()).to(link(&class.id)),
        Cell::of(class.members.teachers, class.members.teachers.to_string()).to(link(&class.id)),
    ]
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let (now, zone, id) =
        (context.app.clock.now(), visitor.zone.clone(), context.param("id").to_owned());
    let query = query(&context);
    let chosen = SPANS.into_iter().find(|days| query.own("days") == days.to_string());
    let days: Vec<String> =
        zone.days(now, chosen.unwrap_or(SPANS[0])).iter().map(ToString::to_string).collect();
    let (first, last) = (days[0].clone(), days[days.len() - 1].clone());
    let range = Range::inclusive(&zone, Some(&first), Some(&last))?;
    let of = id.clone();
    let found = context.app.db.scan(deadline(), move |tx| {
        Ok((classes::one(tx, &of)?, classes::work(tx, &of, range, &zone)?))
    });
    let (class, work) = found.await?;
    let subject = query.own("subject").to_owned();
    let asked = Asked { days: &days, subject: &subject };
    let done: Vec<(&Work, Sums)> = work.iter().map(|one| (one, asked.sums(&one.report))).collect();
    let rows = done.iter().map(|(one, sums)| asked.row(one, sums)).collect();
    let view = ClassPage {
        frame: visitor.frame(class.title.clone()),
        path: link(&id),
        about: about(&class),
        spans: SPANS
            .map(|span| (span.to_string(), format!("{span} days")))
            .map(|(value, name)| Chosen { is_chosen: value == days.len().to_string(), value, name })
            .into(),
        subjects: asked.subjects(&work),
        days: days.iter().map(|day| day[5..].to_owned()).collect(),
        heat: asked.heat(&work),
        has_work: done.iter().any(|(_, sums)| sums.events > 0),
        scatter: plot::scatter(
            &asked.points(&done),
            "XP against active minutes, a point a student",
        ),
        accuracy: done.iter().filter_map(|(one, sums)| asked.accuracy(one, sums)).collect(),
        list: List::new("Students", STUDENTS, query, rows),
    };
    listed("class", &view.list, &view)
}

fn about(class: &Class) -> Vec<(String, Option<String>)> {
    let students = match class.members.students {
        1 => "1 student".to_owned(),
        many => format!("{many} students"),
    };
    let mut about = vec![
        (class.course_title.clone(), Some(super::courses::link(&class.course))),
        (class.school.clone(), None),
        (class.code.clone(), None),
        (students, Some("#students".to_owned())),
    ];
    about.retain(|(name, _)| !name.is_empty());
    about
}

/// What is shown of a class: which days, of which subject; an empty one means all.
struct Asked<'a> {
    days: &'a [String],
    subject: &'a str,
}

impl Asked<'_> {
    /// The sums of a day, or of all days.
    fn of_day(&self, report: &Report, wanted: Option<&str>) -> Sums {
        let mut sums = Sums::default();
        for (day, subjects) in &report.facts {
            if wanted.is_none_or(|wanted| day.0.to_string() == wanted) {
                for (_, metrics) in subjects.iter().filter(|(subject, _)| self.shows(subject)) {
                    sums.add(&metrics.sums, 1);
                }
            }
        }
        sums
    }

    fn sums(&self, report: &Report) -> Sums {
        self.of_day(report, None)
    }

    fn shows(&self, subject: &str) -> bool {
        self.subject.is_empty() || self.subject.eq_ignore_ascii_case(subject)
    }

    /// The events behind what a student did on all days.
    fn behind(&self, one: &Work) -> String {
        behind(&one.id, &self.days[0], &self.days[self.days.len() - 1], self.subject)
    }

    /// The subjects that anybody did anything in, and all of them.
    fn subjects(&self, work: &[Work]) -> Vec<Chosen> {
        let of = |one: &Work| {
            one.report.facts.values().flat_map(|day| day.keys().cloned()).collect::<Vec<_>>()
        };
        let mut names: Vec<String> = work.iter().flat_map(of).collect();
        if !self.subject.is_empty() {
            names.push(self.subject.to_owned());
        }
        names.sort();
        names.dedup();
        let all = std::iter::once((String::new(), "All".to_owned()));
        let each = names.into_iter().map(|name| (name.clone(), name));
        all.chain(each)
            .map(|(value, name)| Chosen { is_chosen: value == self.subject, value, name })
            .collect()
    }

    fn heat(&self, work: &[Work]) -> Vec<HeatRow> {
        let by_day = |one: &Work| -> Vec<i64> {
            self.days
                .iter()
                .map(|day| self.of_day(&one.report, Some(day)).of(Measure::Xp))
                .collect()
        };
        let sums: Vec<Vec<i64>> = work.iter().map(by_day).collect();
        let greatest = sums.iter().flatten().copied().max().unwrap_or_default().max(1);
        let row = |(one, sums): (&Work, Vec<i64>)| HeatRow {
            name: one.name.clone(),
            href: student_link(&one.id),
            cells: self
                .days
                .iter()
                .zip(sums)
                .map(|(day, xp)| self.cell(one, day, xp, greatest))
                .collect(),
        };
        work.iter().zip(sums).map(row).collect()
    }

    fn cell(&self, one: &Work, day: &str, xp: i64, greatest: i64) -> HeatCell {
        let shown = if xp == 0 { String::new() } else { words::thousandths(xp) };
        HeatCell {
            level: usize::try_from((xp.max(0) * 4 + greatest - 1) / greatest).unwrap_or(4).min(4),
            says: format!("{}, {day}: {shown} XP", one.name),
            href: behind(&one.id, day, day, self.subject),
            shown,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    fn points(&self, done: &[(&Work, Sums)]) -> Vec<Point> {
        let active = done.iter().filter(|(_, sums)| sums.events > 0);
        let point = |(one, sums): &(&Work, Sums)| {
            let (xp, time) = (sums.of(Measure::Xp), sums.of(Measure::Active));
            let minutes = time as f64 / 60_000.0;
            Point {
                x: minutes,
                y: xp as f64 / 1000.0,
                says: format!(
                    "{}: {} XP in {} minutes",
                    one.name,
                    words::thousandths(xp),
                    words::number(minutes)
                ),
                href: self.behind(one),
            }
        };
        active.map(point).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    fn accuracy(&self, one: &Work, sums: &Sums) -> Option<Accuracy> {
        let (right, all) = (sums.of(Measure::CorrectQuestions), sums.of(Measure::TotalQuestions));
        (all > 0).then(|| Accuracy {
            name: one.name.clone(),
            line: plot::accuracy(right as f64 * 100.0 / all as f64, BAND),
            shown: words::share(right, all),
            href: self.behind(one),
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    fn row(&self, one: &Work, sums: &Sums) -> Row {
        let to = |cell: Cell| cell.to(self.behind(one));
        let (points, time) = (sums.of(Measure::Xp), sums.of(Measure::Active));
        let pace = points as f64 * 60.0 / (time.max(1) as f64);
        let questions = sums.of(Measure::TotalQuestions);
        let units = sums.of(Measure::MasteredUnits);
        let days =
            self.days.iter().filter(|day| self.of_day(&one.report, Some(day)).events > 0).count();
        vec![
            Cell::text(&one.name).to(student_link(&one.id)),
            to(xp(points)),
            to(minutes(time)),
            if time > 0 { to(Cell::of(pace, words::number(pace))) } else { Cell::none() },
            to(xp(questions)),
            to(accuracy(sums)),
            to(xp(units)),
            to(Cell::of(days, days.to_string())),
        ]
    }
}
