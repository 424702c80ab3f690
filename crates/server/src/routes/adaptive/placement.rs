//! Placement: where a student begins in a subject, and how far the student is in it.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::placement::{self, Asked};
use lyceum_adaptive::subject_progress;
use lyceum_core::Result;
use serde_json::{Value, json};

use super::shape::{
    any_object, flag, list, number, object, or_null, some_text, text, whole, whole_object,
};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Place, Route, get, post};

pub(super) fn routes() -> Vec<Route> {
    let asked = || whole_object(json!({ "student": some_text(), "subject": some_text() }));
    vec![
        of_subject(get("/placement/getNextPlacementTest", AdaptiveRead, next))
            .named("getNextPlacementTest")
            .says("The placement test of a subject that a student takes next: tests stand by grade, and one that is passed leads to the next.")
            .answers(200, "The test; no lesson where placement is over.", standing(&[])),
        of_subject(get("/placement/getCurrentLevel", AdaptiveRead, level))
            .named("getCurrentLevel")
            .says("The grade of the last placement test that a student took; of the first, before any.")
            .answers(
                200,
                "The grade.",
                whole_object(
                    json!({ "gradeLevel": text(), "onboarded": flag(), "availableTests": whole() }),
                ),
            ),
        of_subject(get("/placement/getAllPlacementTests", AdaptiveRead, all))
            .named("getAllPlacementTests")
            .says("The placement tests of a subject, with a student's results in them.")
            .answers(200, "The tests, by grade.", whole_object(json!({ "placementTests": list(test()) }))),
        of_subject(get("/placement/getSubjectProgress", AdaptiveRead, progress))
            .named("getSubjectProgress")
            .says("How far a student is in each course of a subject.")
            .answers(200, "The courses.", whole_object(json!({ "progress": list(course()) }))),
        post("/placement/resetUserPlacement", AdaptiveWrite, reset)
            .named("resetUserPlacement")
            .says("Sets a student's placement in a subject back: results are marked 'tobedeleted', attempts no longer count.")
            .reads(asked())
            .answers(
                200,
                "What was set back.",
                whole_object(json!({
                    "success": flag(), "placementResultsDeleted": whole(), "onboardingReset": flag(),
                })),
            ),
        get("/placement/{student}", AdaptiveRead, of_student)
            .named("getPlacement")
            .says("Where a student stands in the placement tests of each subject.")
            .answers(
                200,
                "The subjects.",
                whole_object(json!({
                    "student": text(),
                    "placements": list(standing(&["subject", "currentLevel"])),
                })),
            ),
    ]
}

/// The parameters of questions about a student in a subject.
fn of_subject(route: Route) -> Route {
    let says = |what| format!("The {what}; required.");
    route.param(Place::Query, "student", some_text(), says("student's sourcedId")).param(
        Place::Query,
        "subject",
        some_text(),
        says("subject"),
    )
}

fn standing(also: &[&str]) -> Value {
    let required = ["exhaustedTests", "gradeLevel", "onboarded", "availableTests"];
    let required: Vec<&str> = required.iter().chain(also).copied().collect();
    object(
        &required,
        json!({
            "exhaustedTests": flag(), "gradeLevel": or_null(text()), "lesson": text(),
            "onboarded": flag(), "availableTests": whole(), "subject": text(),
            "currentLevel": text(),
        }),
    )
}

fn test() -> Value {
    whole_object(json!({
        "component_resources": any_object(), "resources": any_object(),
        "resources_metadata": or_null(any_object()),
        "assessment_line_items": or_null(any_object()),
        "assessment_results": list(any_object()),
    }))
}

fn course() -> Value {
    whole_object(json!({
        "course": any_object(), "inEnrolled": flag(), "hasUsedTestOut": flag(),
        "testOutLessonId": or_null(text()), "completedLessons": whole(), "totalLessons": whole(),
        "totalAttainableXp": number(), "totalXpEarned": number(),
    }))
}

async fn next(context: Context) -> Result<Answer> {
    let asked = Asked::read(&super::query(&context))?;
    let standing = super::scan(context, move |tx, _| placement::next(tx, &asked)).await?;
    Ok(Answer::of(&standing))
}

async fn level(context: Context) -> Result<Answer> {
    let asked = Asked::read(&super::query(&context))?;
    let level = super::scan(context, move |tx, _| placement::level(tx, &asked)).await?;
    Ok(Answer::of(&level))
}

async fn all(context: Context) -> Result<Answer> {
    let asked = Asked::read(&super::query(&context))?;
    let tests =
        super::scan(context, move |tx, context| placement::all(tx, &asked, &super::view(context)));
    Ok(Answer::of(&json!({ "placementTests": tests.await? })))
}

async fn progress(context: Context) -> Result<Answer> {
    let asked = super::query(&context);
    let courses = super::scan(context, move |tx, context| {
        subject_progress::of(tx, context.app.clock.now(), &asked, &super::view(context))
    });
    Ok(Answer::of(&json!({ "progress": courses.await? })))
}

async fn reset(context: Context) -> Result<Answer> {
    let (asked, now) = (Asked::read(&super::object(&context)?)?, context.app.clock.now());
    let reset = context.app.db.write(move |tx| placement::reset(tx, now, &asked)).await?;
    Ok(Answer::of(&reset))
}

async fn of_student(context: Context) -> Result<Answer> {
    let student = context.param("student").to_owned();
    let placements = super::scan(context, move |tx, _| placement::of_student(tx, &student)).await?;
    Ok(Answer::of(&placements))
}
