//! JSON Schemas of bodies about badges, for the OpenAPI document.

use lyceum_core::schema::TypeSchema;
use serde_json::{Value, json};

use crate::route::Header;

/// Headers of a page of a list.
pub(in crate::routes) const PAGED: &[Header] = &[
    Header { name: "X-Total-Count", ty: "integer", says: "How many there are on all pages." },
    Header { name: "Link", ty: "string", says: "The other pages (RFC 8288)." },
];

fn text() -> Value {
    json!({ "type": "string" })
}

fn instant() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

/// A definition of a badge.
pub(super) fn definition() -> TypeSchema {
    TypeSchema::named(
        "BadgeDefinition",
        json!({
            "type": "object",
            "required": ["id", "type", "credentialSubject"],
            "properties": {
                "@context": { "type": "array", "items": text() },
                "id": text(),
                "type": { "type": "array", "items": text() },
                "issuer": { "description": "A URI, or a profile with one." },
                "name": text(),
                "description": text(),
                "image": { "type": "object" },
                "credentialSubject": {
                    "type": "object",
                    "required": ["id", "type"],
                    "properties": {
                        "id": text(),
                        "type": { "description": "Achievement." },
                        "name": text(),
                        "description": text(),
                        "criteria": { "type": "object" },
                    },
                },
            },
        }),
    )
}

/// What is sent to issue a badge.
pub(super) fn award() -> TypeSchema {
    TypeSchema::named(
        "BadgeAward",
        json!({
            "type": "object",
            "required": ["achievementId", "userId"],
            "properties": {
                "achievementId": text(),
                "userId": text(),
                "awardedDate": instant(),
                "validFrom": instant(),
                "validUntil": instant(),
                "narrative": text(),
                "evidence": {},
                "result": {},
                "hashed": { "type": "boolean", "description": "Hash the learner's id where there is no e-mail address." },
            },
        }),
    )
}

/// A credential, signed.
pub(in crate::routes) fn credential() -> TypeSchema {
    TypeSchema::named(
        "Credential",
        json!({
            "type": "object",
            "required": ["@context", "id", "type", "issuer", "validFrom", "credentialSubject"],
            "properties": {
                "@context": { "type": "array" },
                "id": text(),
                "type": { "type": "array", "items": text() },
                "validFrom": instant(),
                "credentialSubject": { "type": "object" },
                "proof": {},
            },
        }),
    )
}

/// A list under its name.
pub(in crate::routes) fn list_of(name: &str, mut item: TypeSchema) -> TypeSchema {
    item.schema = json!({
        "type": "object",
        "required": [name],
        "properties": { name: { "type": "array", "items": item.schema } },
    });
    item
}

/// Credentials by the form in which they were signed.
pub(in crate::routes) fn credentials() -> TypeSchema {
    let mut credential = credential();
    let schema = json!({
        "type": "object",
        "properties": {
            "credential": { "type": "array", "items": credential.schema },
            "compactJwsString": { "type": "array", "items": text() },
        },
    });
    let mut credentials = TypeSchema::named("SignedCredentials", schema);
    credentials.definitions.append(&mut credential.definitions);
    credentials
}

/// What came of each check.
pub(super) fn report() -> TypeSchema {
    TypeSchema::named(
        "VerificationReport",
        json!({
            "type": "object",
            "required": ["verified", "checks"],
            "properties": {
                "verified": { "type": "boolean" },
                "checks": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name", "outcome", "message"],
                        "properties": { "name": text(), "outcome": text(), "message": text() },
                    },
                },
            },
        }),
    )
}

/// A credential with what came of verifying it.
pub(in crate::routes) fn verified() -> TypeSchema {
    let mut report = report();
    let schema = json!({
        "type": "object",
        "required": ["verification"],
        "properties": {
            "credential": { "type": ["object", "null"] },
            "compactJwsString": text(),
            "revoked": { "type": "object", "properties": { "at": instant(), "reason": text() } },
            "page": text(),
            "verification": report.schema,
        },
    });
    let mut verified = TypeSchema::named("VerifiedCredential", schema);
    verified.definitions.append(&mut report.definitions);
    verified
}

/// A profile of an issuer.
pub(super) fn profile() -> TypeSchema {
    TypeSchema::named(
        "IssuerProfile",
        json!({
            "type": "object",
            "properties": {
                "id": text(),
                "type": { "type": "array", "items": text() },
                "name": text(),
                "url": text(),
                "email": text(),
                "image": { "type": "object" },
            },
        }),
    )
}
