//! The log of attempts: served questions with the reasons, and answers with their results.

use std::collections::{BTreeMap, HashMap};

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_roster::record::Object;
use lyceum_store::{Tx, Value, columns, json_column};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Map;

use super::attempts::Attempt;
use crate::engine::{Answer, AnswerCounts, QuestionReason, accuracy};

/// An entry of the log: a question that was served.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptLogEntry {
    /// Its place in the log, from 0.
    pub number: i64,
    /// The place of the question in the bank.
    pub question: u32,
    /// The identifier of the item.
    pub item: String,
    /// When it was served: with the reply to the previous answer, or on request.
    pub served: Timestamp,
    /// Why it was chosen.
    pub reason: QuestionReason,
    /// The answer, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<AttemptLogAnswer>,
}

/// An answer with its result.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AttemptLogAnswer {
    /// When it was received.
    pub at: Timestamp,
    /// The answers by response variable, as they were sent.
    pub responses: Map<String, serde_json::Value>,
    /// The results of the answers.
    #[schemars(with = "Map<String, serde_json::Value>")]
    pub result: serde_json::Value,
    /// Whether it was correct.
    pub correct: bool,
    /// The item's own score.
    pub score: f64,
    /// The share of the full score, in millionths; `None` while a person must score it.
    #[serde(skip)]
    pub share: Option<u32>,
    /// Whether a person must still score it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// The score of the attempt after it.
    pub points: u8,
}

columns!(EntryRow {
    number: "q.number",
    question: "q.question",
    item: "q.item",
    served: "q.served_ms",
    reason: "q.reason",
});
columns!(AnsweredRow {
    at: "q.answered_ms",
    responses: "q.responses",
    result: "q.result",
    correct: "q.correct",
    score: "q.score",
    points: "q.points",
    share: "q.share",
});
json_column!(QuestionReason);

struct EntryRow {
    number: i64,
    question: u32,
    item: String,
    served: Timestamp,
    reason: QuestionReason,
}

struct AnsweredRow {
    at: Timestamp,
    responses: Object,
    result: serde_json::Value,
    /// `None` while a person must score the answer.
    correct: Option<bool>,
    score: f64,
    points: u8,
    share: Option<u32>,
}

/// The columns of an entry.
fn columns() -> String {
    format!("{}, {}", EntryRow::COLUMNS, AnsweredRow::COLUMNS)
}

fn entry_of((entry, answered): (EntryRow, Option<AnsweredRow>)) -> AttemptLogEntry {
    let EntryRow { number, question, item, served, reason } = entry;
    let answered = answered.map(|answered| AttemptLogAnswer {
        at: answered.at,
        responses: answered.responses,
        result: answered.result,
        correct: answered.correct == Some(true),
        score: answered.score,
        share: answered.share,
        pending: answered.correct.is_none(),
        points: answered.points,
    });
    AttemptLogEntry { number, question, item, served, reason, answered }
}

/// The log of the attempt's current round, in order.
pub fn entries(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<Vec<AttemptLogEntry>> {
    let sql = format!(
        "SELECT {} FROM lesson_question q WHERE attempt = $1 AND round = $2 ORDER BY number",
        columns()
    );
    let rows = tx.rows(&sql, &[attempt.id.into(), attempt.round.into()])?;
    let mut entries: Vec<AttemptLogEntry> = rows.into_iter().map(entry_of).collect();
    let mut running = RunningScore::default();
    for entry in &mut entries {
        running.note(entry);
    }
    Ok(entries)
}

/// The last answer to each question, by place.
pub(crate) fn latest(entries: &[AttemptLogEntry]) -> BTreeMap<u32, &AttemptLogEntry> {
    let answered = entries.iter().filter(|entry| entry.answered.is_some());
    answered.map(|entry| (entry.question, entry)).collect()
}

/// The running score of a test that is shown whole. It is computed from all answers so far, as in a replay.
#[derive(Default)]
struct RunningScore(HashMap<u32, Option<u32>>);

impl RunningScore {
    /// Stores the score after the entry.
    fn note(&mut self, entry: &mut AttemptLogEntry) {
        let (QuestionReason::InOrder { .. }, Some(answered)) = (&entry.reason, &mut entry.answered)
        else {
            return;
        };
        self.0.insert(entry.question, answered.share);
        let counts =
            self.0.values().fold(AnswerCounts::default(), |counts, share| counts.and(*share));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        let score = accuracy(&counts) as u8;
        answered.points = score;
    }
}

/// A question that a student was asked, with its attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct ServedQuestion {
    /// The lesson's sourcedId.
    pub lesson: String,
    /// The number of the student's attempt, from 1.
    pub attempt: i64,
    /// The number of the attempt in the store.
    pub attempt_id: i64,
    /// The round of the attempt, from 0. Only the last one counts.
    pub round: i64,
    /// Whether the attempt no longer counts or was reset since.
    pub is_set_back: bool,
    /// The question with the reason, and the answer with its result.
    pub entry: AttemptLogEntry,
}

/// Lesson, attempt, round, the attempt's last round, its era and its id.
type AttemptOfEntry = (String, i64, i64, i64, i64, i64);

/// All questions that a student was ever asked, in order. Runs one statement.
pub fn served_questions(tx: &mut Tx<'_>, student: &str) -> Result<Vec<ServedQuestion>> {
    let sql = format!(
        "SELECT {}, a.lesson, a.attempt, q.round, a.round, a.era, a.id FROM lesson_attempt a \
         JOIN lesson_question q ON q.attempt = a.id WHERE a.student = $1 \
         ORDER BY q.served_ms, a.id, q.round, q.number",
        columns()
    );
    let mut all = Vec::new();
    let mut running: HashMap<(i64, i64), RunningScore> = HashMap::new();
    tx.query(&sql, &[student.into()], |row| {
        let (row, of): ((EntryRow, Option<AnsweredRow>), AttemptOfEntry) = row.read()?;
        let (lesson, attempt, round, last_round, era, id) = of;
        let mut entry = entry_of(row);
        running.entry((id, round)).or_default().note(&mut entry);
        let is_set_back = round != last_round || era != 0;
        all.push(ServedQuestion { lesson, attempt, attempt_id: id, round, is_set_back, entry });
        Ok(true)
    })?;
    Ok(all)
}

