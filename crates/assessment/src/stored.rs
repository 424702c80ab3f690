//! A stored document, and its JSON for clients.

use lyceum_core::{Problem, Result};

use crate::ContentKind;

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its kind.
    pub kind: ContentKind,
    /// Its identifier.
    pub identifier: String,
    /// The number of its version, from 1.
    pub version: i64,
    /// Its title.
    pub title: String,
    /// The document's XML.
    pub xml: String,
    /// The JSON form that clients read, without the XML and the members below.
    pub json: String,
    /// Its metadata, a JSON object.
    pub metadata: Option<String>,
    /// When it was first stored.
    pub created_at: String,
    /// When this version was stored.
    pub updated_at: String,
}

impl StoredDocument {
    /// Appends the JSON for clients: the JSON form with `version`, `metadata`, `createdAt`, `updatedAt`, `rawXml` and
    /// `qtiXml`. Errors: `Internal` if the row does not contain a JSON object.
    pub fn render(&self, out: &mut String) -> Result<()> {
        let Some(open) = self.json.strip_suffix('}').filter(|open| open.len() > 1) else {
            return Err(Problem::internal(format!(
                "the {} '{}' has no JSON",
                self.kind, self.identifier
            )));
        };
        let xml = serde_json::to_string(&self.xml).map_err(Problem::internal)?;
        out.push_str(open);
        if let Some(metadata) = &self.metadata {
            out.extend([",\"metadata\":", metadata]);
        }
        out.extend([
            ",\"version\":",
            &self.version.to_string(),
            ",\"createdAt\":\"",
            &self.created_at,
            "\",\"updatedAt\":\"",
            &self.updated_at,
            "\",\"rawXml\":",
            &xml,
            ",\"qtiXml\":",
            &xml,
            "}",
        ]);
        Ok(())
    }

    /// The JSON for clients, as a new text.
    pub fn to_json_text(&self) -> Result<String> {
        let mut out = String::with_capacity(self.json.len() + 2 * self.xml.len() + 512);
        self.render(&mut out)?;
        Ok(out)
    }
}
