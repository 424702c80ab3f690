//! Computes what a complete attempt earns, appends its event and announces it; a passed test-out also exempts from
//! lessons. Callers store the attempt and its results in the same transaction, so that they agree.

use lyceum_core::{Problem, Result};
use lyceum_events::facts::{Measure, Metric};
use lyceum_events::learning::{self, Activity, App, Learner, LearningEvent, Metrics, NamedEntity};
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, COURSE, USER};
use lyceum_roster::record::{Object, Status, members};
use lyceum_roster::{course_tree, fields, repository as roster};
use lyceum_store::{Tx, outbox};
use serde_json::json;
use uuid::Uuid;

use crate::attempt::Attempt;
use crate::engine::AnswerCounts;
use crate::lesson::Lesson;
use crate::lesson_context::LessonContext;
use crate::lesson_list::{ListedLesson, of_courses};
use crate::repository::attempts;
use crate::{LessonType, engine, gradebook};

/// The namespace of derived event ids.
const NAMESPACE: Uuid = Uuid::from_u128(0x1d5a_b7a2_6e34_4c9b_8a17_e2f4_90cd_3b66);

/// Completes an attempt with these counts. The score is 0 to 100.
pub(crate) fn complete(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    lesson: &Lesson,
    attempt: &mut Attempt,
    score: f64,
    counts: AnswerCounts,
) -> Result<()> {
    let policy = attempt.policy(tx)?;
    let credit = engine::credit(&policy, attempt.base_xp, attempt.number, &counts);
    attempt.score = score;
    attempt.count(counts);
    attempt.xp = Some(credit.xp);
    attempt.multiplier = Some(credit.multiplier);
    attempt.mastered = credit.mastered;
    attempt.completed = Some(context.now);
    attempt.units = if attempt.mastered { units(tx, context, lesson, attempt)? } else { 0 };
    append_event(tx, context, lesson, attempt)?;
    announce(tx, context, attempt)
}

/// Announces a complete attempt to webhooks.
fn announce(tx: &mut Tx<'_>, context: &LessonContext<'_>, attempt: &Attempt) -> Result<()> {
    let object = format!("{}/{}/{}", attempt.student, attempt.lesson, attempt.number);
    outbox::announce(tx, "attempt.completed", &object, context.now, || {
        let summary = attempt.summary();
        let data = json!({
            "student": attempt.student, "lesson": attempt.lesson, "mastered": attempt.mastered,
            "attempt": summary.attempt, "score": summary.score, "xp": summary.xp,
            "totalQuestions": attempt.total, "correctQuestions": attempt.correct,
            "startedAt": summary.started_at, "completedAt": summary.completed_at,
        });
        Ok(data.to_string().into())
    })
}

/// The units that an attempt masters for the first time: its lesson, and the lessons that its test-out covers.
fn units(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    lesson: &Lesson,
    attempt: &Attempt,
) -> Result<u32> {
    let was_mastered = attempts::another_mastered(tx, attempt)?
        || !gradebook::exempt(tx, &attempt.student, &[&attempt.lesson])?.is_empty();
    let skipped = match attempt.lesson_type {
        LessonType::TestOut => skip(tx, context, lesson, &attempt.student)?,
        _ => 0,
    };
    Ok(u32::from(!was_mastered) + skipped)
}

/// Exempts a student who passed a test-out from what it covers: all lessons of its course, or those in the units that
/// its resource names in `metadata.units`. Returns the number of lessons that the student had not mastered before.
fn skip(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    test_out: &Lesson,
    student: &str,
) -> Result<u32> {
    let course = test_out.course.id.as_str();
    let mut covered = covered_lessons(tx, test_out)?;
    covered.retain(|(lesson, _)| *lesson != test_out.id);
    let ids: Vec<&str> = covered.iter().map(|(lesson, _)| lesson.as_str()).collect();
    let exempt = gradebook::exempt(tx, student, &ids)?;
    let mastered = attempts::mastered(tx, student, course)?;
    let lessons = of_courses(tx, &[course])?;
    let is_new = |lesson: &&ListedLesson| {
        ids.contains(&lesson.id.as_str())
            && !exempt.contains(&lesson.id)
            && !mastered.contains(&lesson.id)
    };
    let units = lessons.iter().filter(is_new).count();
    gradebook::write_exemptions(tx, context, (student, course, &test_out.id), &covered)?;
    u32::try_from(units).map_err(Problem::internal)
}

