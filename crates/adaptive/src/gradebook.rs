//! Writes lessons to the gradebook: an assessment line item for each lesson and each of its questions, an assessment
//! result for each attempt and each answered question.

use std::collections::HashSet;

use lyceum_core::Result;
use lyceum_core::json::number;
use lyceum_roster::fields;
use lyceum_roster::kinds::{ASSESSMENT_LINE_ITEM, ASSESSMENT_RESULT};
use lyceum_roster::record::Object;
use lyceum_roster::repository;
use lyceum_roster::results::{self, AssessmentResult, FormerResult, LineItem};
use lyceum_store::Tx;
use serde_json::Value;
use uuid::Uuid;

use crate::attempt::{Attempt, AttemptLogAnswer, AttemptLogEntry};
use crate::engine::WHOLE;
use crate::lesson::Lesson;
use crate::lesson_context::LessonContext;
use crate::lesson_list::{EXEMPT, LessonResults, graded};
use crate::repository::log;
use crate::repository::log::latest;
use crate::{LessonType, engine};

/// The namespace of the ids of line items and results. They are derived, so that a repeated answer is the same
/// result.
const NAMESPACE: Uuid = Uuid::from_u128(0x4be1_86d0_77c5_4f6e_b0a9_0c3d_5ac8_11f7);

/// The member of their metadata that names the test-out lesson.
const TEST_OUT: &str = "testOutLesson";

fn id(parts: &[&str]) -> String {
    Uuid::new_v5(&NAMESPACE, parts.join("\n").as_bytes()).to_string()
}

/// The sourcedId of the assessment line item of a lesson.
pub fn lesson_item(lesson: &str) -> String {
    id(&["lesson", lesson])
}

/// The sourcedId of the assessment line item of a question of a lesson.
pub fn question_item(lesson: &str, question: &str) -> String {
    id(&["question", lesson, question])
}

/// The sourcedId of the assessment result of an attempt.
pub fn attempt_result(student: &str, lesson: &str, attempt: u32) -> String {
    id(&["attempt", student, lesson, &attempt.to_string()])
}

/// The sourcedId of the assessment result of a question in an attempt.
pub fn answer_result(attempt: &Attempt, question: &str) -> String {
    id(&["answer", &attempt.student, &attempt.lesson, &attempt.number.to_string(), question])
}

/// Writes the state of an attempt under the line item of its lesson, and the results of answers, with the titles of
/// their questions, under the questions' line items. `also` is added to the metadata of the attempt's result.
pub(crate) fn write(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    lesson: &Lesson,
    attempt: &Attempt,
    answers: &[(&AttemptLogEntry, &str)],
    also: &[(&str, Value)],
) -> Result<()> {
    let parent = lesson_item(&lesson.id);
    let answered: Vec<(String, &AttemptLogEntry, &AttemptLogAnswer, &str)> = answers
        .iter()
        .filter_map(|(entry, title)| {
            let item = question_item(&lesson.id, &entry.item);
            Some((item, *entry, entry.answered.as_ref()?, *title))
        })
        .collect();
    let mut items = vec![item_of_lesson(lesson, &parent)];
    let mut results = vec![of_attempt(lesson, attempt, &parent, also)];
    for (item, entry, answered, title) in &answered {
        items.push(item_of_question(lesson, &parent, item, (&entry.item, title)));
        results.push(of_answer(attempt, &entry.item, answered, item));
    }
    results::ensure_line_items(tx, context.now, &items)?;
    results::write(tx, context.now, results)
}

/// Like [`write`], for one answer in a running attempt; returns the results of question and attempt. Only this server
/// writes them, so the attempt's result exists after the first answer, and the question's result is new.
pub(crate) fn write_step(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    lesson: &Lesson,
    attempt: &Attempt,
    (question, title): (&str, &str),
    answered: &AttemptLogAnswer,
) -> Result<[Object; 2]> {
    let (parent, item) = (lesson_item(&lesson.id), question_item(&lesson.id, question));
    let items = [
        item_of_lesson(lesson, &parent),
        item_of_question(lesson, &parent, &item, (question, title)),
    ];
    results::ensure_line_items(tx, context.now, &items)?;
    let of_attempt = of_attempt(lesson, attempt, &parent, &[]);
    let of_answer = of_answer(attempt, question, answered, &item);
    let of_attempt = results::write_one(tx, context.now, of_attempt, FormerResult::Present)?;
    let of_answer = results::write_one(tx, context.now, of_answer, FormerResult::Missing)?;
    Ok([of_answer, of_attempt])
}

