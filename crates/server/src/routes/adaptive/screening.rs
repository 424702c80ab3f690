//! Screenings of students.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::screening;
use lyceum_core::Result;
use serde_json::{Value, json};

use super::shape::{flag, list, object, or_null, some_text, text, whole_object, words};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Route, get, post};

pub(super) fn routes() -> Vec<Route> {
    let of_user = || object(&["userId"], json!({ "userId": some_text() }));
    let assigned = json!({ "success": flag(), "session": session() });
    vec![
        get("/screening/results/{userId}", AdaptiveRead, results)
            .named("getScreeningResults")
            .says("A student's latest screening result of each subject.")
            .answers(200, "The results by subject; null where there is none.", by_subject()),
        get("/screening/session/{userId}", AdaptiveRead, session_of)
            .named("getScreeningSession")
            .says("A student's screening and its tests.")
            .answers(
                200,
                "The screening; null where none has begun.",
                whole_object(json!({ "userId": text(), "session": or_null(session()) })),
            ),
        post("/screening/session/reset", AdaptiveWrite, reset)
            .named("resetScreeningSession")
            .says("Forgets a student's screening; results stay.")
            .reads(of_user())
            .answers(
                200,
                "Forgotten, or there was none.",
                whole_object(json!({ "success": flag(), "reset": flag() })),
            ),
        post("/screening/tests/assign", AdaptiveWrite, assign)
            .named("assignScreeningTest")
            .says("Assigns a student a screening test of a subject.")
            .reads(object(
                &["userId", "subject"],
                json!({ "userId": some_text(), "subject": words(&screening::SUBJECTS) }),
            ))
            .answers(200, "The screening with the test.", whole_object(assigned)),
    ]
}

fn session() -> Value {
    let test = whole_object(json!({
        "subject": text(), "status": words(&["assigned", "completed"]), "assignedAt": text(),
    }));
    whole_object(json!({ "id": text(), "startedAt": text(), "tests": list(test) }))
}

fn by_subject() -> Value {
    let whole = || or_null(json!({ "type": "integer" }));
    let result = whole_object(json!({
        "grade": or_null(text()), "ritScore": whole(), "percentile": whole(),
        "testName": text(), "completedAt": text(),
    }));
    let subjects = screening::SUBJECTS.iter();
    let subjects = subjects.map(|subject| ((*subject).to_owned(), or_null(result.clone())));
    whole_object(Value::Object(subjects.collect()))
}

async fn results(context: Context) -> Result<Answer> {
    let user = context.param("userId").to_owned();
    let results = context.app.db.read(move |tx| screening::results(tx, &user)).await?;
    Ok(Answer::of(&results))
}

async fn session_of(context: Context) -> Result<Answer> {
    let user = context.param("userId").to_owned();
    let asked = user.clone();
    let session = context.app.db.read(move |tx| screening::session(tx, &asked)).await?;
    Ok(Answer::of(&json!({ "userId": user, "session": session })))
}

async fn reset(context: Context) -> Result<Answer> {
    let body = super::object(&context)?;
    let reset = context.app.db.write(move |tx| screening::reset(tx, &body)).await?;
    Ok(Answer::of(&json!({ "success": true, "reset": reset })))
}

async fn assign(context: Context) -> Result<Answer> {
    let (body, now) = (super::object(&context)?, context.app.clock.now());
    let session = context.app.db.write(move |tx| screening::assign(tx, now, &body)).await?;
    Ok(Answer::of(&json!({ "success": true, "session": session })))
}
