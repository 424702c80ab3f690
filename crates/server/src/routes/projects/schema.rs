//! JSON Schemas of hosted projects.

use lyceum_core::limits;
use serde_json::{Value, json};

use crate::routes::adaptive::shape::{
    any_object, flag, list, object, or_null, some_text, text, whole, whole_object, words,
};

pub(super) fn sha256() -> Value {
    json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
}

pub(super) fn size() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": limits::UPLOAD_MAX_BYTES })
}

/// Texts by name.
pub(super) fn texts() -> Value {
    json!({ "type": "object", "additionalProperties": { "type": "string" } })
}

fn instant() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn artifact() -> Value {
    whole_object(json!({ "sha256": sha256(), "size": whole() }))
}

fn backend() -> Value {
    let module = json!({ "name": some_text(), "sha256": sha256(), "size": whole() });
    whole_object(json!({
        "sourceHash": some_text(), "main": some_text(), "modules": list(whole_object(module)),
        "compatibilityDate": { "type": "string", "format": "date" }, "routes": list(text()),
    }))
}

fn uses() -> Value {
    whole_object(json!({ "database": flag(), "kv": flag(), "bucket": flag(), "lms": flag() }))
}

fn metadata() -> Value {
    object(
        &["name"],
        json!({
            "name": some_text(), "description": text(), "emoji": text(), "platform": text(),
        }),
    )
}

pub(super) fn project() -> Value {
    whole_object(json!({
        "slug": some_text(), "revision": whole(), "version": whole(),
        "createdAt": instant(), "updatedAt": instant(),
    }))
}

pub(super) fn served() -> Value {
    whole_object(json!({
        "slug": some_text(), "revision": whole(), "version": whole(), "environment": environment(),
        "frontendUrl": some_text(), "backendUrl": some_text(), "deployment": or_null(deployment()),
        "createdAt": instant(), "updatedAt": instant(),
    }))
}

fn environment() -> Value {
    words(&["local", "staging", "production"])
}

pub(super) fn state() -> Value {
    whole_object(json!({
        "slug": some_text(), "environment": environment(), "revision": whole(),
        "metadata": or_null(metadata()), "version": or_null(whole()),
        "frontend": or_null(artifact()), "backend": or_null(backend()), "uses": uses(),
        "secrets": whole_object(json!({ "key": text(), "digests": texts() })),
        "frontendUrl": some_text(), "backendUrl": some_text(),
    }))
}

pub(super) fn deployment() -> Value {
    whole_object(json!({
        "id": some_text(), "slug": some_text(), "version": whole(),
        "frontend": or_null(artifact()), "backend": or_null(backend()), "uses": uses(),
        "madeBy": some_text(), "madeAt": instant(),
    }))
}

pub(super) fn plan() -> Value {
    let changed = |of: Value| object(&["new"], json!({ "old": or_null(of.clone()), "new": of }));
    let field = json!({ "field": some_text(), "old": or_null(text()), "new": text() });
    let desired = json!({
        "slug": some_text(), "metadata": metadata(), "frontend": or_null(artifact()),
        "backend": or_null(backend()), "forceBackend": flag(), "uses": uses(),
        "secrets": or_null(texts()),
    });
    let names = || list(text());
    let secrets = json!({ "added": names(), "updated": names(), "removed": names() });
    object(
        &["slug", "base", "action", "metadata", "secrets", "steps", "desired"],
        json!({
            "slug": some_text(), "base": whole(), "action": words(&["create", "update", "nothing"]),
            "metadata": list(object(&["field", "new"], field)),
            "frontend": or_null(changed(artifact())), "backend": or_null(changed(backend())),
            "uses": or_null(changed(uses())), "secrets": whole_object(secrets),
            "steps": list(some_text()),
            "desired": object(&["slug", "metadata", "forceBackend", "uses"], desired),
        }),
    )
}

pub(super) fn entry() -> Value {
    whole_object(json!({
        "id": whole(), "at": instant(), "who": some_text(), "what": some_text(),
        "details": any_object(),
    }))
}

pub(super) fn upload() -> Value {
    whole_object(json!({
        "id": some_text(), "sha256": sha256(), "size": size(), "offset": whole(),
        "complete": flag(),
    }))
}
