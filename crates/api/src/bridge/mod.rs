//! The bridge: enrollments by course, subject tracks and analytics. Each part is one file with its table of routes.

mod analytics;
mod enrollments;
mod reports;
pub mod school_hours;
mod tracks;
mod users;

pub(super) use enrollments::settled;
pub use tracks::{settle_periodically, settle_users};

use lyceum_http::render::Rendering;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Area;

/// An answer whose content is in the member `data`.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Data<T> {
    data: T,
}

pub(super) fn area() -> Area {
    let mut routes = Vec::new();
    routes.extend(enrollments::routes());
    routes.extend(tracks::routes());
    routes.extend(school_hours::routes());
    routes.extend(users::routes());
    routes.extend(reports::routes());
    routes.extend(analytics::routes());
    Area {
        name: "bridge",
        base: "/bridge",
        rendering: Rendering::Imsx,
        description: "Enrollment by course, subject tracks and reports of student activity.",
        routes,
    }
}
