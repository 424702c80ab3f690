//! What a student answered: every answer with its reason, and the attempt that each belongs to.

use std::collections::HashMap;

use lyceum_adaptive::engine::Reason;
use lyceum_adaptive::repository::log::{self, Asked};
use lyceum_bridge::zone::Zone;
use lyceum_console::student::{ANSWERS, ATTEMPT, Attempt};
use lyceum_console::{Cell, List, Query, Row, screens, words};
use lyceum_core::text::segment;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_roster::fields;
use lyceum_roster::kinds::COMPONENT_RESOURCE;
use lyceum_roster::record::Object;
use serde_json::Value;

use super::student::whose;
use super::students::link;
use super::visitor::query;
use super::{Visitor, deadline, listed, page};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![page("/students/{id}/attempt", &screens::STUDENTS, attempt)]
}

/// Every answer of a student, the last one first.
pub(super) fn answers(
    id: &str,
    query: Query,
    asked: &[Asked],
    lessons: &HashMap<String, Object>,
    zone: &Zone,
) -> List {
    let scores = scores_so_far(asked);
    let row = |(asked, score): (&Asked, &Option<f64>)| -> Row {
        let entry = &asked.entry;
        let title = lessons.get(&asked.lesson).map(|lesson| fields::text(lesson, "title"));
        let lesson = segment(&asked.lesson);
        let href = format!("{}/attempt?lesson={lesson}&attempt={}", link(id), asked.attempt);
        vec![
            Cell::when(entry.served, zone.written(entry.served)),
            Cell::text(title.unwrap_or(&asked.lesson)),
            Cell::of(asked.attempt, asked.attempt.to_string()).to(&href),
            Cell::text(&entry.item),
            outcome(asked),
            score_cell(*score).to(&href),
            Cell::text(why(&entry.reason)),
        ]
    };
    List::new("Answers", ANSWERS, query, asked.iter().zip(&scores).rev().map(row).collect()).or_else(
        "This student was not asked anything in lessons of this server yet. What apps report stands in \
         the sums above.",
    )
}

/// The score of each question's attempt after its answer, 0 to 100; none where it was not answered. A quiz
/// has its score at its end alone: so far it is the share of right answers among those that were given.
fn scores_so_far<'a>(asked: &'a [Asked]) -> Vec<Option<f64>> {
    let mut given: HashMap<(&'a str, i64, i64), HashMap<u32, bool>> = HashMap::new();
    let score = |asked: &'a Asked| {
        let answered = asked.entry.answered.as_ref()?;
        if !matches!(asked.entry.reason, Reason::InOrder { .. }) {
            return Some(f64::from(answered.points));
        }
        // The last answer to a question counts.
        let of_round = given.entry((&asked.lesson, asked.attempt, asked.round)).or_default();
        of_round.insert(asked.entry.question, answered.correct);
        let right = of_round.values().filter(|is_right| **is_right).count();
        #[expect(clippy::cast_precision_loss, reason = "questions are few")]
        let share = 100.0 * right as f64 / of_round.len() as f64;
        Some(share.floor())
    };
    asked.iter().map(score).collect()
}

fn score_cell(score: Option<f64>) -> Cell {
    score.map_or_else(Cell::none, |score| Cell::of(score, words::number(score)))
}

/// What came of a question.
fn outcome(asked: &Asked) -> Cell {
    let (outcome, tone) = match &asked.entry.answered {
        _ if asked.is_set_back => ("set back", ""),
        None => ("not answered", ""),
        Some(answered) if answered.correct => ("right", "good"),
        Some(_) => ("wrong", "bad"),
    };
    Cell::text(outcome).toned(tone)
}

/// Why a question was asked, in a sentence.
fn why(reason: &Reason) -> String {
    match reason {
        Reason::InOrder { place } => format!("Question {} in the lesson's order", place + 1),
        Reason::Bands { score, wanted, served, draw, repeated, earlier, .. } => {
            let (wanted, served) = (wanted.name(), served.name());
            let mut says = format!("At score {score}, {wanted} was due");
            if wanted != served {
                says.extend(["; none was left, so ", served]);
            }
            if draw.of > 1 {
                says.extend(["; one of ", &draw.of.to_string(), " alike"]);
            }
            if *repeated {
                says += "; asked again";
            } else if *earlier > 0 {
                says.extend(["; answered ", &earlier.to_string(), " times before"]);
            }
            says
        }
    }
}

/// One attempt, question by question: how its score came about.
async fn attempt(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, query) = (context.param("id").to_owned(), query(&context));
    let (lesson, number) = (query.own("lesson").to_owned(), query.own("attempt").to_owned());
    let of = (id.clone(), lesson.clone());
    let found = context.app.db.scan(deadline(), move |tx| {
        let (id, lesson) = &of;
        let titles = fields::of_all(tx, &COMPONENT_RESOURCE, std::iter::once(lesson.as_str()))?;
        let title = titles.get(lesson).map(|lesson| fields::text(lesson, "title").to_owned());
        Ok((whose(tx, id)?, title, log::asked(tx, id)?))
    });
    let (student, title, mut asked) = found.await?;
    asked.retain(|asked| asked.lesson == lesson && asked.attempt.to_string() == number);
    if asked.is_empty() {
        let message =
            format!("the student '{id}' was asked nothing in attempt {number} of '{lesson}'");
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    let scores = scores_so_far(&asked);
    let rows = asked.iter().zip(scores).zip(1..);
    let rows = rows.map(|((asked, score), number)| step(asked, number, score, &visitor.zone));
    let list = List::new("Questions", ATTEMPT, query, rows.collect());
    let title = format!("Attempt {number}: {}", title.unwrap_or(lesson));
    let view = Attempt { frame: visitor.frame(title), student, list };
    listed("attempt", &view.list, &view)
}

fn step(asked: &Asked, number: i64, score: Option<f64>, zone: &Zone) -> Row {
    let entry = &asked.entry;
    let (given, points) = match &entry.answered {
        None => (Cell::none(), Cell::none()),
        Some(answered) => (
            Cell::text(given(&answered.responses)),
            Cell::of(answered.score, answered.score.to_string()),
        ),
    };
    vec![
        Cell::of(number, number.to_string()),
        Cell::when(entry.served, zone.written(entry.served)),
        Cell::text(&entry.item),
        given,
        outcome(asked),
        points,
        score_cell(score),
        Cell::text(why(&entry.reason)),
    ]
}

/// Responses as they were given; with the names of their variables where there are several.
fn given(responses: &Value) -> String {
    let told = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match responses.as_object() {
        Some(all) if all.len() == 1 => all.values().map(told).collect(),
        Some(all) => {
            let all = all.iter().map(|(name, value)| format!("{name}: {}", told(value)));
            all.collect::<Vec<_>>().join("; ")
        }
        None => told(responses),
    }
}