fn of_answer<'a>(
    attempt: &'a Attempt,
    question: &str,
    answered: &AttemptLogAnswer,
    line_item: &'a str,
) -> AssessmentResult<'a> {
    let mut metadata = Object::new();
    metadata.insert("attempt".into(), attempt.number.into());
    metadata.insert("question".into(), question.into());
    if answered.share.is_some() {
        metadata.insert("correct".into(), answered.correct.into());
    }
    AssessmentResult {
        sourced_id: answer_result(attempt, question),
        line_item,
        student: &attempt.student,
        score: answered.share.map(|share| f64::from(share) / f64::from(WHOLE)),
        // A person who scores the answer writes the score and sets the status to fully graded.
        score_status: if answered.share.is_some() { "fully graded" } else { "submitted" },
        metadata,
    }
}

fn of_attempt<'a>(
    lesson: &Lesson,
    attempt: &'a Attempt,
    line_item: &'a str,
    also: &[(&str, Value)],
) -> AssessmentResult<'a> {
    let always: [(&str, Value); 8] = [
        ("attempt", attempt.number.into()),
        ("lessonType", attempt.lesson_type.name().into()),
        ("xp", number(attempt.xp.unwrap_or(0.0))),
        ("multiplier", number(attempt.multiplier.unwrap_or(0.0))),
        ("accuracy", number(attempt.accuracy())),
        ("totalQuestions", attempt.answered_questions().into()),
        ("correctQuestions", attempt.correct.into()),
        ("masteredUnits", attempt.units.into()),
    ];
    // This runs for every answer, and growing the map step by step would take twice as long.
    let mut metadata = Object::with_capacity(always.len());
    metadata.extend(always.map(|(name, value)| (name.to_owned(), value)));
    if attempt.pending > 0 {
        metadata.insert("pendingQuestions".into(), attempt.pending.into());
    }
    metadata.extend(grade_reached(lesson, attempt));
    metadata.extend(also.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    AssessmentResult {
        sourced_id: attempt_result(&attempt.student, &lesson.id, attempt.number),
        line_item,
        student: &attempt.student,
        score: Some(attempt.score),
        score_status: attempt.score_status(),
        metadata,
    }
}

/// The metadata from which the bridge reads the highest mastered grade.
fn grade_reached(lesson: &Lesson, attempt: &Attempt) -> Vec<(String, Value)> {
    let source = match attempt.lesson_type {
        LessonType::Placement => "placement",
        LessonType::TestOut => "test-out",
        _ => return Vec::new(),
    };
    match &lesson.grade {
        Some(grade) if attempt.mastered => vec![
            ("source".into(), source.into()),
            ("grade".into(), grade.as_str().into()),
            ("subject".into(), lesson.subject.as_str().into()),
        ],
        _ => Vec::new(),
    }
}

/// Reads the results that [`write_step`] returned.
pub(crate) fn read_step(
    tx: &mut Tx<'_>,
    attempt: &Attempt,
    question: &str,
) -> Result<[Option<Object>; 2]> {
    let of_attempt = attempt_result(&attempt.student, &attempt.lesson, attempt.number);
    results::read(tx, [&answer_result(attempt, question), &of_attempt])
}

/// Marks the results of an attempt's questions as `tobedeleted`.
pub(crate) fn take_back_answers(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    attempt: &Attempt,
    entries: &[AttemptLogEntry],
) -> Result<()> {
    let ids: Vec<String> =
        entries.iter().map(|entry| answer_result(attempt, &entry.item)).collect();
    let of_answers = fields::of_all(tx, &ASSESSMENT_RESULT, ids.iter().map(String::as_str))?;
    results::mark_deleted(tx, context.now, of_answers.into_values()).map(drop)
}

fn item_of_lesson<'a>(lesson: &'a Lesson, id: &'a str) -> LineItem<'a> {
    LineItem {
        metadata: vec![("lessonType", lesson.lesson_type.name())],
        ..item_of(id, &lesson.id, &lesson.title, &lesson.course.id)
    }
}

fn item_of<'a>(id: &'a str, lesson: &'a str, title: &'a str, course: &'a str) -> LineItem<'a> {
    LineItem {
        sourced_id: id,
        title: if title.is_empty() { lesson } else { title },
        parent: None,
        course,
        component_resource: Some(lesson),
        score_max: 100,
        metadata: Vec::new(),
    }
}

/// The sourcedId of the result that exempts a student from a lesson.
fn exemption(student: &str, lesson: &str) -> String {
    id(&["exempt", student, lesson])
}

/// The lessons from which the test-out of their course exempts the student.
pub(crate) fn exempt(tx: &mut Tx<'_>, student: &str, lessons: &[&str]) -> Result<HashSet<String>> {
    let ids: Vec<String> = lessons.iter().map(|lesson| exemption(student, lesson)).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let active = repository::in_use(tx, &ASSESSMENT_RESULT, &ids)?;
    let both = lessons.iter().zip(&ids).filter(|(_, id)| active.contains(**id));
    Ok(both.map(|(lesson, _)| (*lesson).to_owned()).collect())
}

