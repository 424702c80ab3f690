//! A student's answers: why each question was asked, and the attempt to which it belongs.

use std::collections::HashMap;

use lyceum_adaptive::engine::QuestionReason;
use lyceum_adaptive::limits::QUESTIONS_IN_WORDS_MAX_COUNT;
use lyceum_adaptive::repository::log::ServedQuestion;
use lyceum_adaptive::screens::student::{self as screen, LessonAnswer, QuestionText};
use lyceum_api::{Context, Route};
use lyceum_console::language::translated;
use lyceum_console::{Cell, List, ListQuery, Row, links, plural, screens, t};
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_store::Tx;
use serde_json::{Map, Value};

use super::visitor::query;
use super::{Visitor, deadline, page, show_list};
use crate::calendar::Calendar;
use crate::console::student::view::{ANSWERS, ATTEMPT, AttemptPage};

pub(super) fn routes() -> Vec<Route> {
    vec![page("/students/{id}/attempt", &screens::STUDENTS, attempt).within_reach()]
}

/// The text of answers, by their place in the list of all answers.
pub(super) type QuestionTextsByPlace = HashMap<usize, QuestionText>;

/// All answers of a student, newest first.
pub(super) fn answers(
    id: &str,
    query: ListQuery,
    answers: &[LessonAnswer],
    words: &QuestionTextsByPlace,
    calendar: &Calendar,
) -> List {
    let rows = rows(id, answers, words, calendar);
    List::new("Answers", ANSWERS, query, rows).or_else(
        "No lesson of this server has asked this student a question yet. The totals above include activity reported by apps.",
    )
}

/// The text of the answers that the page of the list shows. A search, an order by the text and a file need the text of all
/// answers; only that of the newest is read.
pub(super) async fn words_of_page(
    context: &Context,
    id: &str,
    query: &ListQuery,
    answers: &[LessonAnswer],
    calendar: &Calendar,
) -> Result<QuestionTextsByPlace> {
    let needs_all = !query.filter.is_empty()
        || query.export.is_some()
        || ["question", "given"].contains(&query.order().0);
    let places: Vec<usize> = match needs_all {
        true => (0..answers.len().min(QUESTIONS_IN_WORDS_MAX_COUNT)).collect(),
        false => {
            let rows = rows(id, answers, &QuestionTextsByPlace::new(), calendar);
            List::places_of_page(ANSWERS, query, &rows)
        }
    };
    let served: Vec<ServedQuestion> =
        places.iter().map(|place| answers[*place].served.clone()).collect();
    let id = id.to_owned();
    let read = move |tx: &mut Tx<'_>| screen::question_texts(tx, &id, &served);
    let words = context.app.db.scan(deadline(), read).await?;
    Ok(places.into_iter().zip(words).filter_map(|(place, words)| Some((place, words?))).collect())
}

fn rows(
    id: &str,
    answers: &[LessonAnswer],
    words: &QuestionTextsByPlace,
    calendar: &Calendar,
) -> Vec<Row> {
    let row = |(place, LessonAnswer { lesson_title, served }): (usize, &LessonAnswer)| -> Row {
        let (entry, words) = (&served.entry, words.get(&place));
        let href = links::attempt(id, &served.lesson, served.attempt);
        let score = entry.answered.as_ref().map(|answered| answered.points);
        vec![
            Cell::when(entry.served, calendar.moment(entry.served)),
            Cell::text(lesson_title),
            Cell::count(served.attempt).to(&href),
            item(served),
            question_text(words),
            given_answer(served, words),
            outcome(served),
            score.map_or_else(Cell::none, |score| Cell::count(score).to(&href)),
            Cell::text(describe_reason(&entry.reason)),
        ]
    };
    answers.iter().enumerate().map(row).collect()
}

/// The outcome of a question.
fn outcome(served: &ServedQuestion) -> Cell {
    let (outcome, tone) = match &served.entry.answered {
        _ if served.is_set_back => (t!("reset"), ""),
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
    let (lesson, number) =
        (query.parameter("lesson").to_owned(), query.parameter("attempt").to_owned());
    let (of, wanted, reach) = (id.clone(), number.clone(), context.reach());
    let read = move |tx: &mut Tx<'_>| screen::attempt(tx, &of, &lesson, &wanted, &reach);
    let found = context.app.db.scan(deadline(), read).await?;
    let questions = found.questions.iter().zip(&found.words).zip(1..);
    let rows = questions
        .map(|((served, words), number)| {
            question(served, words.as_ref(), number, &visitor.calendar)
        })
        .collect();
    let view = AttemptPage {
        frame: visitor.frame(t!("Attempt {n}: {lesson}", n = number, lesson = found.lesson_title)),
        student: (links::student(&id), found.student),
        list: List::new("Questions", ATTEMPT, query, rows),
    };
    show_list("attempt", &view.list, &view)
}

fn question(
    served: &ServedQuestion,
    words: Option<&QuestionText>,
    number: i64,
    calendar: &Calendar,
) -> Row {
    let entry = &served.entry;
    let (points, score) = match &entry.answered {
        None => (Cell::none(), Cell::none()),
        Some(answered) => (Cell::count(answered.score), Cell::count(answered.points)),
    };
    vec![
        Cell::count(number),
        Cell::when(entry.served, calendar.moment(entry.served)),
        words.map_or_else(
            || item(served),
            |words| Cell::text(&words.question).to(links::item(&entry.item)),
        ),
        given_answer(served, words),
        match words.filter(|words| !words.correct.is_empty()) {
            Some(words) => Cell::text(&words.correct),
            None => Cell::none(),
        },
        outcome(served),
        points,
        score,
        Cell::text(describe_reason(&entry.reason)),
    ]
}

/// The id of a question's item.
fn item(served: &ServedQuestion) -> Cell {
    let item = &served.entry.item;
    Cell::text(item).to(links::item(item))
}

/// The text of a question, if it is known.
fn question_text(words: Option<&QuestionText>) -> Cell {
    words.map_or_else(Cell::none, |words| Cell::text(&words.question))
}

/// The answer to a question as text; the responses as they were sent if the question's text is not known.
fn given_answer(served: &ServedQuestion, words: Option<&QuestionText>) -> Cell {
    let Some(answered) = &served.entry.answered else { return Cell::none() };
    Cell::text(
        words.map_or_else(|| describe_responses(&answered.responses), |words| words.chosen.clone()),
    )
}

/// The responses as text. If there are several, each has the name of its variable.
fn describe_responses(responses: &Map<String, Value>) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if responses.len() == 1 {
        return responses.values().map(text).collect();
    }
    let all = responses.iter().map(|(name, value)| format!("{name}: {}", text(value)));
    all.collect::<Vec<_>>().join("; ")
}
