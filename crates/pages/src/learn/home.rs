//! The home of a student.

pub(crate) mod view;

use lyceum_access::StudentSession;
use lyceum_adaptive::LessonType;
use lyceum_adaptive::screens::home::{self as screen, AssignedTest, StudentHome};
use lyceum_adaptive::student_lessons::{
    CourseUnit, FoundLesson, LessonKind, LessonStanding, Material, StudentCourse, StudentLesson,
};
use lyceum_api::{Context, Route};
use lyceum_bridge::today::SubjectDay;
use lyceum_console::chart::{self, Bar};
use lyceum_console::{links, plural, t, words};
use lyceum_core::Result;
use lyceum_credentials::issued::{self, IssuedCredential};
use lyceum_credentials::screens as credentials;
use lyceum_events::facts::Measure;
use lyceum_hosting::class_apps::{self, ClassApp};
use lyceum_http::answer::Answer;
use lyceum_http::render::as_page;
use serde_json::Value;

use super::{frame, of_student, page};
use crate::calendar::Calendar;
use crate::console::deadline;
use crate::learn::home::view::{
    AppLine, BadgeLine, CourseLines, LessonLine, StudentHomePage, SubjectRing, UnitLines,
};
use crate::limits::STUDENT_BADGES_MAX_COUNT;

pub(super) fn routes() -> Vec<Route> {
    vec![page("", StudentSession::Class, show)]
}

async fn show(context: Context) -> Result<Answer> {
    let calendar = Calendar::of(&context.app, &context.headers);
    let zone = calendar.zone.clone();
    let read = of_student(&context, move |tx, lesson_context, student| {
        let home = screen::read(tx, lesson_context, &zone, student)?;
        let apps = class_apps::of_student(tx, lesson_context.now, student)?;
        let badges = issued::of_learner(tx, student, STUDENT_BADGES_MAX_COUNT)?;
        Ok((home, apps, badges))
    })?;
    let (home, apps, badges) = context.app.db.scan(deadline(), read).await?;
    let view = view(&context, &calendar, &home, apps, &badges)?;
    Ok(as_page(lyceum_console::html(&view)?))
}

fn view(
    context: &Context,
    calendar: &Calendar,
    home: &StudentHome,
    apps: Vec<ClassApp>,
    badges: &[IssuedCredential],
) -> Result<StudentHomePage> {
    let now = context.app.clock.now();
    let until = |one: &AssignedTest| match one.expires {
        Some(expires) if expires > now => {
            let day = one.last_day.map(|day| calendar.day(day));
            t!("until {time}", time = day.unwrap_or_else(|| calendar.moment(expires)))
        }
        _ => String::new(),
    };
    let app = |app: ClassApp| AppLine {
        href: format!("/play/{}", app.slug),
        name: app.display_name,
        emoji: app.emoji.unwrap_or_default(),
    };
    let (week, week_text) = week(home);
    Ok(StudentHomePage {
        frame: frame(context, t!("Hello {name}", name = home.name))?,
        next: home.next.as_ref().map(next),
        rings: home.today.iter().map(ring).collect(),
        streak: streak(home),
        week,
        week_text,
        assigned: home
            .assigned
            .iter()
            .map(|one| LessonLine { about: until(one), ..line(&one.lesson) })
            .collect(),
        apps: apps.into_iter().map(app).collect(),
        courses: home.courses.iter().map(|course| lines(course, home.next.as_ref())).collect(),
        badges: badges
            .iter()
            .rev()
            .map(|badge| badge_line(badge, calendar))
            .collect::<Result<_>>()?,
    })
}

fn next(FoundLesson { lesson, course }: &FoundLesson) -> LessonLine {
    let line = line(lesson);
    LessonLine { about: format!("{} · {}", course.title, line.kind), ..line }
}

#[expect(clippy::cast_precision_loss, reason = "a day's sums are small")]
fn ring(subject: &SubjectDay) -> SubjectRing {
    let (xp, goal) = (subject.sums.of(Measure::Xp), subject.goal_xp);
    let shown = words::thousandths(xp);
    let description = match goal {
        0 => t!("{xp} XP", xp = shown),
        _ => t!("{xp} of {goal} XP", xp = shown, goal = goal),
    };
    SubjectRing {
        ring: chart::ring(xp as f64 / 1000.0, goal as f64, &shown, &description),
        subject: subject.subject.clone(),
        description,
    }
}

