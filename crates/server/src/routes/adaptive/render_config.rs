//! How the questions of courses are shown.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::render_config;
use lyceum_core::{Result, limits};
use serde_json::{Value, json};

use super::shape::{flag, list, object, some_text, text, whole_object};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Route, delete, get, put};

pub(super) fn routes() -> Vec<Route> {
    vec![
        put("/render-config", AdaptiveWrite, replaced)
            .named("putRenderConfig")
            .says("Sets how the questions of some courses are shown.")
            .reads(input())
            .answers(200, "Set.", whole_object(json!({ "updated": list(text()) }))),
        get("/render-config/{courseId}", AdaptiveRead, shown)
            .named("getRenderConfig")
            .says("How the questions of a course are shown.")
            .answers(200, "The configuration.", output()),
        delete("/render-config/{courseId}", AdaptiveWrite, deleted)
            .named("deleteRenderConfig")
            .says("Removes what was set for a course.")
            .answers(200, "Removed.", whole_object(json!({ "deleted": text() }))),
    ]
}

fn input() -> Value {
    let mut courses = list(some_text());
    courses["minItems"] = 1.into();
    courses["maxItems"] = limits::RENDER_CONFIG_COURSES_MAX_COUNT.into();
    object(
        &["courseIds", "rendererId", "rendererUrl"],
        json!({
            "courseIds": courses,
            "rendererId": some_text(),
            "rendererUrl": { "type": "string", "format": "uri", "pattern": "^https?://[^\\s]+$" },
            "rendererVersion": some_text(),
            "suppressFeedback": { "type": "boolean", "default": false },
            "suppressCorrectResponse": { "type": "boolean", "default": false },
        }),
    )
}

fn output() -> Value {
    object(
        &["courseId", "rendererId", "rendererUrl", "suppressFeedback", "suppressCorrectResponse"],
        json!({
            "courseId": text(), "rendererId": text(), "rendererUrl": text(),
            "rendererVersion": text(), "suppressFeedback": flag(),
            "suppressCorrectResponse": flag(),
        }),
    )
}

async fn replaced(context: Context) -> Result<Answer> {
    let configs = render_config::read(&super::object(&context)?)?;
    let updated: Vec<String> = configs.iter().map(|config| config.course_id.clone()).collect();
    context.app.db.write(move |tx| render_config::put(tx, &configs)).await?;
    Ok(Answer::of(&json!({ "updated": updated })))
}

async fn shown(context: Context) -> Result<Answer> {
    let course = context.param("courseId").to_owned();
    let config = context.app.db.read(move |tx| render_config::get(tx, &course)).await?;
    Ok(Answer::of(&config))
}

async fn deleted(context: Context) -> Result<Answer> {
    let course = context.param("courseId").to_owned();
    let asked = course.clone();
    context.app.db.write(move |tx| render_config::delete(tx, &asked)).await?;
    Ok(Answer::of(&json!({ "deleted": course })))
}
