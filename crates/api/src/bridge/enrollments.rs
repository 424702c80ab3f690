//! Enrollments in courses, goals, progress and default classes.

use http::StatusCode;
use lyceum_access::Scope::{BridgeRead, BridgeWrite};
use lyceum_adaptive::attempt::LessonContext;
use lyceum_adaptive::progress_reset::{
    ProgressResetInput, ProgressResetReport, reset_course, reset_students,
};
use lyceum_bridge::enroll::{self, EnrollmentRequest};
use lyceum_bridge::enrollments::{self, CourseEnrollment, DefaultClass};
use lyceum_bridge::goals;
use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_http::answer::Answer;
use lyceum_http::context::parameters;
use lyceum_http::route::{delete, get, post};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::Data;
use crate::{Context, Route, adaptive};

#[derive(Serialize, JsonSchema)]
struct GoalsReset {
    /// The number of enrollments whose own goals were removed.
    updated: usize,
    /// Always empty.
    errors: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ProgressReset {
    /// The number of results that were marked `tobedeleted`.
    results_reset: usize,
}

pub(super) fn routes() -> Vec<Route> {
    let with_school = |path: &str| [path.to_owned(), format!("{path}/{{schoolId}}")];
    let mut routes = Vec::new();
    for (n, path) in with_school("/enrollments/enroll/{userId}/{courseId}").into_iter().enumerate()
    {
        routes.push(
            post(path, BridgeWrite, enroll)
                .within_reach()
                .named(["enroll", "enrollAtSchool"][n])
                .description("Enrolls a user in a course. Missing classes, terms and school years are created.")
                .reads::<EnrollmentRequest>()
                .answers::<Data<CourseEnrollment>>(201, "The user was enrolled.")
                .answers::<Data<CourseEnrollment>>(200, "The user was already enrolled."),
        );
    }
    for (n, path) in
        with_school("/enrollments/unenroll/{userId}/{courseId}").into_iter().enumerate()
    {
        routes.push(
            delete(path, BridgeWrite, unenroll)
                .within_reach()
                .named(["unenroll", "unenrollAtSchool"][n])
                .description(
                    "Ends a user's enrollments in a course; they are marked 'tobedeleted'.",
                )
                .answers_empty(204, "It has ended."),
        );
    }
    for (n, path) in with_school("/enrollments/defaultClass/{courseId}").into_iter().enumerate() {
        routes.push(
            get(path, BridgeRead, default_class)
                .within_reach()
                .named(["getDefaultClass", "getDefaultClassAtSchool"][n])
                .description(
                    "Reads the default class of a course, which is created if it is missing.",
                )
                .answers::<Data<DefaultClass>>(200, "The class."),
        );
    }
    routes.extend([
        get("/enrollments/user/{userId}", BridgeRead, of_user)
            .within_reach()
            .named("getEnrollmentsOfUser")
            .description("Lists a user's current enrollments, after tracks and a new school year are applied.")
            .answers::<Data<Vec<CourseEnrollment>>>(200, "The enrollments."),
        post("/enrollments/resetGoals/{courseId}", BridgeWrite, reset_goals)
            .within_reach()
            .named("resetGoals")
            .description("Removes the own goals of all enrollments of a course, so that the goals of the course apply.")
            .answers::<Data<GoalsReset>>(200, "The number of enrollments whose own goals were removed."),
        delete("/enrollments/resetProgress/{userId}/{courseId}", BridgeWrite, reset_progress)
            .within_reach()
            .named("resetProgress")
            .description("Resets a user's progress in a course: attempts no longer count, their XP are taken back, and assessment results are marked 'tobedeleted'.")
            .answers::<Data<ProgressReset>>(200, "The number of results that were marked `tobedeleted`."),
        post("/enrollments/resetProgress/{courseId}", BridgeWrite, reset_students_progress)
            .within_reach()
            .named("resetProgressOfStudents")
            .description("Resets the progress in a course, as for one user, of all enrolled students, of the students of a class, or of named students. If it cannot be done for one student, it is done for none.")
            .reads::<ProgressResetInput>()
            .answers::<Data<ProgressResetReport>>(200, "The students, and the number of results that were marked `tobedeleted`."),
    ]);
    routes
}

/// The school in the path, if it names one.
fn school(context: &Context) -> Option<String> {
    let names = parameters(&context.route.path).any(|name| name == "schoolId");
    names.then(|| context.param("schoolId").to_owned())
}

async fn enroll(context: Context) -> Result<Answer> {
    let request = context.body_as::<EnrollmentRequest>()?;
    let (user, course) = (context.param("userId").to_owned(), context.param("courseId").to_owned());
    let (school, now, reach) = (school(&context), context.app.clock.now(), context.reach());
    let work = move |tx: &mut Tx<'_>| {
        enroll::enroll(tx, now, &user, &course, school.as_deref(), &request, &reach)
    };
    let (enrollment, is_new) = context.app.db.write(work).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::of(&Data { data: enrollment }).status(status))
}

