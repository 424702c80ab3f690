//! Common Cartridge export: a course with its tree, or one resource, as a zip.

use std::time::Duration;

use http::{HeaderValue, header};
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_http::{Body, route};
use lyceum_roster::cartridge::CartridgeContent;
use lyceum_roster::kinds::RESOURCE;
use lyceum_store::Tx;
use serde_json::json;

use super::scopes::{RouteEffect, access};
use crate::{Context, Route};

const ZIP: &str = "application/zip";

/// Published clients use POST without a body, and browsers use GET.
pub(super) fn routes() -> Vec<Route> {
    let path = "/resources/export/{sourcedId}";
    let (get, post) = (
        route::get(path, access(&RESOURCE, RouteEffect::ReadScoped), exported)
            .named("getCartridge"),
        route::post(path, access(&RESOURCE, RouteEffect::ReadScoped), exported)
            .named("exportCartridge")
            .reads_as(&[]),
    );
    [get, post]
        .into_iter()
        .map(|route| {
            route
                .within_reach()
                .description("Exports a course or a resource as a Common Cartridge 1.3.")
                .answers_as(
                    200,
                    "The zip.",
                    Some((ZIP, json!({ "type": "string", "format": "binary" }))),
                )
        })
        .collect()
}

async fn exported(context: Context) -> Result<Answer> {
    let (id, reach) = (context.param("sourcedId").to_owned(), context.reach());
    let deadline = Duration::from_secs(context.app.config.server.request_timeout_s);
    let read = move |tx: &mut Tx<'_>| CartridgeContent::read(tx, &id, &reach);
    let found = context.app.db.scan(deadline, read).await?;
    let written = tokio::task::spawn_blocking(move || found.write()).await;
    let zip = written.map_err(lyceum_core::Problem::internal)??;
    let name = HeaderValue::from_static("attachment; filename=\"cartridge.imscc\"");
    Ok(Answer::typed(HeaderValue::from_static(ZIP), Body::from(zip))
        .header(header::CONTENT_DISPOSITION, name))
}
