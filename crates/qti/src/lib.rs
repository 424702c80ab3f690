//! QTI 3.0: items, tests and stimuli, parsed, validated, shown to students and scored.
//!
//! The crate is pure: no files, no network, no clock, and random numbers are arguments. The same item, responses and
//! seed give the same outcomes to the bit.
//!
//! | what | where |
//! |---|---|
//! | the XML tree; HTML read into it; what of it is removed | `xml`, `html`, `markup`, `tidy` |
//! | the schema and validation; errors with line and column | `schema`, `pattern`, `validate`, `fault` |
//! | the model of a document, read from the tree | `model`, `read` |
//! | QTI 2.1 and 2.2 converted to 3.0 | `upgrade` |
//! | what a student sees, as XML | `candidate`, `printed`, `shuffle`, `arranged` |
//! | what a student sees, as HTML for a browser | `candidate_html` |
//! | responses, scoring, values | `response`, `score`, `value` |
//! | the JSON form of documents | `json` |
//! | the question and answers of an item as plain text | `words` |
//! | the files beside a document; packages and their manifests | `files`, `package` |
//! | title and links of a document; editing tests as text | `summary`, `edit` |
//! | the list of supported features | `features` |
//! | limits | `limits` |
#![doc = include_str!("features.md")]

mod arranged;
mod candidate;
mod candidate_html;
pub mod edit;
mod fault;
pub mod features;
mod files;
mod html;
pub mod json;
pub mod limits;
mod markup;
pub mod model;
mod package;
mod pattern;
mod printed;
mod read;
mod response;
mod schema;
mod score;
mod shuffle;
mod summary;
mod tidy;
mod upgrade;
mod validate;
pub mod value;
mod words;
mod xml;

pub use arranged::arranged;
pub use candidate::CandidateSession;
pub use fault::{DocumentFault, DocumentPlace, Faults, Severity};
pub use files::{FileReference, file_path, referenced_files};
pub use package::{ManifestFile, XmlFileKind, manifest_files, xml_file_kind};
pub use pattern::Pattern;
pub use response::{ResponseFault, Responses, check};
pub use score::{
    Outcomes, ScoringInput, Trace, TraceStep, Unscorable, Variant, explain, is_scored_elsewhere,
    needs_manual_scoring, score, unscorable, variant,
};
pub use summary::{DocumentKind, DocumentLink, Summary, relinked, summary};
pub use words::{ItemWords, item_words};

use json::WrittenXml;
use model::{Item, QtiVersion, Section, Stimulus, Test};
use read::DocumentReader;
use tidy::TidyText;
use validate::FoundFaults;
use xml::{Document, Element, ElementNamespace, OlderVersion};

/// The content of a document.
#[derive(Clone, Debug)]
pub enum DocumentContent {
    /// `qti-assessment-item`
    Item(Box<Item>),
    /// `qti-assessment-test`
    Test(Box<Test>),
    /// `qti-assessment-section`
    Section(Box<Section>),
    /// `qti-assessment-stimulus`
    Stimulus(Box<Stimulus>),
}

/// The part of a document that could be read, and its errors.
#[derive(Clone, Debug)]
pub struct ReadDocument {
    /// Its content without elements that are not allowed in their place.
    pub content: DocumentContent,
    /// The errors, in the order of the text; [`Faults::refuse`] says whether it is refused.
    pub faults: Faults,
}

/// Reads a document of QTI 3.0, 2.2 or 2.1 as far as it can be read. Errors: the one fault that
/// makes it no document at all: not well-formed, over a limit, or another root.
pub fn read(xml: &str) -> Result<ReadDocument, DocumentFault> {
    let (document, version) = parsed(xml)?;
    read_document(&document, version)
}

/// [`read`] for the author of the document: with warnings about markup that its HTML for students leaves out
/// ([`candidate_html`]), and about an item whose rules can score no answer ([`unscorable`]). Errors: as [`read`].
pub fn read_for_author(xml: &str) -> Result<ReadDocument, DocumentFault> {
    let (document, version) = parsed(xml)?;
    let mut reading = read_document(&document, version)?;
    if !reading.faults.refuse() {
        let mut found = FoundFaults(candidate_html::left_out(&document));
        if let DocumentContent::Item(item) = &reading.content
            && !is_scored_elsewhere(item)
            && let Some(Unscorable { message, remedy }) = unscorable(item)
        {
            found.warning(document.root(), message, remedy);
        }
        reading.faults.0.extend(found.0);
    }
    Ok(reading)
}

