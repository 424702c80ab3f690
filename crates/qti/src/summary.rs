//! The names and references of documents, for callers that store many of them.

use crate::DocumentContent;
use crate::fault::{DocumentFault, DocumentPlace};

/// The sorts of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentKind {
    /// `qti-assessment-stimulus`
    Stimulus,
    /// `qti-assessment-item`
    Item,
    /// `qti-assessment-section`
    Section,
    /// `qti-assessment-test`
    Test,
}

/// The roots of documents in QTI 3 and 2, and what refers to them.
const ROOTS: [(DocumentKind, &str, &str, &str); 4] = [
    (
        DocumentKind::Stimulus,
        "qti-assessment-stimulus",
        "assessmentStimulus",
        "qti-assessment-stimulus-ref",
    ),
    (DocumentKind::Item, "qti-assessment-item", "assessmentItem", "qti-assessment-item-ref"),
    (
        DocumentKind::Section,
        "qti-assessment-section",
        "assessmentSection",
        "qti-assessment-section-ref",
    ),
    (DocumentKind::Test, "qti-assessment-test", "assessmentTest", ""),
];

impl DocumentKind {
    /// As a reader calls it: `item` for one.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stimulus => "stimulus",
            Self::Item => "item",
            Self::Section => "section",
            Self::Test => "test",
        }
    }
}

/// The name, kind and links of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its kind.
    pub kind: DocumentKind,
    /// Its name; empty if it is missing.
    pub identifier: Box<str>,
    /// Where its root begins.
    pub place: DocumentPlace,
    /// The documents that it refers to, in the order of the text.
    pub links: Vec<DocumentLink>,
}

/// A reference to another document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentLink {
    /// The kind of the linked document.
    pub kind: DocumentKind,
    /// The identifier of the link in the referring document.
    pub identifier: Box<str>,
    /// Where it lies, as it stands.
    pub href: Box<str>,
    /// Where the reference begins.
    pub place: DocumentPlace,
}

/// Reads what a document is called and refers to; it need not be valid. Errors: as [`crate::read`].
pub fn summary(xml: &str) -> Result<Summary, DocumentFault> {
    let (document, _) = crate::parsed(xml)?;
    let root = document.root();
    let kind = ROOTS.iter().find(|(_, name, ..)| root.is(name)).map(|(kind, ..)| *kind);
    // From one to the next: a line may be the whole text, and links many.
    let (mut place, mut from) = (DocumentPlace { line: 1, column: 1 }, 0);
    let links = root.descendants().filter_map(|element| {
        let (kind, ..) = ROOTS.iter().find(|(.., link)| element.is(link))?;
        let text = |name| element.attribute(name).unwrap_or_default().trim().into();
        let start = element.start() as usize;
        place = place.after(&document.source()[from..start]);
        from = start;
        Some(DocumentLink {
            kind: *kind,
            identifier: text("identifier"),
            href: text("href"),
            place,
        })
    });
    let links = links.collect();
    let identifier = root.attribute("identifier").unwrap_or_default().trim().into();
    match kind {
        Some(kind) => Ok(Summary { kind, identifier, place: root.place(), links }),
        None => Err(crate::not_qti(root)),
    }
}

/// The document with another address for each reference that `address` names one for, and everything
/// else as it was written. Errors: as [`crate::read`].
pub fn relinked(
    xml: &str,
    address: impl Fn(&DocumentLink) -> Option<String>,
) -> Result<String, DocumentFault> {
    let (document, _) = crate::parsed(xml)?;
    let new = document.root().descendants().filter_map(|element| {
        let (kind, ..) = ROOTS.iter().find(|(.., link)| element.is(link))?;
        let text = |name| element.attribute(name).unwrap_or_default().trim().into();
        let link = DocumentLink {
            kind: *kind,
            identifier: text("identifier"),
            href: text("href"),
            place: DocumentPlace { line: document.line(element.start()), column: 1 },
        };
        let attribute = element.attributes().iter().find(|attribute| attribute.name == "href")?;
        Some((attribute, address(&link)?))
    });
    Ok(crate::with_values(xml, document.source(), new))
}

/// Whether the root of a document has that local name.
pub(crate) fn is_root(name: &str) -> bool {
    ROOTS.iter().any(|(_, new, old, _)| name == *new || name == *old)
}

impl DocumentContent {
    /// Its kind.
    pub fn kind(&self) -> DocumentKind {
        match self {
            Self::Item(_) => DocumentKind::Item,
            Self::Test(_) => DocumentKind::Test,
            Self::Section(_) => DocumentKind::Section,
            Self::Stimulus(_) => DocumentKind::Stimulus,
        }
    }
}
