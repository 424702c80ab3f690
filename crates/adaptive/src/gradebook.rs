//! Lessons in the gradebook: an assessment line item for a lesson and for each of its questions, an
//! assessment result for each attempt and for each question answered in it.

use lyceum_core::{Dialect, Result};
use lyceum_roster::fields;
use lyceum_roster::kind::Kind;
use lyceum_roster::kinds::{ASSESSMENT_LINE_ITEM, ASSESSMENT_RESULT};
use lyceum_roster::record::{Object, Record, Stamp};
use lyceum_roster::repository;
use lyceum_store::Tx;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::LessonType;
use crate::attempt::{Attempt, Desk, Entry};
use crate::engine;
use crate::lesson::Lesson;

/// Under this namespace the ids of line items and results follow from what they are about: the same
/// answer twice is one result.
const NAMESPACE: Uuid = Uuid::from_u128(0x4be1_86d0_77c5_4f6e_b0a9_0c3d_5ac8_11f7);

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

/// Whole numbers are written without a fraction.
pub(crate) fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "held within the range before")]
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

/// Writes what an attempt stands at, under the line item of its lesson, and what came of answers, each
/// with the title of its question, under the line items of the questions. `also` stands in the
/// metadata of the attempt's result beside the usual.
pub(crate) fn write(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    lesson: &Lesson,
    attempt: &Attempt,
    answers: &[(&Entry, &str)],
    also: &[(&str, Value)],
) -> Result<()> {
    let parent = lesson_item(&lesson.id);
    let mut items = vec![item_of_lesson(lesson, &parent)];
    let mut results = vec![of_attempt(desk, lesson, attempt, &parent, also)];
    for (entry, title) in answers {
        let Some(answered) = &entry.answered else { continue };
        let item = question_item(&lesson.id, &entry.item);
        let metadata = object(json!({
            "attempt": attempt.number, "question": entry.item, "correct": answered.correct,
        }));
        let score = json!(u8::from(answered.correct));
        let id = answer_result(attempt, &entry.item);
        let said = (attempt.student.as_str(), score, "fully graded");
        results.push(result(desk, &id, &item, said, &metadata));
        items.push(item_of_question(lesson, &item, &parent, entry, title));
    }
    ensure_items(tx, desk, items)?;
    put(tx, desk, &ASSESSMENT_RESULT, &results)
}

fn of_attempt(
    desk: &Desk<'_>,
    lesson: &Lesson,
    attempt: &Attempt,
    item: &str,
    also: &[(&str, Value)],
) -> Object {
    let mut metadata: Map<String, Value> = [
        ("attempt", json!(attempt.number)),
        ("lessonType", attempt.lesson_type.name().into()),
        ("xp", attempt.xp.map_or(json!(0), number)),
        ("multiplier", attempt.multiplier.map_or(json!(0), number)),
        ("accuracy", number(engine::accuracy(attempt.correct, attempt.total))),
        ("totalQuestions", json!(attempt.total)),
        ("correctQuestions", json!(attempt.correct)),
        ("masteredUnits", json!(u8::from(attempt.mastered))),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    metadata.extend(grade_reached(lesson, attempt));
    metadata.extend(also.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let id = attempt_result(&attempt.student, &lesson.id, attempt.number);
    let said = (attempt.student.as_str(), number(attempt.score), attempt.score_status());
    result(desk, &id, item, said, &metadata)
}

/// What the bridge reads the highest grade mastered from.
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

/// A result as it is stored; null where there is none.
pub(crate) fn read(tx: &mut Tx<'_>, id: &str) -> Result<Value> {
    let stored = repository::find(tx, &ASSESSMENT_RESULT, id)?;
    Ok(stored.map(|stored| fields::of(&stored)).transpose()?.map_or(Value::Null, Value::Object))
}

/// Marks the results of an attempt's questions `tobedeleted`.
pub(crate) fn take_back_answers(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    attempt: &Attempt,
    entries: &[Entry],
) -> Result<()> {
    let ids: Vec<String> =
        entries.iter().map(|entry| answer_result(attempt, &entry.item)).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut results = Vec::new();
    for (_, stored) in repository::present(tx, &ASSESSMENT_RESULT, &ids)? {
        let mut result = fields::of(&stored)?;
        result.insert("status".into(), "tobedeleted".into());
        results.push(result);
    }
    put(tx, desk, &ASSESSMENT_RESULT, &results)
}

fn item_of_lesson(lesson: &Lesson, id: &str) -> Object {
    object(json!({
        "sourcedId": id,
        "status": "active",
        "title": if lesson.title.is_empty() { &lesson.id } else { &lesson.title },
        "componentResource": { "sourcedId": lesson.id },
        "course": { "sourcedId": lesson.course.id },
        "resultValueMin": 0,
        "resultValueMax": 100,
        "metadata": { "lessonType": lesson.lesson_type.name() },
    }))
}

fn item_of_question(lesson: &Lesson, id: &str, parent: &str, entry: &Entry, title: &str) -> Object {
    object(json!({
        "sourcedId": id,
        "status": "active",
        "title": if title.is_empty() { &entry.item } else { title },
        "parentAssessmentLineItem": { "sourcedId": parent },
        "course": { "sourcedId": lesson.course.id },
        "resultValueMin": 0,
        "resultValueMax": 1,
        "metadata": { "lesson": lesson.id, "question": entry.item },
    }))
}

fn result(
    desk: &Desk<'_>,
    id: &str,
    item: &str,
    (student, score, status): (&str, Value, &str),
    metadata: &Object,
) -> Object {
    object(json!({
        "sourcedId": id,
        "status": "active",
        "assessmentLineItem": { "sourcedId": item },
        "student": { "sourcedId": student },
        "score": score,
        "scoreDate": desk.now.date().to_string(),
        "scoreStatus": status,
        "metadata": metadata,
    }))
}

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

/// Creates the line items that are not there, or no longer in use.
fn ensure_items(tx: &mut Tx<'_>, desk: &Desk<'_>, mut items: Vec<Object>) -> Result<()> {
    let ids: Vec<String> =
        items.iter().map(|item| fields::text(item, "sourcedId").to_owned()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let known = repository::present(tx, &ASSESSMENT_LINE_ITEM, &ids)?;
    let mut in_use = std::collections::HashSet::new();
    for (id, stored) in &known {
        if fields::text(&fields::of(stored)?, "status") == "active" {
            in_use.insert(id.as_str());
        }
    }
    items.retain(|item| !in_use.contains(fields::text(item, "sourcedId")));
    put(tx, desk, &ASSESSMENT_LINE_ITEM, &items)
}

fn put(tx: &mut Tx<'_>, desk: &Desk<'_>, kind: &'static Kind, objects: &[Object]) -> Result<()> {
    let stamp = || Stamp::Now(desk.now);
    let records =
        objects.iter().map(|object| Record::parse(kind, object, Dialect::Platform, stamp()));
    let records = records.collect::<Result<Vec<_>>>()?;
    repository::put_all(tx, kind, &records).map(drop)
}
