//! Markup that common editors write and QTI 3 does not have. It is removed or written in the words of QTI, and a warning
//! says so. Scripts and handlers of events are never removed silently: validation refuses them.

use std::collections::HashMap;

use crate::fault::DocumentFault;
use crate::schema;
use crate::validate::{FoundFaults, is_meaningless};
use crate::xml::{Attribute, Element, ElementNamespace, WriteMode, escape, write, write_children};

/// Elements of HTML that QTI 3 does not have and whose content stays.
const UNWRAPPED: [&str; 8] = ["del", "font", "ins", "mark", "nobr", "s", "strike", "time"];

const LOOK: &str = "if its look matters, use a class of QTI";

/// A text without markup that QTI 3 does not have.
pub(crate) struct TidyText {
    pub(crate) xml: String,
    /// The removed parts; never empty.
    pub(crate) removed: Vec<DocumentFault>,
}

/// The content of an element, tidied; `None` if there is nothing to remove.
pub(crate) fn content(root: Element<'_>) -> Option<TidyText> {
    let (mut xml, mut removals) = (String::new(), Removals::default());
    write_children(root, &mut |element| removals.tidy(element), &mut xml);
    removals.told(xml)
}

/// An element, tidied; `None` if there is nothing to remove.
pub(crate) fn element(root: Element<'_>) -> Option<TidyText> {
    let mut removals = Removals::default();
    let xml = write(root, &mut |element| removals.tidy(element));
    removals.told(xml)
}

/// The removed parts, each kind once: a text from a word processor has hundreds of styles.
#[derive(Default)]
struct Removals {
    found: FoundFaults,
    counts: HashMap<String, usize>,
}

impl Removals {
    fn note(
        &mut self,
        (element, attribute): (Element<'_>, Option<&Attribute<'_>>),
        message: String,
        remedy: &str,
    ) {
        let count = self.counts.entry(message.clone()).or_default();
        *count += 1;
        match attribute {
            _ if *count > 1 => {}
            Some(attribute) => self.found.warned(element, attribute, message, remedy),
            None => self.found.warning(element, message, remedy),
        }
    }

    fn told(self, xml: String) -> Option<TidyText> {
        let mut removed = self.found.0;
        for fault in &mut removed {
            let count = self.counts.get(&fault.message).copied().unwrap_or_default();
            if count > 1 {
                fault.message = format!("{} ({count} times)", fault.message);
            }
        }
        (!removed.is_empty()).then_some(TidyText { xml, removed })
    }

    fn tidy(&mut self, element: Element<'_>) -> WriteMode {
        let name = element.name();
        let runs = element.attributes().iter().any(|attribute| attribute.name.starts_with("on"));
        if element.space() != ElementNamespace::Qti3 || name.starts_with("qti-") || runs {
            return WriteMode::Whole;
        }
        match name {
            "u" => self.replaced(element, "span", "qti-underline"),
            "center" => self.replaced(element, "div", "qti-align-center"),
            "iframe" => self.link(element),
            name if UNWRAPPED.contains(&name) => {
                let message =
                    format!("QTI 3 has no element '{name}'; its content was kept without it");
                self.note((element, None), message, LOOK);
                WriteMode::Inside
            }
            _ => self.without_attributes(element),
        }
    }

    /// The element under another name, with a class more and only the attributes that each element may have.
    fn replaced(&mut self, element: Element<'_>, by: &'static str, class: &str) -> WriteMode {
        let name = element.name();
        let message =
            format!("QTI 3 has no element '{name}'; it was written as a {by} of the class {class}");
        self.note((element, None), message, LOOK);
        let mut attributes = vec![("class".to_owned(), class.to_owned())];
        for attribute in element.attributes() {
            match &*attribute.name {
                "class" => attributes[0].1 = format!("{class} {}", attribute.value),
                name @ ("id" | "dir" | "lang" | "xml:lang") => {
                    attributes.push((name.to_owned(), attribute.value.to_string()));
                }
                _ => {}
            }
        }
        WriteMode::As(by, attributes)
    }

    /// An `iframe` as a link with its title, because pages for students load nothing from other servers.
    fn link(&mut self, element: Element<'_>) -> WriteMode {
        let address = element.attribute("src").unwrap_or_default().trim();
        if !address.starts_with("https://") && !address.starts_with("http://") {
            let message = "QTI 3 has no element 'iframe'; it was removed".to_owned();
            let remedy = "add a link to an address that begins with https://";
            self.note((element, None), message, remedy);
            return WriteMode::Nothing;
        }
        let title = element.attribute("title").map(str::trim).filter(|title| !title.is_empty());
        let message =
            "pages for students load nothing from other servers; the 'iframe' became a link";
        let remedy = match title {
            Some(_) => "if students need it without the link, store it with the document",
            None => "give it a title, which the link then shows",
        };
        self.note((element, None), message.to_owned(), remedy);
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
    fn without_attributes(&mut self, element: Element<'_>) -> WriteMode {
        let mut kept = Vec::new();
        for attribute in element.attributes() {
            let name = &*attribute.name;
            if !is_meaningless(element, name) {
                kept.push((name.to_owned(), attribute.value.to_string()));
                continue;
            }
            let of = element.name();
            let message = format!("QTI 3 has no attribute '{name}' at '{of}'; it was removed");
            let remedy = match name {
                "style" => "put the style into a stylesheet and name its class",
                _ => "if it matters, say it in the text",
            };
            self.note((element, Some(attribute)), message, remedy);
        }
        match kept.len() == element.attributes().len() {
            true => WriteMode::Whole,
            false => WriteMode::With(kept),
        }
    }
}
