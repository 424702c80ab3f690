//! Working through a lesson: questions, answers, attempts and progress.

use std::num::NonZero;

use http::StatusCode;
use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite, QtiRead};
use lyceum_adaptive::answer::{self, AnswerRequest};
use lyceum_adaptive::attempt::{self, LessonContext, StudentAndLesson};
use lyceum_adaptive::finalize::{self, FinalizedAttempt};
use lyceum_adaptive::question::{LessonQuestion, QuestionDraft};
use lyceum_adaptive::reply::AnswerReply;
use lyceum_adaptive::repository::log;
use lyceum_adaptive::{AttemptSummary, LessonType, progress};
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_http::answer::Answer;
use lyceum_http::route::{ParamPlace, get, post, put};
use lyceum_store::{StatementsSee, Tx, run_blocking};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{Success, query_as};
use crate::bridge::school_hours::usual;
use crate::shape::some_text;
use crate::{Context, Route};

pub(super) fn routes() -> Vec<Route> {
    let routes = [vec![question_route()], answer_routes(), attempt_routes(), vec![log_route()]];
    routes.into_iter().flatten().collect()
}

fn question_route() -> Route {
    of_query(get("/getNextQuestion", AdaptiveRead, next))
        .within_reach()
        .named("getNextQuestion")
        .description("Serves the next question of a lesson of type powerpath-100, chosen by the score. It stays the same until it is answered. At score 100 the attempt is finalized, and the answer contains the last question with its result.")
        .answers::<NextQuestion>(200, "The served question, or the result of the finished attempt.")
}

/// The served question, or the result of the finished attempt.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum NextQuestion {
    Asked(AskedQuestion),
    Finished(FinishedAttempt),
}

/// The served question and the score of the attempt.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct AskedQuestion {
    score: f64,
    finalized: bool,
    question: LessonQuestion,
}

/// The result of a finished attempt.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct FinishedAttempt {
    #[serde(flatten)]
    outcome: FinalizedAttempt,
    question: Option<LessonQuestion>,
}

async fn next(context: Context) -> Result<Answer> {
    let StudentAndLesson { student, lesson } = query_as(&context)?;
    let (who, what) = (student.clone(), lesson.clone());
    let served = read(&context, move |tx, lesson_context| {
        answer::served_step(tx, lesson_context, &who, &what)
    })
    .await?;
    let next = match served {
        Some(next) => next,
        None => {
            let work = move |tx: &mut Tx<'_>, lesson_context: &LessonContext<'_>| {
                answer::next(tx, lesson_context, &student, &lesson)
            };
            write(&context, work).await?
        }
    };
    match next {
        answer::NextStep::Question(answer::NextQuestion { score, question, log }) => {
            if let Some(log) = log {
                context.app.lessons.store_log(log);
            }
            let question = render_question(&context, question).await?;
            Ok(Answer::of(&NextQuestion::Asked(AskedQuestion {
                score,
                finalized: false,
                question,
            })))
        }
        answer::NextStep::Finished { outcome, last } => {
            let question = match last {
                Some(last) => Some(render_question(&context, last).await?),
                None => None,
            };
            Ok(Answer::of(&NextQuestion::Finished(FinishedAttempt { outcome, question })))
        }
    }
}

async fn render_question(context: &Context, question: QuestionDraft) -> Result<LessonQuestion> {
    let app = context.app.clone();
    match question.is_ready() {
        true => question.render(&app.lessons),
        false => run_blocking(move || question.render(&app.lessons)).await,
    }
}

