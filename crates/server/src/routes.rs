//! All routes of the server.

use lyceum_api::{Area, openapi};
use serde_json::Value;

/// All areas, and therefore all routes.
pub fn all() -> Vec<Area> {
    let mut areas = lyceum_pages::areas();
    areas.extend(lyceum_api::areas());
    areas
}

/// The API document of all areas for a server with this address.
pub fn document(base_url: &str) -> Value {
    openapi::document(&all(), base_url)
}
