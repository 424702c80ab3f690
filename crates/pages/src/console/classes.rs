//! Classes: the list of classes, and a page for each class with the work of its students by day.

pub(crate) mod view;

use lyceum_adaptive::screens::teaching::{self, AssignableTests};
use lyceum_api::bridge::school_hours::moment;
use lyceum_api::{Context, Route};
use lyceum_bridge::screens::class::{self as screen, ClassWork, StudentWork};
use lyceum_console::plot::{self, Point};
use lyceum_console::{
    Cell, List, ListFilter, ListQuery, Row, ShownPlaces, links, plural, screens, t, words,
};
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_events::facts::Measure;
use lyceum_hosting::class_apps::{self, Approver, ClassApp, ClassApps};
use lyceum_http::answer::Answer;
use lyceum_roster::screens::classes::{self, ListedClass};
use lyceum_store::Tx;

use super::students::accuracy;
use super::teaching::forms;
use super::visitor::query;
use super::{Form, Visitor, action, deadline, on_to, page, show_list, show_list_page};
use crate::calendar::Calendar;
use crate::console::classes::view::{
    AppChoice, COLUMNS, ClassPage, FilterOption, HeatCell, HeatRow, STUDENTS, StudentAccuracy,
};

/// The numbers of days that can be shown. The first is the default.
const SPANS: [u32; 4] = [14, 7, 28, 90];
/// The band of accuracy in percent in which practice is most effective.
const BAND: (f64, f64) = (80.0, 85.0);

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/classes", &screens::CLASSES, all).within_reach(),
        page("/classes/{id}", &screens::CLASSES, one).within_reach(),
        action("/classes/{id}/apps/approve", &screens::CLASSES, approve).within_reach(),
        action("/classes/{id}/apps/withdraw", &screens::CLASSES, withdraw).within_reach(),
    ]
}

async fn all(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let filter = classes::ClassFilter {
        school: query.parameter("school").to_owned(),
        subject: query.parameter("subject").to_owned(),
    };
    let (reach, now, asked) = (context.reach(), context.app.clock.now(), query.clone());
    let sizes_decide =
        query.needs_all_cells() || ["students", "teachers"].contains(&query.order().0);
    let read = move |tx: &mut Tx<'_>| {
        let show = |classes: &[ListedClass]| {
            let shown = ShownPlaces::of(COLUMNS, &asked, classes, cell);
            (shown.places, shown.total)
        };
        classes::read(tx, now, &filter, sizes_decide, show, &reach)
    };
    let found = context.app.db.scan(deadline(), read).await?;
    let list = List::of_shown("Classes", COLUMNS, query, &found.shown, found.total, cell)
        .or_else("There are no classes yet. Import a roster, or create classes over the API.")
        .choice(ListFilter::of("school", "School", found.schools.iter().map(|name| (name, name))))
        .choice(ListFilter::of(
            "subject",
            "Subject",
            found.subjects.iter().map(|name| (name, name)),
        ));
    show_list_page("classes", visitor.frame(t!("Classes")), list)
}

/// The cell of a class in a column of the list.
fn cell(class: &ListedClass, column: &str) -> Cell {
    let to = links::class(&class.id);
    match column {
        "title" => Cell::text(&class.title).to(to),
        "code" => Cell::text(&class.code),
        "course" => Cell::text(&class.course_title).to(links::course(&class.course)),
        "school" => Cell::text(&class.school),
        "students" => Cell::count(class.members.students).to(to),
        // The last column.
        _ => Cell::count(class.members.teachers).to(to),
    }
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let (moment, query) = (moment(&context), query(&context));
    let chosen = SPANS.into_iter().find(|days| query.parameter("days") == days.to_string());
    let day_count = chosen.unwrap_or(SPANS[0]);
    let (id, subject) = (context.param("id").to_owned(), query.parameter("subject").to_owned());
    let reach = context.reach();
    let read = move |tx: &mut Tx<'_>| {
        let work = screen::read(tx, &moment, &id, day_count, &subject, &reach)?;
        let apps = class_apps::of_class(tx, &id, &reach)?;
        let courses = teaching::of_courses(tx, &[&work.class.course], &reach)?;
        Ok((work, apps, courses, AssignableTests::read(tx, &reach)?))
    };
    let (work, apps, courses, tests) = context.app.db.scan(deadline(), read).await?;
    let subject = query.parameter("subject").to_owned();
    let page = links::class(&work.class.id);
    let whom = (page.as_str(), t!("all students of this class"));
    let teaching = forms(&context, &visitor, whom, courses, tests, None);
    let view = ShownClass { work: &work, subject: &subject }.view(&visitor, query, apps);
    let view = ClassPage { teaching: Some(teaching), ..view };
    show_list("class", &view.list, &view)
}

