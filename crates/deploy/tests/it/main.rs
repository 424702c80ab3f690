//! Requests of a project's folder to a server, and plans in words.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod folder;
mod frontend;
mod promote;
mod routes;
mod words;

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_core::ProblemKind;
use lyceum_project::State;
use serde_json::json;

/// Writes a file with the folders above it.
fn write(folder: &Path, name: &str, text: &str) {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// The key under which a server digests secrets.
const KEY: &[u8] = b"the key of the secrets";

/// The state of a server that does not have the project yet.
fn no_project() -> State {
    let state = json!({
        "slug": "rivers", "environment": "staging", "revision": 0, "metadata": null, "version": null,
        "frontend": null, "backend": null,
        "uses": { "database": false, "kv": false, "bucket": false, "lms": false },
        "secrets": { "key": BASE64_STANDARD.encode(KEY), "digests": {} },
        "database": { "ddl": "", "applied": [], "declared": null },
        "frontendUrl": "https://rivers.example.org", "backendUrl": "https://rivers.example.org",
        "playUrl": "https://rivers.example.org/play/rivers",
    });
    serde_json::from_value(state).unwrap()
}

/// The kind and message of a refusal.
fn refused<T>(result: lyceum_core::Result<T>) -> (ProblemKind, String) {
    let problem = result.map(drop).unwrap_err();
    let details = problem.details.iter().map(|detail| format!(" {}", detail.message));
    (problem.kind, details.fold(problem.message.to_string(), |text, detail| text + &detail))
}
