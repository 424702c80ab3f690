//! The adaptive layer: what a learner works through.

mod lessons;
mod schema;

pub(super) use lessons::write;

use super::oneroster;
use crate::render::Rendering;
use crate::route::Area;

pub(super) fn area() -> Area {
    let mut routes = vec![oneroster::syllabus()];
    routes.extend(lessons::routes());
    Area {
        name: "adaptive",
        base: "/adaptive",
        rendering: Rendering::Imsx,
        says: "What a learner works through.",
        routes,
    }
}
