//! A student's answers: why each question was asked, and the attempt to which it belongs.

use lyceum_adaptive::engine::QuestionReason;
use lyceum_adaptive::repository::log::ServedQuestion;
use lyceum_adaptive::screens::student::{self as screen, LessonAnswer, QuestionInWords};
use lyceum_console::language::translated;
use lyceum_console::student::{ANSWERS, ATTEMPT, AttemptPage};
use lyceum_console::{Cell, List, ListQuery, Row, links, plural, screens, t};
use lyceum_core::Result;
use lyceum_store::Tx;
use serde_json::Value;

use super::visitor::query;
use super::{Visitor, deadline, page, show_list};
use crate::answer::Answer;
use crate::context::Context;
use crate::language::Calendar;
use crate::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![page("/students/{id}/attempt", &screens::STUDENTS, attempt).within_reach()]
}

/// All answers of a student, newest first.
pub(super) fn answers(
    id: &str,
    query: ListQuery,
    answers: &[LessonAnswer],
    calendar: &Calendar,
) -> List {
    let row = |LessonAnswer { lesson_title, asked, words }: &LessonAnswer| -> Row {
        let entry = &asked.entry;
        let href = links::attempt(id, &asked.lesson, asked.attempt);
        let score = entry.answered.as_ref().map(|answered| answered.points);
        vec![
            Cell::when(entry.served, calendar.moment(entry.served)),
            Cell::text(lesson_title),
            Cell::count(asked.attempt).to(&href),
            item(asked),
            question_text(words.as_ref()),
            given_answer(asked, words.as_ref()),
            outcome(asked),
            score.map_or_else(Cell::none, |score| Cell::count(score).to(&href)),
            Cell::text(describe_reason(&entry.reason)),
        ]
    };
    List::new("Answers", ANSWERS, query, answers.iter().map(row).collect()).or_else(
        "No lesson of this server has asked this student a question yet. The totals above include activity reported by apps.",
    )
}

/// The outcome of a question.
fn outcome(asked: &ServedQuestion) -> Cell {
    let (outcome, tone) = match &asked.entry.answered {
        _ if asked.is_set_back => (t!("reset"), ""),
        None => (t!("not answered"), ""),
        Some(answered) if answered.correct => (t!("right"), "good"),
        Some(answered) if answered.pending => (t!("to be scored by a person"), ""),
        Some(_) => (t!("wrong"), "bad"),
    };
    Cell::text(outcome).toned(tone)
}

/// Why a question was asked, in a sentence.
fn describe_reason(reason: &QuestionReason) -> String {
    match reason {
        QuestionReason::InOrder { place } => {
            t!("Question {n} in the lesson's order", n = place + 1)
        }
        QuestionReason::Bands { score, wanted, served, draw, repeated, earlier, .. } => {
            let (wanted, served) = (translated(wanted.name()), translated(served.name()));
            let next =
                t!("At score {score}, the next question is {level}", score = score, level = wanted);
            let mut parts = vec![next];
            if wanted != served {
                parts.push(t!("none was left, so the question is {level}", level = served));
            }
            if draw.of > 1 {
                parts.push(t!("drawn from {n}", n = draw.of));
            }
            if *repeated {
                parts.push(t!("asked again"));
            } else if *earlier > 0 {
                parts.push(plural!(
                    *earlier,
                    "answered {n} time before",
                    "answered {n} times before"
                ));
            }
            parts.join("; ")
        }
    }
}

/// Shows one attempt question by question, so that its score can be followed.
async fn attempt(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, query) = (context.param("id").to_owned(), query(&context));
    let (lesson, number) = (query.own("lesson").to_owned(), query.own("attempt").to_owned());
    let (of, wanted, reach) = (id.clone(), number.clone(), context.reach());
    let read = move |tx: &mut Tx<'_>| screen::attempt(tx, &of, &lesson, &wanted, &reach);
    let found = context.app.db.scan(deadline(), read).await?;
    let questions = found.questions.iter().zip(&found.words).zip(1..);
    let rows = questions
        .map(|((asked, words), number)| question(asked, words.as_ref(), number, &visitor.calendar))
        .collect();
    let view = AttemptPage {
        frame: visitor.frame(t!("Attempt {n}: {lesson}", n = number, lesson = found.lesson_title)),
        student: (links::student(&id), found.student),
        list: List::new("Questions", ATTEMPT, query, rows),
    };
    show_list("attempt", &view.list, &view)
}

fn question(
    asked: &ServedQuestion,
    words: Option<&QuestionInWords>,
    number: i64,
    calendar: &Calendar,
) -> Row {
    let entry = &asked.entry;
    let (points, score) = match &entry.answered {
        None => (Cell::none(), Cell::none()),
        Some(answered) => (Cell::count(answered.score), Cell::count(answered.points)),
    };
    vec![
        Cell::count(number),
        Cell::when(entry.served, calendar.moment(entry.served)),
        words.map_or_else(
            || item(asked),
            |words| Cell::text(&words.question).to(links::item(&entry.item)),
        ),
        given_answer(asked, words),
        match words.filter(|words| !words.correct.is_empty()) {
            Some(words) => Cell::text(&words.correct),
            None => Cell::none(),
        },
        outcome(asked),
        points,
        score,
        Cell::text(describe_reason(&entry.reason)),
    ]
}

/// The id of a question's item.
fn item(asked: &ServedQuestion) -> Cell {
    let item = &asked.entry.item;
    Cell::text(item).to(links::item(item))
}

/// The text of a question, if it is known.
fn question_text(words: Option<&QuestionInWords>) -> Cell {
    words.map_or_else(Cell::none, |words| Cell::text(&words.question))
}

/// The answer to a question as text; the responses as they were sent if the question's text is not known.
fn given_answer(asked: &ServedQuestion, words: Option<&QuestionInWords>) -> Cell {
    let Some(answered) = &asked.entry.answered else { return Cell::none() };
    Cell::text(
        words.map_or_else(|| describe_responses(&answered.responses), |words| words.chosen.clone()),
    )
}

/// The responses as text. If there are several, each has the name of its variable.
fn describe_responses(responses: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match responses.as_object() {
        Some(all) if all.len() == 1 => all.values().map(text).collect(),
        Some(all) => {
            let all = all.iter().map(|(name, value)| format!("{name}: {}", text(value)));
            all.collect::<Vec<_>>().join("; ")
        }
        None => text(responses),
    }
}
