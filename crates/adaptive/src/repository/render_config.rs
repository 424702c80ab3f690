//! Render configurations, one row per course.

use lyceum_core::Result;
use lyceum_store::{Tx, Value, columns};
use schemars::JsonSchema;
use serde::Serialize;

/// The renderer for the questions of a course.
#[derive(Clone, Debug, Serialize, JsonSchema)]
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

const COLUMNS: [&str; 6] = [
    "course_id",
    "renderer_id",
    "renderer_url",
    "renderer_version",
    "suppress_feedback",
    "suppress_correct_response",
];

columns!(RenderConfig {
    course_id: "course_id",
    renderer_id: "renderer_id",
    renderer_url: "renderer_url",
    renderer_version: "renderer_version",
    suppress_feedback: "suppress_feedback",
    suppress_correct_response: "suppress_correct_response",
});

/// Stores the configurations, replacing those of the same courses.
pub(crate) fn put(tx: &mut Tx<'_>, configs: &[RenderConfig]) -> Result<()> {
    let mut values: Vec<Value<'_>> = Vec::with_capacity(configs.len() * COLUMNS.len());
    for config in configs {
        values.extend([
            Value::from(&config.course_id),
            (&config.renderer_id).into(),
            (&config.renderer_url).into(),
            config.renderer_version.as_ref().into(),
            i64::from(config.suppress_feedback).into(),
            i64::from(config.suppress_correct_response).into(),
        ]);
    }
    let conflict = "ON CONFLICT (course_id) DO UPDATE SET renderer_id = excluded.renderer_id, \
                    renderer_url = excluded.renderer_url, \
                    renderer_version = excluded.renderer_version, \
                    suppress_feedback = excluded.suppress_feedback, \
                    suppress_correct_response = excluded.suppress_correct_response";
    tx.send_rows("render_config", &COLUMNS, &values, conflict)?;
    Ok(())
}

pub(crate) fn get(tx: &mut Tx<'_>, course: &str) -> Result<Option<RenderConfig>> {
    let columns = RenderConfig::COLUMNS;
    let sql = format!("SELECT {columns} FROM render_config WHERE course_id = $1");
    tx.row(&sql, &[course.into()])
}

/// Returns `false` if there is none.
pub(crate) fn delete(tx: &mut Tx<'_>, course: &str) -> Result<bool> {
    let sql = "DELETE FROM render_config WHERE course_id = $1";
    Ok(tx.execute(sql, &[course.into()])? > 0)
}