async fn approve(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    change_app(&context, visitor, &form, class_apps::approve).await
}

async fn withdraw(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    change_app(&context, visitor, &form, class_apps::withdraw).await
}

/// Approves an app for a class, or withdraws the approval: time, caller, class and app, reach.
type ApprovalChange = fn(&mut Tx<'_>, Timestamp, Approver<'_>, (&str, &str), &Reach) -> Result<()>;

/// Changes the approval of the app that the form names.
async fn change_app(
    context: &Context,
    visitor: Visitor,
    form: &Form,
    change: ApprovalChange,
) -> Result<Answer> {
    let (class, app) = (context.param("id").to_owned(), form.field("app").to_owned());
    let (now, reach, path) = (context.app.clock.now(), context.reach(), links::class(&class));
    let write = move |tx: &mut Tx<'_>| {
        let who = Approver { id: &visitor.person.id, name: &visitor.person.email };
        change(tx, now, who, (&class, &app), &reach)
    };
    context.app.db.write(write).await?;
    Ok(on_to(&path))
}

fn app_choices(apps: Vec<ClassApp>) -> Vec<AppChoice> {
    let choice = |app: ClassApp| AppChoice { slug: app.slug, name: app.display_name };
    apps.into_iter().map(choice).collect()
}

fn about(class: &ListedClass) -> Vec<(String, Option<String>)> {
    let students = plural!(class.members.students, "{n} student", "{n} students");
    let mut about = vec![
        (class.course_title.clone(), Some(links::course(&class.course))),
        (class.school.clone(), None),
        (class.code.clone(), None),
        (students, Some("#students".to_owned())),
    ];
    about.retain(|(name, _)| !name.is_empty());
    about
}

/// The data that a class page shows, for one subject or, if `subject` is empty, for all subjects.
struct ShownClass<'a> {
    work: &'a ClassWork,
    subject: &'a str,
}

