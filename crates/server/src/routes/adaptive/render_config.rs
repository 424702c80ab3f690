//! Settings for how the questions of courses are rendered.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::render_config::{self, RenderConfig, RenderConfigInput};
use lyceum_core::Result;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Route, delete, get, put};

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Updated {
    /// The sourcedIds of the courses.
    updated: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Deleted {
    /// The sourcedId of the course.
    deleted: String,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        put("/render-config", AdaptiveWrite, replaced)
            .named("putRenderConfig")
            .says("Sets how the questions of some courses are shown.")
            .reads::<RenderConfigInput>()
            .answers::<Updated>(200, "Set."),
        get("/render-config/{courseId}", AdaptiveRead, shown)
            .named("getRenderConfig")
            .says("How the questions of a course are shown.")
            .answers::<RenderConfig>(200, "The configuration."),
        delete("/render-config/{courseId}", AdaptiveWrite, deleted)
            .named("deleteRenderConfig")
            .says("Removes what was set for a course.")
            .answers::<Deleted>(200, "Removed."),
    ]
}

async fn replaced(context: Context) -> Result<Answer> {
    let configs = context.body_as::<RenderConfigInput>()?.configs()?;
    let updated: Vec<String> = configs.iter().map(|config| config.course_id.clone()).collect();
    context.app.db.write(move |tx| render_config::put(tx, &configs)).await?;
    Ok(Answer::of(&Updated { updated }))
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
    Ok(Answer::of(&Deleted { deleted: course }))
}
