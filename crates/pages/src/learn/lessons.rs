//! Working through a lesson: its page, and what the page's script reads and changes.

pub(crate) mod view;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header;
use lyceum_access::{StudentSession, session};
use lyceum_adaptive::attempt::LessonContext;
use lyceum_adaptive::student_lessons::{
    self as lessons, LessonDraft, LessonKind, LessonView, StudentAnswer, StudentAnswerReply,
    StudentFinish, StudentStart,
};
use lyceum_api::shape::text;
use lyceum_api::{Context, Route, document_files};
use lyceum_core::{Problem, Result};
use lyceum_http::answer::Answer;
use lyceum_http::auth::people;
use lyceum_http::render::{NO_STORE, as_page, as_page_with_frame};
use lyceum_http::route::ParamPlace::Header;
use lyceum_http::route::{Access, get, post};
use lyceum_store::{StatementsSee, Tx, run_blocking};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{check_page_token, frame, of_student, page};
use crate::learn::lessons::view::LessonPage;
use crate::{limits, play};

pub(super) fn pages() -> Vec<Route> {
    vec![page("/lessons/{lesson}", StudentSession::Class, show)]
}

async fn show(context: Context) -> Result<Answer> {
    let id = context.param("lesson").to_owned();
    let find = of_student(&context, move |tx, lesson_context, student| {
        lessons::find(tx, lesson_context, student, &id)
    })?;
    let found = context.app.db.read(find).await?;
    let view = LessonPage {
        frame: frame(&context, found.lesson.title)?,
        course: found.course.title,
        id: found.lesson.id,
    };
    let html = lyceum_console::html(&view)?;
    let origin = match &found.lesson.kind {
        LessonKind::Material(_, address) => origin(address),
        _ => None,
    };
    match origin {
        Some(origin) => as_page_with_frame(html, &origin),
        None => Ok(as_page(html)),
    }
}

/// The scheme, host and port of an address, if they can stand in a policy.
fn origin(address: &str) -> Option<String> {
    let uri: http::Uri = address.parse().ok()?;
    let (scheme, host) = (uri.scheme_str()?, uri.authority()?.as_str());
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    host.bytes().all(is_plain).then(|| format!("{scheme}://{host}"))
}

pub(super) fn data() -> Vec<Route> {
    let page_token = |route: Route| {
        route.param(Header, "Page-Token", text(), "The token of the forms of the page that sends the request. The answer is 401 if the browser has another session by now.")
    };
    let routes = question_routes().into_iter().chain(result_routes()).map(page_token);
    routes.chain([play::student_token_route()]).collect()
}

/// The access of all routes of a lesson.
const ACCESS: Access = Access::Student(StudentSession::Class);

fn question_routes() -> Vec<Route> {
    vec![
        get("/key", ACCESS, key)
            .named("getStudentKey")
            .description("Reads the key with which this session's pages seal answers that wait in the browser. Every session has another one.")
            .answers::<StudentKey>(200, "The key."),
        get("/lessons/{lesson}", ACCESS, open)
            .named("getStudentLesson")
            .description("Reads a lesson of the student with its last attempt and the questions to answer now.")
            .answers::<LessonView>(200, "The lesson."),
        post("/lessons/{lesson}/attempts", ACCESS, start)
            .named("startStudentLesson")
            .description("Starts the attempt that follows the one with the given number. A repeated request starts no other attempt.")
            .reads::<StudentStart>()
            .answers::<LessonView>(200, "The lesson with the attempt."),
        post("/lessons/{lesson}/next", ACCESS, next)
            .named("nextStudentQuestion")
            .description("Chooses the next question of a lesson of type powerpath-100. It stays the same until it is answered.")
            .reads::<Nothing>()
            .answers::<LessonView>(200, "The lesson with the question."),
        post("/lessons/{lesson}/answers", ACCESS, answer)
            .named("answerStudentQuestion")
            .description("Receives an answer of the student. A lesson of type powerpath-100 scores it at once; other lessons score all answers when they are finished. An answer with the id of an earlier one counts once.")
            .reads::<StudentAnswer>()
            .reads_up_to(limits::ITEM_ANSWER_MAX_BYTES)
            .answers::<StudentAnswerReply>(200, "What came of the answer."),
    ]
}

/// A request without members.
#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A key of 32 bytes.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct StudentKey {
    /// The key in base64.
    key: String,
}

async fn key(context: Context) -> Result<Answer> {
    check_page_token(&context)?;
    // It follows from the session's secret, so it lives as long as the session and is stored nowhere.
    let secret = people::session(&context.app, &context.headers);
    let secret = secret.ok_or_else(|| Problem::internal("a student has no session"))?;
    Ok(answer_of(&StudentKey { key: BASE64_STANDARD.encode(session::sealing_key(secret)) }))
}

