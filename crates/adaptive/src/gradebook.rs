//! Lessons in the gradebook: an assessment line item for a lesson and for each of its questions, an
//! assessment result for each attempt and for each question answered in it.

use std::collections::HashSet;

use lyceum_core::{Dialect, Result};
use lyceum_roster::fields;
use lyceum_roster::kind::Kind;
use lyceum_roster::kinds::{ASSESSMENT_LINE_ITEM, ASSESSMENT_RESULT};
use lyceum_roster::record::{Object, Record, Stamp};
use lyceum_roster::repository::{self, Stored};
use lyceum_store::Tx;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::LessonType;
use crate::answer::millionths;
use crate::attempt::{Answered, Attempt, Desk, Entry};
use crate::engine::WHOLE;
use crate::finalize::latest;
use crate::lesson::Lesson;
use crate::listed::Marks;
use crate::repository::log;

/// Under this namespace the ids of line items and results follow from what they are about: the same
/// answer twice is one result.
const NAMESPACE: Uuid = Uuid::from_u128(0x4be1_86d0_77c5_4f6e_b0a9_0c3d_5ac8_11f7);

/// The status of results that exempt a student from a lesson, in the words of OneRoster.
pub(crate) const EXEMPT: &str = "exempt";
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
    let mut results = vec![of_attempt(desk, lesson, attempt, &parent, also)?];
    let mut questions = Vec::new();
    for (entry, title) in answers {
        let Some(answered) = &entry.answered else { continue };
        let item = question_item(&lesson.id, &entry.item);
        results.push(of_answer(desk, attempt, &entry.item, answered, &item)?);
        questions.push((item, entry.item.as_str(), *title));
    }
    ensure_items(tx, desk, lesson, &parent, &questions)?;
    repository::put_all(tx, &ASSESSMENT_RESULT, &results).map(drop)
}

/// As [`write`], of one answer in an attempt that goes on; answers the results of question and attempt as
/// JSON. Both are what this server alone writes: the attempt's is there from the first answer on, the
/// question's is new.
pub(crate) fn write_step(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    lesson: &Lesson,
    attempt: &Attempt,
    (question, title): (&str, &str),
    answered: &Answered,
) -> Result<[String; 2]> {
    let (parent, item) = (lesson_item(&lesson.id), question_item(&lesson.id, question));
    let of_attempt = of_attempt(desk, lesson, attempt, &parent, &[])?;
    let of_answer = of_answer(desk, attempt, question, answered, &item)?;
    if !repository::are_in_use(tx, &ASSESSMENT_LINE_ITEM, [&parent, &item])? {
        ensure_items(tx, desk, lesson, &parent, &[(item, question, title)])?;
    }
    if !repository::overwrite(tx, &of_attempt)? {
        repository::put_all(tx, &ASSESSMENT_RESULT, std::slice::from_ref(&of_attempt))?;
    }
    if repository::add(tx, &of_answer)?.is_none() {
        repository::put_all(tx, &ASSESSMENT_RESULT, std::slice::from_ref(&of_answer))?;
    }
    // The canonical text is all of them: they have no members of the platform alone. TABs mark references.
    Ok([of_answer, of_attempt].map(|record| record.body.replace('\t', "")))
}

fn of_answer(
    desk: &Desk<'_>,
    attempt: &Attempt,
    question: &str,
    answered: &Answered,
    item: &str,
) -> Result<Record> {
    let mut metadata = members([("attempt", attempt.number.into()), ("question", question.into())]);
    let said = match answered.share {
        Some(share) => {
            metadata.insert("correct".into(), answered.correct.into());
            (Some(number(f64::from(share) / f64::from(WHOLE))), "fully graded")
        }
        // A person writes the score, and that it is fully graded.
        None => (None, "submitted"),
    };
    let id = answer_result(attempt, question);
    result(desk, id, item, &attempt.student, said, metadata)
}

