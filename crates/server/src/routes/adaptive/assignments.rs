//! Assigned tests.

use axum::http::StatusCode;
use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::test_assignments::{
    self as assignments, Assignment, BulkOutcome, CreatedAssignment, NewAssignment, NewAssignments,
    NewTestAssignment, Page, Renaming, STATUSES, Table, Which,
};
use lyceum_core::Result;
use lyceum_store::Tx;
use serde_json::json;

use super::shape::{some_text, words};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{ParamPlace, Route, delete, get, post, put};

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_list(get("/test-assignments", AdaptiveRead, |context| listed(context, true)))
            .named("getTestAssignments")
            .says("A student's test assignments, page by page.")
            .answers::<Page>(200, "A page."),
        post("/test-assignments", AdaptiveWrite, created)
            .named("createTestAssignment")
            .says("Assigns a student a test of a subject and grade.")
            .reads::<NewAssignment>()
            .answers::<CreatedAssignment>(201, "Assigned."),
        of_list(get("/test-assignments/admin", AdaptiveRead, |context| listed(context, false)))
            .named("getAllTestAssignments")
            .says("The test assignments of all students, page by page.")
            .answers::<Page>(200, "A page."),
        post("/test-assignments/bulk", AdaptiveWrite, bulk)
            .named("createTestAssignments")
            .says("Assigns many tests, each by itself.")
            .reads::<NewAssignments>()
            .answers::<BulkOutcome>(200, "What was assigned, and why the rest was not."),
        post("/test-assignments/import", AdaptiveWrite, imported)
            .named("importTestAssignments")
            .says("Assigns the rows of a table that is sent as 'csv' with the columns student, subject, grade, testName. A spreadsheet elsewhere is not read: no request makes the server open an address.")
            .reads::<Table>()
            .answers::<BulkOutcome>(200, "What was assigned, and why the rest was not."),
        get("/test-assignments/{id}", AdaptiveRead, shown)
            .named("getTestAssignment")
            .says("A test assignment.")
            .answers::<Assignment>(200, "The assignment."),
        put("/test-assignments/{id}", AdaptiveWrite, updated)
            .named("putTestAssignment")
            .says("Names a test assignment anew.")
            .reads::<Renaming>()
            .answers::<Assignment>(200, "The assignment."),
        delete("/test-assignments/{id}", AdaptiveWrite, deleted)
            .named("deleteTestAssignment")
            .says("Takes a test assignment back; attempts stay.")
            .answers_empty(204, "Taken back."),
    ]
}

fn of_list(route: Route) -> Route {
    let least = |least: u64| json!({ "type": "integer", "minimum": least });
    route
        .param(ParamPlace::Query, "student", some_text(), "Of which student.")
        .param(ParamPlace::Query, "status", words(&STATUSES), "How far they are.")
        .param(ParamPlace::Query, "subject", some_text(), "Of which subject.")
        .param(ParamPlace::Query, "grade", some_text(), "Of which grade.")
        .param(ParamPlace::Query, "limit", least(1), "How many at most.")
        .param(ParamPlace::Query, "offset", least(0), "Behind how many.")
}

async fn listed(context: Context, needs_student: bool) -> Result<Answer> {
    let which = Which::read(super::query(&context), needs_student)?;
    let now = context.app.clock.now();
    let page = super::scan(context, move |tx, _| assignments::list(tx, now, &which)).await?;
    Ok(Answer::of(&page))
}

async fn created(context: Context) -> Result<Answer> {
    let wish = NewTestAssignment::from(context.body_as::<NewAssignment>()?);
    let now = context.app.clock.now();
    let made = context.app.db.write(move |tx| assignments::create(tx, now, &wish)).await?;
    Ok(Answer::of(&made).status(StatusCode::CREATED))
}

async fn bulk(context: Context) -> Result<Answer> {
    let (NewAssignments { items }, now) = (context.body_as()?, context.app.clock.now());
    let made = context.app.db.write(move |tx| assignments::bulk(tx, now, &items)).await?;
    Ok(Answer::of(&made))
}

async fn imported(context: Context) -> Result<Answer> {
    let (table, now) = (context.body_as::<Table>()?, context.app.clock.now());
    let made = context.app.db.write(move |tx| assignments::import(tx, now, &table)).await?;
    Ok(Answer::of(&made))
}

async fn shown(context: Context) -> Result<Answer> {
    let (id, now) = (context.param("id").to_owned(), context.app.clock.now());
    let assignment = context.app.db.read(move |tx| assignments::get(tx, now, &id)).await?;
    Ok(Answer::of(&assignment))
}

async fn updated(context: Context) -> Result<Answer> {
    let (id, Renaming { test_name }) = (context.param("id").to_owned(), context.body_as()?);
    let now = context.app.clock.now();
    let work = move |tx: &mut Tx<'_>| assignments::update(tx, now, &id, &test_name);
    let assignment = context.app.db.write(work).await?;
    Ok(Answer::of(&assignment))
}

async fn deleted(context: Context) -> Result<Answer> {
    let id = context.param("id").to_owned();
    context.app.db.write(move |tx| assignments::delete(tx, &id)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}