/// Exempts a student from lessons of a course, given with their titles, because the student passed the test-out.
pub(crate) fn write_exemptions(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    (student, course, test_out): (&str, &str, &str),
    lessons: &[(String, String)],
) -> Result<()> {
    let ids: Vec<String> = lessons.iter().map(|(lesson, _)| lesson_item(lesson)).collect();
    let (mut items, mut results) = (Vec::new(), Vec::new());
    for ((lesson, title), id) in lessons.iter().zip(&ids) {
        items.push(item_of(id, lesson, title, course));
        let metadata = [("source", Value::from("test-out")), (TEST_OUT, test_out.into())];
        results.push(AssessmentResult {
            sourced_id: exemption(student, lesson),
            line_item: id,
            student,
            score: None,
            score_status: EXEMPT,
            metadata: metadata.map(|(name, value)| (name.to_owned(), value)).into_iter().collect(),
        });
    }
    results::ensure_line_items(tx, context.now, &items)?;
    results::write(tx, context.now, results)
}

/// Removes the exemptions of a student that a test-out led to.
pub(crate) fn take_back_exemptions(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    test_out: &str,
) -> Result<()> {
    let of_student = repository::referring_to(tx, &ASSESSMENT_RESULT, "student", &[student])?;
    let mut results = of_student.iter().map(fields::of).collect::<Result<Vec<_>>>()?;
    results.retain(|result| {
        fields::text(result, "scoreStatus") == EXEMPT
            && fields::text(&fields::metadata(result), TEST_OUT) == test_out
    });
    results::mark_deleted(tx, context.now, results).map(drop)
}

/// Marks results by others as `tobedeleted` if they name the attempt, or no attempt.
pub(crate) fn take_back_results(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    attempt: &Attempt,
) -> Result<()> {
    let marks = LessonResults::of(tx, &attempt.student, &[&attempt.lesson])?;
    let own = attempt_result(&attempt.student, &attempt.lesson, attempt.number);
    let others = marks.in_lesson(&attempt.lesson).iter().filter(|mark| {
        let is_its = mark.attempt().is_none_or(|number| number == i64::from(attempt.number));
        is_its && fields::text(&mark.fields, "sourcedId") != own
    });
    results::mark_deleted(tx, context.now, others.map(|mark| mark.fields.clone())).map(drop)
}

/// Takes over the scores of pending answers from their results, if a person has fully graded those. A result is about
/// the last answer to its question. Returns whether an entry changed; changed entries are written to the log.
pub(crate) fn take_scores(
    tx: &mut Tx<'_>,
    attempt: &Attempt,
    entries: &mut [AttemptLogEntry],
) -> Result<bool> {
    let last: HashSet<i64> = latest(entries).values().map(|entry| entry.number).collect();
    let ids = entries.iter().map(|entry| answer_result(attempt, &entry.item));
    let ids: Vec<String> = ids.collect();
    let results = fields::of_all(tx, &ASSESSMENT_RESULT, ids.iter().map(String::as_str))?;
    let items = results.values().map(|result| fields::reference(result, "assessmentLineItem"));
    let items = fields::of_all(tx, &ASSESSMENT_LINE_ITEM, items)?;
    let mut has_scored = false;
    let of_last = entries.iter_mut().zip(&ids).filter(|(entry, _)| last.contains(&entry.number));
    for (entry, id) in of_last {
        let Some(answered) = entry.answered.as_mut().filter(|answered| answered.pending) else {
            continue;
        };
        let Some(result) = results.get(id).filter(|result| fields::is_in_use(result)) else {
            continue;
        };
        let Some(score) = graded(result) else { continue };
        let item = items.get(fields::reference(result, "assessmentLineItem"));
        let most = item.and_then(|item| item.get("resultValueMax")?.as_f64());
        let most = most.filter(|most| *most > 0.0).unwrap_or(1.0);
        answered.share = Some(engine::millionths(score / most));
        answered.correct = answered.share == Some(WHOLE);
        answered.pending = false;
        answered.score = score;
        answered.result["score"] = number(score);
        answered.result["maxScore"] = number(most);
        answered.result["needsManualScoring"] = false.into();
        log::answer(tx, attempt, entry.number, answered)?;
        has_scored = true;
    }
    Ok(has_scored)
}

fn item_of_question<'a>(
    lesson: &'a Lesson,
    parent: &'a str,
    id: &'a str,
    (question, title): (&'a str, &'a str),
) -> LineItem<'a> {
    LineItem {
        sourced_id: id,
        title: if title.is_empty() { question } else { title },
        parent: Some(parent),
        course: &lesson.course.id,
        component_resource: None,
        score_max: 1,
        metadata: vec![("lesson", &lesson.id), ("question", question)],
    }
}
