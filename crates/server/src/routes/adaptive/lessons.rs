//! Working through a lesson: questions, answers, attempts and progress.

use std::num::NonZero;

use axum::http::StatusCode;
use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite, QtiRead};
use lyceum_adaptive::answer::AnswerRequest;
use lyceum_adaptive::attempt::{self, Desk, StudentLesson};
use lyceum_adaptive::finalize::Finalized;
use lyceum_adaptive::question::{Question, QuestionDraft};
use lyceum_adaptive::reply::Reply;
use lyceum_adaptive::repository::log;
use lyceum_adaptive::{LessonType, answer, finalize, progress};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{Success, query_as};
use crate::answer::Answer;
use crate::apart::apart;
use crate::context::Context;
use crate::route::{ParamPlace, Route, get, post, put};

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_query(get("/getNextQuestion", AdaptiveRead, next))
            .named("getNextQuestion")
            .says("The question that a student is asked next in a lesson of type powerpath-100, by the score so far. Asked again before an answer, it is the same. At score 100 the attempt is finalized, and the question is the one that was answered last, with its result.")
            .answers::<NextQuestion>(200, "The question, or what the finished attempt came to."),
        put("/updateStudentQuestionResponse", AdaptiveWrite, answered)
            .named("updateStudentQuestionResponse")
            .says("Takes a student's answer to a question. In a lesson of type powerpath-100 it is scored at once; in one that is shown whole, when that is finished. The same answer sent again changes nothing.")
            .reads::<AnswerRequest>()
            .answers::<Reply>(200, "What came of it."),
        post("/finalStudentAssessmentResponse", AdaptiveWrite, finalized)
            .named("finalStudentAssessmentResponse")
            .says("Finishes a lesson that is shown whole: its answers are scored together. Sent again it answers the same.")
            .reads::<StudentLesson>()
            .answers::<Finalized>(200, "What the attempt came to."),
        of_query(get("/getAssessmentProgress", AdaptiveRead, progressed))
            .named("getAssessmentProgress")
            .says("How far a student is in a lesson: questions, answers, score. What was right in a lesson that is shown whole is told when it is finished. A first attempt begins with it.")
            .param(
                ParamPlace::Query,
                "attempt",
                json!({ "type": "integer", "minimum": 1 }),
                "Which attempt; the last one without it.",
            )
            .answers::<progress::ProgressView>(200, "How far."),
        post("/createNewAttempt", AdaptiveWrite, created)
            .named("createNewAttempt")
            .says("Begins the next attempt of a lesson, once the last one is complete.")
            .reads::<StudentLesson>()
            .answers::<NewAttempt>(201, "The attempt."),
        of_query(get("/getAttempts", AdaptiveRead, listed))
            .named("getAttempts")
            .says("A student's attempts of a lesson, in their order.")
            .answers::<Attempts>(200, "The attempts."),
        post("/resetAttempt", AdaptiveWrite, reset)
            .named("resetAttempt")
            .says("Begins the last attempt of a lesson anew: its answers no longer count, and what it earned is taken back.")
            .reads::<StudentLesson>()
            .answers::<Success<InitialScore>>(200, "It is begun anew."),
        of_query(get("/getAttemptLog", QtiRead, logged))
            .named("getAttemptLog")
            .says("Every question that an attempt served, with the reason why it was that one, and every answer with what came of it. It tells keys.")
            .param(
                ParamPlace::Query,
                "attempt",
                json!({ "type": "integer", "minimum": 1 }),
                "Which attempt; the last one without it.",
            )
            .answers::<AttemptLog>(200, "The log."),
    ]
}

fn of_query(route: Route) -> Route {
    let id = json!({ "type": "string", "minLength": 1 });
    route
        .param(ParamPlace::Query, "student", id.clone(), "The student's sourcedId; required.")
        .param(
            ParamPlace::Query,
            "lesson",
            id,
            "The lesson's sourcedId (a component resource); required.",
        )
}

/// Runs work on lessons in a write transaction.
pub(crate) async fn write<T: Send + 'static>(
    context: &Context,
    work: impl FnMut(&mut Tx<'_>, &Desk<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    context.app.db.write(at_desk(context, work)).await
}

/// Runs work on lessons in a read transaction.
async fn read<T: Send + 'static>(
    context: &Context,
    work: impl FnMut(&mut Tx<'_>, &Desk<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    context.app.db.read(at_desk(context, work)).await
}

fn at_desk<T>(
    context: &Context,
    mut work: impl FnMut(&mut Tx<'_>, &Desk<'_>) -> Result<T> + Send + 'static,
) -> impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static {
    let (app, now) = (context.app.clone(), context.app.clock.now());
    move |tx| {
        let (items, memory) = (&app.items, &app.lessons);
        work(tx, &Desk { now, base_url: &app.base_url, items, memory })
    }
}

fn attempt_asked(context: &Context) -> Result<Option<u32>> {
    let number: Option<NonZero<u32>> =
        context.asked_as("attempt", "must be a whole number from 1")?;
    Ok(number.map(NonZero::get))
}

/// The question that is asked, or what the finished attempt came to.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum NextQuestion {
    Asked(AskedQuestion),
    Finished(FinishedAttempt),
}

/// The question that is asked, and the score of the attempt.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct AskedQuestion {
    score: f64,
    finalized: bool,
    question: Question,
}

