//! How a course's questions are displayed: the renderer, and what it hides.

use lyceum_core::body::OneLineText;
use lyceum_core::messages::unknown_reference;
use lyceum_core::{Detail, Problem, ProblemKind, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kinds::COURSE;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::limits;
use crate::repository::render_config as repository;

pub use crate::repository::render_config::RenderConfig;

/// The renderer to set for some courses.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenderConfigInput {
    /// The courses' sourcedIds.
    #[schemars(with = "Vec<OneLineText>", length(min = 1, max = limits::RENDER_CONFIG_COURSES_MAX_COUNT))]
    course_ids: Vec<String>,
    /// The renderer's name.
    #[schemars(with = "OneLineText")]
    renderer_id: String,
    /// The address of the renderer.
    #[schemars(with = "OneLineText", extend("pattern" = r"^https?://[^\s]+$"))]
    renderer_url: String,
    /// The version of the renderer.
    #[schemars(with = "Option<OneLineText>")]
    renderer_version: Option<String>,
    /// Whether feedback is hidden from learners; by default false.
    suppress_feedback: Option<bool>,
    /// Whether correct answers are hidden from learners; by default false.
    suppress_correct_response: Option<bool>,
}

impl RenderConfigInput {
    /// The same configuration for each of the courses. Errors: `Invalid` if the text is not an address.
    pub fn configs(self) -> Result<Vec<RenderConfig>> {
        if !is_address(&self.renderer_url) {
            return Err(Problem::invalid("rendererUrl", ADDRESS));
        }
        let mut configs: Vec<RenderConfig> = Vec::new();
        for course_id in self.course_ids {
            if configs.iter().any(|known| known.course_id == course_id) {
                continue;
            }
            configs.push(RenderConfig {
                course_id,
                renderer_id: self.renderer_id.clone(),
                renderer_url: self.renderer_url.clone(),
                renderer_version: self.renderer_version.clone(),
                suppress_feedback: self.suppress_feedback.unwrap_or_default(),
                suppress_correct_response: self.suppress_correct_response.unwrap_or_default(),
            });
        }
        Ok(configs)
    }
}

/// The message for a text that is not an address.
pub(crate) const ADDRESS: &str = "must be an address that begins with http:// or https://";

/// Whether the text is an address of the web.
pub(crate) fn is_address(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| !host.is_empty() && !host.contains(char::is_whitespace))
}

/// Stores all of the settings, or none. Errors: `Invalid` for courses that do not exist.
pub fn put(tx: &mut Tx<'_>, configs: &[RenderConfig]) -> Result<()> {
    let known = fields::of_all(tx, &COURSE, configs.iter().map(|c| c.course_id.as_str()))?;
    let is_there = |id: &String| {
        known.get(id).is_some_and(|course| fields::text(course, "status") == "active")
    };
    let missing = configs.iter().enumerate().filter(|(_, config)| !is_there(&config.course_id));
    let faults: Vec<Detail> = missing
        .map(|(at, config)| Detail {
            path: format!("courseIds[{at}]"),
            message: unknown_reference("course", &config.course_id),
        })
        .collect();
    if !faults.is_empty() {
        return Err(Problem::invalid_all(faults));
    }
    repository::put(tx, configs)
}

/// The settings of a course. Errors: `NotFound`, also for a course without settings.
pub fn get(tx: &mut Tx<'_>, course: &str) -> Result<RenderConfig> {
    fields::in_use(tx, &COURSE, course)?;
    repository::get(tx, course)?.ok_or_else(|| missing(course))
}

/// Deletes the settings of a course. Errors: `NotFound`.
pub fn delete(tx: &mut Tx<'_>, course: &str) -> Result<()> {
    if repository::delete(tx, course)? { Ok(()) } else { Err(missing(course)) }
}

fn missing(course: &str) -> Problem {
    Problem::new(
        ProblemKind::NotFound,
        message!(
            "the course '{course}' has no render configuration; set one with PUT /render-config"
        ),
    )
}
