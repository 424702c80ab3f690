//! Files of items and stimuli: pictures, sound, films and stylesheets.

use http::StatusCode;
use lyceum_access::Scope::{QtiRead, QtiWrite};
use lyceum_assessment::files::{self, DocumentFile, NewFile};
use lyceum_assessment::{ContentKind, limits};
use lyceum_blob::Digest;
use lyceum_core::{Problem, Result, messages};
use lyceum_http::answer::Answer;
use lyceum_http::route::ParamPlace::Path;
use lyceum_http::route::{delete, get, put};
use lyceum_store::run_blocking;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{Context, Route, document_files};

/// Any type is accepted, because the end of the path decides about it.
const SENT_TYPES: &[&str] =
    &["application/octet-stream", "image/*", "audio/*", "video/*", "text/*"];

/// The files of a document.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct FileList {
    /// The files, by path.
    files: Vec<DocumentFile>,
}

/// The routes of items or stimuli.
pub(super) fn routes(kind: ContentKind) -> Vec<Route> {
    let name = if kind == ContentKind::Item { "AssessmentItem" } else { "Stimulus" };
    let bytes = json!({ "type": "string", "format": "binary" });
    let path = |route: Route| {
        let schema = json!({ "type": "string", "minLength": 1 });
        let description = "The file's path relative to the document, such as `images/map.png`.";
        route.param(Path, "path", schema, description)
    };
    vec![
        get("/{identifier}/files", QtiRead, move |context| list(context, kind))
            .named(format!("list{name}Files"))
            .description("Lists the files of a document.")
            .answers::<FileList>(200, "The files."),
        path(get("/{identifier}/files/{*path}", QtiRead, move |context| read(context, kind)))
            .named(format!("get{name}File"))
            .description("Reads a file of a document.")
            .answers_as(200, "The file.", Some((SENT_TYPES[0], bytes))),
        path(put("/{identifier}/files/{*path}", QtiWrite, move |context| store(context, kind)))
            .named(format!("put{name}File"))
            .description("Stores a picture, sound, film or stylesheet to which the document refers by this path. It replaces a file with the same path.")
            .reads_as(SENT_TYPES)
            .reads_up_to(limits::ITEM_FILE_MAX_BYTES)
            .answers::<DocumentFile>(200, "The file."),
        path(delete("/{identifier}/files/{*path}", QtiWrite, move |context| remove(context, kind)))
            .named(format!("delete{name}File"))
            .description("Deletes a file of a document.")
            .answers_empty(204, "Deleted."),
    ]
}

/// The path of the file. Errors: as of [`files::check_path`].
fn path(context: &Context) -> Result<String> {
    files::check_path(context.param("path"))
}

async fn list(context: Context, kind: ContentKind) -> Result<Answer> {
    let id = context.param("identifier").to_owned();
    let files = context.app.db.read(move |tx| files::list(tx, kind, &id)).await?;
    Ok(Answer::of(&FileList { files }))
}

async fn read(context: Context, kind: ContentKind) -> Result<Answer> {
    let (id, path) = (context.param("identifier").to_owned(), path(&context)?);
    let file = context.app.db.read(move |tx| files::find(tx, kind, &id, &path)).await?;
    document_files::send_current(&context, &file).await
}

async fn store(context: Context, kind: ContentKind) -> Result<Answer> {
    let (id, path) = (context.param("identifier").to_owned(), path(&context)?);
    if context.body.is_empty() {
        return Err(Problem::invalid("body", messages::required("the bytes of the file")));
    }
    let known = id.clone();
    context.app.db.read(move |tx| files::list(tx, kind, &known)).await?;
    let (blobs, body) = (context.app.blobs.clone(), context.body.clone());
    let (sha256, size) = run_blocking(move || {
        let digest = Digest::of(&body);
        let size = blobs.put(&digest, &body[..])?;
        Ok((digest.to_string(), size))
    })
    .await?;
    let (now, file) = (context.app.clock.now(), NewFile { path, sha256, size });
    let put = context.app.db.write(move |tx| files::put(tx, now, kind, &id, &file));
    Ok(Answer::of(&put.await?))
}

async fn remove(context: Context, kind: ContentKind) -> Result<Answer> {
    let (id, path) = (context.param("identifier").to_owned(), path(&context)?);
    context.app.db.write(move |tx| files::delete(tx, kind, &id, &path)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}
