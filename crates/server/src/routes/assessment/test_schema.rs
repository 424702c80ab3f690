//! What tests are made of, for the API document: parts and sections are read from the XML of their test, and what a
//! request leaves out of them stays.
#![expect(dead_code, reason = "documents hold what these types describe")]

use lyceum_core::schema::TypeSchema;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::schema;

/// The metadata of a test as they are sent.
#[derive(JsonSchema)]
#[schemars(inline)]
pub(super) struct MetadataInput {
    metadata: Option<Map<String, Value>>,
}

/// A reference to an item.
#[derive(JsonSchema)]
struct ItemReference {
    identifier: String,
    /// The address of the item.
    href: String,
    /// The place among its like, from 1.
    #[schemars(range(min = 1))]
    sequence: u32,
}

/// A section of a test.
#[derive(JsonSchema)]
pub(super) struct TestSection {
    identifier: String,
    title: String,
    visible: bool,
    required: bool,
    fixed: bool,
    /// The place among its like, from 1.
    #[schemars(range(min = 1))]
    sequence: u32,
    #[serde(rename = "qti-assessment-item-ref")]
    items: Vec<ItemReference>,
}

/// How a candidate goes through a part.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum NavigationMode {
    Linear,
    Nonlinear,
}

/// When a candidate sends the answers of a part.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum SubmissionMode {
    Individual,
    Simultaneous,
}

/// A part of a test.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TestPart {
    identifier: String,
    navigation_mode: NavigationMode,
    submission_mode: SubmissionMode,
    #[serde(rename = "qti-assessment-section")]
    sections: Vec<TestSection>,
}

/// A reference to an item as it is sent.
#[derive(JsonSchema)]
pub(super) struct ItemReferenceInput {
    #[schemars(length(min = 1))]
    identifier: String,
    /// The address of an item that is there: its last segment, with or without .xml, is the item's identifier; else the
    /// reference has the item's name.
    #[schemars(length(min = 1))]
    href: String,
    /// The place among its like, from 1.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u32>,
}

/// A section as it is sent.
#[derive(JsonSchema)]
pub(super) struct TestSectionInput {
    #[schemars(length(min = 1))]
    identifier: String,
    #[schemars(length(min = 1))]
    title: String,
    /// True unless sent.
    visible: Option<bool>,
    /// False unless sent.
    required: Option<bool>,
    /// False unless sent.
    fixed: Option<bool>,
    /// The place among its like, from 1.
    #[schemars(range(min = 1))]
    sequence: Option<u32>,
    #[serde(rename = "qti-assessment-item-ref")]
    items: Option<Vec<ItemReferenceInput>>,
}

/// A part as it is sent.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TestPartInput {
    #[schemars(length(min = 1))]
    identifier: String,
    /// Nonlinear unless sent.
    navigation_mode: Option<NavigationMode>,
    /// Individual unless sent.
    submission_mode: Option<SubmissionMode>,
    #[serde(rename = "qti-assessment-section")]
    #[schemars(length(min = 1))]
    sections: Vec<TestSectionInput>,
}

/// A new order of the references of a section.
#[derive(JsonSchema)]
pub(super) struct ItemOrder {
    #[schemars(length(min = 1))]
    items: Vec<ItemReferenceInput>,
}

/// The questions of a test.
pub(super) fn questions() -> TypeSchema {
    let name = || json!({ "type": "string", "minLength": 1 });
    let reference = json!({
        "type": "object",
        "required": ["identifier", "href", "testPart", "section"],
        "properties": {
            "identifier": name(), "href": name(), "testPart": name(), "section": name(),
        },
    });
    let question = json!({
        "type": "object",
        "required": ["reference", "question"],
        "properties": {
            "reference": reference, "question": schema::document(lyceum_assessment::Kind::Item),
        },
    });
    let questions = json!({
        "type": "object",
        "required": ["assessmentTest", "title", "totalQuestions", "questions"],
        "properties": {
            "assessmentTest": name(),
            "title": { "type": "string" },
            "totalQuestions": { "type": "integer", "minimum": 0 },
            "questions": { "type": "array", "items": question },
        },
    });
    TypeSchema::named("TestQuestions", questions)
}
