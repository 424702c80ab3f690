//! Lesson plans: students' copies of courses, and what is asked of them.

use axum::http::StatusCode;
use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::lesson_plans::{self as plans, Plan};
use lyceum_core::Result;
use lyceum_store::Tx;
use serde_json::json;

use super::plan_schema as schema;
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Route, delete, get, post};

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/lessonPlans", AdaptiveWrite, created)
            .named("createLessonPlan")
            .says("Copies a course's tree for a student.")
            .reads(schema::input())
            .answers(201, "Copied.", schema::id())
            .answers(200, "There was a copy.", schema::id()),
        get("/lessonPlans/{courseId}/{userId}", AdaptiveRead, of_student)
            .named("getLessonPlan")
            .says("What a student sees of the plan in a course.")
            .answers(200, "The plan.", schema::tree()),
        delete("/lessonPlans/{courseId}/deleteAll", AdaptiveWrite, all_deleted)
            .named("deleteLessonPlans")
            .says("Removes all plans of a course with their logs.")
            .answers_empty(204, "Removed."),
        get("/lessonPlans/{lessonPlanId}/operations", AdaptiveRead, operations)
            .named("getLessonPlanOperations")
            .says("What was asked of a plan, in order.")
            .answers(200, "The operations.", schema::operations()),
        post("/lessonPlans/{lessonPlanId}/operations", AdaptiveWrite, asked)
            .named("createLessonPlanOperation")
            .says("Writes an operation into a plan's log; the next sync applies it.")
            .reads(schema::operation_input())
            .answers(201, "Written.", schema::written()),
        post("/lessonPlans/{lessonPlanId}/operations/sync", AdaptiveWrite, |context| {
            advanced(context, plans::sync)
        })
        .named("syncLessonPlan")
        .says("Applies the operations that were written since the last sync.")
        .reads_as(&[])
        .answers(200, "What came of each.", schema::synced()),
        post("/lessonPlans/{lessonPlanId}/recreate", AdaptiveWrite, |context| {
            advanced(context, plans::recreate)
        })
        .named("recreateLessonPlan")
        .says("Copies the course anew and applies all operations.")
        .reads_as(&[])
        .answers(200, "What came of each.", schema::synced()),
        post("/lessonPlans/course/{courseId}/sync", AdaptiveWrite, course_synced)
            .named("syncCourseLessonPlans")
            .says("Recreates all plans of a course.")
            .reads_as(&[])
            .answers(200, "The plans that changed.", schema::affected()),
        get("/lessonPlans/tree/{lessonPlanId}", AdaptiveRead, tree)
            .named("getLessonPlanTree")
            .says("What the student sees of a plan.")
            .answers(200, "The plan.", schema::tree()),
        get("/lessonPlans/tree/{lessonPlanId}/structure", AdaptiveRead, structure)
            .named("getLessonPlanStructure")
            .says("Everything that a plan holds, hidden items too.")
            .answers(200, "The plan.", schema::structure()),
    ]
}

async fn created(context: Context) -> Result<Answer> {
    let (body, now) = (super::object(&context)?, context.app.clock.now());
    let (id, is_new) = context.app.db.write(move |tx| plans::create(tx, now, &body)).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::of(&json!({ "lessonPlanId": id })).status(status))
}

async fn of_student(context: Context) -> Result<Answer> {
    let (course, user) = (context.param("courseId").to_owned(), context.param("userId").to_owned());
    visible(context, move |tx| plans::of(tx, &course, &user)).await
}

async fn tree(context: Context) -> Result<Answer> {
    let id = context.param("lessonPlanId").to_owned();
    visible(context, move |tx| plans::get(tx, &id)).await
}

async fn visible(
    context: Context,
    found: impl Fn(&mut Tx<'_>) -> Result<Plan> + Send + Sync + 'static,
) -> Result<Answer> {
    shown(context, move |tx, context| {
        let plan = found(tx)?;
        plans::visible(tx, &plan, &super::view(context))
    })
    .await
}

async fn structure(context: Context) -> Result<Answer> {
    shown(context, |tx, context| {
        plans::structure(tx, context.param("lessonPlanId"), &super::view(context))
    })
    .await
}

async fn shown(
    context: Context,
    work: impl Fn(&mut Tx<'_>, &Context) -> Result<String> + Send + Sync + 'static,
) -> Result<Answer> {
    let text = super::scan(context, work).await?;
    Ok(Answer::json(format!("{{\"lessonPlan\":{text}}}")))
}

async fn all_deleted(context: Context) -> Result<Answer> {
    let course = context.param("courseId").to_owned();
    context.app.db.write(move |tx| plans::delete_all(tx, &course)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn operations(context: Context) -> Result<Answer> {
    let id = context.param("lessonPlanId").to_owned();
    let operations = context.app.db.read(move |tx| plans::operations(tx, &id)).await?;
    Ok(Answer::of(&json!({ "operations": operations })))
}

async fn asked(context: Context) -> Result<Answer> {
    let (body, now) = (super::object(&context)?, context.app.clock.now());
    let id = context.param("lessonPlanId").to_owned();
    let by = context.grant.as_ref().map(|grant| grant.client_id().to_owned());
    let operation =
        context.app.db.write(move |tx| plans::ask(tx, now, &id, &body, by.as_deref())).await?;
    let message = "written; sync applies it";
    let answer = json!({ "success": true, "message": message, "operationId": operation });
    Ok(Answer::of(&answer).status(StatusCode::CREATED))
}

async fn advanced(
    context: Context,
    how: fn(&mut Tx<'_>, &str) -> Result<plans::Synced>,
) -> Result<Answer> {
    let id = context.param("lessonPlanId").to_owned();
    let synced = context.app.db.write(move |tx| how(tx, &id)).await?;
    Ok(Answer::of(&synced))
}

async fn course_synced(context: Context) -> Result<Answer> {
    let course = context.param("courseId").to_owned();
    let affected = context.app.db.write(move |tx| plans::sync_course(tx, &course)).await?;
    Ok(Answer::of(&json!({ "lessonPlansAffected": affected })))
}
