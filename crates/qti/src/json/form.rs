//! The JSON forms of items, tests and stimuli, as clients read them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::model::{Navigation, Submission};
use crate::value::{BaseType, Cardinality};

/// The JSON form of an item.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemForm {
    pub(super) identifier: String,
    pub(super) title: String,
    /// The name of the first interaction. Rare interactions have the name of a similar one.
    #[serde(rename = "type")]
    pub(super) interaction_type: &'static str,
    /// The names of all interactions, in the order of the body.
    pub(super) interaction_types: Vec<&'static str>,
    /// The QTI version of the XML.
    #[schemars(extend("enum" = ["2.1", "2.2", "3.0"]))]
    pub(super) qti_version: &'static str,
    pub(super) time_dependent: bool,
    pub(super) adaptive: bool,
    pub(super) response_declarations: Vec<ResponseForm>,
    pub(super) outcome_declarations: Vec<OutcomeForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_processing: Option<ProcessingForm>,
    pub(super) modal_feedback: Vec<FeedbackForm>,
    pub(super) feedback_inline: Vec<FeedbackForm>,
    pub(super) feedback_block: Vec<FeedbackForm>,
    pub(super) rubrics: Vec<RubricForm>,
    /// The first stimulus that the item refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stimulus: Option<StimulusReferenceForm>,
    pub(super) content: Content,
}

/// The elements of the XML, as objects with `_attributes`, `_text` and a member for each name of child elements.
pub(super) type Content = Map<String, Json>;

/// A response variable.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ResponseDeclaration")]
pub(super) struct ResponseForm {
    pub(super) identifier: String,
    pub(super) cardinality: Cardinality,
    /// Null for a record.
    pub(super) base_type: Option<BaseType>,
    pub(super) correct_response: CorrectResponse,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mapping: Option<MappingForm>,
}

/// The correct response.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct CorrectResponse {
    pub(super) value: Vec<String>,
}

/// The points for values of a response.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct MappingForm {
    /// Points for a value without an entry.
    pub(super) default_value: f64,
    /// The least sum.
    pub(super) lower_bound: Option<f64>,
    /// The greatest sum.
    pub(super) upper_bound: Option<f64>,
    pub(super) map_entries: Vec<MapEntryForm>,
}

/// The points for one value.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct MapEntryForm {
    pub(super) map_key: String,
    pub(super) mapped_value: f64,
    pub(super) case_sensitive: bool,
}

/// An outcome variable of an item.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OutcomeDeclaration")]
pub(super) struct OutcomeForm {
    pub(super) identifier: String,
    pub(super) cardinality: Cardinality,
    /// Null for a record.
    pub(super) base_type: Option<BaseType>,
}

/// The response processing.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct ProcessingForm {
    #[schemars(extend("enum" = ["map_response", "match_correct"]))]
    pub(super) template_type: &'static str,
    pub(super) response_declaration_identifier: String,
    /// The outcome that chooses feedback.
    pub(super) outcome_identifier: String,
    /// The outcome's value for a correct response.
    pub(super) correct_response_identifier: String,
    /// The outcome's value for another response.
    pub(super) incorrect_response_identifier: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inline_feedback: Option<InlineFeedbackForm>,
}

/// The outcome that chooses inline feedback, and the variable that it is set to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct InlineFeedbackForm {
    pub(super) outcome_identifier: String,
    pub(super) variable_identifier: String,
}

/// A feedback.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ItemFeedback")]
pub(super) struct FeedbackForm {
    /// The outcome that decides.
    pub(super) outcome_identifier: String,
    /// The value with which the outcome is compared.
    pub(super) identifier: String,
    /// Whether the feedback is shown or hidden if the outcome has the value.
    #[schemars(extend("enum" = ["show", "hide"]))]
    pub(super) show_hide: &'static str,
    /// The text as XML.
    pub(super) content: String,
    /// The title of a modal feedback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
}

