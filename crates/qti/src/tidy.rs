//! Markup that common editors write and QTI 3 does not have. It is removed or written in the words of QTI, and a warning
//! says so. Scripts and handlers of events are never removed silently: validation refuses them.

use crate::fault::DocumentFault;
use crate::schema;
use crate::validate::{FoundFaults, is_meaningless};
use crate::xml::{Element, ElementNamespace, WriteMode, escape, write, write_children};

/// Elements of HTML that QTI 3 does not have and whose content stays.
const UNWRAPPED: [&str; 8] = ["del", "font", "ins", "mark", "nobr", "s", "strike", "time"];

/// A text without markup that QTI 3 does not have.
pub(crate) struct TidyText {
    pub(crate) xml: String,
    /// The removed parts; never empty.
    pub(crate) removed: Vec<DocumentFault>,
}

/// The content of an element, tidied; `None` if there is nothing to remove.
pub(crate) fn content(root: Element<'_>) -> Option<TidyText> {
    let (mut xml, mut found) = (String::new(), FoundFaults::default());
    write_children(root, &mut |element| tidy(element, &mut found), &mut xml);
    (!found.0.is_empty()).then_some(TidyText { xml, removed: found.0 })
}

/// An element, tidied; `None` if there is nothing to remove.
pub(crate) fn element(root: Element<'_>) -> Option<TidyText> {
    let mut found = FoundFaults::default();
    let xml = write(root, &mut |element| tidy(element, &mut found));
    (!found.0.is_empty()).then_some(TidyText { xml, removed: found.0 })
}

fn tidy(element: Element<'_>, found: &mut FoundFaults) -> WriteMode {
    let name = element.name();
    if element.space() != ElementNamespace::Qti3 || name.starts_with("qti-") {
        return WriteMode::Whole;
    }
    let remedy = "if its look matters, use a class of QTI";
    match name {
        "u" => {
            let message =
                "QTI 3 has no element 'u'; it was written as a span of the class qti-underline";
            found.warning(element, message, remedy);
            WriteMode::As("span", vec![("class".to_owned(), "qti-underline".to_owned())])
        }
        "center" => {
            let message = "QTI 3 has no element 'center'; it was written as a div of the class qti-align-center";
            found.warning(element, message, remedy);
            WriteMode::As("div", vec![("class".to_owned(), "qti-align-center".to_owned())])
        }
        "iframe" => link(element, found),
        name if UNWRAPPED.contains(&name) => {
            let message = format!("QTI 3 has no element '{name}'; its content was kept without it");
            found.warning(element, message, remedy);
            WriteMode::Inside
        }
        _ => without_attributes(element, found),
    }
}

/// An `iframe` as a link with its title, because pages for students load nothing from other servers.
fn link(element: Element<'_>, found: &mut FoundFaults) -> WriteMode {
    let address = element.attribute("src").unwrap_or_default().trim();
    if !address.starts_with("https://") && !address.starts_with("http://") {
        let message = "QTI 3 has no element 'iframe'; it was removed";
        found.warning(element, message, "add a link to an address that begins with https://");
        return WriteMode::Nothing;
    }
    let title = element.attribute("title").map(str::trim).filter(|title| !title.is_empty());
    let message = "pages for students load nothing from other servers; the 'iframe' became a link";
    found.warning(element, message, "give it a title, which the link then shows");
    let mut link = "<a href=\"".to_owned();
    escape(address, true, &mut link);
    link.push_str("\">");
    escape(title.unwrap_or(address), false, &mut link);
    link.push_str("</a>");
    let parent = element.parent();
    let in_blocks = parent.is_some_and(|parent| !schema::allows(parent.name(), "a"));
    WriteMode::Instead(if in_blocks { format!("<p>{link}</p>") } else { link })
}

/// The element without attributes that QTI 3 does not have. A misspelled one stays, so that validation asks about it.
fn without_attributes(element: Element<'_>, found: &mut FoundFaults) -> WriteMode {
    let mut kept = Vec::new();
    for attribute in element.attributes() {
        let name = &*attribute.name;
        if !name.starts_with("on") && is_meaningless(element, name) {
            let message =
                format!("QTI 3 has no attribute '{name}' at '{}'; it was removed", element.name());
            let remedy = match name {
                "style" => "put the style into a stylesheet and name its class",
                _ => "if it matters, say it in the text",
            };
            found.warned(element, attribute, message, remedy);
        } else {
            kept.push((name.to_owned(), attribute.value.to_string()));
        }
    }
    match kept.len() == element.attributes().len() {
        true => WriteMode::Whole,
        false => WriteMode::With(kept),
    }
}