/// A document without markup that common editors write and QTI 3 does not have, such as `style` and `iframe`, with a
/// warning for each removed part; one of QTI 2 becomes QTI 3.0. Comments are left out. `None` if there is nothing to remove,
/// or if the text is not a document.
pub fn tidied(xml: &str) -> Option<WrittenXml> {
    let (document, version) = parsed(xml).ok()?;
    let root = document.root();
    let TidyText { xml: written, removed } = tidy::element(root)?;
    let mut found = FoundFaults(document.losses().to_vec());
    if version != QtiVersion::V3p0 {
        let message = "the document was stored as QTI 3.0, because parts of it were removed";
        found.warning(root, message, "send it as QTI 3.0");
        found.0.extend(removed);
        return Some(WrittenXml { xml: written, removed: Faults(found.0) });
    }
    let (source, range) = (document.source(), root.range());
    let xml = [&source[..range.start], &written, &source[range.end..]].concat();
    Some(WrittenXml { xml, removed: Faults(removed) })
}

/// The document with every element in the words of QTI 3.0, and the version it was written in.
fn parsed(xml: &str) -> Result<(Document<'_>, QtiVersion), DocumentFault> {
    let mut document = Document::parse(xml)?;
    let ElementNamespace::Qti2(minor) = document.root().space() else {
        return Ok((document, QtiVersion::V3p0));
    };
    upgrade::upgrade(&mut document, minor);
    let version = match minor {
        OlderVersion::One => QtiVersion::V2p1,
        OlderVersion::Two => QtiVersion::V2p2,
    };
    Ok((document, version))
}

fn read_document(
    document: &Document<'_>,
    version: QtiVersion,
) -> Result<ReadDocument, DocumentFault> {
    let root = document.root();
    let mut found = FoundFaults(document.losses().to_vec());
    validate::validate(root, &mut found);
    let mut reader = DocumentReader { found: &mut found, version };
    let name = Some(root.name()).filter(|_| root.space() == ElementNamespace::Qti3);
    let content = match name.unwrap_or_default() {
        "qti-assessment-item" => DocumentContent::Item(Box::new(read::item(&mut reader, root))),
        "qti-assessment-test" => DocumentContent::Test(Box::new(read::test(&mut reader, root))),
        "qti-assessment-section" => {
            DocumentContent::Section(Box::new(read::section(&mut reader, root)))
        }
        "qti-assessment-stimulus" => {
            DocumentContent::Stimulus(Box::new(read::stimulus(&mut reader, root)))
        }
        _ => return Err(not_qti(root)),
    };
    found.0.sort_by_key(|fault| fault.place);
    Ok(ReadDocument { content, faults: Faults(found.0) })
}

fn not_qti(root: Element<'_>) -> DocumentFault {
    DocumentFault::at(
        root.place(),
        format!("the root element is '{}', which is not a QTI document", root.qname()),
        "send a qti-assessment-item, -test, -section or -stimulus of QTI 3.0 \
         (xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\"), 2.2 or 2.1",
    )
}

/// The document as XML of QTI 3.0, without comments; one of 3.0 says the same as before. Errors: as
/// [`read`].
pub fn upgraded(xml: &str) -> Result<String, DocumentFault> {
    let (document, _) = parsed(xml)?;
    Ok(xml::write(document.root(), &mut |_| xml::WriteMode::Whole))
}

/// The document with another title and everything else as it was written. Errors: as [`read`].
pub fn retitled(xml: &str, title: &str) -> Result<String, DocumentFault> {
    let document = Document::parse(xml)?;
    let named = document.root().attributes().iter().find(|attribute| attribute.name == "title");
    let new = named.map(|attribute| (attribute, title.to_owned()));
    Ok(with_values(xml, document.source(), new))
}

