//! CLR 2.0: learner records.

mod records;

use super::credentials::{self, Standard, description};
use super::docs::{OpenApiDocument, described};
use crate::context::Context;
use crate::render::Rendering;
use crate::route::{Access, Area, Route, get};

pub(super) fn area() -> Area {
    let mut routes = records::routes();
    routes.extend(credentials::profile_routes("Clr", Standard::Clr));
    routes.push(discovery());
    Area {
        name: "learnerRecords",
        base: "/ims/clr/v2p0",
        rendering: Rendering::Credentials,
        description: "CLR 2.0: comprehensive learner records, signed, with all versions.",
        routes,
    }
}

fn discovery() -> Route {
    get("/discovery", Access::Public, |context: Context| async move {
        let make = || description(&context, &area(), "https://purl.imsglobal.org/spec/clr/");
        described(&context, "learner records", make)
    })
    .named("discoverClr")
    .description("Reads the description of the learner record service of this server, as OpenAPI.")
    .answers::<OpenApiDocument>(200, "The document.")
}