fn streak(home: &StudentHome) -> String {
    match (home.streak_days, home.is_active_today) {
        (0, _) => t!("Answer a question today to start a streak."),
        (days, true) => plural!(days, "{n} day in a row", "{n} days in a row"),
        (days, false) => plural!(
            days,
            "{n} day in a row. Work today to go on.",
            "{n} days in a row. Work today to go on.",
        ),
    }
}

/// The last seven days as a picture and in words.
#[expect(clippy::cast_precision_loss, reason = "a day's sums are small")]
fn week(home: &StudentHome) -> (chart::Svg, String) {
    let mut bars = Vec::new();
    for (day, xp) in &home.week {
        bars.push(Bar {
            value: *xp as f64 / 1000.0,
            description: t!(
                "{day}: {xp} XP",
                day = words::weekday(day.weekday()),
                xp = words::thousandths(*xp),
            ),
            label: words::short_weekday(day.weekday()),
            href: None,
        });
    }
    let days: Vec<&str> = bars.iter().map(|bar| bar.description.as_str()).collect();
    let total: i64 = home.week.iter().map(|(_, xp)| xp).sum();
    let description = t!("XP on the last seven days. {days}", days = days.join(", "));
    let text = t!("{xp} XP in seven days", xp = words::thousandths(total));
    (chart::bars(&bars, &description, &t!("XP"), None), text)
}

fn lines(course: &StudentCourse, next: Option<&FoundLesson>) -> CourseLines {
    let is_done = |lesson: &&StudentLesson| lesson.standing == LessonStanding::Done;
    let unit = |unit: &CourseUnit| UnitLines {
        title: unit.title.clone(),
        done: unit.lessons.iter().filter(is_done).count(),
        is_open: next.is_some_and(|next| {
            next.course.id == course.id && unit.lessons.iter().any(|one| one.id == next.lesson.id)
        }),
        lessons: unit.lessons.iter().map(line).collect(),
    };
    CourseLines {
        title: course.title.clone(),
        done: course.lessons().filter(is_done).count(),
        total: course.lessons().count(),
        units: course.units.iter().map(unit).collect(),
    }
}

fn line(lesson: &StudentLesson) -> LessonLine {
    let (state, tone) = match lesson.standing {
        LessonStanding::NotStarted => (t!("not started"), ""),
        LessonStanding::Started => match lesson.score {
            Some(score) => (t!("{score} of 100", score = score), "warn"),
            None => (t!("started"), "warn"),
        },
        LessonStanding::Waiting => (t!("your teacher reads it"), ""),
        LessonStanding::NotMastered => (t!("try again"), "warn"),
        LessonStanding::Done => (t!("done"), "good"),
    };
    LessonLine {
        title: lesson.title.clone(),
        href: match lesson.kind.can_be_opened() {
            true => links::student_lesson(&lesson.id),
            false => String::new(),
        },
        kind: kind(&lesson.kind),
        about: String::new(),
        state,
        tone,
        is_started: lesson.standing == LessonStanding::Started,
    }
}

/// The sort of a lesson, in a word for children.
fn kind(kind: &LessonKind) -> String {
    match kind {
        LessonKind::Questions(lesson_type) | LessonKind::OutsideTest(lesson_type, _) => {
            match lesson_type {
                LessonType::Powerpath100 => t!("Practice"),
                LessonType::Quiz => t!("Quiz"),
                LessonType::TestOut => t!("Test to skip ahead"),
                LessonType::Placement => t!("Test to find your grade"),
                LessonType::UnitTest => t!("Unit test"),
                LessonType::Reading => t!("Reading"),
            }
        }
        LessonKind::Material(Material::Video, _) => t!("Video"),
        LessonKind::Material(Material::Audio, _) => t!("Listening"),
        LessonKind::Material(Material::Picture, _) => t!("Picture"),
        LessonKind::Material(Material::Text, _) => t!("Text"),
        LessonKind::Material(Material::Page, _) => t!("Page"),
        LessonKind::App(_) => t!("App"),
        LessonKind::Unknown => t!("Cannot be opened here"),
    }
}

fn badge_line(badge: &IssuedCredential, calendar: &Calendar) -> Result<BadgeLine> {
    Ok(BadgeLine {
        title: credentials::title(&Value::from(badge.object()?)),
        day: calendar.day_of(badge.signed.valid_from),
        href: format!("/credentials/{}", badge.id),
        image: format!("/credentials/{}.svg", badge.id),
    })
}
