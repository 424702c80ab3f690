//! Events: Caliper intake, the log, its live stream. One file a part.

mod intake;
mod log;
mod schema;
mod stored;
pub(crate) mod stream;

use crate::render::Rendering;
use crate::route::{Area, Route};

/// The areas: the standard's address, the platform's, jobs, the live stream.
pub(super) fn areas() -> Vec<Area> {
    vec![
        area(
            "caliper",
            "/ims/caliper/v1p2",
            "Events as the standard takes them.",
            vec![intake::standard(), intake::configuration()],
        ),
        area(
            "events",
            "/caliper",
            "Events: sending, checking, listing.",
            vec![intake::platform(), intake::validate(), log::list(), log::read()],
        ),
        area("jobs", "/jobs", "What became of a sent envelope.", vec![log::job()]),
        area("live", "/events", "Events as they arrive.", vec![stream::route()]),
    ]
}

fn area(name: &'static str, base: &'static str, says: &'static str, routes: Vec<Route>) -> Area {
    Area { name, base, rendering: Rendering::Caliper, says, routes }
}
