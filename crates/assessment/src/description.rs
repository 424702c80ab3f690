//! Types that describe documents in requests and answers, for the API document.
//!
//! The server writes answers as text from the stored JSON form, and reads requests member by member: errors of QTI have
//! positions in the XML, and clients read members that QTI does not know as they sent them. These types therefore only
//! describe.
#![expect(dead_code, reason = "requests are read member by member")]

use lyceum_core::Detail;
use lyceum_core::time::Timestamp;
use lyceum_qti::json::{ItemForm, StimulusForm, TestForm};
use lyceum_qti::model::{Navigation, Submission};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::body::Object;
use crate::structure::QuestionPlace;

/// An item as clients read it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AssessmentItem")]
pub struct ItemDocument {
    #[serde(flatten)]
    form: ItemForm,
    /// HTML before the interaction, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pre_interaction: Option<Value>,
    /// The interaction, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    interaction: Option<Object>,
    /// HTML after the interaction, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    post_interaction: Option<Value>,
    #[serde(flatten)]
    stored: StoredMembers,
}

/// A test as clients read it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AssessmentTest")]
pub struct TestDocument {
    #[serde(flatten)]
    form: TestForm,
    /// The name of the author's tool, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<Value>,
    /// The version of the author's tool, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_version: Option<Value>,
    /// The tools that students may use, as they were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    tools_enabled: Option<Value>,
    #[serde(flatten)]
    stored: StoredMembers,
}

/// A stimulus as clients read it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Stimulus")]
pub struct StimulusDocument {
    #[serde(flatten)]
    form: StimulusForm,
    /// The name of the author's tool, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<Value>,
    /// The version of the author's tool, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_version: Option<Value>,
    #[serde(flatten)]
    stored: StoredMembers,
}

/// The members that the store adds to a document.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StoredMembers {
    /// Further data from the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Object>,
    /// The number of the version, from 1.
    #[schemars(range(min = 1))]
    version: i64,
    /// When the document was first stored.
    created_at: Timestamp,
    /// When this version was stored.
    updated_at: Timestamp,
    /// The document as XML.
    raw_xml: String,
    /// The document as XML.
    qti_xml: String,
    /// In answers to a new content: what its author should know, such as markup that students do not see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Detail>,
}

/// The questions of a test.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestQuestions {
    /// The identifier of the test.
    assessment_test: String,
    /// The title of the test.
    title: String,
    /// The number of questions.
    total_questions: u64,
    /// The questions, in the order of the test.
    questions: Vec<TestQuestion>,
}

/// A question of a test.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct TestQuestion {
    /// The question's place in the test.
    reference: QuestionPlace,
    /// The item.
    question: ItemDocument,
}

/// A document in a request: XML, or the JSON form.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum DocumentInput<T> {
    /// XML.
    Xml(QtiXmlInput),
    /// The JSON form.
    Form(T),
}

/// A document as XML.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct QtiXmlInput {
    /// Always `xml`.
    #[schemars(extend("const" = "xml"))]
    format: Option<String>,
    /// The XML.
    xml: String,
    /// Further data from the author. Null removes the data of a stored document.
    metadata: Option<Object>,
}

/// An item in its JSON form. Missing declarations and processing follow from the interaction.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AssessmentItemInput")]
pub struct ItemInput {
    identifier: String,
    title: String,
    /// The type of the interaction, such as `choice`.
    #[serde(rename = "type")]
    interaction_type: Option<String>,
    /// HTML before the interaction.
    pre_interaction: Option<String>,
    interaction: Option<InteractionInput>,
    /// Further data from the author. Null removes the data of a stored item.
    metadata: Option<Object>,
}

/// An interaction of an item.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct InteractionInput {
    /// The type of the interaction, such as `choice`.
    #[serde(rename = "type")]
    interaction_type: Option<String>,
    /// The response variable of the interaction.
    response_identifier: String,
    /// The prompt and the choices.
    question_structure: Object,
}

/// A test in its JSON form.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "AssessmentTestInput")]
pub struct TestInput {
    identifier: String,
    title: String,
    #[serde(rename = "qti-test-part")]
    parts: Option<Vec<TestPartInput>>,
    /// Further data from the author. Null removes the data of a stored test.
    metadata: Option<Object>,
}

/// A stimulus in its JSON form.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct StimulusInput {
    identifier: String,
    title: String,
    /// HTML, which may be empty.
    content: Option<String>,
    label: Option<String>,
    /// The language of the text, such as `en`.
    language: Option<String>,
    /// Further data from the author. Null removes the data of a stored stimulus.
    metadata: Option<Object>,
}

/// The new metadata of a test.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MetadataInput {
    /// Further data from the author. Null removes them.
    metadata: Option<Object>,
}

/// A part of a test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestPartInput {
    #[schemars(length(min = 1))]
    identifier: String,
    /// By default nonlinear.
    navigation_mode: Option<Navigation>,
    /// By default individual.
    submission_mode: Option<Submission>,
    #[serde(rename = "qti-assessment-section")]
    #[schemars(length(min = 1))]
    sections: Vec<TestSectionInput>,
}

/// A section of a test.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TestSectionInput {
    #[schemars(length(min = 1))]
    identifier: String,
    #[schemars(length(min = 1))]
    title: String,
    /// By default true.
    visible: Option<bool>,
    /// By default false.
    required: Option<bool>,
    /// By default false.
    fixed: Option<bool>,
    /// The section's place among its siblings, from 1; by default the last.
    #[schemars(range(min = 1))]
    sequence: Option<u32>,
    #[serde(rename = "qti-assessment-item-ref")]
    items: Option<Vec<ItemReferenceInput>>,
}

/// A reference to an item.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ItemReferenceInput {
    #[schemars(length(min = 1))]
    identifier: String,
    /// The address of a stored item. Its last segment, with or without `.xml`, is the identifier of the item. If no
    /// item has that identifier, the reference means the item with the reference's own identifier.
    #[schemars(length(min = 1))]
    href: String,
    /// The reference's place in the section, from 1; by default the last.
    #[schemars(range(min = 1))]
    sequence: Option<u32>,
}

/// The references of a section in a new order.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ItemOrder {
    #[schemars(length(min = 1))]
    items: Vec<ItemReferenceInput>,
}
