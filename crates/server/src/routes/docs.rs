//! The documentation pages, the OpenAPI document, the API explorer, and the discovery documents of the standards.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use bytes::Bytes;
use lyceum_console::docs::{
    DocumentPage, ExplorerPage, FIRST, Library, SearchFragment, SearchPage,
};
use lyceum_console::{assets, html};
use lyceum_core::text::searched_text;
use lyceum_core::{Problem, ProblemKind, Result};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::blocking::run_blocking;
use crate::context::Context;
use crate::openapi;
use crate::render::Rendering;
use crate::route::{Access, Area, ParamPlace, Route, get};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const MARKDOWN: HeaderValue = HeaderValue::from_static("text/markdown; charset=utf-8");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const SNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

/// Allows scripts, styles and requests only from and to this server.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// The same, and additionally the inline style that Swagger UI sets on its elements.
const EXPLORER_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-hashes' \
     'sha256-i0JPB0qmRu5AViJTxOIzqXnfGoiWFw+oNAm4uJd7ZQk='; img-src 'self' data:; \
     font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// The documentation of this server, which is loaded when it is first requested.
#[derive(Default)]
pub(crate) struct Docs {
    /// The reference of the command line, from the program that runs the server.
    pub(crate) commands: Option<fn() -> String>,
    library: OnceLock<Library>,
}

impl Docs {
    fn library(&self) -> &Library {
        self.library.get_or_init(|| {
            let commands = self.commands.map(|make| make());
            Library::new(commands.as_deref(), &lyceum_project::config_reference())
        })
    }
}

pub(super) fn area() -> Area {
    let page = || Some(("text/html", json!({ "type": "string" })));
    Area {
        name: "docs",
        base: "",
        rendering: Rendering::Problem,
        description: "The description of the API, for programs and for people.",
        routes: vec![
            get("/openapi.json", Access::Public, document)
                .named("getOpenApi")
                .description("Returns the OpenAPI 3.1 document of this server.")
                .answers::<OpenApiDocument>(200, "The document."),
            get("/docs", Access::Public, |context| async move { show_page(&context, FIRST) })
                .named("getDocs")
                .description("The first page of the documentation.")
                .answers_as(200, "The page.", page()),
            get("/docs/api", Access::Public, explorer)
                .named("getApiExplorer")
                .description("Shows a page to explore and try the API.")
                .answers_as(200, "The page.", page()),
            get("/docs/search", Access::Public, search)
                .named("searchDocs")
                .description("Searches the documentation for sections that contain all words.")
                .param(ParamPlace::Query, "q", json!({ "type": "string" }), "The words to search for.")
                .param(ParamPlace::Query, "part", json!({ "type": "boolean" }), "Return only the list, not a page.")
                .answers_as(200, "The page.", page()),
            get("/docs/{file}", Access::Public, file)
                .named("getDocsFile")
                .description("Reads a page of the documentation (as Markdown if the path ends in .md), or a script or style of the pages.")
                .answers_as(200, "The file.", page()),
            get("/llms.txt", Access::Public, overview)
                .named("getDocsOverview")
                .description("Lists the pages of the documentation with their subjects, for programs that read it.")
                .answers_as(200, "The list.", Some(("text/plain", json!({ "type": "string" })))),
        ],
    }
}

/// The discovery documents of OneRoster 1.2 for each service, under the names in the REST binding and in the
/// conformance guide.
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
        description: "Returns the OneRoster 1.2 service description documents.",
        routes: routes.collect(),
    }
}

fn discovered(service: &'static str, file: &'static str) -> Route {
    let path = format!("/ims/oneroster/{service}/v1p2/discovery/{file}");
    get(path.trim_end_matches('/').to_owned(), Access::Public, move |context| async move {
        described(&context, service, || {
            let areas = super::oneroster::areas();
            let area = areas.iter().find(|area| area.name == service).expect("services are areas");
            openapi::discovery(area, context.base_url())
        })
    })
    .named(format!("discover{service}{}", file.split('_').next().unwrap_or_default()))
    .description(format!("The {service} service of this server, as OpenAPI."))
    .answers::<OpenApiDocument>(200, "The document.")
}

async fn document(context: Context) -> Result<Answer> {
    let make = || openapi::document(&super::all(), context.base_url());
    described(&context, "all", make)
}

/// A document of [OpenAPI](https://spec.openapis.org/oas/latest.html).
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the document is built as JSON")]
pub(super) struct OpenApiDocument {
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
pub(super) fn described(
    context: &Context,
    name: &str,
    make: impl FnOnce() -> Value,
) -> Result<Answer> {
    context.app.fixed.get(name, JSON, || Ok(make().to_string()))
}

fn page(answer: Answer) -> Answer {
    answer
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(SNIFF, HeaderValue::from_static("nosniff"))
}

fn show_page(context: &Context, slug: &str) -> Result<Answer> {
    let library = context.app.docs.library();
    let found = library.page(slug).ok_or_else(|| missing(slug))?;
    let make = || html(&DocumentPage { library, page: found });
    Ok(page(context.app.fixed.get(&format!("docs/{slug}"), HTML, make)?))
}

async fn explorer(context: Context) -> Result<Answer> {
    let library = context.app.docs.library();
    let is_built = assets::file("swagger-ui-bundle.js").is_some();
    let make = || html(&ExplorerPage { library, is_built });
    Ok(page(context.app.fixed.get("docs explorer", HTML, make)?)
        .header(header::CONTENT_SECURITY_POLICY, EXPLORER_POLICY))
}

async fn search(context: Context) -> Result<Answer> {
    let query = context.query_value("q").unwrap_or_default();
    let query = searched_text(&query).to_owned();
    let is_part = context.query_value("part").is_some();
    let app = Arc::clone(&context.app);
    // Many concurrent searches must not occupy the threads that answer other requests.
    let _turn = context.app.admission.anonymous_read().await?;
    let text = run_blocking(move || {
        let library = app.docs.library();
        let found = library.search(&query);
        match is_part {
            true => html(&SearchFragment { query: &query, found }),
            false => html(&SearchPage { library, query: &query, found }),
        }
    });
    Ok(page(Answer::typed(HTML, Body::from(text.await?))))
}

async fn overview(context: Context) -> Result<Answer> {
    let make = || Ok(context.app.docs.library().overview(context.base_url()));
    context.app.fixed.get("llms.txt", TEXT, make)
}

async fn file(context: Context) -> Result<Answer> {
    let name = context.param("file");
    if let Some(slug) = name.strip_suffix(".md") {
        let found = context.app.docs.library().page(slug).ok_or_else(|| missing(slug))?;
        let make = || Ok(found.text.clone());
        return context.app.fixed.get(&format!("docs/{slug}.md"), MARKDOWN, make);
    }
    let Some(answer) = asset(&context, name)? else { return show_page(&context, name) };
    Ok(answer.header(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")))
}

/// A script, style or picture of the documentation pages; `None` if the file does not exist.
pub(super) fn asset(context: &Context, name: &str) -> Result<Option<Answer>> {
    let Some((data, media)) = assets::file(name) else { return Ok(None) };
    let media = HeaderValue::from_str(&media).map_err(Problem::internal)?;
    let make = || {
        Ok(match data {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => Bytes::from(bytes),
        })
    };
    let answer = context.app.fixed.get(&format!("asset {name}"), media, make)?;
    Ok(Some(answer.header(SNIFF, HeaderValue::from_static("nosniff"))))
}

fn missing(name: &str) -> Problem {
    let message = format!(
        "there is no page '{name}' in the documentation; see the table of contents at /docs"
    );
    Problem::new(ProblemKind::NotFound, message)
}
