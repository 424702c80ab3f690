//! Attempts of lessons.

use std::collections::HashSet;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Tx, Value};

use crate::LessonType;
use crate::answer::SEEDING;
use crate::attempt::{Attempt, Beginning, Open};

const COLUMNS: &str = "a.id, a.student, a.lesson, a.attempt, a.course, a.lesson_type, a.policy, a.bank, \
                       a.seed, a.base_xp, a.started_ms, a.round, a.answered, a.score, a.correct, \
                       a.total, a.xp, a.multiplier, a.mastered, a.completed_ms, a.earned, a.pending, \
                       a.units, a.seeding";

fn read(row: &Row<'_>) -> Result<Attempt> {
    let text = |column| row.text(column).map(str::to_owned);
    let count = |column| u32::try_from(row.int(column)?).map_err(Problem::internal);
    let lesson_type = LessonType::named(row.text(5)?)
        .ok_or_else(|| Problem::internal("an attempt has no known lesson type"))?;
    Ok(Attempt {
        id: row.int(0)?,
        student: text(1)?,
        lesson: text(2)?,
        number: count(3)?,
        course: text(4)?,
        lesson_type,
        policy: row.int(6)?,
        bank: text(7)?,
        seed: row.int(8)?.cast_unsigned(),
        base_xp: row.opt_real(9)?,
        started: Timestamp::from_milliseconds(row.int(10)?),
        round: row.int(11)?,
        answered: row.int(12)?,
        score: row.real(13)?,
        correct: count(14)?,
        total: count(15)?,
        xp: row.opt_real(16)?,
        multiplier: row.opt_real(17)?,
        mastered: row.int(18)? == 1,
        completed: row.opt_int(19)?.map(Timestamp::from_milliseconds),
        earned: row.int(20)?.cast_unsigned(),
        pending: count(21)?,
        units: count(22)?,
        seeding: row.int(23)?,
    })
}

/// The last attempt of a student, and the question of it that was served and not answered.
pub(crate) fn sitting(
    tx: &mut Tx<'_>,
    student: &str,
    lesson: &str,
) -> Result<Option<(Attempt, Option<Open>)>> {
    let sql = format!(
        "SELECT {COLUMNS}, q.question, q.item FROM lesson_attempt a LEFT JOIN lesson_question q \
         ON q.attempt = a.id AND q.round = a.round AND q.number = a.answered \
         WHERE a.student = $1 AND a.lesson = $2 AND a.era = 0 ORDER BY a.attempt DESC LIMIT 1"
    );
    tx.query_one(&sql, &[student.into(), lesson.into()], |row| {
        let open = match row.opt_int(24)? {
            None => None,
            Some(place) => Some(Open {
                question: u32::try_from(place).map_err(Problem::internal)?,
                item: row.text(25)?.to_owned(),
            }),
        };
        Ok((read(row)?, open))
    })
}

/// The last attempt of a student.
pub(crate) fn last(tx: &mut Tx<'_>, student: &str, lesson: &str) -> Result<Option<Attempt>> {
    Ok(sitting(tx, student, lesson)?.map(|(attempt, _)| attempt))
}

/// The attempts of a student that count, in their order; of every lesson of a course, or of one.
pub(crate) fn of(
    tx: &mut Tx<'_>,
    student: &str,
    (column, id): (&str, &str),
) -> Result<Vec<Attempt>> {
    assert!(matches!(column, "lesson" | "course"), "attempts are of a lesson or a course");
    let sql = format!(
        "SELECT {COLUMNS} FROM lesson_attempt a \
         WHERE student = $1 AND {column} = $2 AND era = 0 ORDER BY lesson, attempt"
    );
    let mut attempts = Vec::new();
    tx.query(&sql, &[student.into(), id.into()], |row| {
        attempts.push(read(row)?);
        Ok(true)
    })?;
    Ok(attempts)
}