fn answer_routes() -> Vec<Route> {
    vec![
        put("/updateStudentQuestionResponse", AdaptiveWrite, take_answer)
            .within_reach()
            .named("updateStudentQuestionResponse")
            .description("Receives a student's answer to a question. A lesson of type powerpath-100 scores it at once; a lesson that shows all questions at once scores it when it is finished. A repeated answer changes nothing.")
            .reads::<AnswerRequest>()
            .answers::<AnswerReply>(200, "The result of the answer."),
        post("/finalStudentAssessmentResponse", AdaptiveWrite, finish_attempt)
            .within_reach()
            .named("finalStudentAssessmentResponse")
            .description("Finishes a lesson that shows all questions at once and scores its answers. A repeated request returns the same answer.")
            .reads::<StudentAndLesson>()
            .answers::<FinalizedAttempt>(200, "The result of the attempt."),
        of_query(get("/getAssessmentProgress", AdaptiveRead, show_progress))
            .within_reach()
            .named("getAssessmentProgress")
            .description("Reads a student's progress in a lesson: questions, answers and score. A lesson that shows all questions at once reveals results only when it is finished. The request starts a first attempt if there is none.")
            .param(ParamPlace::Query, "attempt", json!({ "type": "integer", "minimum": 1 }), "The number of the attempt; by default the last one.")
            .answers::<progress::LessonProgress>(200, "The student's progress in the lesson."),
    ]
}

async fn take_answer(context: Context) -> Result<Answer> {
    let request: AnswerRequest = context.body_as()?;
    let work = in_lessons(&context, move |tx, lesson_context| {
        answer::answer(tx, lesson_context, &request)
    });
    let mut accepted = context.app.db.write_with_locks(StatementsSee::OneState, work).await?;
    if let Some(log) = accepted.log.take() {
        context.app.lessons.store_log(log);
    }
    Ok(Answer::of(&AnswerReply::from(accepted)))
}

async fn finish_attempt(context: Context) -> Result<Answer> {
    let StudentAndLesson { student, lesson } = context.body_as()?;
    let work = write(&context, move |tx, lesson_context| {
        finalize::finalize(tx, lesson_context, &student, &lesson)
    });
    Ok(Answer::of(&work.await?))
}

async fn show_progress(context: Context) -> Result<Answer> {
    let (StudentAndLesson { student, lesson }, number) =
        (query_as(&context)?, requested_attempt(&context)?);
    let (s, l) = (student.clone(), lesson.clone());
    let started = read(&context, move |tx, lesson_context| {
        progress::of_started_attempt(tx, lesson_context, &s, &l, number)
    })
    .await?;
    let progress = match started {
        Some(progress) => progress,
        None => {
            let work = move |tx: &mut Tx<'_>, lesson_context: &LessonContext<'_>| {
                progress::progress(tx, lesson_context, &student, &lesson, number)
            };
            write(&context, work).await?
        }
    };
    let app = context.app.clone();
    Ok(Answer::of(&run_blocking(move || progress.render(&app.lessons)).await?))
}

fn attempt_routes() -> Vec<Route> {
    vec![
        post("/createNewAttempt", AdaptiveWrite, create)
            .within_reach()
            .named("createNewAttempt")
            .description("Starts the next attempt of a lesson after the last one is complete.")
            .reads::<StudentAndLesson>()
            .answers::<NewAttempt>(201, "The attempt."),
        of_query(get("/getAttempts", AdaptiveRead, list_attempts))
            .within_reach()
            .named("getAttempts")
            .description("Lists a student's attempts at a lesson, in order.")
            .answers::<Attempts>(200, "The attempts."),
        post("/resetAttempt", AdaptiveWrite, reset)
            .within_reach()
            .named("resetAttempt")
            .description("Restarts the last attempt of a lesson: its answers no longer count, and the XP that it earned are taken back.")
            .reads::<StudentAndLesson>()
            .answers::<Success<InitialScore>>(200, "The attempt was restarted."),
    ]
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct NewAttempt {
    attempt: AttemptSummary,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Attempts {
    attempts: Vec<AttemptSummary>,
}

/// The score that an attempt begins with.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct InitialScore {
    score: u8,
}

async fn create(context: Context) -> Result<Answer> {
    let StudentAndLesson { student, lesson } = context.body_as()?;
    let created = write(&context, move |tx, lesson_context| {
        attempt::create(tx, lesson_context, &student, &lesson)
    });
    let (created, log) = created.await?;
    if let Some(log) = log {
        context.app.lessons.store_log(log);
    }
    Ok(Answer::of(&NewAttempt { attempt: created.summary() }).status(StatusCode::CREATED))
}

async fn list_attempts(context: Context) -> Result<Answer> {
    let StudentAndLesson { student, lesson } = query_as(&context)?;
    let all = read(&context, move |tx, lesson_context| {
        attempt::list(tx, lesson_context, &student, &lesson)
    })
    .await?;
    let attempts = all.iter().map(attempt::Attempt::summary).collect();
    Ok(Answer::of(&Attempts { attempts }))
}

async fn reset(context: Context) -> Result<Answer> {
    let StudentAndLesson { student, lesson } = context.body_as()?;
    write(&context, move |tx, lesson_context| {
        attempt::reset(tx, lesson_context, &student, &lesson)
    })
    .await?;
    Ok(Answer::of(&Success::of(InitialScore { score: 0 })))
}

fn log_route() -> Route {
    of_query(get("/getAttemptLog", QtiRead, show_log))
        .within_reach()
        .named("getAttemptLog")
        .description("Lists the questions that an attempt served, each with the reason for its choice and its answer with the result. It reveals the correct answers.")
        .param(ParamPlace::Query, "attempt", json!({ "type": "integer", "minimum": 1 }), "The number of the attempt; by default the last one.")
        .answers::<AttemptLog>(200, "The log.")
}

/// The questions that an attempt served, with their answers.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AttemptLog {
    /// The number of the attempt.
    attempt: u32,
    /// The type of the lesson.
    lesson_type: LessonType,
    /// The version of the policy when the attempt started.
    policy: i64,
    /// The id of its questions.
    bank: String,
    /// The seed of its random choices.
    seed: String,
    /// How often the attempt was restarted.
    round: i64,
    /// The questions in their order.
    log: Vec<attempt::AttemptLogEntry>,
}

