//! What a student answered: every answer with its reason, and the attempt that each belongs to.

use std::collections::HashMap;

use lyceum_adaptive::engine::Reason;
use lyceum_adaptive::repository::log::{self, Asked};
use lyceum_bridge::zone::Zone;
use lyceum_console::student::{ANSWERS, ATTEMPT, Attempt};
use lyceum_console::{Cell, List, Query, Row, screens};
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
    let row = |asked: &Asked| -> Row {
        let entry = &asked.entry;
        let title = lessons.get(&asked.lesson).map(|lesson| fields::text(lesson, "title"));
        let lesson = segment(&asked.lesson);
        let href = format!("{}/attempt?lesson={lesson}&attempt={}", link(id), asked.attempt);
        let score = entry.answered.as_ref().map(|answered| answered.points);
        vec![
            Cell::when(entry.served, zone.written(entry.served)),
            Cell::text(title.unwrap_or(&asked.lesson)),
            Cell::of(asked.attempt, asked.attempt.to_string()).to(&href),
            Cell::text(&entry.item),
            outcome(asked),
            score.map_or_else(Cell::none, |score| Cell::of(score, score.to_string()).to(&href)),
            Cell::text(why(&entry.reason)),
        ]
    };
    List::new("Answers", ANSWERS, query, asked.iter().rev().map(row).collect()).or_else(
        "This student was not asked anything in lessons of this server yet. What apps report stands in \
         the sums above.",
    )
}

/// What came of a question.
fn outcome(asked: &Asked) -> Cell {
    let (outcome, tone) = match &asked.entry.answered {
        _ if asked.is_set_back => ("set back", ""),
        None => ("not answered", ""),
        Some(answered) if answered.correct => ("right", "good"),
        Some(answered) if answered.pending => ("waits for a person", ""),
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
    let rows = asked.iter().zip(1..).map(|(asked, number)| step(asked, number, &visitor.zone));
    let list = List::new("Questions", ATTEMPT, query, rows.collect());
    let title = format!("Attempt {number}: {}", title.unwrap_or(lesson));
    let view = Attempt { frame: visitor.frame(title), student, list };
    listed("attempt", &view.list, &view)
}

fn step(asked: &Asked, number: i64, zone: &Zone) -> Row {
    let entry = &asked.entry;
    let (given, points, score) = match &entry.answered {
        None => (Cell::none(), Cell::none(), Cell::none()),
        Some(answered) => (
            Cell::text(given(&answered.responses)),
            Cell::of(answered.score, answered.score.to_string()),
            Cell::of(answered.points, answered.points.to_string()),
        ),
    };
    vec![
        Cell::of(number, number.to_string()),
        Cell::when(entry.served, zone.written(entry.served)),
        Cell::text(&entry.item),
        given,
        outcome(asked),
        points,
        score,
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
