//! Attempts of lessons.

use std::collections::HashSet;

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Signal, Tx, Value, columns, named_column};

use crate::LessonType;

/// The method by which attempts derive the seeds of questions. It is stored with each, so that another one can follow.
pub(crate) const SEEDING: i64 = 1;

/// An attempt at a lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Its number in the store.
    pub id: i64,
    /// The student's sourcedId.
    pub student: String,
    /// The lesson's sourcedId.
    pub lesson: String,
    /// The number of the student's attempt, from 1.
    pub number: u32,
    /// The sourcedId of the course.
    pub course: String,
    /// The type of the lesson when the attempt began.
    pub lesson_type: LessonType,
    /// The version of the policy when the attempt began.
    pub policy: i64,
    /// The id of its bank.
    pub bank: String,
    /// The seed of its random choices, and of the variants of its questions.
    pub seed: u64,
    /// The XP that the lesson was worth when the attempt began.
    pub base_xp: f64,
    /// How often it was reset.
    pub round: i64,
    /// The number of answers in the log of its round. If the log has another entry, that is the open question.
    pub answered: i64,
    /// The score, 0 to 100.
    pub score: f64,
    /// Correct answers so far. In a test that is shown whole, they are counted only when it is complete.
    pub correct: u32,
    /// Scored answers so far. In a test that is shown whole, this is the number of scored questions when it is
    /// complete.
    pub total: u32,
    /// The sum of their shares of the full score, in millionths.
    pub earned: u64,
    /// The number of answers that a person must still score.
    pub pending: u32,
    /// The XP that it earned, if it is complete.
    pub xp: Option<f64>,
    /// The multiplier of the lesson's XP, if it is complete.
    pub multiplier: Option<f64>,
    /// Whether it mastered the lesson.
    pub mastered: bool,
    /// The units that it mastered and that no earlier attempt had.
    pub units: u32,
    /// When it began.
    pub started: Timestamp,
    /// When it was completed.
    pub completed: Option<Timestamp>,
    /// The time limit of its test in milliseconds, without extra time; `None` if there is none.
    pub time_limit_ms: Option<i64>,
    /// Whether answers after the time limit count.
    pub allows_late: bool,
    /// When the time of its round began to run; `None` without a limit, and until the student begins.
    pub clock: Option<Timestamp>,
}

/// A question that was served and not answered yet.
pub(crate) struct OpenQuestion {
    /// Its place in the bank.
    pub(crate) question: u32,
    /// The identifier of its item.
    pub(crate) item: String,
}

/// The data of a new attempt.
pub(crate) struct NewAttempt<'a> {
    pub(crate) student: &'a str,
    pub(crate) lesson: &'a str,
    pub(crate) course: &'a str,
    pub(crate) lesson_type: LessonType,
    pub(crate) base_xp: f64,
    pub(crate) number: u32,
    pub(crate) policy: i64,
    pub(crate) bank: &'a str,
    pub(crate) seed: u64,
    pub(crate) started: Timestamp,
    pub(crate) time_limit_ms: Option<i64>,
    pub(crate) allows_late: bool,
}

columns!(Attempt {
    id: "a.id",
    student: "a.student",
    lesson: "a.lesson",
    number: "a.attempt",
    course: "a.course",
    lesson_type: "a.lesson_type",
    policy: "a.policy",
    bank: "a.bank",
    seed: "a.seed",
    base_xp: "a.base_xp",
    round: "a.round",
    answered: "a.answered",
    score: "a.score",
    correct: "a.correct",
    total: "a.total",
    earned: "a.earned",
    pending: "a.pending",
    xp: "a.xp",
    multiplier: "a.multiplier",
    mastered: "a.mastered",
    units: "a.units",
    started: "a.started_ms",
    completed: "a.completed_ms",
    time_limit_ms: "a.time_limit_ms",
    allows_late: "a.allows_late",
    clock: "a.clock_ms",
});
columns!(OpenQuestion { question: "q.question", item: "q.item" });
named_column!(LessonType, LessonType::from_name);

/// A student's last attempt, and its open question.
pub(crate) fn last_with_question(
    tx: &mut Tx<'_>,
    student: &str,
    lesson: &str,
) -> Result<Option<(Attempt, Option<OpenQuestion>)>> {
    let sql = format!(
        "SELECT {}, {} FROM lesson_attempt a LEFT JOIN lesson_question q \
         ON q.attempt = a.id AND q.round = a.round AND q.number = a.answered \
         WHERE a.student = $1 AND a.lesson = $2 AND a.era = 0 ORDER BY a.attempt DESC LIMIT 1",
        Attempt::COLUMNS,
        OpenQuestion::COLUMNS
    );
    tx.row(&sql, &[student.into(), lesson.into()])
}

