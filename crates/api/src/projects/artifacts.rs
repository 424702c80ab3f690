//! Downloads of the files of versions, to copy a version to another server.

use http::{HeaderValue, header};
use lyceum_access::Scope::ProjectsRead;
use lyceum_blob::Digest;
use lyceum_core::{Problem, ProblemKind, message};
use lyceum_hosting::{BlobStream, deployments};
use lyceum_http::Body;
use lyceum_http::answer::Answer;
use lyceum_http::route::get;
use lyceum_store::{Tx, run_blocking};
use serde_json::json;

use super::members;
use crate::{Context, Route};

const BYTES: &str = "application/octet-stream";

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/{slug}/artifacts/{sha256}", ProjectsRead, members(artifact))
            .named("getArtifact")
            .description("Reads a file of a stored version: the zip of its frontend, or a module.")
            .answers_as(
                200,
                "The file.",
                Some((BYTES, json!({ "type": "string", "format": "binary" }))),
            ),
    ]
}

async fn artifact(context: Context) -> lyceum_core::Result<Answer> {
    let digest: Digest = context.param("sha256").parse()?;
    let (slug, sha256) = (context.param("slug").to_owned(), digest.to_string());
    let unknown = message!("no stored version of '{slug}' contains the file {digest}");
    let read = move |tx: &mut Tx<'_>| deployments::list(tx, &slug);
    let versions = context.app.db.read(read).await?;
    let is_part = versions.iter().any(|version| version.is_made_of(&sha256));
    let blobs = context.app.blobs.clone();
    let blob = if is_part { run_blocking(move || blobs.open(&digest)).await? } else { None };
    let blob = blob.ok_or_else(|| Problem::new(ProblemKind::NotFound, unknown))?;
    let size = blob.size;
    let body = Body::new(BlobStream::of(blob, 0, size));
    let answer = Answer::typed(HeaderValue::from_static(BYTES), body);
    Ok(answer.header(header::CONTENT_LENGTH, size))
}
