//! CLR 2.0: learner records.

mod records;

use lyceum_http::render::Rendering;
use lyceum_http::route::{Access, get};

use crate::credentials::{self, Standard, description};
use crate::openapi::{OpenApiDocument, described};
use crate::{Area, Context, Route};

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
