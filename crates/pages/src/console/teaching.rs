//! Teaching actions for one student or for all students of a class, with the forms on their pages.

pub(crate) mod view;

use lyceum_adaptive::due::DueTime;
use lyceum_adaptive::screens::teaching::{AssignableTests, CourseLessons};
use lyceum_adaptive::teaching::{DAILY_XP_MAX, TeachingAction, TeachingRequest};
use lyceum_adaptive::time_limit::{ExtraTime, ExtraTimeInput};
use lyceum_api::adaptive::teaching::apply;
use lyceum_api::{Context, Route};
use lyceum_console::{links, screens, t, words};
use lyceum_core::time::parse_date;
use lyceum_core::{Message, Problem, Result, message};
use lyceum_http::answer::Answer;

use super::visitor::query;
use super::{Form, Visitor, action, on_to};
use crate::console::teaching::view::{CourseChoice, ExtraTimeFields, TeachingForms};

pub(super) fn routes() -> Vec<Route> {
    vec![
        action("/students/{id}/teaching", &screens::STUDENTS, for_student).within_reach(),
        action("/classes/{id}/teaching", &screens::CLASSES, for_class).within_reach(),
    ]
}

/// The factors of extra time that the form offers, in percent.
const FACTORS: [i64; 4] = [125, 150, 200, 300];
/// The choice that removes extra time.
const NO_EXTRA_TIME: &str = "none";

/// The forms for a student or a class. `page` is the page on which they are, and `current` the extra time that a student
/// has; `None` for a class.
pub(super) fn forms(
    context: &Context,
    visitor: &Visitor,
    (page, whom): (&str, String),
    courses: Vec<CourseLessons>,
    tests: AssignableTests,
    current: Option<ExtraTime>,
) -> TeachingForms {
    let done = query(context).parameter("done").to_owned();
    TeachingForms {
        token: visitor.token().to_owned(),
        path: format!("{page}/teaching"),
        whom,
        courses: courses.into_iter().map(course_choice).collect(),
        subjects: tests.subjects,
        grades: tests.grades,
        extra_time: extra_time_fields(current),
        done: describe(&done),
    }
}

fn extra_time_fields(current: Option<ExtraTime>) -> ExtraTimeFields {
    let percent = current.map(|extra| extra.percent);
    let mut factors = FACTORS.to_vec();
    factors.extend(percent.filter(|percent| *percent > 100 && !FACTORS.contains(percent)));
    factors.sort_unstable();
    let no_extra_time = current == Some(ExtraTime::NONE);
    let only_minutes = percent == Some(100) && !no_extra_time;
    let mut choices = vec![
        (NO_EXTRA_TIME.to_owned(), t!("No extra time"), no_extra_time),
        ("1".to_owned(), t!("only more minutes"), only_minutes),
    ];
    choices.extend(factors.into_iter().map(|factor| {
        #[expect(clippy::cast_precision_loss, reason = "it is small")]
        let value = (factor as f64 / 100.0).to_string();
        (value, t!("{n} ×", n = words::factor(factor)), percent == Some(factor))
    }));
    ExtraTimeFields {
        is_of_student: current.is_some(),
        factors: choices,
        minutes: current.map_or(0, |extra| extra.minutes),
    }
}

fn course_choice(CourseLessons { id, title, lessons }: CourseLessons) -> CourseChoice {
    CourseChoice { id, title, lessons }
}

/// A sentence about the action that was carried out, by the value of the button.
fn describe(action: &str) -> Option<String> {
    Some(match action {
        "assign" => t!("The lesson is assigned."),
        "assign-test" => t!("The test is assigned."),
        "skip" => t!("The lesson is left out of the plan."),
        "unskip" => t!("The lesson is in the plan again."),
        "reset" => t!("The last attempt is reset."),
        "goal" => t!("The daily goal is set."),
        "extra-time" => t!("The extra time is set."),
        _ => return None,
    })
}

async fn for_student(context: Context, _: Visitor, form: Form) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let page = links::student(&id);
    teach(&context, &form, &page, (Some(id), None)).await
}

async fn for_class(context: Context, _: Visitor, form: Form) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let page = links::class(&id);
    teach(&context, &form, &page, (None, Some(id))).await
}

async fn teach(
    context: &Context,
    form: &Form,
    page: &str,
    (student, class): (Option<String>, Option<String>),
) -> Result<Answer> {
    let action = read_action(form)?;
    apply(context, TeachingRequest { student, class, action }).await?;
    Ok(on_to(&format!("{page}?done={}#teaching", form.field("action"))))
}

/// The day `until` at the schools of the students.
fn read_until(form: &Form) -> Result<Option<DueTime>> {
    let text = form.field("until").trim();
    if text.is_empty() {
        return Ok(None);
    }
    let day = parse_date(text).ok_or_else(|| {
        let rule = message!("must be a date such as 2026-11-24: got '{text}'");
        Problem::invalid("until", rule)
    })?;
    Ok(Some(DueTime::Day(day)))
}

fn read_action(form: &Form) -> Result<TeachingAction> {
    let lesson = || form.field("lesson").to_owned();
    Ok(match form.field("action") {
        "assign" => TeachingAction::Assign { lesson: lesson(), expires_at: read_until(form)? },
        "assign-test" => {
            let grade = serde_json::from_value(form.field("grade").into());
            TeachingAction::AssignTest {
                subject: form.field("subject").to_owned(),
                grade: grade.map_err(|error| {
                    Problem::invalid("grade", Message::untranslated(error.to_string()))
                })?,
                expires_at: read_until(form)?,
            }
        }
        "skip" => TeachingAction::Skip { lesson: lesson(), skipped: true },
        "unskip" => TeachingAction::Skip { lesson: lesson(), skipped: false },
        "reset" => TeachingAction::Reset { lesson: lesson() },
        "goal" => {
            let text = form.field("dailyXp").trim();
            let daily_xp = match text {
                "" => None,
                text => {
                    Some(text.parse().ok().filter(|xp| *xp <= DAILY_XP_MAX).ok_or_else(|| {
                        let rule =
                            message!("must be a whole number of XP from 0 to {DAILY_XP_MAX}");
                        Problem::invalid("dailyXp", rule)
                    })?)
                }
            };
            TeachingAction::Goal { course: form.field("course").to_owned(), daily_xp }
        }
        "extra-time" => TeachingAction::ExtraTime(read_extra_time(form)?),
        other => {
            let message = message!(
                "must be assign, assign-test, skip, unskip, reset, goal or extra-time: got '{other}'"
            );
            return Err(Problem::invalid("action", message));
        }
    })
}

fn read_extra_time(form: &Form) -> Result<ExtraTimeInput> {
    let factor = form.field("factor").trim();
    if factor == NO_EXTRA_TIME {
        return Ok(ExtraTimeInput { factor: 1.0, minutes: 0 });
    }
    let minutes = match form.field("minutes").trim() {
        "" => 0,
        text => text.parse().map_err(|_| {
            Problem::invalid("minutes", message!("must be a whole number: got '{text}'"))
        })?,
    };
    let factor = factor.parse().map_err(|_| {
        Problem::invalid("factor", message!("must be a number such as 1.5: got '{factor}'"))
    })?;
    Ok(ExtraTimeInput { factor, minutes })
}
