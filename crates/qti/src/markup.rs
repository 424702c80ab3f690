//! Markup in a JSON member: well-formed XML, or HTML as browsers accept it.

use crate::fault::{DocumentFault, DocumentPlace, Severity};
use crate::html;
use crate::schema;
use crate::tidy::{self, TidyText};
use crate::validate::{FoundFaults, inside};
use crate::xml::{Document, WriteMode, write_children};

const OPEN: &str = "<x xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\">";
const CLOSE: &str = "</x>";

/// Markup as XML that may stand inside the element `container`, itself inside `parent`, with warnings about what was
/// removed for it. Well-formed XML that QTI allows stays as it is. Anything else is read as HTML and written as XML, without
/// what common editors write and QTI does not have ([`tidy`]). Errors: what QTI does not allow there and what would be lost,
/// with line and column in the markup.
pub(crate) fn xhtml(
    markup: &str,
    container: &str,
    parent: Option<&str>,
) -> Result<(String, Vec<DocumentFault>), Vec<DocumentFault>> {
    let wrapped = [OPEN, markup, CLOSE].concat();
    // A tag that closes the wrapper would let markup break out of it.
    let as_xml = Document::parse(&wrapped)
        .ok()
        .filter(|document| document.root().range().end == wrapped.len());
    let faults_of_xml = match as_xml {
        None => None,
        Some(mut document) => {
            document.rename(0, container.to_owned().into());
            let faults = faults(&document, parent);
            if faults.is_empty() {
                return Ok((markup.to_owned(), Vec::new()));
            }
            if let Some(TidyText { xml, removed }) = tidied(&document, container, parent) {
                return Ok((xml, removed.into_iter().map(unwrapped).collect()));
            }
            Some(faults.into_iter().map(unwrapped).collect())
        }
    };
    let document = match html::parse(markup, container) {
        Ok(document) => document,
        Err(fault) => return Err(faults_of_xml.unwrap_or_else(|| vec![fault])),
    };
    let faults = faults(&document, parent);
    if !faults.is_empty() {
        let tidied = tidied(&document, container, parent).map(|tidy| (tidy.xml, tidy.removed));
        return tidied.ok_or_else(|| faults_of_xml.unwrap_or(faults));
    }
    let mut xml = String::with_capacity(markup.len() + 64);
    write_children(document.root(), &mut |_| WriteMode::Whole, &mut xml);
    Ok((xml, Vec::new()))
}

/// The content of a document's root without what QTI does not have, if it can then stand in the container.
fn tidied(document: &Document<'_>, container: &str, parent: Option<&str>) -> Option<TidyText> {
    let tidied = tidy::content(document.root())?;
    let wrapped = [OPEN, &tidied.xml, CLOSE].concat();
    let mut again = Document::parse(&wrapped).ok()?;
    again.rename(0, container.to_owned().into());
    faults(&again, parent).is_empty().then_some(tidied)
}

/// The reason why the content of a document's root cannot be used here.
fn faults(document: &Document<'_>, parent: Option<&str>) -> Vec<DocumentFault> {
    let mut found = FoundFaults::default();
    inside(document.root(), parent.and_then(schema::id), &mut found);
    found.0.retain(|fault| fault.severity == Severity::Error);
    found.0
}

/// A fault of the wrapped markup with its place in the markup itself.
fn unwrapped(fault: DocumentFault) -> DocumentFault {
    let DocumentPlace { line, column } = fault.place;
    let shift = if line == 1 { u32::try_from(OPEN.len()).unwrap_or_default() } else { 0 };
    DocumentFault {
        place: DocumentPlace { line, column: column.saturating_sub(shift).max(1) },
        ..fault
    }
}
