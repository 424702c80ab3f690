//! The bridge: enrolling by course, subject tracks, analytics. One file a part, each with a table.

mod analytics;

use crate::render::Rendering;
use crate::route::Area;

pub(super) fn area() -> Area {
    let mut routes = Vec::new();
    routes.extend(analytics::routes());
    Area {
        name: "bridge",
        base: "/bridge",
        rendering: Rendering::Imsx,
        says: "Enrolling by course, subject tracks, and what students did, added up.",
        routes,
    }
}
