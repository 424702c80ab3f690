//! Enrollments in courses, goals, progress and default classes.

use axum::http::StatusCode;
use lyceum_access::Scope::{BridgeRead, BridgeWrite};
use lyceum_adaptive::attempt::{Desk, reset_course};
use lyceum_bridge::enroll::{self, EnrollmentRequest};
use lyceum_bridge::enrollments::{self, DefaultClass, Enrollment};
use lyceum_bridge::goals;
use lyceum_core::Result;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::adaptive;
use super::Data;
use crate::answer::Answer;
use crate::context::{Context, parameters};
use crate::route::{Route, delete, get, post};

#[derive(Serialize, JsonSchema)]
struct GoalsReset {
    /// How many enrollments had goals of their own.
    updated: usize,
    errors: [String; 0],
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ProgressReset {
    /// How many results were marked.
    results_reset: usize,
}

pub(super) fn routes() -> Vec<Route> {
    let with_school = |path: &str| [path.to_owned(), format!("{path}/{{schoolId}}")];
    let mut routes = Vec::new();
    for (n, path) in with_school("/enrollments/enroll/{userId}/{courseId}").into_iter().enumerate()
    {
        routes.push(
            post(path, BridgeWrite, enrolled)
                .named(["enroll", "enrollAtSchool"][n])
                .says("Enrols a user in a course; class, term and school year are made as needed.")
                .reads::<EnrollmentRequest>()
                .answers::<Data<Enrollment>>(201, "Enrolled.")
                .answers::<Data<Enrollment>>(200, "Was enrolled already."),
        );
    }
    for (n, path) in
        with_school("/enrollments/unenroll/{userId}/{courseId}").into_iter().enumerate()
    {
        routes.push(
            delete(path, BridgeWrite, unenrolled)
                .named(["unenroll", "unenrollAtSchool"][n])
                .says("Ends a user's enrollments in a course; they are marked 'tobedeleted'.")
                .answers_empty(204, "Ended."),
        );
    }
    for (n, path) in with_school("/enrollments/defaultClass/{courseId}").into_iter().enumerate() {
        routes.push(
            get(path, BridgeRead, default_class)
                .named(["getDefaultClass", "getDefaultClassAtSchool"][n])
                .says("The class in which those who enrol in the course learn; made if missing.")
                .answers::<Data<DefaultClass>>(200, "The class."),
        );
    }
    routes.extend([
        get("/enrollments/user/{userId}", BridgeRead, of_user)
            .named("getEnrollmentsOfUser")
            .says("A user's enrollments that are not over, after tracks and a new school year took effect.")
            .answers::<Data<Vec<Enrollment>>>(200, "The enrollments."),
        post("/enrollments/resetGoals/{courseId}", BridgeWrite, goals_reset)
            .named("resetGoals")
            .says("Takes their own goals from all enrollments of a course, so that the course's hold.")
            .answers::<Data<GoalsReset>>(200, "How many had goals of their own."),
        delete("/enrollments/resetProgress/{userId}/{courseId}", BridgeWrite, progress_reset)
            .named("resetProgress")
            .says("Sets a user's progress in a course back: attempts of its lessons no longer count, what they earned is taken back, and assessment results are marked 'tobedeleted'.")
            .answers::<Data<ProgressReset>>(200, "How many were marked."),
    ]);
    routes
}

/// The school in the path, if it names one.
fn school(context: &Context) -> Option<String> {
    let names = parameters(&context.route.path).any(|name| name == "schoolId");
    names.then(|| context.param("schoolId").to_owned())
}

async fn enrolled(context: Context) -> Result<Answer> {
    let wish = context.body_as::<EnrollmentRequest>()?;
    let (user, course) = (context.param("userId").to_owned(), context.param("courseId").to_owned());
    let (school, now) = (school(&context), context.app.clock.now());
    let (enrollment, is_new) = context
        .app
        .db
        .write(move |tx| enroll::enroll(tx, now, &user, &course, school.as_deref(), &wish))
        .await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::of(&Data { data: enrollment }).status(status))
}

async fn unenrolled(context: Context) -> Result<Answer> {
    let (user, course) = (context.param("userId").to_owned(), context.param("courseId").to_owned());
    let (school, now) = (school(&context), context.app.clock.now());
    context
        .app
        .db
        .write(move |tx| enroll::unenroll(tx, now, &user, &course, school.as_deref()))
        .await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn of_user(context: Context) -> Result<Answer> {
    let (user, now) = (context.param("userId").to_owned(), context.app.clock.now());
    let asked = user.clone();
    let db = &context.app.db;
    let enrollments = match db.read(move |tx| enrollments::of_user(tx, now, &asked)).await? {
        Some(enrollments) => enrollments,
        None => db.write(move |tx| enrollments::settled_of_user(tx, now, &user)).await?,
    };
    Ok(Answer::of(&Data { data: enrollments }))
}

async fn default_class(context: Context) -> Result<Answer> {
    let course = context.param("courseId").to_owned();
    let (school, now) = (school(&context), context.app.clock.now());
    let class = context
        .app
        .db
        .write(move |tx| enrollments::default_class(tx, now, &course, school.as_deref()))
        .await?;
    Ok(Answer::of(&Data { data: class }))
}

async fn goals_reset(context: Context) -> Result<Answer> {
    let (course, now) = (context.param("courseId").to_owned(), context.app.clock.now());
    let updated = context.app.db.write(move |tx| goals::reset(tx, now, &course)).await?;
    Ok(Answer::of(&Data { data: GoalsReset { updated, errors: [] } }))
}

async fn progress_reset(context: Context) -> Result<Answer> {
    let (user, course) = (context.param("userId").to_owned(), context.param("courseId").to_owned());
    let work = move |tx: &mut Tx<'_>, desk: &Desk<'_>| reset_course(tx, desk, &user, &course);
    let reset = adaptive::write(&context, work).await?;
    Ok(Answer::of(&Data { data: ProgressReset { results_reset: reset } }))
}
