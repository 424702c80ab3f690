//! How a course's questions are displayed: the renderer, and what it hides.

use lyceum_core::{Detail, Problem, ProblemKind, Result, limits};
use lyceum_roster::fields;
use lyceum_roster::kinds::COURSE;
use lyceum_roster::record::Object;
use lyceum_store::Tx;
use serde::Serialize;

use crate::input::{Input, checked};
use crate::repository::render_config as repository;

/// The display settings of a course's questions.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RenderConfig {
    /// The course's sourcedId.
    pub course_id: String,
    /// The renderer's name.
    pub renderer_id: String,
    /// The renderer's address.
    pub renderer_url: String,
    /// The renderer's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renderer_version: Option<String>,
    /// Whether feedback is hidden from learners.
    pub suppress_feedback: bool,
    /// Whether correct answers are hidden from learners.
    pub suppress_correct_response: bool,
}

/// Reads the same settings for several courses: `{courseIds: [id…], rendererId, rendererUrl, rendererVersion?,
/// suppressFeedback?, suppressCorrectResponse?}`. Errors: `Invalid`, with every error and its path.
pub fn read(body: &Object) -> Result<Vec<RenderConfig>> {
    let mut input = Input::of(body);
    let renderer_id = input.text("rendererId");
    let renderer_url = input.text("rendererUrl");
    if !renderer_url.is_empty() && !is_address(&renderer_url) {
        input.fault("rendererUrl", "must be an address that begins with http:// or https://");
    }
    let renderer_version = input.opt_text("rendererVersion");
    let suppress_feedback = input.flag("suppressFeedback");
    let suppress_correct_response = input.flag("suppressCorrectResponse");
    let mut configs: Vec<RenderConfig> = Vec::new();
    let courses = input.list("courseIds", limits::RENDER_CONFIG_COURSES_MAX_COUNT).iter();
    for (at, course) in courses.enumerate() {
        match checked(course) {
            Ok(course) if configs.iter().any(|known| known.course_id == course) => {}
            Ok(course) => configs.push(RenderConfig {
                course_id: course.to_owned(),
                renderer_id: renderer_id.clone(),
                renderer_url: renderer_url.clone(),
                renderer_version: renderer_version.clone(),
                suppress_feedback,
                suppress_correct_response,
            }),
            Err(message) => input.fault(format!("courseIds[{at}]"), message),
        }
    }
    input.done(configs)
}

/// Whether the text is an HTTP address.
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
            message: format!(
                "there is no course with the sourcedId '{}'; create it first",
                config.course_id
            ),
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
        format!(
            "the course '{course}' has no render configuration; set one with PUT /render-config"
        ),
    )
}
