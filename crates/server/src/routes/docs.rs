//! The API described: the OpenAPI document, an explorer for people, the standard's discovery.

use std::sync::PoisonError;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use lyceum_console::assets;
use lyceum_core::{Problem, ProblemKind, Result};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::context::Context;
use crate::openapi;
use crate::render::Rendering;
use crate::route::{Access, Area, Route, get};

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// Scripts and requests of this server alone; the explorer sets styles on its elements.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
);

pub(super) fn area() -> Area {
    Area {
        name: "docs",
        base: "",
        rendering: Rendering::Problem,
        says: "The API described, for machines and for people.",
        routes: vec![
            get("/openapi.json", Access::Public, document)
                .named("getOpenApi")
                .says("The OpenAPI 3.1 document of this server.")
                .answers(200, "The document.", json!({ "type": "object" })),
            get("/docs", Access::Public, explorer)
                .named("getDocs")
                .says("A page to explore and try the API.")
                .answers_as(200, "The page.", Some(("text/html", json!({ "type": "string" })))),
            get("/docs/{file}", Access::Public, asset)
                .named("getDocsFile")
                .says("A script or style of the page.")
                .answers_as(200, "The file.", Some(("text/css", json!({ "type": "string" })))),
        ],
    }
}

/// The discovery documents of OneRoster 1.2, under each service, by the names that the REST
/// binding and the conformance guide give them.
pub(super) fn discovery() -> Area {
    let names = [
        (
            "rostering",
            "onerosterv1p2rostersservice_openapi3_v1p0.json",
            "imsorv1p2_rostering_openapi3_v1p0.json",
        ),
        (
            "gradebook",
            "onerosterv1p2gradebookservice_openapi3_v1p0.json",
            "imsorv1p2_gradebook_openapi3_v1p0.json",
        ),
        (
            "resources",
            "onerosterv1p2resourcesservice_openapi3_v1p0.json",
            "imsorv1p2_resources_openapi3_v1p0.json",
        ),
    ];
    let routes = names.into_iter().flat_map(|(service, binding, guide)| {
        ["", binding, guide].map(|file| discovered(service, file))
    });
    Area {
        name: "discovery",
        base: "",
        rendering: Rendering::Imsx,
        says: "What the services of OneRoster 1.2 offer here.",
        routes: routes.collect(),
    }
}

fn discovered(service: &'static str, file: &'static str) -> Route {
    let path = format!("/ims/oneroster/{service}/v1p2/discovery/{file}");
    get(path.trim_end_matches('/').to_owned(), Access::Public, move |context| async move {
        Ok(described(&context, service, || {
            let areas = super::oneroster::areas();
            let area = areas.iter().find(|area| area.name == service).expect("services are areas");
            openapi::discovery(area, context.base_url())
        }))
    })
    .named(format!("discover{service}{}", file.split('_').next().unwrap_or_default()))
    .says(format!("The {service} service of this server, as OpenAPI."))
    .answers(200, "The document.", json!({ "type": "object" }))
}

async fn document(context: Context) -> Result<Answer> {
    let make = || openapi::document(&super::all(), context.base_url());
    Ok(described(&context, "all", make))
}

/// A description of the API: made once, for it takes a thousand times as long as a read.
pub(super) fn described(
    context: &Context,
    name: &'static str,
    make: impl FnOnce() -> Value,
) -> Answer {
    let mut known = context.app.descriptions.lock().unwrap_or_else(PoisonError::into_inner);
    let text = known.entry(name).or_insert_with(|| make().to_string().into());
    Answer::json(text.clone())
}

async fn explorer(_: Context) -> Result<Answer> {
    let page = if assets::file("swagger-ui-bundle.js").is_some() {
        include_str!("../../assets/docs.html")
    } else {
        include_str!("../../assets/docs-without-explorer.html")
    };
    Ok(Answer::typed(HTML, Body::from(page)).header(header::CONTENT_SECURITY_POLICY, POLICY))
}

async fn asset(context: Context) -> Result<Answer> {
    let file = context.param("file");
    let Some((data, media)) = assets::file(file) else {
        return Err(Problem::new(ProblemKind::NotFound, format!("there is no file '{file}' here")));
    };
    let media = HeaderValue::from_str(&media).map_err(Problem::internal)?;
    let sniff = HeaderName::from_static("x-content-type-options");
    Ok(Answer::typed(media, Body::from(data.into_owned()))
        .header(sniff, HeaderValue::from_static("nosniff"))
        .header(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")))
}
