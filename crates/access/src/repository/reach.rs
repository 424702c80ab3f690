//! The column `reach` of clients, people and API keys: JSON, or NULL for everything.

use lyceum_core::{Problem, Reach, Result};

/// Reads the column.
pub(super) fn parsed(stored: Option<&str>) -> Result<Reach> {
    stored
        .map_or(Ok(Reach::Everything), |text| serde_json::from_str(text).map_err(Problem::internal))
}

/// The text to store.
pub(super) fn text(reach: &Reach) -> Result<Option<String>> {
    let text = reach.is_limited().then(|| serde_json::to_string(reach));
    text.transpose().map_err(Problem::internal)
}