/// A text for certain readers.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct RubricForm {
    #[serde(rename = "use")]
    pub(super) usage: Option<String>,
    /// The readers, separated by spaces.
    pub(super) view: String,
    /// The text.
    pub(super) body: String,
}

/// A reference to a stimulus.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct StimulusReferenceForm {
    pub(super) identifier: String,
    pub(super) href: String,
    pub(super) title: Option<String>,
}

/// The JSON form of a test.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestForm {
    pub(super) identifier: String,
    pub(super) title: String,
    /// The QTI version of the XML.
    #[schemars(extend("enum" = ["2.1", "2.2", "3.0"]))]
    pub(super) qti_version: &'static str,
    #[serde(rename = "qti-test-part")]
    pub(super) parts: Vec<TestPart>,
    #[serde(rename = "qti-outcome-declaration")]
    pub(super) outcomes: Vec<TestOutcomeForm>,
    /// The time limit in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time_limit: Option<i64>,
    /// The most attempts at an item of the first part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_attempts: Option<u32>,
    pub(super) content: Content,
}

/// An outcome variable of a test.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TestOutcomeDeclaration")]
pub(super) struct TestOutcomeForm {
    pub(super) identifier: String,
    pub(super) cardinality: Cardinality,
    pub(super) base_type: BaseType,
    pub(super) normal_maximum: Option<f64>,
    pub(super) normal_minimum: Option<f64>,
    pub(super) default_value: DefaultValue,
}

/// The value that a variable begins with.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct DefaultValue {
    pub(super) value: Json,
}

/// A part of a test.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestPart {
    pub(super) identifier: String,
    pub(super) navigation_mode: Navigation,
    pub(super) submission_mode: Submission,
    #[serde(rename = "qti-assessment-section")]
    pub(super) sections: Vec<TestSection>,
}

/// A section of a test. The items of inner sections are listed with the outer section.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TestSection {
    pub(super) identifier: String,
    pub(super) title: String,
    pub(super) visible: bool,
    pub(super) required: bool,
    pub(super) fixed: bool,
    /// The section's place among its siblings, from 1.
    #[schemars(range(min = 1))]
    pub(super) sequence: usize,
    #[serde(rename = "qti-assessment-item-ref")]
    pub(super) items: Vec<ItemReference>,
}

/// A reference to an item.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ItemReference {
    pub(super) identifier: String,
    /// The address of the item.
    pub(super) href: String,
    /// The reference's place in the section, from 1.
    #[schemars(range(min = 1))]
    pub(super) sequence: usize,
}

/// The JSON form of a stimulus.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StimulusForm {
    pub(super) identifier: String,
    pub(super) title: String,
    pub(super) label: Option<String>,
    /// The language of the text, such as `en`.
    pub(super) language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stylesheet: Option<StylesheetForm>,
    pub(super) catalog_info: Vec<CatalogForm>,
    /// The QTI version of the XML.
    #[schemars(extend("enum" = ["2.1", "2.2", "3.0"]))]
    pub(super) qti_version: &'static str,
    pub(super) content: Content,
}

/// A stylesheet.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct StylesheetForm {
    pub(super) href: String,
    /// The media type.
    #[serde(rename = "type")]
    pub(super) media_type: String,
}

/// An alternative of the content for readers with a need.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct CatalogForm {
    pub(super) id: Option<String>,
    /// The need, such as `spoken`.
    pub(super) support: String,
    /// The alternative as XML.
    pub(super) content: String,
}

/// The form as a JSON object, with the XML as `rawXml` and `qtiXml`.
pub(super) fn with_xml(form: &impl Serialize, xml: &str) -> Map<String, Json> {
    let Json::Object(mut object) = json!(form) else { unreachable!("forms are objects") };
    object.insert("rawXml".to_owned(), xml.into());
    object.insert("qtiXml".to_owned(), xml.into());
    object
}
