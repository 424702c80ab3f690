//! JSON Schemas of what tests are made of, and of banks.

use lyceum_core::limits;
use serde_json::{Value, json};

fn name() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn object(required: &[&str], properties: &Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

fn sequence() -> Value {
    json!({ "type": "integer", "minimum": 1, "description": "The place among its like, from 1." })
}

/// The metadata of a test as they are sent.
pub(super) fn metadata_input() -> Value {
    object(&[], &json!({ "metadata": { "type": ["object", "null"] } }))
}

fn item_ref() -> Value {
    object(
        &["identifier", "href", "sequence"],
        &json!({ "identifier": name(), "href": name(), "sequence": sequence() }),
    )
}

/// A section as it is read.
pub(super) fn section() -> Value {
    object(
        &[
            "identifier",
            "title",
            "visible",
            "required",
            "fixed",
            "sequence",
            "qti-assessment-item-ref",
        ],
        &json!({
            "identifier": name(),
            "title": { "type": "string" },
            "visible": { "type": "boolean" },
            "required": { "type": "boolean" },
            "fixed": { "type": "boolean" },
            "sequence": sequence(),
            "qti-assessment-item-ref": list(&item_ref()),
        }),
    )
}

/// A part as it is read.
pub(super) fn part() -> Value {
    object(
        &["identifier", "navigationMode", "submissionMode", "qti-assessment-section"],
        &json!({
            "identifier": name(),
            "navigationMode": { "enum": ["linear", "nonlinear"] },
            "submissionMode": { "enum": ["individual", "simultaneous"] },
            "qti-assessment-section": list(&section()),
        }),
    )
}

/// A reference to an item as it is sent.
pub(super) fn item_ref_input() -> Value {
    object(
        &["identifier", "href"],
        &json!({
            "identifier": name(),
            "href": { "type": "string", "minLength": 1, "description": "The address of an item that is there: its last segment, with or without .xml, is the item's identifier; else the reference has the item's name." },
            "sequence": sequence(),
        }),
    )
}

/// A section as it is sent.
pub(super) fn section_input() -> Value {
    object(
        &["identifier", "title"],
        &json!({
            "identifier": name(),
            "title": name(),
            "visible": { "type": "boolean", "default": true },
            "required": { "type": "boolean", "default": false },
            "fixed": { "type": "boolean", "default": false },
            "sequence": sequence(),
            "qti-assessment-item-ref": list(&item_ref_input()),
        }),
    )
}

/// A part as it is sent.
pub(super) fn part_input() -> Value {
    object(
        &["identifier", "qti-assessment-section"],
        &json!({
            "identifier": name(),
            "navigationMode": { "enum": ["linear", "nonlinear"], "default": "nonlinear" },
            "submissionMode": { "enum": ["individual", "simultaneous"], "default": "individual" },
            "qti-assessment-section": { "type": "array", "items": section_input(), "minItems": 1 },
        }),
    )
}

/// A new order of the references of a section.
pub(super) fn order_input() -> Value {
    let items = json!({ "type": "array", "items": item_ref_input(), "minItems": 1 });
    object(&["items"], &json!({ "items": items }))
}

/// The questions of a test, with the schema of an item.
pub(super) fn questions(item: &Value) -> Value {
    let reference = object(
        &["identifier", "href", "testPart", "section"],
        &json!({ "identifier": name(), "href": name(), "testPart": name(), "section": name() }),
    );
    let question =
        object(&["reference", "question"], &json!({ "reference": reference, "question": item }));
    object(
        &["assessmentTest", "title", "totalQuestions", "questions"],
        &json!({
            "assessmentTest": name(),
            "title": { "type": "string" },
            "totalQuestions": { "type": "integer", "minimum": 0 },
            "questions": list(&question),
        }),
    )
}

/// An assessment bank as it is sent.
pub(super) fn bank_input() -> Value {
    let most = limits::BANK_TESTS_MAX_COUNT;
    object(
        &["identifier", "title", "tests"],
        &json!({
            "identifier": name(),
            "title": name(),
            "tests": { "type": "array", "items": name(), "minItems": 1, "maxItems": most, "uniqueItems": true, "description": "Identifiers of tests, in the order in which they take turns." },
            "metadata": { "type": "object" },
        }),
    )
}

/// An assessment bank as it is read.
pub(super) fn bank() -> Value {
    let instant = json!({ "type": "string", "format": "date-time" });
    object(
        &["identifier", "title", "tests", "version", "createdAt", "updatedAt"],
        &json!({
            "identifier": name(),
            "title": name(),
            "tests": list(&name()),
            "metadata": { "type": "object" },
            "version": { "type": "integer", "minimum": 1 },
            "createdAt": instant,
            "updatedAt": instant,
        }),
    )
}

/// Who asks a bank for a test.
pub(super) fn turn_input() -> Value {
    let most = limits::BANK_ATTEMPT_MAX_COUNT;
    object(
        &["userId"],
        &json!({
            "userId": name(),
            "attempt": { "type": "integer", "minimum": 1, "maximum": most, "description": "The user's attempt; without it, the one that follows the last." },
        }),
    )
}

/// The test that a user is served.
pub(super) fn turn() -> Value {
    object(
        &["assessmentBank", "userId", "attempt", "assessmentTest"],
        &json!({
            "assessmentBank": name(),
            "userId": name(),
            "attempt": { "type": "integer", "minimum": 1 },
            "assessmentTest": name(),
        }),
    )
}