/// The component resources that a test-out covers, with their titles.
fn covered_lessons(tx: &mut Tx<'_>, test_out: &Lesson) -> Result<Vec<(String, String)>> {
    let named = |record: &Object| {
        let text = |name: &str| fields::text(record, name).to_owned();
        (text("sourcedId"), text("title"))
    };
    if test_out.units.is_empty() {
        let placed = roster::placed_in(tx, &[&test_out.course.id])?;
        return placed.iter().map(|placed| Ok(named(&fields::of(&placed.lesson)?))).collect();
    }
    let tree = course_tree::read(tx, &test_out.course.id, Status::Active)?;
    let mut covered = Vec::new();
    // The depth of the named unit that contains the current item.
    let mut within: Option<usize> = None;
    for component in &tree.components {
        let (body, extra) = &component.record;
        let (id, _) = named(&members(body, extra.as_deref())?);
        if within.is_some_and(|depth| component.depth <= depth) {
            within = None;
        }
        if within.is_none() && test_out.units.contains(&id) {
            within = Some(component.depth);
        }
        for link in component.links.iter().filter(|_| within.is_some()) {
            let (body, extra) = &link.record;
            covered.push(named(&members(body, extra.as_deref())?));
        }
    }
    Ok(covered)
}

/// Takes back what an attempt earned, if there is an event for it: a new event corrects it. The lesson may no longer
/// exist.
pub(crate) fn take_back(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    attempt: &Attempt,
) -> Result<()> {
    if attempt.lesson_type == LessonType::TestOut {
        gradebook::take_back_exemptions(tx, context, &attempt.student, &attempt.lesson)?;
    }
    learning::cancel(tx, context.now, context.base_url, &urn(attempt, "event"))
}

/// Appends the event of an attempt. The event of a reset attempt corrects the earlier one.
fn append_event(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    lesson: &Lesson,
    attempt: &Attempt,
) -> Result<()> {
    let student = fields::in_use(tx, &USER, &attempt.student)?;
    let event = event(context, lesson, attempt, fields::text(&student, "email"));
    match attempt.round {
        0 => learning::append(tx, context.now, context.base_url, &[event]),
        _ => learning::append_correction(tx, context.now, context.base_url, &event),
    }
}

/// The id of an attempt's event, or of a part of it. It depends on when the attempt began, because after a reset of
/// the course another attempt has the same number.
fn urn(attempt: &Attempt, part: &str) -> String {
    let (number, began) = (attempt.number.to_string(), attempt.started.to_string());
    let name = [part, &attempt.student, &attempt.lesson, &number, &began].join("\n");
    Uuid::new_v5(&NAMESPACE, name.as_bytes()).urn().to_string()
}

fn event(
    context: &LessonContext<'_>,
    lesson: &Lesson,
    attempt: &Attempt,
    email: &str,
) -> LearningEvent {
    let address = |kind: &RecordKind, id: &str| kind.address(context.base_url, id);
    let named = |id: &str, name: &str| NamedEntity { id: id.to_owned(), name: name.to_owned() };
    let course = &lesson.course;
    let object = Activity {
        id: address(&COMPONENT_RESOURCE, &lesson.id),
        subject: lesson.subject.clone(),
        app: App { id: None, name: "Lyceum".to_owned() },
        course: named(&address(&COURSE, &course.id), &course.title),
        activity: named(&lesson.id, &lesson.title),
    };
    let metric = |measure, value| Metric { measure, value, span: None };
    let metrics = Metrics::Completed {
        id: urn(attempt, "metrics"),
        attempt: Some(attempt.number.into()),
        items: vec![
            metric(Measure::Xp, attempt.xp.unwrap_or(0.0)),
            metric(Measure::TotalQuestions, attempt.total.into()),
            metric(Measure::CorrectQuestions, attempt.correct.into()),
            metric(Measure::MasteredUnits, attempt.units.into()),
        ],
        extensions: None,
    };
    let learner = Learner::new(address(&USER, &attempt.student), email);
    LearningEvent::new(urn(attempt, "event"), context.now, learner, object, metrics)
}
