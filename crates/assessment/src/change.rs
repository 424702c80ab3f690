//! The change of a document that a `PUT` request asks for.

use lyceum_core::{Detail, Problem, Result, message};
use lyceum_qti::retitled;
use serde_json::Value;

use crate::body::{Object, format};
use crate::document::{has_content, metadata};
use crate::{CheckedDocument, ContentKind, Metadata, StoredDocument};

/// A change of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentChange {
    /// Replaces the document.
    Content(Box<CheckedDocument>),
    /// Changes title or metadata, and keeps the content.
    Description {
        /// The new title.
        title: Option<String>,
        /// The change of the metadata.
        metadata: Metadata,
    },
}

/// Members of the JSON form that do not belong to a document's content.
const DESCRIPTION: [&str; 8] =
    ["format", "identifier", "title", "type", "qtiVersion", "metadata", "createdAt", "updatedAt"];

impl DocumentChange {
    /// Reads the body of a `PUT` request for a document. If it only has a title, a type or metadata, the content
    /// stays. Errors: as [`CheckedDocument::read`]; `Invalid` if the body has another identifier than the address.
    pub fn read(kind: ContentKind, identifier: &str, mut body: Object) -> Result<Self> {
        format(&body)?;
        let sent_identifier = body.entry("identifier").or_insert_with(|| identifier.into());
        if sent_identifier.is_null() {
            *sent_identifier = identifier.into();
        }
        let is_content =
            |name: &String| !DESCRIPTION.contains(&name.as_str()) && !body[name.as_str()].is_null();
        let is_description = !has_content(kind, &body) && !body.keys().any(is_content);
        let named = body["identifier"].as_str().unwrap_or_default();
        if is_description && named == identifier {
            let title = body.get("title").and_then(Value::as_str).filter(|title| !title.is_empty());
            return Ok(Self::Description {
                title: title.map(str::to_owned),
                metadata: metadata(&body)?,
            });
        }
        let document = CheckedDocument::read(kind, &body)?;
        let named = Some(named).filter(|named| *named != identifier);
        match named
            .or(Some(&document.identifier).filter(|own| **own != identifier).map(String::as_str))
        {
            None => Ok(Self::Content(Box::new(document))),
            Some(other) => Err(Problem::invalid(
                "identifier",
                message!(
                    "must be '{identifier}', as in the address (got '{other}'); the identifier of a {kind} \
                    cannot change"
                ),
            )),
        }
    }

    /// The warnings for the author of a new content.
    pub fn warnings(&self) -> &[Detail] {
        match self {
            Self::Content(document) => &document.warnings,
            Self::Description { .. } => &[],
        }
    }

    /// Applies the change to the stored document.
    pub(crate) fn onto(&self, stored: &StoredDocument) -> Result<CheckedDocument> {
        match self {
            Self::Content(document) => Ok((**document).clone()),
            Self::Description { title, metadata } => {
                let xml = match title.as_ref().filter(|title| **title != stored.title) {
                    Some(title) => {
                        retitled(&stored.xml, title).map_err(lyceum_qti::Faults::from)?
                    }
                    None => stored.xml.clone(),
                };
                let sent: Object = serde_json::from_str(&stored.json).map_err(Problem::internal)?;
                Ok(CheckedDocument {
                    metadata: metadata.clone(),
                    ..CheckedDocument::of(stored.kind, xml, &sent)?
                })
            }
        }
    }
}