/// A student's last attempt.
pub(crate) fn last(tx: &mut Tx<'_>, student: &str, lesson: &str) -> Result<Option<Attempt>> {
    Ok(last_with_question(tx, student, lesson)?.map(|(attempt, _)| attempt))
}

/// A student's attempts that count, in order: at all lessons of a course, or at one lesson.
pub(crate) fn of(
    tx: &mut Tx<'_>,
    student: &str,
    (column, id): (&str, &str),
) -> Result<Vec<Attempt>> {
    assert!(matches!(column, "lesson" | "course"), "attempts can be selected by lesson or course");
    let sql = format!(
        "SELECT {} FROM lesson_attempt a \
         WHERE student = $1 AND {column} = $2 AND era = 0 ORDER BY lesson, attempt",
        Attempt::COLUMNS
    );
    tx.rows(&sql, &[student.into(), id.into()])
}

/// All attempts of a student, including those that no longer count.
pub(crate) fn of_student(tx: &mut Tx<'_>, student: &str) -> Result<Vec<Attempt>> {
    let sql = format!("SELECT {} FROM lesson_attempt a WHERE student = $1", Attempt::COLUMNS);
    tx.rows(&sql, &[student.into()])
}

/// Whether another attempt of the student that counts mastered the lesson.
pub(crate) fn another_mastered(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<bool> {
    let sql = "SELECT 1 FROM lesson_attempt WHERE student = $1 AND lesson = $2 AND era = 0 \
               AND mastered = 1 AND id <> $3 LIMIT 1";
    let values = [(&attempt.student).into(), (&attempt.lesson).into(), attempt.id.into()];
    Ok(tx.query_one(sql, &values, |_| Ok(()))?.is_some())
}

/// All attempts with answers, including those that no longer count, in the order in which they began: of one student,
/// at one lesson, or all. Those of erased persons have no seed any more, so they cannot be replayed.
pub fn past(tx: &mut Tx<'_>, student: Option<&str>, lesson: Option<&str>) -> Result<Vec<Attempt>> {
    let sql = format!(
        "SELECT {} FROM lesson_attempt a WHERE answered > 0 AND seed <> 0 \
         AND ($1 = '' OR student = $1) AND ($2 = '' OR lesson = $2) ORDER BY id",
        Attempt::COLUMNS
    );
    let values = [student.unwrap_or_default().into(), lesson.unwrap_or_default().into()];
    tx.rows(&sql, &values)
}

/// For each student, the lesson that they last failed between the instants and did not master, and how often they
/// failed it in total: student, lesson, count.
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
    tx.rows(sql, &[instants.start.into(), instants.end.into()])
}

/// The lessons of a course that the student mastered.
pub(crate) fn mastered(tx: &mut Tx<'_>, student: &str, course: &str) -> Result<HashSet<String>> {
    let sql = "SELECT DISTINCT lesson FROM lesson_attempt WHERE student = $1 AND course = $2 \
               AND era = 0 AND mastered = 1";
    Ok(tx.rows(sql, &[student.into(), course.into()])?.into_iter().collect())
}

/// An answer in a running attempt.
pub(crate) struct RunningAnswer {
    pub(crate) student: String,
    pub(crate) lesson: String,
    /// Whether it was correct; `None` while a person must score it.
    pub(crate) correct: Option<bool>,
    pub(crate) at: Timestamp,
}

columns!(RunningAnswer {
    student: "a.student",
    lesson: "a.lesson",
    correct: "q.correct",
    at: "q.answered_ms",
});

/// The answers between the instants in attempts that have no XP, because they are running or wait to be scored: all
/// answers if scoring is by steps, otherwise the last one to each question.
pub(crate) fn underway(
    tx: &mut Tx<'_>,
    instants: std::ops::Range<i64>,
    student: Option<&str>,
) -> Result<Vec<RunningAnswer>> {
    let sql = format!(
        "SELECT {} FROM lesson_attempt a \
               JOIN lesson_question q ON q.attempt = a.id AND q.round = a.round \
               WHERE a.xp IS NULL AND a.last_ms >= $1 AND a.era = 0 \
               AND q.answered_ms >= $1 AND q.answered_ms < $2 AND ($3 = '' OR a.student = $3) \
               AND (a.lesson_type = 'powerpath-100' OR NOT EXISTS (SELECT 1 FROM lesson_question l \
               WHERE l.attempt = q.attempt AND l.round = q.round AND l.number > q.number \
               AND l.item = q.item)) ORDER BY a.id, q.number",
        RunningAnswer::COLUMNS
    );
    let values = [instants.start.into(), instants.end.into(), student.unwrap_or_default().into()];
    tx.rows(&sql, &values)
}

