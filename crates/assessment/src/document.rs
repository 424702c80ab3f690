//! A document to store, read and checked before the transaction that writes it.

use lyceum_core::limits::RECORD_MAX_BYTES;
use lyceum_core::messages::{MUST_BE_OBJECT, too_long, too_many};
use lyceum_core::{Detail, Problem, Result};
use lyceum_qti::json::{self, WrittenXml};
use lyceum_qti::{DocumentFault, Faults};
use serde_json::Value;

use crate::ContentKind;
use crate::body::{Object, format, text};
use crate::limits;

/// The change of a document's metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metadata {
    /// Keep them; a new document has none.
    Keep,
    /// Remove them.
    Remove,
    /// Replace them with this JSON object.
    Set(String),
}

/// A reference from one document to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The kind of the referenced document.
    pub kind: ContentKind,
    /// The identifier of the reference.
    pub identifier: String,
    /// The address in the reference.
    pub href: String,
}

/// A document that was read and checked, with everything that is stored about it.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedDocument {
    /// Its kind.
    pub kind: ContentKind,
    /// Its identifier.
    pub identifier: String,
    /// Its title.
    pub title: String,
    /// The name of an item's first interaction; empty for other kinds.
    pub interaction: String,
    /// The QTI version of the XML: `2.1`, `2.2` or `3.0`.
    pub qti_version: String,
    /// The document's XML.
    pub xml: String,
    /// The JSON form that clients read, without the XML and without members that the store adds.
    pub json: String,
    /// The text for searches, in lower case.
    pub words: String,
    /// The documents that it refers to.
    pub references: Vec<Reference>,
    /// The change of its metadata.
    pub metadata: Metadata,
    /// The warnings for its author; those of a document that was read from a request.
    pub warnings: Vec<Detail>,
}

impl CheckedDocument {
    /// Reads the body of a request: `{format: "xml", xml, metadata?}`, the JSON form of the kind, or what a client
    /// read before (`rawXml` or `qtiXml`). If the JSON form has content (`interaction`, `qti-test-part`, or `content`
    /// as text), it takes precedence over the XML next to it.
    ///
    /// Errors: `Malformed` with line and column for XML that is refused; `Invalid` for missing members.
    pub fn read(kind: ContentKind, body: &Object) -> Result<Self> {
        format(body)?;
        let metadata = metadata(body)?;
        let (document, removed) = match xml(kind, body)? {
            Some(xml) => Self::tidied(kind, xml)?,
            None => {
                let WrittenXml { xml, removed } = to_xml(kind, body)?;
                (Self::of(kind, xml, body)?, removed)
            }
        };
        let read = lyceum_qti::read_for_author(&document.xml).map_err(Faults::from)?;
        let warnings = removed.0.iter().chain(&read.faults.0).map(DocumentFault::detail).collect();
        Ok(Self { metadata, warnings, ..document })
    }

    /// Reads XML, if need be without what common editors write and QTI does not have. Returns warnings about that, too.
    /// Errors: `Malformed` with line and column for XML that is refused even so.
    pub fn tidied(kind: ContentKind, xml: &str) -> Result<(Self, Faults)> {
        let problem = match Self::of(kind, xml.to_owned(), &Object::new()) {
            Ok(document) => return Ok((document, Faults::default())),
            Err(problem) => problem,
        };
        let Some(WrittenXml { xml, removed }) = lyceum_qti::tidied(xml) else {
            return Err(problem);
        };
        // The places of errors must be those of the text that was sent.
        let document = Self::of(kind, xml, &Object::new()).map_err(|_| problem)?;
        Ok((document, removed))
    }

    /// Reads a document. `sent` is the JSON form that it was written from, or empty. Members of it that XML cannot
    /// express are kept.
    pub fn of(kind: ContentKind, xml: String, sent: &Object) -> Result<Self> {
        let (mut json, references) = parsed(kind, &xml)?;
        json.shift_remove("rawXml");
        json.shift_remove("qtiXml");
        for name in echoed(kind) {
            if let Some(value) = sent.get(*name).filter(|value| !value.is_null()) {
                json.entry(*name).or_insert_with(|| value.clone());
            }
        }
        // An item without interactions has no type, so the author's type is kept.
        if json.get("interactionTypes").and_then(Value::as_array).is_some_and(Vec::is_empty)
            && let Some(Value::String(kind)) = sent.get("type")
        {
            json["type"] = kind.as_str().into();
        }
        let text_of = |name: &str| json.get(name).and_then(Value::as_str).unwrap_or_default();
        let (identifier, title) = (text_of("identifier").to_owned(), text_of("title").to_owned());
        if identifier.chars().count() > limits::QTI_IDENTIFIER_MAX_CHARS {
            let most = limits::QTI_IDENTIFIER_MAX_CHARS;
            return Err(Problem::invalid("identifier", too_many(most, "characters")));
        }
        let mut words = format!("{identifier}\n{title}\n");
        json.get("content").into_iter().for_each(|content| collect(content, kind, &mut words));
        Ok(Self {
            interaction: text_of("type").to_owned(),
            qti_version: text_of("qtiVersion").to_owned(),
            words: words.to_lowercase(),
            json: Value::Object(json).to_string(),
            kind,
            identifier,
            title,
            xml,
            references,
            metadata: Metadata::Keep,
            warnings: Vec::new(),
        })
    }
}