/// The entry with that number in the attempt's current round.
pub(crate) fn entry(
    tx: &mut Tx<'_>,
    attempt: &Attempt,
    number: i64,
) -> Result<Option<AttemptLogEntry>> {
    let sql = format!(
        "SELECT {} FROM lesson_question q WHERE attempt = $1 AND round = $2 AND number = $3",
        columns()
    );
    let row = tx.row(&sql, &[attempt.id.into(), attempt.round.into(), number.into()])?;
    Ok(row.map(entry_of))
}

/// The last entry of an item in the attempt's current round.
pub(crate) fn last_of(
    tx: &mut Tx<'_>,
    attempt: &Attempt,
    item: &str,
) -> Result<Option<AttemptLogEntry>> {
    let sql = format!(
        "SELECT {} FROM lesson_question q WHERE attempt = $1 AND round = $2 AND item = $3 \
         ORDER BY number DESC LIMIT 1",
        columns()
    );
    let row = tx.row(&sql, &[attempt.id.into(), attempt.round.into(), item.into()])?;
    Ok(row.map(entry_of))
}

/// The answers of the attempt's current round, as the engine reads them, in order and without the first `known`.
pub(crate) fn answers(tx: &mut Tx<'_>, attempt: &Attempt, known: usize) -> Result<Vec<Answer>> {
    let sql = "SELECT question, correct, score, share FROM lesson_question WHERE attempt = $1 \
               AND round = $2 AND number >= $3 AND answered_ms IS NOT NULL ORDER BY number";
    let known = i64::try_from(known).map_err(Problem::internal)?;
    let rows = tx.rows(sql, &[attempt.id.into(), attempt.round.into(), known.into()])?;
    let answer = |(question, correct, score, share): (u32, Option<bool>, f64, Option<u32>)| {
        Answer { question, correct: correct == Some(true), score, share }
    };
    Ok(rows.into_iter().map(answer).collect())
}

/// How often the student answered each item of the lesson before the attempt's current round.
pub fn earlier(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<HashMap<String, u32>> {
    let sql = "SELECT q.item, COUNT(*) FROM lesson_attempt a \
               JOIN lesson_question q ON q.attempt = a.id \
               WHERE a.student = $1 AND a.lesson = $2 AND q.answered_ms IS NOT NULL \
               AND (a.id < $3 OR (a.id = $3 AND q.round < $4)) GROUP BY q.item";
    let values: [Value<'_>; 4] = [
        (&attempt.student).into(),
        (&attempt.lesson).into(),
        attempt.id.into(),
        attempt.round.into(),
    ];
    Ok(tx.rows(sql, &values)?.into_iter().collect())
}

/// Appends an entry without an answer, unless an entry with its number exists.
pub(crate) fn append(tx: &mut Tx<'_>, attempt: &Attempt, entry: &AttemptLogEntry) -> Result<()> {
    let reason = serde_json::to_string(&entry.reason).map_err(Problem::internal)?;
    let sql = "INSERT INTO lesson_question (attempt, round, number, question, item, served_ms, reason) \
               VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
    let values: [Value<'_>; 7] = [
        attempt.id.into(),
        attempt.round.into(),
        entry.number.into(),
        i64::from(entry.question).into(),
        (&entry.item).into(),
        entry.served.milliseconds().into(),
        reason.as_str().into(),
    ];
    tx.send(sql, &values)
}

/// Writes the answer of an entry.
pub(crate) fn answer(
    tx: &mut Tx<'_>,
    attempt: &Attempt,
    number: i64,
    answered: &AttemptLogAnswer,
) -> Result<()> {
    let responses = serde_json::to_string(&answered.responses).map_err(Problem::internal)?;
    let result = answered.result.to_string();
    let sql = "UPDATE lesson_question SET answered_ms = $1, responses = $2, result = $3, correct = $4, \
               score = $5, points = $6, share = $7 WHERE attempt = $8 AND round = $9 AND number = $10";
    let values: [Value<'_>; 10] = [
        answered.at.milliseconds().into(),
        responses.as_str().into(),
        result.as_str().into(),
        (!answered.pending).then(|| i64::from(answered.correct)).into(),
        answered.score.into(),
        i64::from(answered.points).into(),
        answered.share.map(i64::from).into(),
        attempt.id.into(),
        attempt.round.into(),
        number.into(),
    ];
    tx.send(sql, &values)
}

/// The number of the entry that the request with this id answered in the attempt's current round.
pub(crate) fn number_of_request(
    tx: &mut Tx<'_>,
    attempt: &Attempt,
    request: &str,
) -> Result<Option<i64>> {
    let sql = "SELECT number FROM lesson_answer_request WHERE attempt = $1 AND round = $2 AND request = $3";
    tx.row(sql, &[attempt.id.into(), attempt.round.into(), request.into()])
}

/// Stores which entry a request answered.
pub(crate) fn note_request(
    tx: &mut Tx<'_>,
    attempt: &Attempt,
    request: &str,
    number: i64,
) -> Result<()> {
    let sql = "INSERT INTO lesson_answer_request (attempt, round, request, number) \
               VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
    let values: [Value<'_>; 4] =
        [attempt.id.into(), attempt.round.into(), request.into(), number.into()];
    tx.send(sql, &values)
}
