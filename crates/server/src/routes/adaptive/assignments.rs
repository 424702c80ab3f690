//! Tests that students were told to take.

use axum::http::StatusCode;
use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::test_assignments::{self as assignments, STATUSES, Which, Wish};
use lyceum_core::{Result, limits};
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::shape::{
    flag, grade, list, object, or_null, some_text, text, whole, whole_object, words,
};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Place, Route, delete, get, post, put};

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_list(get("/test-assignments", AdaptiveRead, |context| listed(context, true)))
            .named("getTestAssignments")
            .says("A student's test assignments, page by page.")
            .answers(200, "A page.", page()),
        post("/test-assignments", AdaptiveWrite, created)
            .named("createTestAssignment")
            .says("Assigns a student a test of a subject and grade.")
            .reads(input())
            .answers(201, "Assigned.", made()),
        of_list(get("/test-assignments/admin", AdaptiveRead, |context| listed(context, false)))
            .named("getAllTestAssignments")
            .says("The test assignments of all students, page by page.")
            .answers(200, "A page.", page()),
        post("/test-assignments/bulk", AdaptiveWrite, bulk)
            .named("createTestAssignments")
            .says("Assigns many tests, each by itself.")
            .reads(whole_object(json!({ "items": items() })))
            .answers(200, "What was assigned, and why the rest was not.", bulk_made()),
        post("/test-assignments/import", AdaptiveWrite, imported)
            .named("importTestAssignments")
            .says("Assigns the rows of a table that is sent as 'csv' with the columns student, subject, grade, testName. A spreadsheet elsewhere is not read: no request makes the server open an address.")
            .reads(object(
                &[],
                json!({ "spreadsheetUrl": some_text(), "sheet": some_text(), "csv": text() }),
            ))
            .answers(200, "What was assigned, and why the rest was not.", bulk_made()),
        get("/test-assignments/{id}", AdaptiveRead, shown)
            .named("getTestAssignment")
            .says("A test assignment.")
            .answers(200, "The assignment.", assignment()),
        put("/test-assignments/{id}", AdaptiveWrite, updated)
            .named("putTestAssignment")
            .says("Names a test assignment anew.")
            .reads(whole_object(json!({ "testName": some_text() })))
            .answers(200, "The assignment.", assignment()),
        delete("/test-assignments/{id}", AdaptiveWrite, deleted)
            .named("deleteTestAssignment")
            .says("Takes a test assignment back; attempts stay.")
            .answers_empty(204, "Taken back."),
    ]
}

fn of_list(route: Route) -> Route {
    let least = |least: u64| json!({ "type": "integer", "minimum": least });
    route
        .param(Place::Query, "student", some_text(), "Of which student.")
        .param(Place::Query, "status", words(&STATUSES), "How far they are.")
        .param(Place::Query, "subject", some_text(), "Of which subject.")
        .param(Place::Query, "grade", some_text(), "Of which grade.")
        .param(Place::Query, "limit", least(1), "How many at most.")
        .param(Place::Query, "offset", least(0), "Behind how many.")
}

fn input() -> Value {
    object(
        &["student", "subject", "grade"],
        json!({
            "student": some_text(), "subject": some_text(), "grade": grade(),
            "testName": some_text(), "expiresAt": some_text(),
        }),
    )
}

/// What is wrong with one of them is told for it alone, so that anything may stand here.
fn items() -> Value {
    let mut items = list(json!({}));
    items["minItems"] = 1.into();
    items["maxItems"] = limits::TEST_ASSIGNMENTS_BULK_MAX_RECORDS.into();
    items
}

fn made() -> Value {
    whole_object(json!({ "assignmentId": text(), "lessonId": text(), "resourceId": text() }))
}

fn bulk_made() -> Value {
    let error = whole_object(json!({ "row": whole(), "message": text() }));
    whole_object(json!({ "success": flag(), "results": list(made()), "errors": list(error) }))
}

fn assignment() -> Value {
    whole_object(json!({
        "sourcedId": text(), "studentSourcedId": text(), "studentEmail": text(),
        "assignedByUserSourcedId": or_null(text()), "subject": text(), "grade": text(),
        "assignmentStatus": words(&STATUSES), "testName": or_null(text()), "assignedAt": text(),
        "expiresAt": or_null(text()), "completedAt": or_null(text()), "resourceSourcedId": text(),
        "componentResourceSourcedId": text(),
    }))
}

fn page() -> Value {
    whole_object(json!({
        "testAssignments": list(assignment()), "totalCount": whole(), "pageCount": whole(),
        "pageNumber": whole(), "offset": whole(), "limit": whole(),
    }))
}

async fn listed(context: Context, needs_student: bool) -> Result<Answer> {
    let which = Which::read(&super::query(&context), needs_student)?;
    let now = context.app.clock.now();
    let page = super::scan(context, move |tx, _| assignments::list(tx, now, &which)).await?;
    Ok(Answer::of(&page))
}

async fn created(context: Context) -> Result<Answer> {
    let (wish, now) = (Wish::read(&super::object(&context)?)?, context.app.clock.now());
    let made = context.app.db.write(move |tx| assignments::create(tx, now, &wish)).await?;
    Ok(Answer::of(&made).status(StatusCode::CREATED))
}

async fn bulk(context: Context) -> Result<Answer> {
    let (body, now) = (super::object(&context)?, context.app.clock.now());
    let made = context.app.db.write(move |tx| assignments::bulk(tx, now, &body)).await?;
    Ok(Answer::of(&made))
}

async fn imported(context: Context) -> Result<Answer> {
    let (body, now) = (super::object(&context)?, context.app.clock.now());
    let made = context.app.db.write(move |tx| assignments::import(tx, now, &body)).await?;
    Ok(Answer::of(&made))
}

async fn shown(context: Context) -> Result<Answer> {
    let (id, now) = (context.param("id").to_owned(), context.app.clock.now());
    let assignment = context.app.db.read(move |tx| assignments::get(tx, now, &id)).await?;
    Ok(Answer::of(&assignment))
}

async fn updated(context: Context) -> Result<Answer> {
    let (id, body) = (context.param("id").to_owned(), super::object(&context)?);
    let now = context.app.clock.now();
    let work = move |tx: &mut Tx<'_>| assignments::update(tx, now, &id, &body);
    let assignment = context.app.db.write(work).await?;
    Ok(Answer::of(&assignment))
}

async fn deleted(context: Context) -> Result<Answer> {
    let id = context.param("id").to_owned();
    context.app.db.write(move |tx| assignments::delete(tx, &id)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}