fn of_attempt(
    desk: &Desk<'_>,
    lesson: &Lesson,
    attempt: &Attempt,
    item: &str,
    also: &[(&str, Value)],
) -> Result<Record> {
    let mut metadata = members([
        ("attempt", attempt.number.into()),
        ("lessonType", attempt.lesson_type.name().into()),
        ("xp", number(attempt.xp.unwrap_or(0.0))),
        ("multiplier", number(attempt.multiplier.unwrap_or(0.0))),
        ("accuracy", number(attempt.accuracy())),
        ("totalQuestions", attempt.answered_questions().into()),
        ("correctQuestions", attempt.correct.into()),
        ("masteredUnits", attempt.units.into()),
    ]);
    if attempt.pending > 0 {
        metadata.insert("pendingQuestions".into(), attempt.pending.into());
    }
    metadata.extend(grade_reached(lesson, attempt));
    metadata.extend(also.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let id = attempt_result(&attempt.student, &lesson.id, attempt.number);
    let said = (Some(number(attempt.score)), attempt.score_status());
    result(desk, id, item, &attempt.student, said, metadata)
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

/// What [`write_step`] answered.
pub(crate) fn read_step(tx: &mut Tx<'_>, attempt: &Attempt, question: &str) -> Result<[String; 2]> {
    let of_attempt = attempt_result(&attempt.student, &attempt.lesson, attempt.number);
    let ids = [answer_result(attempt, question), of_attempt];
    let stored = repository::present(tx, &ASSESSMENT_RESULT, &ids.each_ref().map(String::as_str))?;
    let text = |id: &String| -> Result<String> {
        let result = stored.get(id).map(fields::of).transpose()?;
        Ok(result.map_or(Value::Null, Value::Object).to_string())
    };
    let [question, attempt] = ids.each_ref().map(text);
    Ok([question?, attempt?])
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
    let present = repository::present(tx, &ASSESSMENT_RESULT, &ids)?;
    let present: Vec<Stored> = present.into_values().collect();
    mark_deleted(tx, desk, &present, |_| true)
}

fn item_of_lesson(lesson: &Lesson, id: &str) -> Value {
    let mut item = item_of(id, &lesson.id, &lesson.title, &lesson.course.id);
    item["metadata"] = json!({ "lessonType": lesson.lesson_type.name() });
    item
}

fn item_of(id: &str, lesson: &str, title: &str, course: &str) -> Value {
    json!({
        "sourcedId": id,
        "status": "active",
        "title": if title.is_empty() { lesson } else { title },
        "componentResource": { "sourcedId": lesson },
        "course": { "sourcedId": course },
        "resultValueMin": 0,
        "resultValueMax": 100,
    })
}

/// The sourcedId of the result that exempts a student from a lesson.
fn exemption(student: &str, lesson: &str) -> String {
    id(&["exempt", student, lesson])
}

/// Those of the lessons from which the student is exempt by the test-out of their course.
pub(crate) fn exempt(tx: &mut Tx<'_>, student: &str, lessons: &[&str]) -> Result<HashSet<String>> {
    let ids: Vec<String> = lessons.iter().map(|lesson| exemption(student, lesson)).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let active = repository::in_use(tx, &ASSESSMENT_RESULT, &ids)?;
    let both = lessons.iter().zip(&ids).filter(|(_, id)| active.contains(**id));
    Ok(both.map(|(lesson, _)| (*lesson).to_owned()).collect())
}

/// Exempts a student from lessons of a course, each with its title, because of the test-out that was passed.
pub(crate) fn write_exemptions(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    (student, course, test_out): (&str, &str, &str),
    lessons: &[(String, String)],
) -> Result<()> {
    let items: Vec<String> = lessons.iter().map(|(lesson, _)| lesson_item(lesson)).collect();
    let ids: Vec<&str> = items.iter().map(String::as_str).collect();
    let in_use = repository::in_use(tx, &ASSESSMENT_LINE_ITEM, &ids)?;
    let (mut new, mut results) = (Vec::new(), Vec::new());
    for ((lesson, title), item) in lessons.iter().zip(&items) {
        if !in_use.contains(item) {
            let item = item_of(item, lesson, title, course);
            new.push(record(desk, &ASSESSMENT_LINE_ITEM, &item)?);
        }
        let metadata = members([("source", "test-out".into()), (TEST_OUT, test_out.into())]);
        let id = exemption(student, lesson);
        results.push(result(desk, id, item, student, (None, EXEMPT), metadata)?);
    }
    repository::put_all(tx, &ASSESSMENT_LINE_ITEM, &new)?;
    repository::put_all(tx, &ASSESSMENT_RESULT, &results).map(drop)
}

/// Ends the exemptions of a student that follow from a test-out.
pub(crate) fn take_back_exemptions(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    student: &str,
    test_out: &str,
) -> Result<()> {
    let of_student = repository::referring_to(tx, &ASSESSMENT_RESULT, "student", &[student])?;
    let is_its = |result: &Object| {
        fields::text(result, "scoreStatus") == EXEMPT
            && fields::text(&fields::metadata(result), TEST_OUT) == test_out
    };
    mark_deleted(tx, desk, &of_student, is_its)
}

/// Marks the results that others wrote of an attempt `tobedeleted`, or of no attempt that they name.
pub(crate) fn take_back_results(tx: &mut Tx<'_>, desk: &Desk<'_>, attempt: &Attempt) -> Result<()> {
    let marks = Marks::of(tx, &attempt.student, &[&attempt.lesson])?;
    let own = attempt_result(&attempt.student, &attempt.lesson, attempt.number);
    let others = marks.in_lesson(&attempt.lesson).iter().filter(|mark| {
        let is_its = mark.attempt().is_none_or(|number| number == i64::from(attempt.number));
        is_its && fields::text(&mark.fields, "sourcedId") != own
    });
    let others: Vec<Stored> = others.map(|mark| mark.stored.clone()).collect();
    mark_deleted(tx, desk, &others, |_| true)
}

fn mark_deleted(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    stored: &[Stored],
    is_meant: impl Fn(&Object) -> bool,
) -> Result<()> {
    let mut results = Vec::new();
    for stored in stored {
        let mut result = fields::of(stored)?;
        if is_meant(&result) {
            result.insert("status".into(), "tobedeleted".into());
            results.push(record(desk, &ASSESSMENT_RESULT, &result.into())?);
        }
    }
    repository::put_all(tx, &ASSESSMENT_RESULT, &results).map(drop)
}

/// Takes over what a person scored of answers that wait, from their results: those that are fully graded. A
/// result is of the last answer to its question. Answers whether an entry changed; those are written to the log.
pub(crate) fn take_scores(
    tx: &mut Tx<'_>,
    attempt: &Attempt,
    entries: &mut [Entry],
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
        answered.share = Some(millionths(score / most));
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

/// The score of a result, where grading is over.
pub(crate) fn graded(result: &Object) -> Option<f64> {
    let is_graded = fields::text(result, "scoreStatus") == "fully graded";
    result.get("score").and_then(Value::as_f64).filter(|_| is_graded)
}

fn item_of_question(
    lesson: &Lesson,
    parent: &str,
    (id, question, title): (&str, &str, &str),
) -> Value {
    json!({
        "sourcedId": id,
        "status": "active",
        "title": if title.is_empty() { question } else { title },
        "parentAssessmentLineItem": { "sourcedId": parent },
        "course": { "sourcedId": lesson.course.id },
        "resultValueMin": 0,
        "resultValueMax": 1,
        "metadata": { "lesson": lesson.id, "question": question },
    })
}

fn result(
    desk: &Desk<'_>,
    id: String,
    item: &str,
    student: &str,
    (score, status): (Option<Value>, &str),
    metadata: Object,
) -> Result<Record> {
    let reference = |id: &str| Value::Object(members([("sourcedId", id.into())]));
    let mut result = members([
        ("sourcedId", id.into()),
        ("status", "active".into()),
        ("assessmentLineItem", reference(item)),
        ("student", reference(student)),
        ("scoreDate", desk.now.date().to_string().into()),
        ("scoreStatus", status.into()),
        ("metadata", metadata.into()),
    ]);
    result.extend(score.map(|score| ("score".to_owned(), score)));
    Record::parse(&ASSESSMENT_RESULT, &result, Dialect::Platform, Stamp::Now(desk.now))
}

/// An object of known size: each answer writes several, and one that grows member by member costs double.
fn members<const N: usize>(all: [(&str, Value); N]) -> Object {
    let mut object = Object::with_capacity(N);
    object.extend(all.map(|(name, value)| (name.to_owned(), value)));
    object
}

fn record(desk: &Desk<'_>, kind: &'static Kind, value: &Value) -> Result<Record> {
    let object = value.as_object().expect("records are written as objects");
    Record::parse(kind, object, Dialect::Platform, Stamp::Now(desk.now))
}

/// Creates the line items that are not there, or no longer in use: of the lesson, and of questions, each
/// with its id, what it asks and its title.
fn ensure_items(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    lesson: &Lesson,
    parent: &str,
    questions: &[(String, &str, &str)],
) -> Result<()> {
    let mut ids = vec![parent];
    ids.extend(questions.iter().map(|(id, ..)| id.as_str()));
    let in_use = repository::in_use(tx, &ASSESSMENT_LINE_ITEM, &ids)?;
    if ids.iter().all(|id| in_use.contains(*id)) {
        return Ok(());
    }
    let mut items = Vec::new();
    if !in_use.contains(parent) {
        items.push(item_of_lesson(lesson, parent));
    }
    for (id, question, title) in questions {
        if !in_use.contains(id) {
            items.push(item_of_question(lesson, parent, (id, question, title)));
        }
    }
    let items = items.iter().map(|item| record(desk, &ASSESSMENT_LINE_ITEM, item));
    let items = items.collect::<Result<Vec<_>>>()?;
    repository::put_all(tx, &ASSESSMENT_LINE_ITEM, &items).map(drop)
}
