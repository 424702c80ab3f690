//! The SQL of this crate, one file for each part of the platform.

pub(crate) mod achievements;
pub(crate) mod games;
pub(crate) mod inventory;
pub(crate) mod levels;
pub(crate) mod lms;
pub(crate) mod notifications;
pub(crate) mod players;
pub(crate) mod requests;
pub(crate) mod scores;
pub(crate) mod sessions;
pub(crate) mod states;
pub(crate) mod visitors;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::Value;

/// Texts as the JSON array that [`lyceum_store::dialect::is_one_of`] expects.
fn list_of(texts: &[String]) -> Result<String> {
    serde_json::to_string(texts).map_err(Problem::internal)
}

fn ms(at: Timestamp) -> Value<'static> {
    at.milliseconds().into()
}
