//! Assigned tests.

use http::StatusCode;
use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::test_assignments::{
    self as assignments, AssignmentFilter, CreatedAssignment, NewTestAssignment, STATUSES,
    TestAssignment, TestAssignmentChange, TestAssignmentInput, TestAssignmentPage,
    TestAssignmentsInput, TestAssignmentsReport, TestAssignmentsTable,
};
use lyceum_core::Result;
use lyceum_core::limits::{PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS};
use lyceum_http::answer::Answer;
use lyceum_http::route::{ParamPlace, delete, get, post, put};
use lyceum_store::Tx;

use crate::bridge::school_hours::moment;
use crate::shape::{one_of, some_text, whole_number};
use crate::{Context, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_list(get("/test-assignments", AdaptiveRead, |context| list_assignments(context, true)))
            .within_reach()
            .named("getTestAssignments")
            .description("Lists a student's test assignments.")
            .answers::<TestAssignmentPage>(200, "A page."),
        post("/test-assignments", AdaptiveWrite, create)
            .within_reach()
            .named("createTestAssignment")
            .description("Assigns a student a test of a subject and grade.")
            .reads::<TestAssignmentInput>()
            .answers::<CreatedAssignment>(201, "The assignment was created."),
        of_list(get("/test-assignments/admin", AdaptiveRead, |context| list_assignments(context, false)))
            .within_reach()
            .named("getAllTestAssignments")
            .description("Lists the test assignments of all students.")
            .answers::<TestAssignmentPage>(200, "A page."),
        post("/test-assignments/bulk", AdaptiveWrite, bulk)
            .within_reach()
            .named("createTestAssignments")
            .description("Assigns many tests; each one succeeds or fails on its own.")
            .reads::<TestAssignmentsInput>()
            .answers::<TestAssignmentsReport>(200, "The assigned tests, and the errors of the others."),
        post("/test-assignments/import", AdaptiveWrite, import)
            .within_reach()
            .named("importTestAssignments")
            .description("Assigns the tests of a CSV table, which is sent as 'csv' with the columns student, subject, grade and testName. The server never opens the address of a spreadsheet.")
            .reads::<TestAssignmentsTable>()
            .answers::<TestAssignmentsReport>(200, "The assigned tests, and the errors of the others."),
        get("/test-assignments/{id}", AdaptiveRead, read_assignment)
            .within_reach()
            .named("getTestAssignment")
            .description("A test assignment.")
            .answers::<TestAssignment>(200, "The assignment."),
        put("/test-assignments/{id}", AdaptiveWrite, update)
            .within_reach()
            .named("putTestAssignment")
            .description("Renames a test assignment.")
            .reads::<TestAssignmentChange>()
            .answers::<TestAssignment>(200, "The assignment."),
        delete("/test-assignments/{id}", AdaptiveWrite, remove)
            .within_reach()
            .named("deleteTestAssignment")
            .description("Removes a test assignment. Attempts stay.")
            .answers_empty(204, "The assignment was removed."),
    ]
}

fn of_list(route: Route) -> Route {
    route
        .param(ParamPlace::Query, "student", some_text(), "Only assignments of this student.")
        .param(ParamPlace::Query, "status", one_of(&STATUSES), "The state of the assignments.")
        .param(ParamPlace::Query, "subject", some_text(), "Only assignments of this subject.")
        .param(ParamPlace::Query, "grade", some_text(), "Only assignments of this grade.")
        .page_limit(PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS)
        .param(ParamPlace::Query, "offset", whole_number(), "The number of assignments to skip.")
}

async fn list_assignments(context: Context, needs_student: bool) -> Result<Answer> {
    let which = AssignmentFilter::read(super::query(&context), needs_student)?;
    let now = context.app.clock.now();
    let reach = context.reach();
    let page =
        super::scan(context, move |tx, _| assignments::list(tx, now, &which, &reach)).await?;
    Ok(Answer::of(&page))
}

async fn create(context: Context) -> Result<Answer> {
    let request = NewTestAssignment::from(context.body_as::<TestAssignmentInput>()?);
    let (moment, reach) = (moment(&context), context.reach());
    let work = move |tx: &mut Tx<'_>| assignments::create(tx, &moment, &request, &reach);
    let assignment = context.app.db.write(work).await?;
    Ok(Answer::of(&assignment).status(StatusCode::CREATED))
}

async fn bulk(context: Context) -> Result<Answer> {
    let TestAssignmentsInput { items } = context.body_as()?;
    let (moment, reach) = (moment(&context), context.reach());
    let work = move |tx: &mut Tx<'_>| assignments::bulk(tx, &moment, &items, &reach);
    Ok(Answer::of(&context.app.db.write(work).await?))
}

async fn import(context: Context) -> Result<Answer> {
    let table = context.body_as::<TestAssignmentsTable>()?;
    let (moment, reach) = (moment(&context), context.reach());
    let work = move |tx: &mut Tx<'_>| assignments::import(tx, &moment, &table, &reach);
    Ok(Answer::of(&context.app.db.write(work).await?))
}

async fn read_assignment(context: Context) -> Result<Answer> {
    let (id, now) = (context.param("id").to_owned(), context.app.clock.now());
    let reach = context.reach();
    let assignment = context.app.db.read(move |tx| assignments::get(tx, now, &id, &reach)).await?;
    Ok(Answer::of(&assignment))
}

async fn update(context: Context) -> Result<Answer> {
    let (id, TestAssignmentChange { test_name }) =
        (context.param("id").to_owned(), context.body_as()?);
    let (now, reach) = (context.app.clock.now(), context.reach());
    let work = move |tx: &mut Tx<'_>| assignments::update(tx, now, &id, &test_name, &reach);
    let assignment = context.app.db.write(work).await?;
    Ok(Answer::of(&assignment))
}

async fn remove(context: Context) -> Result<Answer> {
    let (id, now) = (context.param("id").to_owned(), context.app.clock.now());
    let reach = context.reach();
    context.app.db.write(move |tx| assignments::delete(tx, now, &id, &reach)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}
