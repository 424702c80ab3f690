//! Events: Caliper intake, the log, and its live stream. Each part has a file.

mod intake;
mod log;
mod stored;
pub mod stream;

use lyceum_http::render::Rendering;

use crate::{Area, Route};

/// The areas: the standard's address, the platform's, jobs, the live stream.
pub(super) fn areas() -> Vec<Area> {
    vec![
        area(
            "caliper",
            "/ims/caliper/v1p2",
            "Events, in the form of the standard.",
            vec![intake::standard(), intake::configuration()],
        ),
        area(
            "events",
            "/caliper",
            "Events: sending, checking, listing.",
            vec![intake::platform(), intake::validate(), log::list(), log::read()],
        ),
        area("jobs", "/jobs", "The outcome of sent envelopes.", vec![log::job()]),
        area("live", "/events", "Events as they arrive.", vec![stream::route()]),
    ]
}

fn area(
    name: &'static str,
    base: &'static str,
    description: &'static str,
    routes: Vec<Route>,
) -> Area {
    Area { name, base, rendering: Rendering::Caliper, description, routes }
}
