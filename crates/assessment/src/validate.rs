//! Checks documents without storing them.

use lyceum_core::messages::too_many;
use lyceum_core::{Problem, Result, limits};
use lyceum_qti::{Content, Fault, Faults, Position, Severity};
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::Value;

use crate::body::{Object, text};
use crate::{Kind, repository};

/// A document to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    kind: Kind,
    entity: String,
    /// The document's XML; `None` for the stored document with that identifier.
    xml: Option<String>,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ValidationResult {
    /// Whether the document would be accepted.
    pub success: bool,
    /// The caller's id for the document; by default the document's identifier.
    pub entity_id: String,
    /// The XML that was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xml_content: Option<String>,
    /// What is wrong: one sentence for each error or warning, with line and column.
    pub validation_errors: Vec<String>,
    /// The same errors and warnings, in structured form.
    pub faults: Faults,
    /// The result in one sentence.
    pub message: String,
}

impl Wanted {
    /// Reads `{schema, xml?, entityId?}`. Errors: `Invalid`, with the member's name.
    pub fn one(body: &Object) -> Result<Self> {
        let entity = match body.get("entityId") {
            None | Some(Value::Null) => "",
            Some(_) => text(body, "entityId")?,
        };
        let xml = match body.get("xml") {
            None | Some(Value::Null) if !entity.is_empty() => None,
            _ => Some(text(body, "xml")?.to_owned()),
        };
        Ok(Self { kind: schema(body)?, entity: entity.to_owned(), xml })
    }

    /// Reads `{schema, xml: […], entityIds: […]}`, with at most [`limits::QTI_BATCH_MAX_COUNT`] documents. Errors:
    /// `Invalid`, with the member's name.
    pub fn batch(body: &Object) -> Result<Vec<Self>> {
        let kind = schema(body)?;
        let xml = texts(body, "xml")?;
        let entities =
            if body.contains_key("entityIds") { texts(body, "entityIds")? } else { Vec::new() };
        if xml.len() > limits::QTI_BATCH_MAX_COUNT {
            let most = limits::QTI_BATCH_MAX_COUNT;
            return Err(Problem::invalid("xml", too_many(most, "documents")));
        }
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
            self.xml = Some(repository::found(tx, self.kind, &self.entity)?.xml);
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
        let (found, mut faults) = match lyceum_qti::read(&xml) {
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
fn identified(content: Content) -> (Option<Kind>, String) {
    match content {
        Content::Item(item) => (Some(Kind::Item), item.identifier.into()),
        Content::Test(test) => (Some(Kind::Test), test.identifier.into()),
        Content::Stimulus(stimulus) => (Some(Kind::Stimulus), stimulus.identifier.into()),
        Content::Section(section) => (None, section.identifier.into()),
    }
}

fn another(wanted: Kind) -> Fault {
    Fault {
        place: Position { line: 1, column: 1 },
        path: String::new(),
        message: "the document is not of the kind that 'schema' names".to_owned(),
        mend: format!("send a qti-assessment-{wanted}, or change 'schema'"),
        severity: Severity::Error,
    }
}

fn schema(body: &Object) -> Result<Kind> {
    Kind::named(text(body, "schema")?)
        .ok_or_else(|| Problem::invalid("schema", "must be 'test', 'item' or 'stimulus'"))
}

fn texts(body: &Object, name: &str) -> Result<Vec<String>> {
    let members = body.get(name).and_then(Value::as_array);
    let texts = members.and_then(|all| {
        all.iter().map(|member| member.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    });
    texts.ok_or_else(|| Problem::invalid(name, "must be an array of strings"))
}
