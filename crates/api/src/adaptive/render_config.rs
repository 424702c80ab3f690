//! Settings for how the questions of courses are rendered.

use lyceum_access::Scope::{AdaptiveRead, AdaptiveWrite};
use lyceum_adaptive::render_config::{self, RenderConfig, RenderConfigInput};
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_http::route::{delete, get, put};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Context, Route};

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct UpdatedCourses {
    /// The sourcedIds of the courses.
    updated: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct DeletedRenderConfig {
    /// The sourcedId of the course.
    deleted: String,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        put("/render-config", AdaptiveWrite, replace)
            .named("putRenderConfig")
            .description("Sets how the questions of some courses are shown.")
            .reads::<RenderConfigInput>()
            .answers::<UpdatedCourses>(200, "The renderer was set."),
        get("/render-config/{courseId}", AdaptiveRead, read_config)
            .of_no_organization()
            .named("getRenderConfig")
            .description("The renderer for the questions of a course.")
            .answers::<RenderConfig>(200, "The configuration."),
        delete("/render-config/{courseId}", AdaptiveWrite, remove)
            .named("deleteRenderConfig")
            .description("Removes the renderer of a course.")
            .answers::<DeletedRenderConfig>(200, "It was removed."),
    ]
}

async fn replace(context: Context) -> Result<Answer> {
    let configs = context.body_as::<RenderConfigInput>()?.configs()?;
    let updated: Vec<String> = configs.iter().map(|config| config.course_id.clone()).collect();
    context.app.db.write(move |tx| render_config::put(tx, &configs)).await?;
    Ok(Answer::of(&UpdatedCourses { updated }))
}

async fn read_config(context: Context) -> Result<Answer> {
    let course = context.param("courseId").to_owned();
    let config = context.app.db.read(move |tx| render_config::get(tx, &course)).await?;
    Ok(Answer::of(&config))
}

async fn remove(context: Context) -> Result<Answer> {
    let deleted = context.param("courseId").to_owned();
    let course = deleted.clone();
    context.app.db.write(move |tx| render_config::delete(tx, &course)).await?;
    Ok(Answer::of(&DeletedRenderConfig { deleted }))
}