/// A text with other values of attributes, which come in the order of the text. `source` is the text
/// that their places count in, without a byte order mark.
fn with_values<'d>(
    xml: &str,
    source: &str,
    new: impl IntoIterator<Item = (&'d xml::Attribute<'d>, String)>,
) -> String {
    let mut written = String::with_capacity(xml.len());
    written.push_str(&xml[..xml.len() - source.len()]);
    let mut from = 0;
    for (attribute, value) in new {
        let start = attribute.start as usize;
        let rest = &source[start..];
        let open = rest.find(['"', '\'']).expect("values of attributes stand in quotes");
        let behind = &rest[open + 1..];
        let close = behind.find(&rest[open..=open]).expect("values of attributes stand in quotes");
        written.push_str(&source[from..start]);
        written.push_str(&[&attribute.name, "=\""].concat());
        xml::escape(&value, true, &mut written);
        written.push('"');
        from = start + open + close + 2;
    }
    written + &source[from..]
}

/// An item as XML of QTI 3.0 for its candidate: without correct responses, mappings, processing,
/// hidden feedback, texts for other readers and comments. Of an outcome or a template variable the
/// value is told only where something that is shown depends on it. Choices of interactions that
/// shuffle stand in the order of the seed. Errors: the document is not an item.
pub fn candidate_view(xml: &str, view: CandidateSession<'_>) -> Result<String, Faults> {
    let (mut document, version) = parsed(xml)?;
    match read_document(&document, version)?.content {
        DocumentContent::Item(item) => {
            shuffle::shuffle(&mut document, &item, view.variant, view.seed);
            Ok(candidate::candidate(document.root(), &item, view))
        }
        other => Err(another("qti-assessment-item", &other)),
    }
}

/// The [`candidate_view`] of an item as HTML for a browser: an element of the class `qti-item`. Interactions and their
/// choices keep their names, such as `<qti-choice-interaction>`, with the cardinality and base type of their response.
/// The HTML contains only listed elements and attributes: no script, style or handler of an event. Ids begin with
/// `qti-`, and of the classes those of the standard's shared vocabulary stay.
///
/// `address_of` returns the address on the page's own server for the address of a file, as the item has it. A file
/// without such an address is described; if its address begins with `https`, a link leads to it. Pictures and sound
/// inside the document (`data:`) are shown. Errors: the document is not an item.
pub fn candidate_html(
    xml: &str,
    view: CandidateSession<'_>,
    address_of: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Faults> {
    let view = candidate_view(xml, view)?;
    Ok(candidate_html::html(&Document::parse(&view)?, address_of))
}

/// A stimulus as HTML, as [`candidate_html`] writes it. Errors: the document is not a stimulus.
pub fn stimulus_html(
    xml: &str,
    address_of: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Faults> {
    let (document, version) = parsed(xml)?;
    match read_document(&document, version)?.content {
        DocumentContent::Stimulus(_) => Ok(candidate_html::html(&document, address_of)),
        other => Err(another("qti-assessment-stimulus", &other)),
    }
}

/// Reads an item that keeps every rule. Errors: all faults, warnings among them.
pub fn read_item(xml: &str) -> Result<Item, Faults> {
    match accepted(xml)? {
        DocumentContent::Item(item) => Ok(*item),
        other => Err(another("qti-assessment-item", &other)),
    }
}

/// Reads a test that keeps every rule. Errors: all faults, warnings among them.
pub fn read_test(xml: &str) -> Result<Test, Faults> {
    match accepted(xml)? {
        DocumentContent::Test(test) => Ok(*test),
        other => Err(another("qti-assessment-test", &other)),
    }
}

/// Reads a stimulus that keeps every rule. Errors: all faults, warnings among them.
pub fn read_stimulus(xml: &str) -> Result<Stimulus, Faults> {
    match accepted(xml)? {
        DocumentContent::Stimulus(stimulus) => Ok(*stimulus),
        other => Err(another("qti-assessment-stimulus", &other)),
    }
}

fn accepted(xml: &str) -> Result<DocumentContent, Faults> {
    let reading = read(xml)?;
    match reading.faults.refuse() {
        true => Err(reading.faults),
        false => Ok(reading.content),
    }
}

fn another(wanted: &str, content: &DocumentContent) -> Faults {
    let is = match content.kind() {
        DocumentKind::Item => "an item",
        DocumentKind::Test => "a test",
        DocumentKind::Section => "a section",
        DocumentKind::Stimulus => "a stimulus",
    };
    let place = DocumentPlace { line: 1, column: 1 };
    DocumentFault::at(place, format!("the document is {is}"), format!("send a {wanted} here"))
        .into()
}