/// Whether another attempt of the student that counts mastered the lesson.
pub(crate) fn another_mastered(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<bool> {
    let sql = "SELECT 1 FROM lesson_attempt WHERE student = $1 AND lesson = $2 AND era = 0 \
               AND mastered = 1 AND id <> $3 LIMIT 1";
    let values = [(&attempt.student).into(), (&attempt.lesson).into(), attempt.id.into()];
    Ok(tx.query_one(sql, &values, |_| Ok(()))?.is_some())
}

/// Every attempt that has an answer, also those that were set back, in the order of their beginning:
/// of one student, of one lesson, or of all.
pub fn past(tx: &mut Tx<'_>, student: Option<&str>, lesson: Option<&str>) -> Result<Vec<Attempt>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM lesson_attempt a WHERE answered > 0 \
         AND ($1 = '' OR student = $1) AND ($2 = '' OR lesson = $2) ORDER BY id"
    );
    let values = [student.unwrap_or_default().into(), lesson.unwrap_or_default().into()];
    let mut attempts = Vec::new();
    tx.query(&sql, &values, |row| {
        attempts.push(read(row)?);
        Ok(true)
    })?;
    Ok(attempts)
}

/// Of every student the lesson that they failed last in the instants and did not master, with how often they
/// failed it in all: student, lesson, count.
pub(crate) fn failed(
    tx: &mut Tx<'_>,
    instants: std::ops::Range<i64>,
) -> Result<Vec<(String, String, i64)>> {
    let sql = "SELECT a.student, a.lesson, COUNT(*) FROM (\
               SELECT DISTINCT student, lesson FROM lesson_attempt \
               WHERE mastered = 0 AND completed_ms >= $1 AND completed_ms < $2 AND era = 0 \
               AND (pending = 0 OR xp IS NOT NULL)) f \
               JOIN lesson_attempt a ON a.student = f.student AND a.lesson = f.lesson \
               WHERE a.era = 0 AND a.completed_ms IS NOT NULL \
               GROUP BY a.student, a.lesson HAVING MAX(a.mastered) = 0";
    let mut failed = Vec::new();
    tx.query(sql, &[instants.start.into(), instants.end.into()], |row| {
        failed.push((row.text(0)?.to_owned(), row.text(1)?.to_owned(), row.int(2)?));
        Ok(true)
    })?;
    Ok(failed)
}

/// The lessons of a course that attempts of the student mastered.
pub(crate) fn mastered(tx: &mut Tx<'_>, student: &str, course: &str) -> Result<HashSet<String>> {
    let sql = "SELECT DISTINCT lesson FROM lesson_attempt WHERE student = $1 AND course = $2 \
               AND era = 0 AND mastered = 1";
    let mut lessons = HashSet::new();
    tx.query(sql, &[student.into(), course.into()], |row| {
        lessons.insert(row.text(0)?.to_owned());
        Ok(true)
    })?;
    Ok(lessons)
}

/// An answer in an attempt that goes on.
pub(crate) struct Underway {
    pub(crate) student: String,
    pub(crate) lesson: String,
    /// Whether it was right; none while a person has to score it.
    pub(crate) correct: Option<bool>,
    pub(crate) at: Timestamp,
}

/// The answers in the instants that attempts without XP have, which go on or wait to be scored: of those that go by steps every answer, of
/// others the last to each question.
pub(crate) fn underway(
    tx: &mut Tx<'_>,
    instants: std::ops::Range<i64>,
    student: Option<&str>,
) -> Result<Vec<Underway>> {
    let sql = "SELECT a.student, a.lesson, q.correct, q.answered_ms FROM lesson_attempt a \
               JOIN lesson_question q ON q.attempt = a.id AND q.round = a.round \
               WHERE a.xp IS NULL AND a.last_ms >= $1 AND a.era = 0 \
               AND q.answered_ms >= $1 AND q.answered_ms < $2 AND ($3 = '' OR a.student = $3) \
               AND (a.lesson_type = 'powerpath-100' OR NOT EXISTS (SELECT 1 FROM lesson_question l \
               WHERE l.attempt = q.attempt AND l.round = q.round AND l.number > q.number \
               AND l.item = q.item)) ORDER BY a.id, q.number";
    let values = [instants.start.into(), instants.end.into(), student.unwrap_or_default().into()];
    let mut answers = Vec::new();
    tx.query(sql, &values, |row| {
        answers.push(Underway {
            student: row.text(0)?.to_owned(),
            lesson: row.text(1)?.to_owned(),
            correct: row.opt_int(2)?.map(|correct| correct == 1),
            at: Timestamp::from_milliseconds(row.int(3)?),
        });
        Ok(true)
    })?;
    Ok(answers)
}

