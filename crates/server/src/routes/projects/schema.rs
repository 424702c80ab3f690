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

pub(super) fn instant() -> Value {
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
        "frontendUrl": some_text(), "backendUrl": some_text(), "playUrl": some_text(),
        "deployment": or_null(deployment()),
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
        "database": database_state(), "lms": or_null(taught()),
        "frontendUrl": some_text(), "backendUrl": some_text(), "playUrl": text(),
    }))
}

pub(super) fn deployment() -> Value {
    let declared = json!({ "ddl": text(), "wish": any_object() });
    object(
        &["id", "slug", "version", "frontend", "backend", "uses", "madeBy", "madeAt"],
        json!({
            "id": some_text(), "slug": some_text(), "version": whole(),
            "frontend": or_null(artifact()), "backend": or_null(backend()), "uses": uses(),
            "madeBy": some_text(), "madeAt": instant(), "declared": whole_object(declared),
        }),
    )
}

pub(super) fn plan() -> Value {
    let changed = |of: Value| object(&["new"], json!({ "old": or_null(of.clone()), "new": of }));
    let field = json!({ "field": some_text(), "old": or_null(text()), "new": text() });
    let desired = json!({
        "slug": some_text(), "metadata": metadata(), "frontend": or_null(artifact()),
        "backend": or_null(backend()), "forceBackend": flag(), "uses": uses(),
        "secrets": or_null(texts()), "database": or_null(database_wish()),
        "lms": or_null(whole_object(json!({ "organization": owner(), "courses": list(course()) }))),
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
            "database": or_null(database_change()), "lms": or_null(lms_change()), "steps": list(some_text()),
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

pub(super) fn restore_point() -> Value {
    whole_object(json!({
        "id": some_text(), "at": instant(), "version": whole(), "what": some_text(),
    }))
}

fn strategy() -> Value {
    words(&["push", "migrate"])
}

/// What a database shall be: `ddl` and `renames` of a push, `files` of migrations.
pub(super) fn database_wish() -> Value {
    let file = whole_object(json!({ "tag": some_text(), "sql": text() }));
    object(
        &["strategy", "acceptDataLoss"],
        json!({
            "strategy": strategy(), "acceptDataLoss": flag(), "ddl": text(),
            "renames": list(text()), "files": list(file),
        }),
    )
}

fn database_change() -> Value {
    let texts = || list(text());
    whole_object(json!({
        "strategy": strategy(), "statements": texts(), "migrations": texts(), "adopts": flag(),
        "losses": texts(), "hints": texts(), "drift": texts(), "ddl": text(),
    }))
}

fn owner() -> Value {
    object(&[], json!({ "id": or_null(text()), "name": or_null(text()), "type": or_null(text()) }))
}

fn course() -> Value {
    let number = json!({ "type": "number", "minimum": 0 });
    object(
        &["subject", "grade", "title", "courseCode", "totalXp", "masterableUnits"],
        json!({
            "courseId": or_null(text()), "subject": some_text(), "grade": some_text(), "title": text(),
            "courseCode": text(), "totalXp": number, "masterableUnits": number,
        }),
    )
}

fn taught() -> Value {
    let record = json!({
        "type": some_text(), "id": some_text(), "state": words(&["ok", "deleted", "missing"]),
    });
    whole_object(json!({
        "organization": or_null(owner()), "courses": list(course()), "records": list(whole_object(record)),
    }))
}

fn lms_change() -> Value {
    let record = json!({
        "action": words(&["create", "restore", "change"]), "type": some_text(), "id": some_text(),
    });
    whole_object(json!({
        "organization": owner(), "courses": list(course()), "records": list(whole_object(record)),
        "ended": list(text()),
    }))
}

fn database_state() -> Value {
    let applied = whole_object(json!({ "tag": some_text(), "sha256": sha256() }));
    whole_object(json!({
        "ddl": text(), "applied": list(applied), "declared": or_null(text()),
    }))
}

pub(super) fn log_line() -> Value {
    whole_object(json!({
        "id": whole(), "at": instant(), "stream": words(&["out", "error", "engine", "request"]),
        "text": text(),
    }))
}

pub(super) fn upload() -> Value {
    whole_object(json!({
        "id": some_text(), "sha256": sha256(), "size": size(), "offset": whole(),
        "complete": flag(),
    }))
}
