//! Checks documents without storing them.

use lyceum_core::{Problem, Result, messages};
use lyceum_qti::{DocumentContent, DocumentFault, DocumentPlace, Faults, Severity};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::{ContentKind, repository};

/// A document to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentCheck {
    kind: ContentKind,
    entity: String,
    /// The document's XML; `None` for the stored document with that identifier.
    xml: Option<String>,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationResult {
    /// Whether the document would be accepted.
    pub success: bool,
    /// The caller's id for the document; by default the document's identifier.
    pub entity_id: String,
    /// The XML that was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xml_content: Option<String>,
    /// The errors and warnings: one sentence for each error or warning, with line and column.
    pub validation_errors: Vec<String>,
    /// The same errors and warnings, in structured form.
    pub faults: Faults,
    /// The result in one sentence.
    pub message: String,
}

/// A document to check.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationRequest {
    /// The kind that the document must have.
    schema: ContentKind,
    /// The document; without it, the stored one of that identifier.
    #[schemars(length(min = 1))]
    xml: Option<String>,
    /// The identifier of a stored document, or any name of the one that is sent.
    #[schemars(length(min = 1))]
    entity_id: Option<String>,
}

/// Documents to check.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ValidationBatch")]
pub struct Batch {
    /// The kind that all documents must have.
    schema: ContentKind,
    /// The documents.
    #[schemars(length(max = limits::QTI_BATCH_MAX_COUNT))]
    xml: Vec<String>,
    /// Names of the documents, in their order.
    entity_ids: Option<Vec<String>>,
}

impl DocumentCheck {
    /// Errors: `Invalid` without a document.
    pub fn one(request: ValidationRequest) -> Result<Self> {
        let entity = request.entity_id.unwrap_or_default();
        if request.xml.is_none() && entity.is_empty() {
            return Err(Problem::invalid("xml", messages::required("a string")));
        }
        Ok(Self { kind: request.schema, entity, xml: request.xml })
    }

    /// Errors: `Invalid` for another number of names than of documents.
    pub fn batch(batch: Batch) -> Result<Vec<Self>> {
        let Batch { schema: kind, xml, entity_ids } = batch;
        let entities = entity_ids.unwrap_or_default();
        if !entities.is_empty() && entities.len() != xml.len() {
            return Err(Problem::invalid(
                "entityIds",
                "must have as many members as 'xml', or be left out",
            ));
        }
        let mut entities = entities.into_iter();
        let wanted =
            |xml| Self { kind, entity: entities.next().unwrap_or_default(), xml: Some(xml) };
        Ok(xml.into_iter().map(wanted).collect())
    }

    /// Loads the stored document if the request names one. Errors: `NotFound`.
    pub fn stored(mut self, tx: &mut Tx<'_>) -> Result<Self> {
        if self.xml.is_none() {
            self.xml = Some(repository::require(tx, self.kind, &self.entity)?.xml);
        }
        Ok(self)
    }

    /// Whether the request names a stored document.
    pub fn is_stored(&self) -> bool {
        self.xml.is_none()
    }

    /// Checks the document. Errors in the document are part of the result.
    pub fn check(self) -> ValidationResult {
        let xml = self.xml.unwrap_or_default();
        let (found, mut faults) = match lyceum_qti::read_for_author(&xml) {
            Ok(reading) => (Some(identified(reading.content)), reading.faults),
            Err(fault) => (None, Faults::from(fault)),
        };
        // A section alone is a valid document of the standard, but the server does not store it.
        let was_read = found.is_some();
        let (is, identifier) = found.unwrap_or_default();
        if was_read && is != Some(self.kind) && !faults.refuse() {
            faults = Faults(vec![another(self.kind)]);
        }
        let success = !faults.refuse();
        let kind = self.kind;
        let message = match faults.0.iter().find(|fault| fault.severity == Severity::Error) {
            None => format!("the document is a valid {kind}"),
            Some(fault) => format!("the document is not a valid {kind}: {fault}"),
        };
        ValidationResult {
            success,
            entity_id: if self.entity.is_empty() { identifier } else { self.entity },
            xml_content: Some(xml),
            validation_errors: faults.0.iter().map(ToString::to_string).collect(),
            faults,
            message,
        }
    }
}

/// The kind and identifier of a document.
fn identified(content: DocumentContent) -> (Option<ContentKind>, String) {
    match content {
        DocumentContent::Item(item) => (Some(ContentKind::Item), item.identifier.into()),
        DocumentContent::Test(test) => (Some(ContentKind::Test), test.identifier.into()),
        DocumentContent::Stimulus(stimulus) => {
            (Some(ContentKind::Stimulus), stimulus.identifier.into())
        }
        DocumentContent::Section(section) => (None, section.identifier.into()),
    }
}

fn another(wanted: ContentKind) -> DocumentFault {
    DocumentFault {
        place: DocumentPlace { line: 1, column: 1 },
        path: String::new(),
        message: "the document is not of the kind that 'schema' names".to_owned(),
        remedy: format!("send a qti-assessment-{wanted}, or change 'schema'"),
        severity: Severity::Error,
    }
}
