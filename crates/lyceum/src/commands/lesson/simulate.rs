//! `lyceum lesson policy simulate`

use std::path::PathBuf;

use clap::Args;
use lyceum_adaptive::attempt::Attempt;
use lyceum_adaptive::engine::{ReplayedResult, ResultChange, simulate};
use lyceum_adaptive::repository::attempts;
use lyceum_adaptive::{QuestionSetCache, attempt_history};
use serde_json::{Value, json};

use super::policy::read;
use crate::failure::Result;
use crate::printer::{Printer, counted, table};
use crate::settings::{DataArgs, Missing};

#[derive(Args)]
pub(crate) struct Simulate {
    /// A policy file in the format that `show` prints
    file: PathBuf,
    /// Only attempts of this student
    #[arg(long, value_name = "ID")]
    student: Option<String>,
    /// Only attempts of this lesson
    #[arg(long, value_name = "ID")]
    lesson: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

/// Totals over several attempts.
#[derive(Clone, Copy, Default)]
struct AttemptTotals {
    complete: u64,
    /// Number of answers in complete attempts.
    questions: u64,
    /// Sum of all scores.
    score: f64,
    xp: f64,
}

impl AttemptTotals {
    fn add(&mut self, outcome: ReplayedResult) {
        self.score += outcome.score;
        if let Some(credit) = outcome.credit {
            self.complete += 1;
            self.questions += u64::from(outcome.questions);
            self.xp += credit.xp;
        }
    }

    fn record(self) -> Value {
        let Self { complete, questions, score, xp } = self;
        json!({ "complete": complete, "questions": questions, "score": score, "xp": xp })
    }
}

impl Simulate {
    /// Replays every attempt at the policy's lesson type that has an answer. Writes nothing.
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let new = read(&self.file)?;
        let (_, db) = self.data.open(Missing::Refuse)?;
        let (student, lesson) = (self.student.as_deref(), self.lesson.as_deref());
        let (banks, mut sums, mut count) =
            (QuestionSetCache::default(), [AttemptTotals::default(); 2], 0_u64);
        let mut changed: Vec<(Attempt, ResultChange)> = Vec::new();
        db.read_blocking(|tx| {
            for attempt in attempts::past(tx, student, lesson)? {
                if attempt.lesson_type == new.lesson_type {
                    let (old, past) = attempt_history::of(tx, &banks, &attempt)?;
                    let change = simulate(&old, &new, &past);
                    count += 1;
                    sums[0].add(change.old);
                    sums[1].add(change.new);
                    if change.old != change.new {
                        changed.push((attempt, change));
                    }
                }
            }
            Ok(())
        })?;
        let [was, would_be] = sums;
        let named = student.or(lesson).is_some();
        printer.answer(
            || {
                let one = if named { each(&changed) + "\n" } else { String::new() };
                one + &together(count, [was, would_be])
            },
            || {
                json!({
                    "lessonType": new.lesson_type,
                    "attempts": count,
                    "changed": changed.len(),
                    "old": was.record(),
                    "new": would_be.record(),
                    "changes": changed.iter().map(record).collect::<Vec<_>>(),
                })
            },
        );
        printer.done(&format!(
            "replayed {} of {}; {} would have ended differently",
            counted(count, "attempt"),
            new.lesson_type,
            changed.len()
        ));
        Ok(())
    }
}

/// Totals as they were, and as they would have been.
fn together(count: u64, sums: [AttemptTotals; 2]) -> String {
    let per =
        |sum: f64, of: u64| if of == 0 { "-".to_owned() } else { format!("{:.1}", sum / real(of)) };
    let row = |what: &str, values: [String; 2]| {
        let [was, would_be] = values;
        vec![what.to_owned(), was, would_be]
    };
    let rows = [
        row("complete", sums.map(|sum| sum.complete.to_string())),
        row("answers per complete attempt", sums.map(|sum| per(real(sum.questions), sum.complete))),
        row("score", sums.map(|sum| per(sum.score, count))),
        row("XP", sums.map(|sum| format!("{:.1}", sum.xp))),
    ];
    table(&["attempts", "was", "would be"], &rows)
}

/// The attempts that would have ended differently.
fn each(changed: &[(Attempt, ResultChange)]) -> String {
    let rows: Vec<Vec<String>> = changed
        .iter()
        .map(|(attempt, ResultChange { old, new })| {
            let both =
                |tell: fn(ReplayedResult) -> String| format!("{} → {}", tell(*old), tell(*new));
            vec![
                attempt.student.clone(),
                attempt.lesson.clone(),
                attempt.number.to_string(),
                both(|outcome| outcome.questions.to_string()),
                both(|outcome| outcome.score.to_string()),
                both(|outcome| match outcome.credit {
                    Some(credit) => credit.xp.to_string(),
                    None => "not complete".to_owned(),
                }),
            ]
        })
        .collect();
    table(&["student", "lesson", "attempt", "answers", "score", "XP"], &rows)
}

fn record((attempt, change): &(Attempt, ResultChange)) -> Value {
    json!({
        "student": attempt.student,
        "lesson": attempt.lesson,
        "attempt": attempt.number,
        "policy": attempt.policy,
        "old": change.old,
        "new": change.new,
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of what a school does")]
fn real(count: u64) -> f64 {
    count as f64
}
