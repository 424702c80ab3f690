//! A document as it will be stored: read from a request before the transaction that writes it.

use lyceum_core::{Problem, Result, limits};
use lyceum_qti::json;
use serde_json::Value;

use crate::Kind;
use crate::body::{Object, format, text};

/// What a write does to the metadata of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metadata {
    /// They stay as they are; a new document has none.
    Keep,
    /// They are taken away.
    Remove,
    /// They become this JSON object.
    Set(String),
}

/// Another document that a document names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// What it is.
    pub kind: Kind,
    /// The name of the reference.
    pub identifier: String,
    /// Where the document says that it lies.
    pub href: String,
}

/// A document, read and checked, with all that is stored of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub identifier: String,
    /// Its title.
    pub title: String,
    /// The name of an item's first interaction; empty for the other kinds.
    pub interaction: String,
    /// The version of QTI that it was written in: `2.1`, `2.2` or `3.0`.
    pub qti_version: String,
    /// The document.
    pub xml: String,
    /// What clients read of it, without the XML and without what the store adds.
    pub json: String,
    /// What a search looks into, in small letters.
    pub words: String,
    /// What it refers to.
    pub references: Vec<Reference>,
    /// What becomes of its metadata.
    pub metadata: Metadata,
}

impl Draft {
    /// Reads the body of a request: `{format: "xml", xml, metadata?}`, the JSON form of the kind, or
    /// what a client read before (`rawXml` or `qtiXml`). Where the JSON form says what the document
    /// holds (`interaction`, `qti-test-part`, a `content` of text) it stands over the XML beside it.
    ///
    /// Errors: `Malformed` with line and column for XML that is refused, `Invalid` for members that
    /// are missing.
    pub fn read(kind: Kind, body: &Object) -> Result<Self> {
        format(body)?;
        let metadata = metadata(body)?;
        let draft = match xml(kind, body)? {
            Some(xml) => Self::of(kind, xml.to_owned(), &Object::new())?,
            None => Self::of(kind, written(kind, body)?, body)?,
        };
        Ok(Self { metadata, ..draft })
    }

    /// Reads a document. Of `sent`, the JSON form that it was written from, members are kept that
    /// XML cannot hold; it may be empty.
    pub fn of(kind: Kind, xml: String, sent: &Object) -> Result<Self> {
        let (mut json, references) = parsed(kind, &xml)?;
        json.shift_remove("rawXml");
        json.shift_remove("qtiXml");
        for name in echoed(kind) {
            if let Some(value) = sent.get(*name).filter(|value| !value.is_null()) {
                json.entry(*name).or_insert_with(|| value.clone());
            }
        }
        // An item without an interaction has no type of its own; what its author says is kept.
        if json.get("interactionTypes").and_then(Value::as_array).is_some_and(Vec::is_empty)
            && let Some(Value::String(said)) = sent.get("type")
        {
            json["type"] = said.as_str().into();
        }
        let said = |name: &str| json.get(name).and_then(Value::as_str).unwrap_or_default();
        let (identifier, title) = (said("identifier").to_owned(), said("title").to_owned());
        if identifier.len() > limits::QTI_IDENTIFIER_MAX_BYTES {
            let most = limits::QTI_IDENTIFIER_MAX_BYTES;
            return Err(Problem::invalid("identifier", format!("has at most {most} bytes")));
        }
        let mut words = format!("{identifier}\n{title}\n");
        json.get("content").into_iter().for_each(|content| collect(content, kind, &mut words));
        Ok(Self {
            interaction: said("type").to_owned(),
            qti_version: said("qtiVersion").to_owned(),
            words: words.to_lowercase(),
            json: Value::Object(json).to_string(),
            kind,
            identifier,
            title,
            xml,
            references,
            metadata: Metadata::Keep,
        })
    }
}

/// What becomes of the metadata. Errors: `Invalid` where they are no object, or too large.
pub(crate) fn metadata(body: &Object) -> Result<Metadata> {
    let metadata = match body.get("metadata") {
        None => return Ok(Metadata::Keep),
        Some(Value::Null) => return Ok(Metadata::Remove),
        Some(metadata @ Value::Object(_)) => metadata.to_string(),
        Some(_) => return Err(Problem::invalid("metadata", "must be an object")),
    };
    if metadata.len() > limits::RECORD_MAX_BYTES {
        let most = limits::RECORD_MAX_BYTES;
        return Err(Problem::invalid("metadata", format!("have at most {most} bytes")));
    }
    Ok(Metadata::Set(metadata))
}

/// The XML that a body carries, where that is what it says of the document.
fn xml(kind: Kind, body: &Object) -> Result<Option<&str>> {
    if body.get("format").and_then(Value::as_str) == Some("xml") || body.contains_key("xml") {
        return text(body, "xml").map(Some);
    }
    if says_content(kind, body) {
        return Ok(None);
    }
    Ok(["rawXml", "qtiXml"].iter().find_map(|name| body.get(*name)?.as_str()))
}

/// Whether the JSON form says what the document holds.
pub(crate) fn says_content(kind: Kind, body: &Object) -> bool {
    match kind {
        Kind::Item => body.get("interaction").is_some_and(Value::is_object),
        Kind::Test => body.get("qti-test-part").is_some_and(Value::is_array),
        Kind::Stimulus => body.get("content").is_some_and(Value::is_string),
    }
}

/// The XML of the JSON form.
fn written(kind: Kind, body: &Object) -> Result<String> {
    match kind {
        Kind::Item => json::item_xml(body),
        Kind::Test => json::test_xml(body),
        Kind::Stimulus => json::stimulus_xml(body),
    }
}

/// What clients read of a document, and what it refers to.
fn parsed(kind: Kind, xml: &str) -> Result<(Object, Vec<Reference>)> {
    let reference = |kind: Kind, identifier: &str, href: &str| Reference {
        kind,
        identifier: identifier.to_owned(),
        href: href.to_owned(),
    };
    Ok(match kind {
        Kind::Item => {
            let item = lyceum_qti::read_item(xml)?;
            let stimuli = item.stimuli.iter();
            let references = stimuli.map(|s| reference(Kind::Stimulus, &s.identifier, &s.href));
            (json::item_json(xml)?, references.collect())
        }
        Kind::Test => {
            let test = lyceum_qti::read_test(xml)?;
            let refs = test.item_refs();
            let references =
                refs.iter().map(|(_, _, r)| reference(Kind::Item, &r.identifier, &r.href));
            (json::test_json(xml)?, references.collect())
        }
        Kind::Stimulus => {
            lyceum_qti::read_stimulus(xml)?;
            (json::stimulus_json(xml)?, Vec::new())
        }
    })
}

/// Members of the JSON form that XML cannot hold, or not in that shape: clients read them as sent.
fn echoed(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Item => &["preInteraction", "interaction", "postInteraction"],
        Kind::Test => &["toolName", "toolVersion", "toolsEnabled"],
        Kind::Stimulus => &["toolName", "toolVersion"],
    }
}

/// Collects the texts of a document's body.
fn collect(content: &Value, kind: Kind, words: &mut String) {
    let body = match kind {
        Kind::Item => content.get("qti-assessment-item").and_then(|i| i.get("qti-item-body")),
        Kind::Stimulus => {
            content.get("qti-assessment-stimulus").and_then(|s| s.get("qti-stimulus-body"))
        }
        Kind::Test => None,
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
