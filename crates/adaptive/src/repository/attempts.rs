//! Attempts of lessons.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Tx, Value};

use crate::LessonType;
use crate::attempt::Attempt;

const COLUMNS: &str = "id, student, lesson, attempt, course, lesson_type, policy, bank, seed, round, \
                       served, answered, score, correct, total, xp, multiplier, mastered, \
                       started_ms, completed_ms";

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
        round: row.int(9)?,
        served: row.int(10)?,
        answered: row.int(11)?,
        score: row.real(12)?,
        correct: count(13)?,
        total: count(14)?,
        xp: row.opt_real(15)?,
        multiplier: row.opt_real(16)?,
        mastered: row.int(17)? == 1,
        started: Timestamp::from_milliseconds(row.int(18)?),
        completed: row.opt_int(19)?.map(Timestamp::from_milliseconds),
    })
}

/// The last attempt of a student.
pub(crate) fn last(tx: &mut Tx<'_>, student: &str, lesson: &str) -> Result<Option<Attempt>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM lesson_attempt \
         WHERE student = $1 AND lesson = $2 AND era = 0 ORDER BY attempt DESC LIMIT 1"
    );
    tx.query_one(&sql, &[student.into(), lesson.into()], read)
}

/// The attempts of a student that count, in their order; of every lesson of a course, or of one.
pub(crate) fn of(
    tx: &mut Tx<'_>,
    student: &str,
    (column, id): (&str, &str),
) -> Result<Vec<Attempt>> {
    assert!(matches!(column, "lesson" | "course"), "attempts are of a lesson or a course");
    let sql = format!(
        "SELECT {COLUMNS} FROM lesson_attempt \
         WHERE student = $1 AND {column} = $2 AND era = 0 ORDER BY lesson, attempt"
    );
    let mut attempts = Vec::new();
    tx.query(&sql, &[student.into(), id.into()], |row| {
        attempts.push(read(row)?);
        Ok(true)
    })?;
    Ok(attempts)
}

/// Every attempt that has an answer, also those that were set back, in the order of their beginning:
/// of one student, of one lesson, or of all.
pub fn past(tx: &mut Tx<'_>, student: Option<&str>, lesson: Option<&str>) -> Result<Vec<Attempt>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM lesson_attempt WHERE answered > 0 \
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

/// Stores an attempt that begins, unless another request did it first.
pub(crate) fn insert(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<()> {
    let sql = "INSERT INTO lesson_attempt (student, lesson, era, attempt, course, lesson_type, policy, \
               bank, seed, round, served, answered, score, correct, total, mastered, started_ms) \
               VALUES ($1, $2, 0, $3, $4, $5, $6, $7, $8, 0, 0, 0, 0.0, 0, 0, 0, $9) \
               ON CONFLICT DO NOTHING";
    let values: [Value<'_>; 9] = [
        (&attempt.student).into(),
        (&attempt.lesson).into(),
        i64::from(attempt.number).into(),
        (&attempt.course).into(),
        attempt.lesson_type.name().into(),
        attempt.policy.into(),
        (&attempt.bank).into(),
        attempt.seed.cast_signed().into(),
        attempt.started.milliseconds().into(),
    ];
    tx.execute(sql, &values).map(drop)
}

/// Stores what changes in an attempt. Two who change one at once do it one after the other: each
/// write of its log comes with this one.
pub(crate) fn update(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<()> {
    let sql = "UPDATE lesson_attempt SET round = $1, served = $2, answered = $3, score = $4, \
               correct = $5, total = $6, xp = $7, multiplier = $8, mastered = $9, \
               completed_ms = $10 WHERE id = $11";
    let values: [Value<'_>; 11] = [
        attempt.round.into(),
        attempt.served.into(),
        attempt.answered.into(),
        attempt.score.into(),
        i64::from(attempt.correct).into(),
        i64::from(attempt.total).into(),
        attempt.xp.into(),
        attempt.multiplier.into(),
        i64::from(attempt.mastered).into(),
        attempt.completed.map(Timestamp::milliseconds).into(),
        attempt.id.into(),
    ];
    tx.execute(sql, &values).map(drop)
}

/// Takes the attempts of a student in a course, or of a lesson, out of those that count.
pub(crate) fn retire(tx: &mut Tx<'_>, student: &str, (column, id): (&str, &str)) -> Result<u64> {
    let sql = format!(
        "UPDATE lesson_attempt SET era = id WHERE student = $1 AND {column} = $2 AND era = 0"
    );
    tx.execute(&sql, &[student.into(), id.into()])
}
