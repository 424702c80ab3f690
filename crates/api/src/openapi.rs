//! The API document of the server, and the discovery documents of its services.

use http::HeaderValue;
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_http::openapi;
use lyceum_http::render::Rendering;
use lyceum_http::route::{Access, get};
use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::{Area, Context, Route, examples, oneroster, standards};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The OpenAPI 3.1 document of all these areas.
pub fn document(areas: &[Area], base_url: &str) -> Value {
    let mut document = openapi::document(areas, kinds(), base_url);
    examples::insert(&mut document);
    document
}

/// The document of the service of one area, under its real address.
pub(crate) fn discovery(area: &Area, base_url: &str) -> Value {
    openapi::discovery(area, kinds(), base_url)
}

/// The schemas of kinds of records.
fn kinds() -> impl Iterator<Item = (String, Value)> {
    oneroster::schema::components().chain(standards::components())
}

/// The route of the document of the whole server.
pub fn route() -> Route {
    get("/openapi.json", Access::Public, of_server)
        .named("getOpenApi")
        .description("Returns the OpenAPI 3.1 document of this server.")
        .answers::<OpenApiDocument>(200, "The document.")
}

/// The discovery documents of OneRoster 1.2 for each service, under the names in the REST binding and in the
/// conformance guide.
pub fn of_oneroster() -> Area {
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
        description: "Returns the OneRoster 1.2 service description documents.",
        routes: routes.collect(),
    }
}

fn discovered(service: &'static str, file: &'static str) -> Route {
    let path = format!("/ims/oneroster/{service}/v1p2/discovery/{file}");
    get(path.trim_end_matches('/').to_owned(), Access::Public, move |context: Context| async move {
        described(&context, service, || {
            let areas = oneroster::areas();
            let area = areas.iter().find(|area| area.name == service).expect("services are areas");
            discovery(area, context.base_url())
        })
    })
    .named(format!("discover{service}{}", file.split('_').next().unwrap_or_default()))
    .description(format!("The {service} service of this server, as OpenAPI."))
    .answers::<OpenApiDocument>(200, "The document.")
}

async fn of_server(context: Context) -> Result<Answer> {
    described(&context, "all", || (context.app.openapi)(context.base_url()))
}

/// A document of [OpenAPI](https://spec.openapis.org/oas/latest.html).
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the document is built as JSON")]
pub(crate) struct OpenApiDocument {
    /// The version of OpenAPI.
    openapi: String,
    /// Title, version and description of the API.
    info: Map<String, Value>,
    /// The addresses of the API.
    servers: Vec<Value>,
    /// The operations by path and method.
    paths: Map<String, Value>,
    /// The shared schemas, parameters, headers, answers and security schemes.
    components: Map<String, Value>,
}

/// The API document. It is made only once, because making it takes a thousand times as long as a read.
pub(crate) fn described(
    context: &Context,
    name: &str,
    make: impl FnOnce() -> Value,
) -> Result<Answer> {
    context.app.fixed.get(name, JSON, || Ok(make().to_string()))
}
