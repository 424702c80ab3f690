//! The documentation pages, the OpenAPI document, the API explorer, and the discovery documents of the standards.

mod library;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};
use lyceum_api::{Area, Context, State, openapi};
use lyceum_console::{assets, html};
use lyceum_core::text::searched_text;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_http::Body;
use lyceum_http::answer::Answer;
use lyceum_http::render::Rendering;
use lyceum_http::route::{Access, ParamPlace, get};
use lyceum_store::run_blocking;
use serde_json::json;

use crate::docs::library::{
    DocumentPage, ExplorerPage, FIRST, Library, SearchFragment, SearchPage,
};

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

/// The documentation, which is loaded when it is first requested. The program that runs the server adds the reference of its
/// command line.
fn library(app: &State) -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let commands = app.commands.map(|make| make());
        Library::new(commands.as_deref(), &lyceum_project::config_reference())
    })
}

pub(crate) fn area() -> Area {
    let page = || Some(("text/html", json!({ "type": "string" })));
    Area {
        name: "docs",
        base: "",
        rendering: Rendering::Problem,
        description: "The description of the API, for programs and for people.",
        routes: vec![
            openapi::route(),
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

fn page(answer: Answer) -> Answer {
    answer
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(SNIFF, HeaderValue::from_static("nosniff"))
}

fn show_page(context: &Context, slug: &str) -> Result<Answer> {
    let library = library(&context.app);
    let found = library.page(slug).ok_or_else(|| missing(slug))?;
    let make = || html(&DocumentPage { library, page: found });
    Ok(page(context.app.fixed.get(&format!("docs/{slug}"), HTML, make)?))
}

async fn explorer(context: Context) -> Result<Answer> {
    let library = library(&context.app);
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
        let library = library(&app);
        let found = library.search(&query);
        match is_part {
            true => html(&SearchFragment { query: &query, found }),
            false => html(&SearchPage { library, query: &query, found }),
        }
    });
    Ok(page(Answer::typed(HTML, Body::from(text.await?))))
}

async fn overview(context: Context) -> Result<Answer> {
    let make = || Ok(library(&context.app).overview(context.base_url()));
    context.app.fixed.get("llms.txt", TEXT, make)
}

async fn file(context: Context) -> Result<Answer> {
    let name = context.param("file");
    if let Some(slug) = name.strip_suffix(".md") {
        let found = library(&context.app).page(slug).ok_or_else(|| missing(slug))?;
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
    let message = message!(
        "there is no page '{name}' in the documentation; see the table of contents at /docs"
    );
    Problem::new(ProblemKind::NotFound, message)
}