/// The end of an attempt.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct FinishedAttempt {
    #[serde(flatten)]
    outcome: Finalized,
    question: Option<Question>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct NewAttempt {
    attempt: attempt::AttemptSummary,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Attempts {
    attempts: Vec<attempt::AttemptSummary>,
}

/// The score that an attempt begins with.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct InitialScore {
    score: u8,
}

/// Every question that an attempt served, and every answer.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AttemptLog {
    /// The number of the attempt.
    attempt: u32,
    /// What sort of lesson it is.
    lesson_type: LessonType,
    /// The version of the policy that it began under.
    policy: i64,
    /// The id of its questions.
    bank: String,
    /// What its random choices follow from.
    seed: String,
    /// How often it was begun anew.
    round: i64,
    /// The questions in their order.
    log: Vec<attempt::LogEntry>,
}

async fn next(context: Context) -> Result<Answer> {
    let StudentLesson { student, lesson } = query_as(&context)?;
    let (who, what) = (student.clone(), lesson.clone());
    let served = read(&context, move |tx, desk| answer::served(tx, desk, &who, &what)).await?;
    let next = match served {
        Some(next) => next,
        None => {
            let work =
                move |tx: &mut Tx<'_>, desk: &Desk<'_>| answer::next(tx, desk, &student, &lesson);
            write(&context, work).await?
        }
    };
    match next {
        answer::NextStep::Asked(answer::NextQuestion { score, question, log }) => {
            if let Some(log) = log {
                context.app.lessons.keep(log);
            }
            let question = shown(&context, question).await?;
            Ok(Answer::of(&NextQuestion::Asked(AskedQuestion {
                score,
                finalized: false,
                question,
            })))
        }
        answer::NextStep::Finished { outcome, last } => {
            let question = match last {
                Some(last) => Some(shown(&context, last).await?),
                None => None,
            };
            Ok(Answer::of(&NextQuestion::Finished(FinishedAttempt { outcome, question })))
        }
    }
}

async fn shown(context: &Context, question: QuestionDraft) -> Result<Question> {
    let app = context.app.clone();
    match question.is_ready() {
        true => question.shown(&app.lessons),
        false => apart(move || question.shown(&app.lessons)).await,
    }
}

async fn answered(context: Context) -> Result<Answer> {
    let given: AnswerRequest = context.body_as()?;
    let mut taken = write(&context, move |tx, desk| answer::answer(tx, desk, &given)).await?;
    if let Some(log) = taken.log.take() {
        context.app.lessons.keep(log);
    }
    Ok(Answer::of(&Reply::from(taken)))
}

async fn finalized(context: Context) -> Result<Answer> {
    let StudentLesson { student, lesson } = context.body_as()?;
    let work = write(&context, move |tx, desk| finalize::finalize(tx, desk, &student, &lesson));
    Ok(Answer::of(&work.await?))
}

async fn progressed(context: Context) -> Result<Answer> {
    let (StudentLesson { student, lesson }, number) =
        (query_as(&context)?, attempt_asked(&context)?);
    let (s, l) = (student.clone(), lesson.clone());
    let begun = read(&context, move |tx, desk| progress::begun(tx, desk, &s, &l, number)).await?;
    let progress = match begun {
        Some(progress) => progress,
        None => {
            let work = move |tx: &mut Tx<'_>, desk: &Desk<'_>| {
                progress::progress(tx, desk, &student, &lesson, number)
            };
            write(&context, work).await?
        }
    };
    let app = context.app.clone();
    Ok(Answer::of(&apart(move || progress.shown(&app.lessons)).await?))
}

async fn created(context: Context) -> Result<Answer> {
    let StudentLesson { student, lesson } = context.body_as()?;
    let made = write(&context, move |tx, desk| attempt::create(tx, desk, &student, &lesson));
    let (made, log) = made.await?;
    if let Some(log) = log {
        context.app.lessons.keep(log);
    }
    Ok(Answer::of(&NewAttempt { attempt: made.shown() }).status(StatusCode::CREATED))
}

async fn listed(context: Context) -> Result<Answer> {
    let StudentLesson { student, lesson } = query_as(&context)?;
    let all = read(&context, move |tx, _| attempt::list(tx, &student, &lesson)).await?;
    let attempts = all.iter().map(attempt::Attempt::shown).collect();
    Ok(Answer::of(&Attempts { attempts }))
}

async fn reset(context: Context) -> Result<Answer> {
    let StudentLesson { student, lesson } = context.body_as()?;
    write(&context, move |tx, desk| attempt::reset(tx, desk, &student, &lesson)).await?;
    Ok(Answer::of(&Success::of(InitialScore { score: 0 })))
}

async fn logged(context: Context) -> Result<Answer> {
    let (StudentLesson { student, lesson }, number) =
        (query_as(&context)?, attempt_asked(&context)?);
    let found = read(&context, move |tx, _| {
        let all = attempt::list(tx, &student, &lesson)?;
        let found = match number {
            None => all.last(),
            Some(number) => all.iter().find(|attempt| attempt.number == number),
        };
        let Some(attempt) = found else {
            let message =
                format!("the student '{student}' has no such attempt of the lesson '{lesson}'");
            return Err(Problem::new(ProblemKind::NotFound, message));
        };
        Ok((attempt.clone(), log::entries(tx, attempt)?))
    });
    let (attempt, entries) = found.await?;
    Ok(Answer::of(&AttemptLog {
        attempt: attempt.number,
        lesson_type: attempt.lesson_type,
        policy: attempt.policy,
        bank: attempt.bank,
        seed: attempt.seed.to_string(),
        round: attempt.round,
        log: entries,
    }))
}
