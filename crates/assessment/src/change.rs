//! The change of a document that a `PUT` request asks for.

use lyceum_core::{Problem, Result};
use lyceum_qti::retitled;
use serde_json::Value;

use crate::body::{Object, format};
use crate::draft::{metadata, says_content};
use crate::{Draft, Kind, Metadata, StoredDocument};

/// A change of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Replaces the document.
    Whole(Box<Draft>),
    /// Changes title or metadata, and keeps the content.
    Around {
        /// The new title.
        title: Option<String>,
        /// The change of the metadata.
        metadata: Metadata,
    },
}

/// Members of the JSON form that do not belong to a document's content.
const AROUND: [&str; 8] =
    ["format", "identifier", "title", "type", "qtiVersion", "metadata", "createdAt", "updatedAt"];

impl Change {
    /// Reads the body of a `PUT` request for a document. If it only has a title, a type or metadata, the content
    /// stays. Errors: as [`Draft::read`]; `Invalid` if the body has another identifier than the address.
    pub fn read(kind: Kind, identifier: &str, mut body: Object) -> Result<Self> {
        format(&body)?;
        let given = body.entry("identifier").or_insert_with(|| identifier.into());
        if given.is_null() {
            *given = identifier.into();
        }
        let carries =
            |name: &String| !AROUND.contains(&name.as_str()) && !body[name.as_str()].is_null();
        let around = !says_content(kind, &body) && !body.keys().any(carries);
        let named = body["identifier"].as_str().unwrap_or_default();
        if around && named == identifier {
            let title = body.get("title").and_then(Value::as_str).filter(|title| !title.is_empty());
            return Ok(Self::Around {
                title: title.map(str::to_owned),
                metadata: metadata(&body)?,
            });
        }
        let draft = Draft::read(kind, &body)?;
        let named = Some(named).filter(|named| *named != identifier);
        match named
            .or(Some(&draft.identifier).filter(|own| **own != identifier).map(String::as_str))
        {
            None => Ok(Self::Whole(Box::new(draft))),
            Some(other) => Err(Problem::invalid(
                "identifier",
                format!(
                    "must be '{identifier}', as in the address (got '{other}'); the identifier of a {kind} \
                    cannot change"
                ),
            )),
        }
    }

    /// Applies the change to the stored document.
    pub(crate) fn onto(&self, stored: &StoredDocument) -> Result<Draft> {
        match self {
            Self::Whole(draft) => Ok((**draft).clone()),
            Self::Around { title, metadata } => {
                let xml = match title.as_ref().filter(|title| **title != stored.title) {
                    Some(title) => {
                        retitled(&stored.xml, title).map_err(lyceum_qti::Faults::from)?
                    }
                    None => stored.xml.clone(),
                };
                let sent: Object = serde_json::from_str(&stored.json).map_err(Problem::internal)?;
                Ok(Draft { metadata: metadata.clone(), ..Draft::of(stored.kind, xml, &sent)? })
            }
        }
    }
}