async fn open(context: Context) -> Result<Answer> {
    rendered(read(&context, lessons::open).await?).await
}

async fn start(context: Context) -> Result<Answer> {
    let start: StudentStart = context.body_as()?;
    change(&context, move |tx, lesson_context, student, lesson| {
        lessons::start(tx, lesson_context, student, lesson, &start)
    })
    .await
}

async fn next(context: Context) -> Result<Answer> {
    let Nothing {} = context.body_as()?;
    // The answer to the last question chose it already, in most cases. Reads collide with nothing.
    let lesson = read(&context, lessons::open).await?;
    if lesson.has_next() {
        return rendered(lesson).await;
    }
    change(&context, lessons::next).await
}

async fn answer(context: Context) -> Result<Answer> {
    let request: StudentAnswer = context.body_as()?;
    let lesson = context.param("lesson").to_owned();
    let write = of_student(&context, move |tx, lesson_context, student| {
        lessons::answer(tx, lesson_context, student, &lesson, &request)
    })?;
    let mut draft = context.app.db.write_with_locks(StatementsSee::OneState, write).await?;
    if let Some(log) = draft.log.take() {
        context.app.lessons.store_log(log);
    }
    let reply: StudentAnswerReply = run_blocking(move || draft.render()).await?;
    Ok(answer_of(&reply))
}

fn result_routes() -> Vec<Route> {
    vec![
        post("/lessons/{lesson}/finish", ACCESS, finish)
            .named("finishStudentLesson")
            .description("Finishes an attempt at a lesson that shows all questions, and scores its answers. A repeated request changes nothing.")
            .reads::<StudentFinish>()
            .answers::<LessonView>(200, "The lesson with the result."),
        get("/lessons/{lesson}/review", ACCESS, review)
            .named("reviewStudentLesson")
            .description("Reads the answers of the last attempt with their results and feedback, once these are shown.")
            .answers::<LessonView>(200, "The lesson with its answered questions."),
        get("/lessons/{lesson}/files/{file}", ACCESS, file)
            .named("getStudentLessonFile")
            .description("Reads a picture, sound or film of the questions of the last attempt, by the name that their HTML contains.")
            .answers_as(200, "The file.", Some(("application/octet-stream", json!({ "type": "string", "format": "binary" })))),
        post("/lessons/{lesson}/done", ACCESS, done)
            .named("markStudentLessonDone")
            .description("Records that the student is done with a video, a text, another page or an app. It earns no XP. A repeated request changes nothing.")
            .reads::<Nothing>()
            .answers::<LessonView>(200, "The lesson."),
    ]
}

async fn finish(context: Context) -> Result<Answer> {
    let finish: StudentFinish = context.body_as()?;
    change(&context, move |tx, lesson_context, student, lesson| {
        lessons::finish(tx, lesson_context, student, lesson, &finish)
    })
    .await
}

async fn review(context: Context) -> Result<Answer> {
    rendered(read(&context, lessons::review).await?).await
}

async fn file(context: Context) -> Result<Answer> {
    let (lesson, name) = (context.param("lesson").to_owned(), context.param("file").to_owned());
    let find = of_student(&context, move |tx, lesson_context, student| {
        lessons::file(tx, lesson_context, student, &lesson, &name)
    })?;
    let file = context.app.db.read(find).await?;
    document_files::send(&context, &file).await
}

async fn done(context: Context) -> Result<Answer> {
    let Nothing {} = context.body_as()?;
    change(&context, lessons::mark_done).await
}

/// Reads the lesson of the path.
async fn read(
    context: &Context,
    work: fn(&mut Tx<'_>, &LessonContext<'_>, &str, &str) -> Result<LessonDraft>,
) -> Result<LessonDraft> {
    let lesson = context.param("lesson").to_owned();
    let read = of_student(context, move |tx, lesson_context, student| {
        work(tx, lesson_context, student, &lesson)
    })?;
    context.app.db.read(read).await
}

/// Changes the lesson of the path, and answers its new state.
async fn change(
    context: &Context,
    mut work: impl FnMut(&mut Tx<'_>, &LessonContext<'_>, &str, &str) -> Result<()> + Send + 'static,
) -> Result<Answer> {
    let lesson = context.param("lesson").to_owned();
    let write = of_student(context, move |tx, lesson_context, student| {
        work(tx, lesson_context, student, &lesson)?;
        lessons::open(tx, lesson_context, student, &lesson)
    })?;
    rendered(context.app.db.write_with_locks(StatementsSee::OneState, write).await?).await
}

async fn rendered(lesson: LessonDraft) -> Result<Answer> {
    Ok(answer_of(&run_blocking(move || lesson.render()).await?))
}

/// JSON about the student, which no cache of a shared device stores.
fn answer_of(value: &impl Serialize) -> Answer {
    Answer::of(value).header(header::CACHE_CONTROL, NO_STORE)
}