/// Where an attempt stands that nobody has answered in.
const FRESH: [(&str, &str); 12] = [
    ("answered", "0"),
    ("score", "0.0"),
    ("correct", "0"),
    ("total", "0"),
    ("xp", "NULL"),
    ("multiplier", "NULL"),
    ("mastered", "0"),
    ("completed_ms", "NULL"),
    ("earned", "0"),
    ("pending", "0"),
    ("units", "0"),
    ("last_ms", "NULL"),
];

/// Stores an attempt that begins, unless another request did it first.
pub(crate) fn insert(tx: &mut Tx<'_>, beginning: &Beginning<'_>) -> Result<()> {
    let (columns, values) = (FRESH.map(|(name, _)| name), FRESH.map(|(_, value)| value));
    let sql = format!(
        "INSERT INTO lesson_attempt (student, lesson, era, attempt, course, lesson_type, policy, \
         bank, seed, base_xp, started_ms, seeding, round, {}) \
         VALUES ($1, $2, 0, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, {}) ON CONFLICT DO NOTHING",
        columns.join(", "),
        values.join(", ")
    );
    let values: [Value<'_>; 11] = [
        beginning.student.into(),
        (&beginning.lesson.id).into(),
        i64::from(beginning.number).into(),
        (&beginning.lesson.course.id).into(),
        beginning.lesson.lesson_type.name().into(),
        beginning.policy.into(),
        beginning.bank.into(),
        beginning.seed.cast_signed().into(),
        beginning.lesson.base_xp.into(),
        beginning.started.milliseconds().into(),
        SEEDING.into(),
    ];
    tx.send(&sql, &values)
}

/// Begins the next round of an attempt.
pub(crate) fn begin_anew(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<()> {
    let sets = FRESH.map(|(name, value)| format!("{name} = {value}")).join(", ");
    let sql = format!("UPDATE lesson_attempt SET round = round + 1, {sets} WHERE id = $1");
    tx.send(&sql, &[attempt.id.into()])
}

/// Stores what an answer, or its end, changes in an attempt. Two who change one at once do it one after the other: each
/// write of its log comes with this one.
pub(crate) fn update(tx: &mut Tx<'_>, attempt: &Attempt, now: Timestamp) -> Result<()> {
    let sql = "UPDATE lesson_attempt SET answered = $1, score = $2, correct = $3, total = $4, \
               xp = $5, multiplier = $6, mastered = $7, completed_ms = $8, base_xp = $9, \
               earned = $10, pending = $11, units = $12, last_ms = $13 WHERE id = $14";
    let values: [Value<'_>; 14] = [
        attempt.answered.into(),
        attempt.score.into(),
        i64::from(attempt.correct).into(),
        i64::from(attempt.total).into(),
        attempt.xp.into(),
        attempt.multiplier.into(),
        i64::from(attempt.mastered).into(),
        attempt.completed.map(Timestamp::milliseconds).into(),
        attempt.base_xp.into(),
        attempt.earned.cast_signed().into(),
        i64::from(attempt.pending).into(),
        i64::from(attempt.units).into(),
        now.milliseconds().into(),
        attempt.id.into(),
    ];
    tx.send(sql, &values)
}

/// Takes the attempts of a student in a course, or of a lesson, out of those that count.
pub(crate) fn retire(tx: &mut Tx<'_>, student: &str, (column, id): (&str, &str)) -> Result<u64> {
    let sql = format!(
        "UPDATE lesson_attempt SET era = id WHERE student = $1 AND {column} = $2 AND era = 0"
    );
    tx.execute(&sql, &[student.into(), id.into()])
}
