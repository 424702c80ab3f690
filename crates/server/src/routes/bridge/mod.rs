//! The bridge: enrollments by course, subject tracks and analytics. Each part is one file with its table of routes.

mod analytics;
mod enrollments;
mod reports;
mod tracks;
mod users;

pub(crate) use tracks::{keep_settled, settled};

use schemars::JsonSchema;
use serde::Serialize;

use crate::render::Rendering;
use crate::route::Area;

/// An answer below `data`.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Data<T> {
    data: T,
}

pub(super) fn area() -> Area {
    let mut routes = Vec::new();
    routes.extend(enrollments::routes());
    routes.extend(tracks::routes());
    routes.extend(users::routes());
    routes.extend(reports::routes());
    routes.extend(analytics::routes());
    Area {
        name: "bridge",
        base: "/bridge",
        rendering: Rendering::Imsx,
        says: "Enrolling by course, subject tracks, and what students did, added up.",
        routes,
    }
}
