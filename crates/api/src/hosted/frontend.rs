//! The files of a project's frontend.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_hosting::BlobStream;
use lyceum_hosting::deployments::{self, Deployment, FrontendFile, FrontendFiles};
use lyceum_http::answer::Answer;
use lyceum_http::{Body, compression, etag};
use lyceum_store::run_blocking;
use percent_encoding::percent_decode_str;

use super::caching;
use super::range::{self, FileRange};
use crate::App;

/// A file that answers a request.
struct FoundFile<'a> {
    /// The path of the requested file. The sent file may be a compressed copy of it.
    path: &'a str,
    media: &'a str,
    file: &'a FrontendFile,
    encoding: Option<&'static str>,
    status: StatusCode,
}

/// The file with this path. If it does not exist and a browser navigates to the path, it gets the app's main page.
pub(super) async fn answer(
    app: &App,
    deployment: &Deployment,
    path: &str,
    parts: &Parts,
) -> Result<Answer> {
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        let allow = HeaderValue::from_static("GET, HEAD");
        return Ok(Answer::empty(StatusCode::METHOD_NOT_ALLOWED).header(header::ALLOW, allow));
    }
    let manifest = manifest(app, deployment).await?;
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    let found = find(&manifest.0, decoded.trim_start_matches('/'), parts).ok_or_else(|| {
        let message = message!("the project '{deployment.slug}' has no file '{path}'");
        Problem::new(ProblemKind::NotFound, message)
    })?;
    send(app, found, parts).await
}

async fn manifest(app: &App, deployment: &Deployment) -> Result<Arc<FrontendFiles>> {
    let Some(zip) = &deployment.frontend else { return Ok(Arc::default()) };
    if let Some(manifest) = app.hosted.manifests.get(&zip.sha256) {
        return Ok(manifest);
    }
    let sha256 = zip.sha256.clone();
    let manifest = app.db.read(move |tx| deployments::manifest(tx, &sha256)).await?;
    let manifest = Arc::new(manifest.unwrap_or_default());
    app.hosted.manifests.insert(zip.sha256.clone(), Arc::clone(&manifest));
    Ok(manifest)
}

fn find<'a>(
    files: &'a std::collections::BTreeMap<String, FrontendFile>,
    path: &str,
    parts: &Parts,
) -> Option<FoundFile<'a>> {
    let index = match path {
        "" => "index.html".to_owned(),
        path => format!("{}/index.html", path.trim_end_matches('/')),
    };
    let get = |path: &str| files.get_key_value(path);
    let exact = get(path).or_else(|| get(&index)).map(|found| (found, StatusCode::OK));
    let found = exact.or_else(|| match is_navigation(path, parts) {
        true => get("index.html").map(|found| (found, StatusCode::OK)),
        false => get("404.html").map(|found| (found, StatusCode::NOT_FOUND)),
    });
    let ((path, file), status) = found?;
    let plain = FoundFile { path, media: &file.media, file, encoding: None, status };
    // Prefer a copy that the build compressed. Compressing now would be slower and less effective.
    let copies = [("br", "br"), ("gzip", "gz")];
    let copy = copies.into_iter().filter(|(encoding, _)| accepts(parts, encoding)).find_map(
        |(encoding, extension)| Some((encoding, files.get(&format!("{path}.{extension}"))?)),
    );
    Some(match copy {
        Some((encoding, file)) => FoundFile { file, encoding: Some(encoding), ..plain },
        None => plain,
    })
}

/// Whether a browser navigates to a page, instead of loading a part of a page.
pub(super) fn is_navigation(path: &str, parts: &Parts) -> bool {
    let text = |name: &HeaderName| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let accepts_pages = text(&header::ACCEPT).is_some_and(|accept| accept.contains("text/html"));
    let declared = text(&SEC_FETCH_MODE).map(|mode| mode == "navigate");
    let has_extension = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    declared.unwrap_or(accepts_pages) && !has_extension
}

const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

fn accepts(parts: &Parts, encoding: &str) -> bool {
    let accepted = parts.headers.get(header::ACCEPT_ENCODING);
    accepted.is_some_and(|accepted| compression::accepts(accepted, encoding))
}

async fn send(app: &App, found: FoundFile<'_>, parts: &Parts) -> Result<Answer> {
    let text = |name: HeaderName| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let is_recoded = found.encoding.is_none()
        && app.config.server.compression
        && parts.headers.contains_key(header::ACCEPT_ENCODING)
        && !parts.headers.contains_key(header::RANGE);
    let strong = format!("\"{}\"", &found.file.sha256.to_string()[..32]);
    let tag = etag::of_content(&strong, is_recoded);
    let with_headers = |answer: Answer| {
        let answer = answer
            .header(header::ETAG, tag.as_str())
            .header(header::CACHE_CONTROL, caching::control(found.path))
            .header(header::VARY, "accept-encoding")
            .header(header::ACCEPT_RANGES, "bytes")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        match found.encoding {
            Some(encoding) => answer.header(header::CONTENT_ENCODING, encoding),
            None => answer,
        }
    };
    let is_fresh = text(header::IF_NONE_MATCH).is_some_and(|tags| etag::names(tags, &strong));
    if is_fresh && found.status == StatusCode::OK {
        return Ok(with_headers(Answer::empty(StatusCode::NOT_MODIFIED)));
    }
    let size = found.file.size;
    let range = match found.status {
        StatusCode::OK => range::range_of(&parts.headers, &strong, size),
        _ => FileRange::Whole,
    };
    let (offset, length, status) = match range {
        FileRange::Whole => (0, size, found.status),
        FileRange::Part(offset, length) => (offset, length, StatusCode::PARTIAL_CONTENT),
        FileRange::Unsatisfiable => {
            let answer = Answer::empty(StatusCode::RANGE_NOT_SATISFIABLE);
            return Ok(answer.header(header::CONTENT_RANGE, format!("bytes */{size}")));
        }
    };
    let media = HeaderValue::from_str(found.media);
    let media = media.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let (blobs, digest) = (app.blobs.clone(), found.file.sha256);
    let blob = run_blocking(move || blobs.open(&digest)).await?;
    let blob =
        blob.ok_or_else(|| Problem::internal(format!("the blob {digest} does not exist")))?;
    let body = Body::new(BlobStream::of(blob, offset, length));
    let answer = with_headers(Answer::typed(media, body).status(status));
    Ok(match status {
        StatusCode::PARTIAL_CONTENT => {
            let range = format!("bytes {offset}-{}/{size}", offset + length - 1);
            answer.header(header::CONTENT_RANGE, range)
        }
        _ => answer,
    })
}