impl ShownClass<'_> {
    fn view(&self, visitor: &Visitor, query: ListQuery, apps: ClassApps) -> ClassPage {
        let ClassWork { class, days, students, .. } = self.work;
        let rows = students.iter().map(|student| self.row(student)).collect();
        ClassPage {
            frame: visitor.frame(&class.title),
            path: links::class(&class.id),
            about: about(class),
            spans: SPANS.map(|span| self.span(span)).into(),
            subjects: self.subjects(),
            days: days.iter().map(|day| visitor.calendar.named_day(day)).collect(),
            heat: self.heat(&visitor.calendar),
            has_work: students.iter().any(|student| student.total.events > 0),
            scatter: plot::scatter(
                &self.points(),
                &t!("XP against active minutes, one point for each student"),
            ),
            accuracy: students.iter().filter_map(|student| self.accuracy(student)).collect(),
            teaching: None,
            list: List::new("Students", STUDENTS, query, rows),
            apps: app_choices(apps.approved),
            other_apps: app_choices(apps.others),
        }
    }

    fn span(&self, day_count: u32) -> FilterOption {
        FilterOption {
            is_chosen: self.work.days.len() == day_count as usize,
            value: day_count.to_string(),
            name: plural!(day_count, "{n} day", "{n} days"),
        }
    }

    fn subjects(&self) -> Vec<FilterOption> {
        let all = (String::new(), t!("All"));
        let each = self.work.subjects.iter().map(|name| (name.clone(), name.clone()));
        std::iter::once(all)
            .chain(each)
            .map(|(value, name)| FilterOption { is_chosen: value == self.subject, value, name })
            .collect()
    }

    /// The page that lists the events of a student on all shown days.
    fn behind(&self, student: &StudentWork) -> String {
        let day = |at: Option<&String>| at.cloned().unwrap_or_default();
        let (first, last) = (day(self.work.days.first()), day(self.work.days.last()));
        links::events_behind(&student.id, &first, &last, self.subject)
    }

    fn heat(&self, calendar: &Calendar) -> Vec<HeatRow> {
        let ClassWork { students, days, .. } = self.work;
        let xp = |student: &StudentWork| -> Vec<i64> {
            student.by_day.iter().map(|sums| sums.of(Measure::Xp)).collect()
        };
        let greatest = students.iter().flat_map(xp).max().unwrap_or_default().max(1);
        let row = |student: &StudentWork| {
            let cell = |(day, xp): (&String, i64)| HeatCell {
                description: t!(
                    "{name}, {day}: {xp} XP",
                    name = student.name,
                    day = calendar.named_day(day),
                    xp = words::thousandths(xp),
                ),
                ..self.cell(student, day, xp, greatest)
            };
            HeatRow {
                name: student.name.clone(),
                href: links::student(&student.id),
                cells: days.iter().zip(xp(student)).map(cell).collect(),
            }
        };
        students.iter().map(row).collect()
    }

    fn cell(&self, student: &StudentWork, day: &str, xp: i64, greatest: i64) -> HeatCell {
        let shown = if xp == 0 { String::new() } else { words::thousandths(xp) };
        HeatCell {
            level: usize::try_from((xp.max(0) * 4 + greatest - 1) / greatest).unwrap_or(4).min(4),
            description: String::new(),
            href: links::events_behind(&student.id, day, day, self.subject),
            shown,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    fn points(&self) -> Vec<Point> {
        let active = self.work.students.iter().filter(|student| student.total.events > 0);
        let point = |student: &StudentWork| {
            let xp = student.total.of(Measure::Xp);
            let minutes = student.total.of(Measure::Active) as f64 / 60_000.0;
            Point {
                x: minutes,
                y: xp as f64 / 1000.0,
                description: t!(
                    "{name}: {xp} XP in {minutes} minutes",
                    name = student.name,
                    xp = words::thousandths(xp),
                    minutes = minutes,
                ),
                href: self.behind(student),
            }
        };
        active.map(point).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    fn accuracy(&self, student: &StudentWork) -> Option<StudentAccuracy> {
        let sums = &student.total;
        let (right, all) = (sums.of(Measure::CorrectQuestions), sums.of(Measure::TotalQuestions));
        (all > 0).then(|| StudentAccuracy {
            name: student.name.clone(),
            line: plot::accuracy(right as f64 * 100.0 / all as f64, BAND),
            shown: words::share(right, all),
            href: self.behind(student),
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    fn row(&self, student: &StudentWork) -> Row {
        let to = |cell: Cell| cell.to(self.behind(student));
        let sum_of = |measure| student.total.of(measure);
        let time = sum_of(Measure::Active);
        let pace = sum_of(Measure::Xp) as f64 * 60.0 / (time.max(1) as f64);
        vec![
            Cell::text(&student.name).to(links::student(&student.id)),
            to(Cell::thousandths(sum_of(Measure::Xp))),
            to(Cell::minutes(time)),
            if time > 0 { to(Cell::of(pace, words::number(pace))) } else { Cell::none() },
            to(Cell::thousandths(sum_of(Measure::TotalQuestions))),
            to(accuracy(&student.total)),
            to(Cell::thousandths(sum_of(Measure::MasteredUnits))),
            to(Cell::count(student.active_day_count())),
        ]
    }
}