/// The change of the metadata. Errors: `Invalid` if they are not an object, or too large.
pub(crate) fn metadata(body: &Object) -> Result<Metadata> {
    let metadata = match body.get("metadata") {
        None => return Ok(Metadata::Keep),
        Some(Value::Null) => return Ok(Metadata::Remove),
        Some(metadata @ Value::Object(_)) => metadata.to_string(),
        Some(_) => return Err(Problem::invalid("metadata", MUST_BE_OBJECT)),
    };
    if metadata.len() > RECORD_MAX_BYTES {
        let most = RECORD_MAX_BYTES;
        return Err(Problem::invalid("metadata", too_long(most)));
    }
    Ok(Metadata::Set(metadata))
}

/// The XML in a body, if the body describes the document's content by XML.
fn xml(kind: ContentKind, body: &Object) -> Result<Option<&str>> {
    if body.get("format").and_then(Value::as_str) == Some("xml") || body.contains_key("xml") {
        return text(body, "xml").map(Some);
    }
    if has_content(kind, body) {
        return Ok(None);
    }
    Ok(["rawXml", "qtiXml"].iter().find_map(|name| body.get(*name)?.as_str()))
}

/// Whether the JSON form has content.
pub(crate) fn has_content(kind: ContentKind, body: &Object) -> bool {
    match kind {
        ContentKind::Item => body.get("interaction").is_some_and(Value::is_object),
        ContentKind::Test => body.get("qti-test-part").is_some_and(Value::is_array),
        ContentKind::Stimulus => body.get("content").is_some_and(Value::is_string),
    }
}

/// The XML for the JSON form.
fn to_xml(kind: ContentKind, body: &Object) -> Result<WrittenXml> {
    match kind {
        ContentKind::Item => json::item_xml(body),
        ContentKind::Test => json::test_xml(body),
        ContentKind::Stimulus => json::stimulus_xml(body),
    }
}

/// The JSON form of a document, and the documents that it refers to.
fn parsed(kind: ContentKind, xml: &str) -> Result<(Object, Vec<Reference>)> {
    let reference = |kind: ContentKind, identifier: &str, href: &str| Reference {
        kind,
        identifier: identifier.to_owned(),
        href: href.to_owned(),
    };
    Ok(match kind {
        ContentKind::Item => {
            let item = lyceum_qti::read_item(xml)?;
            let stimuli = item.stimuli.iter();
            let references =
                stimuli.map(|s| reference(ContentKind::Stimulus, &s.identifier, &s.href));
            (json::item_json(xml)?, references.collect())
        }
        ContentKind::Test => {
            let test = lyceum_qti::read_test(xml)?;
            let refs = test.item_refs();
            let references =
                refs.iter().map(|(_, _, r)| reference(ContentKind::Item, &r.identifier, &r.href));
            (json::test_json(xml)?, references.collect())
        }
        ContentKind::Stimulus => {
            lyceum_qti::read_stimulus(xml)?;
            (json::stimulus_json(xml)?, Vec::new())
        }
    })
}

/// Members of the JSON form that XML cannot express in the same shape. Clients read them as they were sent.
fn echoed(kind: ContentKind) -> &'static [&'static str] {
    match kind {
        ContentKind::Item => &["preInteraction", "interaction", "postInteraction"],
        ContentKind::Test => &["toolName", "toolVersion", "toolsEnabled"],
        ContentKind::Stimulus => &["toolName", "toolVersion"],
    }
}

/// Collects the text in a document's body.
fn collect(content: &Value, kind: ContentKind, words: &mut String) {
    let body = match kind {
        ContentKind::Item => {
            content.get("qti-assessment-item").and_then(|i| i.get("qti-item-body"))
        }
        ContentKind::Stimulus => {
            content.get("qti-assessment-stimulus").and_then(|s| s.get("qti-stimulus-body"))
        }
        ContentKind::Test => None,
    };
    if let Some(body) = body {
        texts(body, words);
    }
}

fn texts(element: &Value, words: &mut String) {
    match element {
        Value::Array(members) => members.iter().for_each(|member| texts(member, words)),
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("_attributes", _) => {}
                    ("_text", Value::String(text)) => words.extend([text, "\n"]),
                    _ => texts(value, words),
                }
            }
        }
        _ => {}
    }
}
