//! Tests made in one request.

use axum::http::StatusCode;
use lyceum_access::Scope::AdaptiveWrite;
use lyceum_adaptive::LessonType;
use lyceum_adaptive::new_test::{self, TEST_TYPES, TOOLS, Wish};
use lyceum_core::Result;
use serde_json::{Value, json};

use super::shape::{any_object, grade, list, object, some_text, text, whole_object, words};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Route, post};

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/createInternalTest", AdaptiveWrite, internal)
            .named("createInternalTest")
            .says("Makes a lesson of a stored test, or of several that take turns, with its resources and its place in the course.")
            .reads(internal_input())
            .answers(201, "Made.", made(&["testType"])),
        post("/createExternalPlacementTest", AdaptiveWrite, |context| {
            external(context, LessonType::Placement)
        })
        .named("createExternalPlacementTest")
        .says("Makes a placement test that is taken at an outside tool.")
        .reads(external_input(&["courseId", "toolProvider", "grades"]))
        .answers(201, "Made.", made(&["toolProvider"])),
        post("/createExternalTestOut", AdaptiveWrite, |context| {
            external(context, LessonType::TestOut)
        })
        .named("createExternalTestOut")
        .says("Makes the test-out lesson of a course, taken at an outside tool.")
        .reads(external_input(&["courseId", "toolProvider", "grades", "xp"]))
        .answers(201, "Made.", made(&["toolProvider"])),
    ]
}

/// What all tests share.
fn shared() -> Value {
    json!({
        "courseId": some_text(), "lessonTitle": some_text(), "unitTitle": some_text(),
        "courseComponentSourcedId": some_text(), "resourceMetadata": any_object(),
        "xp": { "type": "number", "minimum": 0 }, "grades": list(grade()),
        "courseIdOnFail": some_text(),
    })
}

fn with(mut properties: Value, more: Value) -> Value {
    if let (Some(properties), Value::Object(more)) = (properties.as_object_mut(), more) {
        properties.extend(more);
    }
    properties
}

fn internal_input() -> Value {
    let url = json!({ "type": "string", "pattern": "^https?://[^\\s]+$" });
    let link =
        object(&["url"], json!({ "url": url, "title": some_text(), "metadata": any_object() }));
    let mut resources = list(link.clone());
    resources["minItems"] = 1.into();
    let properties = with(
        shared(),
        json!({
            "lessonType": words(&LessonType::ALL.map(LessonType::name)),
            "testType": words(&TEST_TYPES),
            "qti": link,
            "assessmentBank": whole_object(json!({ "resources": resources })),
        }),
    );
    object(&["courseId", "lessonType", "testType"], properties)
}

fn external_input(required: &[&str]) -> Value {
    let properties = with(
        shared(),
        json!({
            "toolProvider": words(&TOOLS), "lessonType": some_text(), "vendorId": some_text(),
            "launchUrl": { "type": "string", "pattern": "^https?://[^\\s]+$" },
            "description": some_text(),
        }),
    );
    object(required, properties)
}

fn made(also: &[&str]) -> Value {
    let required = ["lessonType", "lessonId", "courseComponentId", "resourceId"];
    let required: Vec<&str> = required.iter().chain(also).copied().collect();
    object(
        &required,
        json!({
            "lessonType": words(&LessonType::ALL.map(LessonType::name)),
            "testType": words(&TEST_TYPES), "lessonId": text(), "courseComponentId": text(),
            "resourceId": text(), "childResourceIds": list(text()), "launchUrl": text(),
            "toolProvider": words(&TOOLS), "vendorId": text(), "grades": list(text()),
            "courseIdOnFail": text(),
        }),
    )
}

async fn internal(context: Context) -> Result<Answer> {
    let wish = Wish::internal(&super::object(&context)?)?;
    created(context, wish).await
}

async fn external(context: Context, lesson_type: LessonType) -> Result<Answer> {
    let wish = Wish::external(&super::object(&context)?, lesson_type)?;
    created(context, wish).await
}

async fn created(context: Context, wish: Wish) -> Result<Answer> {
    let now = context.app.clock.now();
    let made = context.app.db.write(move |tx| new_test::create(tx, now, &wish)).await?;
    Ok(Answer::of(&made).status(StatusCode::CREATED))
}