async fn show_log(context: Context) -> Result<Answer> {
    let (StudentAndLesson { student, lesson }, number) =
        (query_as(&context)?, requested_attempt(&context)?);
    let found = read(&context, move |tx, lesson_context| {
        let all = attempt::list(tx, lesson_context, &student, &lesson)?;
        let found = match number {
            None => all.last(),
            Some(number) => all.iter().find(|attempt| attempt.number == number),
        };
        let Some(attempt) = found else {
            let message =
                message!("the student '{student}' has no such attempt of the lesson '{lesson}'");
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

fn of_query(route: Route) -> Route {
    route
        .param(ParamPlace::Query, "student", some_text(), "The student's sourcedId; required.")
        .param(
            ParamPlace::Query,
            "lesson",
            some_text(),
            "The lesson's sourcedId (a component resource); required.",
        )
}

fn requested_attempt(context: &Context) -> Result<Option<u32>> {
    let number: Option<NonZero<u32>> =
        context.parsed_query_value("attempt", "must be a whole number from 1")?;
    Ok(number.map(NonZero::get))
}

/// Runs work on lessons in a write transaction.
pub async fn write<T: Send + 'static>(
    context: &Context,
    work: impl FnMut(&mut Tx<'_>, &LessonContext<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    context.app.db.write(in_lessons(context, work)).await
}

/// Runs work on lessons in a read transaction.
async fn read<T: Send + 'static>(
    context: &Context,
    work: impl FnMut(&mut Tx<'_>, &LessonContext<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    context.app.db.read(in_lessons(context, work)).await
}

fn in_lessons<T>(
    context: &Context,
    work: impl FnMut(&mut Tx<'_>, &LessonContext<'_>) -> Result<T> + Send + 'static,
) -> impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static {
    within(context, context.reach(), work)
}

/// Work on lessons within the reach, for a transaction.
pub fn within<T>(
    context: &Context,
    reach: Reach,
    mut work: impl FnMut(&mut Tx<'_>, &LessonContext<'_>) -> Result<T> + Send + 'static,
) -> impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static {
    let (app, now) = (context.app.clone(), context.app.clock.now());
    let usual_hours = usual(&app);
    move |tx| {
        let (base_url, usual_hours) = (app.base_url.as_str(), &usual_hours);
        let (items, memory, reach) = (&app.items, &app.lessons, &reach);
        tx.begin_snapshot()?;
        work(tx, &LessonContext { now, base_url, reach, usual_hours, items, memory })
    }
}