async fn unenroll(context: Context) -> Result<Answer> {
    let (user, course) = (context.param("userId").to_owned(), context.param("courseId").to_owned());
    let (school, now, reach) = (school(&context), context.app.clock.now(), context.reach());
    let work =
        move |tx: &mut Tx<'_>| enroll::unenroll(tx, now, &user, &course, school.as_deref(), &reach);
    context.app.db.write(work).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn of_user(context: Context) -> Result<Answer> {
    let (user, now) = (context.param("userId").to_owned(), context.app.clock.now());
    let enrollments = settled(&context, now, user).await?;
    Ok(Answer::of(&Data { data: enrollments }))
}

/// The user's enrollments within the caller's reach. If none is due, nothing is written.
pub(crate) async fn settled(
    context: &Context,
    now: Timestamp,
    user: String,
) -> Result<Vec<CourseEnrollment>> {
    let (reach, db) = (context.reach(), &context.app.db);
    let (reader, its_reach) = (user.clone(), reach.clone());
    let read = move |tx: &mut Tx<'_>| enrollments::of_user(tx, now, &reader, &its_reach);
    match db.read(read).await? {
        Some(enrollments) => Ok(enrollments),
        None => db.write(move |tx| enrollments::settled_of_user(tx, now, &user, &reach)).await,
    }
}

async fn default_class(context: Context) -> Result<Answer> {
    let course = context.param("courseId").to_owned();
    let (school, now, reach) = (school(&context), context.app.clock.now(), context.reach());
    let work = move |tx: &mut Tx<'_>| {
        enrollments::default_class(tx, now, &course, school.as_deref(), &reach)
    };
    let class = context.app.db.write(work).await?;
    Ok(Answer::of(&Data { data: class }))
}

async fn reset_goals(context: Context) -> Result<Answer> {
    let (course, now) = (context.param("courseId").to_owned(), context.app.clock.now());
    let reach = context.reach();
    let updated = context.app.db.write(move |tx| goals::reset(tx, now, &course, &reach)).await?;
    Ok(Answer::of(&Data { data: GoalsReset { updated, errors: Vec::new() } }))
}

async fn reset_progress(context: Context) -> Result<Answer> {
    let (user, course) = (context.param("userId").to_owned(), context.param("courseId").to_owned());
    let work = move |tx: &mut Tx<'_>, lesson_context: &LessonContext<'_>| {
        reset_course(tx, lesson_context, &user, &course)
    };
    let reset = adaptive::write(&context, work).await?;
    Ok(Answer::of(&Data { data: ProgressReset { results_reset: reset } }))
}

async fn reset_students_progress(context: Context) -> Result<Answer> {
    let input = context.body_as::<ProgressResetInput>()?;
    let course = context.param("courseId").to_owned();
    let work = move |tx: &mut Tx<'_>, lesson_context: &LessonContext<'_>| {
        reset_students(tx, lesson_context, &course, &input)
    };
    let report = adaptive::write(&context, work).await?;
    Ok(Answer::of(&Data { data: report }))
}
