//! The adaptive layer: what a learner works through.

use super::oneroster;
use crate::render::Rendering;
use crate::route::Area;

pub(super) fn area() -> Area {
    Area {
        name: "adaptive",
        base: "/adaptive",
        rendering: Rendering::Imsx,
        says: "What a learner works through.",
        routes: vec![oneroster::syllabus()],
    }
}
