//! Lesson plans, which are students' own copies of courses.

use http::StatusCode;
use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::lesson_plans::{
    self as plans, LessonPlan, LessonPlanInput, LessonPlanOperation, LessonPlanOperationRequest,
    LessonPlanStructure, LessonPlanSync, StoredLessonPlan,
};
use lyceum_core::{Reach, Result, body};
use lyceum_http::answer::Answer;
use lyceum_http::route::{delete, get, post};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::Success;
use crate::{Context, Route};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct PlanId {
    lesson_plan_id: String,
}

/// A lesson plan as JSON text.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[expect(dead_code, reason = "plans are written as text")]
struct PlanAnswer<T> {
    lesson_plan: T,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Operations {
    operations: Vec<LessonPlanOperation>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct WrittenPlan {
    message: &'static str,
    operation_id: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct AffectedLessonPlans {
    /// The ids of the plans.
    lesson_plans_affected: Vec<String>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/lessonPlans", AdaptiveWrite, create)
            .within_reach()
            .named("createLessonPlan")
            .description("Creates a student's lesson plan as a copy of the course.")
            .reads::<LessonPlanInput>()
            .answers::<PlanId>(201, "The lesson plan was created.")
            .answers::<PlanId>(200, "The lesson plan exists already."),
        get("/lessonPlans/{courseId}/{userId}", AdaptiveRead, of_student)
            .within_reach()
            .named("getLessonPlan")
            .description("Reads the visible part of a student's lesson plan in a course.")
            .answers::<PlanAnswer<LessonPlan>>(200, "The plan."),
        delete("/lessonPlans/{courseId}/deleteAll", AdaptiveWrite, remove_all)
            .within_reach()
            .named("deleteLessonPlans")
            .description("Removes all plans of a course with their logs.")
            .answers_empty(204, "It was removed."),
        get("/lessonPlans/{lessonPlanId}/operations", AdaptiveRead, operations)
            .within_reach()
            .named("getLessonPlanOperations")
            .description("Lists the operations of a plan, in order.")
            .answers::<Operations>(200, "The operations."),
        post("/lessonPlans/{lessonPlanId}/operations", AdaptiveWrite, request_operation)
            .within_reach()
            .named("createLessonPlanOperation")
            .description("Adds an operation to a plan's log. The next sync applies it.")
            .reads::<LessonPlanOperationRequest>()
            .answers::<Success<WrittenPlan>>(201, "It was written."),
        post("/lessonPlans/{lessonPlanId}/operations/sync", AdaptiveWrite, |context| {
            advance(context, plans::sync)
        })
        .within_reach()
        .named("syncLessonPlan")
        .description("Applies the operations that were written since the last sync.")
        .reads_as(&[])
        .answers::<LessonPlanSync>(200, "The result of each operation."),
        post("/lessonPlans/{lessonPlanId}/recreate", AdaptiveWrite, |context| {
            advance(context, plans::recreate)
        })
        .within_reach()
        .named("recreateLessonPlan")
        .description("Copies the course again and applies all operations.")
        .reads_as(&[])
        .answers::<LessonPlanSync>(200, "The result of each operation."),
        post("/lessonPlans/course/{courseId}/sync", AdaptiveWrite, sync_course)
            .within_reach()
            .named("syncCourseLessonPlans")
            .description("Recreates all plans of a course.")
            .reads_as(&[])
            .answers::<AffectedLessonPlans>(200, "The plans that changed."),
        get("/lessonPlans/tree/{lessonPlanId}", AdaptiveRead, tree)
            .within_reach()
            .named("getLessonPlanTree")
            .description("Reads the visible part of a lesson plan.")
            .answers::<PlanAnswer<LessonPlan>>(200, "The plan."),
        get("/lessonPlans/tree/{lessonPlanId}/structure", AdaptiveRead, structure)
            .within_reach()
            .named("getLessonPlanStructure")
            .description("Reads the complete structure of a plan, including hidden items.")
            .answers::<PlanAnswer<LessonPlanStructure>>(200, "The plan."),
    ]
}

async fn create(context: Context) -> Result<Answer> {
    let (new, now) = (context.body_as::<LessonPlanInput>()?, context.app.clock.now());
    let reach = context.reach();
    let (id, is_new) = context.app.db.write(move |tx| plans::create(tx, now, &new, &reach)).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::of(&PlanId { lesson_plan_id: id }).status(status))
}

async fn of_student(context: Context) -> Result<Answer> {
    let (course, user) = (context.param("courseId").to_owned(), context.param("userId").to_owned());
    visible(context, move |tx, reach| plans::of(tx, &course, &user, reach)).await
}

async fn tree(context: Context) -> Result<Answer> {
    let id = context.param("lessonPlanId").to_owned();
    visible(context, move |tx, reach| plans::get(tx, &id, reach)).await
}

async fn visible(
    context: Context,
    found: impl Fn(&mut Tx<'_>, &Reach) -> Result<StoredLessonPlan> + Send + Sync + 'static,
) -> Result<Answer> {
    render_plan(context, move |tx, context| {
        let plan = found(tx, &context.reach())?;
        plans::visible(tx, &plan, &super::view(context))
    })
    .await
}

async fn structure(context: Context) -> Result<Answer> {
    render_plan(context, |tx, context| {
        let (id, view) = (context.param("lessonPlanId"), super::view(context));
        plans::structure(tx, id, &view, &context.reach())
    })
    .await
}

async fn render_plan(
    context: Context,
    work: impl Fn(&mut Tx<'_>, &Context) -> Result<String> + Send + Sync + 'static,
) -> Result<Answer> {
    let text = super::scan(context, work).await?;
    Ok(Answer::json(format!("{{\"lessonPlan\":{text}}}")))
}

async fn remove_all(context: Context) -> Result<Answer> {
    let (course, reach) = (context.param("courseId").to_owned(), context.reach());
    context.app.db.write(move |tx| plans::delete_all(tx, &course, &reach)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn operations(context: Context) -> Result<Answer> {
    let (id, reach) = (context.param("lessonPlanId").to_owned(), context.reach());
    let operations = context.app.db.read(move |tx| plans::operations(tx, &id, &reach)).await?;
    Ok(Answer::of(&Operations { operations }))
}

async fn request_operation(context: Context) -> Result<Answer> {
    let (sent, now) = (body::parse(&context.body)?, context.app.clock.now());
    let id = context.param("lessonPlanId").to_owned();
    let by = context.grant.as_ref().map(|grant| grant.client_id().to_owned());
    let reach = context.reach();
    let work =
        move |tx: &mut Tx<'_>| plans::request_operation(tx, now, &id, &sent, by.as_deref(), &reach);
    let operation_id = context.app.db.write(work).await?;
    let written = WrittenPlan { message: "written; sync applies it", operation_id };
    Ok(Answer::of(&Success::of(written)).status(StatusCode::CREATED))
}

async fn advance(
    context: Context,
    how: fn(&mut Tx<'_>, &str, &Reach) -> Result<plans::LessonPlanSync>,
) -> Result<Answer> {
    let (id, reach) = (context.param("lessonPlanId").to_owned(), context.reach());
    let synced = context.app.db.write(move |tx| how(tx, &id, &reach)).await?;
    Ok(Answer::of(&synced))
}

async fn sync_course(context: Context) -> Result<Answer> {
    let (course, reach) = (context.param("courseId").to_owned(), context.reach());
    let affected = context.app.db.write(move |tx| plans::sync_course(tx, &course, &reach)).await?;
    Ok(Answer::of(&AffectedLessonPlans { lesson_plans_affected: affected }))
}
