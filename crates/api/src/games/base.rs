//! The base path of the platform's API, with links for programs and people who begin there.

use http::{HeaderValue, header};
use lyceum_core::Result;
use lyceum_http::Body;
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, get};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Context, Route};

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; base-uri 'none'; frame-ancestors 'none'");

/// A description of the game API.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Base {
    name: &'static str,
    version: &'static str,
    /// The address of the documentation.
    documentation: String,
    /// The address of this document.
    openapi: String,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("", Access::Public, base)
            .named("getApi")
            .description("Describes the game API: JSON for programs, a small page for browsers.")
            .answers::<Base>(200, "A description of the game API."),
    ]
}

async fn base(context: Context) -> Result<Answer> {
    let wants_page =
        context.header(header::ACCEPT).is_some_and(|accept| accept.contains("text/html"));
    let answer = if wants_page {
        Answer::typed(HTML, Body::from(lyceum_console::API_PAGE))
            .header(header::CONTENT_SECURITY_POLICY, POLICY)
    } else {
        Answer::of(&Base {
            name: "Lyceum",
            version: env!("CARGO_PKG_VERSION"),
            documentation: format!("{}/docs", context.base_url()),
            openapi: format!("{}/openapi.json", context.base_url()),
        })
    };
    Ok(answer.header(header::VARY, HeaderValue::from_static("Accept")))
}