/// The instants between these at which the student answered, in attempts that count or no longer count.
pub(crate) fn answer_instants(
    tx: &mut Tx<'_>,
    instants: std::ops::Range<i64>,
    student: &str,
) -> Result<Vec<Timestamp>> {
    let sql = "SELECT q.answered_ms FROM lesson_attempt a JOIN lesson_question q ON q.attempt = a.id \
               WHERE a.student = $1 AND q.answered_ms >= $2 AND q.answered_ms < $3";
    tx.rows(sql, &[student.into(), instants.start.into(), instants.end.into()])
}

/// The students who answered in running attempts since the instant, with the times of their last answers.
pub(crate) fn last_answers(tx: &mut Tx<'_>, since_ms: i64) -> Result<Vec<(String, Timestamp)>> {
    let sql = "SELECT student, last_ms FROM lesson_attempt WHERE xp IS NULL AND last_ms >= $1";
    tx.rows(sql, &[since_ms.into()])
}

/// The values of an attempt without answers.
const FRESH: [(&str, &str); 13] = [
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
    ("clock_ms", "NULL"),
];

/// Stores a new attempt, unless another request has already stored it.
pub(crate) fn insert(tx: &mut Tx<'_>, beginning: &NewAttempt<'_>) -> Result<()> {
    let (columns, values) = (FRESH.map(|(name, _)| name), FRESH.map(|(_, value)| value));
    let sql = format!(
        "INSERT INTO lesson_attempt (student, lesson, era, attempt, course, lesson_type, policy, \
         bank, seed, base_xp, started_ms, seeding, time_limit_ms, allows_late, round, {}) \
         VALUES ($1, $2, 0, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, {}) \
         ON CONFLICT DO NOTHING",
        columns.join(", "),
        values.join(", ")
    );
    let values: [Value<'_>; 13] = [
        beginning.student.into(),
        beginning.lesson.into(),
        i64::from(beginning.number).into(),
        beginning.course.into(),
        beginning.lesson_type.name().into(),
        beginning.policy.into(),
        beginning.bank.into(),
        beginning.seed.cast_signed().into(),
        beginning.base_xp.into(),
        beginning.started.milliseconds().into(),
        SEEDING.into(),
        beginning.time_limit_ms.into(),
        i64::from(beginning.allows_late).into(),
    ];
    tx.send(&sql, &values)
}

/// Begins the next round of an attempt.
pub(crate) fn begin_anew(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<()> {
    let sets = FRESH.map(|(name, value)| format!("{name} = {value}")).join(", ");
    let sql = format!("UPDATE lesson_attempt SET round = round + 1, {sets} WHERE id = $1");
    tx.send(&sql, &[attempt.id.into()])
}

/// Stores what an answer or its end changes in an attempt. Concurrent changes of an attempt happen one after the
/// other, because each write to its log also does this.
pub(crate) fn update(tx: &mut Tx<'_>, attempt: &Attempt, now: Timestamp) -> Result<()> {
    let sql = "UPDATE lesson_attempt SET answered = $1, score = $2, correct = $3, total = $4, \
               xp = $5, multiplier = $6, mastered = $7, completed_ms = $8, earned = $9, \
               pending = $10, units = $11, last_ms = $12 WHERE id = $13";
    let values: [Value<'_>; 13] = [
        attempt.answered.into(),
        attempt.score.into(),
        i64::from(attempt.correct).into(),
        i64::from(attempt.total).into(),
        attempt.xp.into(),
        attempt.multiplier.into(),
        i64::from(attempt.mastered).into(),
        attempt.completed.map(Timestamp::milliseconds).into(),
        attempt.earned.cast_signed().into(),
        i64::from(attempt.pending).into(),
        i64::from(attempt.units).into(),
        now.milliseconds().into(),
        attempt.id.into(),
    ];
    tx.signal(Signal::Answers);
    tx.send(sql, &values)
}

/// Excludes a student's attempts in a course, or at a lesson, from those that count.
pub(crate) fn retire(tx: &mut Tx<'_>, student: &str, (column, id): (&str, &str)) -> Result<u64> {
    let sql = format!(
        "UPDATE lesson_attempt SET era = id WHERE student = $1 AND {column} = $2 AND era = 0"
    );
    tx.execute(&sql, &[student.into(), id.into()])
}
