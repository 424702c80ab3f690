//! Placement: the grade in which a student begins a subject, and the student's progress in it.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::placement::{
    self, PlacementLevel, PlacementReset, PlacementStanding, PlacementTest, Placements,
    StudentAndSubject,
};
use lyceum_adaptive::subject_progress::{self, SubjectCourseProgress};
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_http::route::{ParamPlace, get, post};
use schemars::JsonSchema;
use serde::Serialize;

use super::query_as;
use crate::shape::some_text;
use crate::{Context, Route};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct PlacementTests {
    placement_tests: Vec<PlacementTest>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct SubjectProgress {
    progress: Vec<SubjectCourseProgress>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_subject(get("/placement/getNextPlacementTest", AdaptiveRead, next))
            .within_reach()
            .named("getNextPlacementTest")
            .description("Reads the student's next placement test in a subject. Tests are ordered by grade, and a passed test leads to the next one.")
            .answers::<PlacementStanding>(200, "The next test; no lesson if placement is over."),
        of_subject(get("/placement/getCurrentLevel", AdaptiveRead, level))
            .within_reach()
            .named("getCurrentLevel")
            .description("Reads the grade of the student's last placement test, or of the first test if none was taken.")
            .answers::<PlacementLevel>(200, "The grade."),
        of_subject(get("/placement/getAllPlacementTests", AdaptiveRead, all))
            .within_reach()
            .named("getAllPlacementTests")
            .description("Lists the placement tests of a subject with a student's results.")
            .answers::<PlacementTests>(200, "The tests, by grade."),
        of_subject(get("/placement/getSubjectProgress", AdaptiveRead, progress))
            .within_reach()
            .named("getSubjectProgress")
            .description("Lists a student's progress in each course of a subject.")
            .answers::<SubjectProgress>(200, "The courses."),
        post("/placement/resetUserPlacement", AdaptiveWrite, reset)
            .within_reach()
            .named("resetUserPlacement")
            .description("Resets a student's placement in a subject: results are marked 'tobedeleted', and attempts no longer count.")
            .reads::<StudentAndSubject>()
            .answers::<PlacementReset>(200, "The number of results that were reset."),
        get("/placement/{student}", AdaptiveRead, of_student)
            .within_reach()
            .named("getPlacement")
            .description("A student's position in the placement tests of each subject.")
            .answers::<Placements>(200, "The subjects."),
    ]
}

/// The parameters of routes about a student in a subject.
fn of_subject(route: Route) -> Route {
    let description = |what| format!("The {what}; required.");
    route
        .param(ParamPlace::Query, "student", some_text(), description("student's sourcedId"))
        .param(ParamPlace::Query, "subject", some_text(), description("subject"))
}

async fn next(context: Context) -> Result<Answer> {
    let parameters: StudentAndSubject = query_as(&context)?;
    let standing =
        super::scan(context, move |tx, context| placement::next(tx, &parameters, &context.reach()))
            .await?;
    Ok(Answer::of(&standing))
}

async fn level(context: Context) -> Result<Answer> {
    let parameters: StudentAndSubject = query_as(&context)?;
    let level = super::scan(context, move |tx, context| {
        placement::level(tx, &parameters, &context.reach())
    })
    .await?;
    Ok(Answer::of(&level))
}

async fn all(context: Context) -> Result<Answer> {
    let parameters: StudentAndSubject = query_as(&context)?;
    let tests = super::scan(context, move |tx, context| {
        placement::all(tx, &parameters, &super::view(context), &context.reach())
    });
    Ok(Answer::of(&PlacementTests { placement_tests: tests.await? }))
}

async fn progress(context: Context) -> Result<Answer> {
    let parameters: StudentAndSubject = query_as(&context)?;
    let courses = super::scan(context, move |tx, context| {
        let (now, view) = (context.app.clock.now(), super::view(context));
        subject_progress::of(tx, now, &parameters, &view, &context.reach())
    });
    Ok(Answer::of(&SubjectProgress { progress: courses.await? }))
}

async fn reset(context: Context) -> Result<Answer> {
    let (request, now) = (context.body_as::<StudentAndSubject>()?, context.app.clock.now());
    let reach = context.reach();
    let reset = context.app.db.write(move |tx| placement::reset(tx, now, &request, &reach)).await?;
    Ok(Answer::of(&reset))
}

async fn of_student(context: Context) -> Result<Answer> {
    let student = context.param("student").to_owned();
    let placements = super::scan(context, move |tx, context| {
        placement::of_student(tx, &student, &context.reach())
    })
    .await?;
    Ok(Answer::of(&placements))
}
