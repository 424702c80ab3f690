//! Academic standards (CASE 1.0 and 1.1) and alignments to them.

mod alignments;
mod read;
mod schema;
mod write;

pub use schema::components;

use http::header;
use lyceum_core::PayloadDialect;
use lyceum_http::answer::Answer;
use lyceum_http::render::{CaseVersion, Rendering};
use lyceum_http::route::{Access, get};
use lyceum_roster::record::Object;
use lyceum_standards::Shape;
use lyceum_standards::repository::Reader;

use crate::{Area, Context, Route, openapi};

/// The areas of both versions. Version 1.0 has only reads.
pub(super) fn areas() -> Vec<Area> {
    let shared = |routes: Vec<Route>| routes.into_iter().map(Route::of_shared_content);
    let mut of_v1p0: Vec<Route> = shared(read::routes(CaseVersion::V1p0)).collect();
    of_v1p0.extend(discovery(CaseVersion::V1p0));
    let mut of_v1p1: Vec<Route> = shared(read::routes(CaseVersion::V1p1)).collect();
    of_v1p1.extend(shared(write::routes()));
    of_v1p1.extend(alignments::routes());
    of_v1p1.extend(discovery(CaseVersion::V1p1));
    vec![
        Area {
            name: "case-v1p0",
            base: base(CaseVersion::V1p0),
            rendering: Rendering::Case(CaseVersion::V1p0),
            description: "Academic standards, as CASE 1.0 exchanges them.",
            routes: of_v1p0,
        },
        Area {
            name: "case",
            base: base(CaseVersion::V1p1),
            rendering: Rendering::Case(CaseVersion::V1p1),
            description: "Academic standards, as CASE 1.1 exchanges them, and alignment to them.",
            routes: of_v1p1,
        },
    ]
}

fn base(version: CaseVersion) -> &'static str {
    match version {
        CaseVersion::V1p0 => "/ims/case/v1p0",
        CaseVersion::V1p1 => "/ims/case/v1p1",
    }
}

/// The reader. Without a token, it sees only public frameworks, in the standard's format.
fn reader(context: &Context, version: CaseVersion) -> Reader {
    let public_only = context.grant.is_none();
    let dialect = if public_only { PayloadDialect::Standard } else { context.dialect };
    let shape = match (dialect, version) {
        (PayloadDialect::Platform, _) => Shape::Platform,
        (PayloadDialect::Standard, CaseVersion::V1p0) => Shape::V1p0,
        (PayloadDialect::Standard, CaseVersion::V1p1) => Shape::V1p1,
    };
    let packages = format!("{}{}/CFPackages", context.base_url(), base(version));
    Reader { shape, public_only, packages }
}

/// The answer with a record: bare in the standard's format, and under its name for the platform's clients.
fn single(shape: Shape, name: &str, record: &str) -> Answer {
    let body = match shape {
        Shape::Platform => format!("{{\"{name}\":{record}}}"),
        Shape::V1p0 | Shape::V1p1 => record.to_owned(),
    };
    // Answers depend on the token, so caches must not share them between readers.
    Answer::json(body).header(header::VARY, "Authorization, Accept")
}

/// The OpenAPI document of the service, at its own address and under the file name of the conformance guide.
fn discovery(version: CaseVersion) -> Vec<Route> {
    let (name, file) = match version {
        CaseVersion::V1p0 => ("case-v1p0", "imscasev1p0_openapi3_v1p0.json"),
        CaseVersion::V1p1 => ("case", "imscasev1p1_openapi3_v1p0.json"),
    };
    let route = move |path: String, id: String| {
        get(path, Access::Public, move |context: Context| async move {
            openapi::described(&context, name, || {
                let areas = areas();
                let area = areas.iter().find(|area| area.name == name).expect("it is an area");
                openapi::discovery(area, context.base_url())
            })
        })
        .named(id)
        .description("Describes the service of this server as an OpenAPI document.")
        .answers::<Object>(200, "The document.")
    };
    vec![
        route("/discovery".to_owned(), format!("discover-{name}")),
        route(format!("/discovery/{file}"), format!("discover-{name}-file")),
    ]
}
