//! From a tree back to text, with parts left out or replaced.

use super::{ChildNode, Element};

/// The way in which an element is written.
pub(crate) enum WriteMode {
    /// As it is, its children asked in turn.
    Whole,
    /// As it is, but with these attributes.
    With(Vec<(String, String)>),
    /// Another element of that name with these attributes, its children asked in turn.
    As(&'static str, Vec<(String, String)>),
    /// Only its children, asked in turn.
    Inside,
    /// Neither itself nor what is in it.
    Nothing,
    /// This text in its place; it must be XML.
    Instead(String),
}

/// Writes an element; `choose` says what becomes of each.
pub(crate) fn write(
    element: Element<'_>,
    choose: &mut dyn FnMut(Element<'_>) -> WriteMode,
) -> String {
    let mut out = String::with_capacity(1024);
    write_child(element, choose, &mut out);
    out
}

/// Appends an element, as [`write`] writes it.
fn write_child(
    element: Element<'_>,
    choose: &mut dyn FnMut(Element<'_>) -> WriteMode,
    out: &mut String,
) {
    let (name, attributes) = match choose(element) {
        WriteMode::Nothing => return,
        WriteMode::Instead(text) => return out.push_str(&text),
        WriteMode::Inside => return write_children(element, choose, out),
        WriteMode::Whole => (element.qname(), None),
        WriteMode::With(attributes) => (element.qname(), Some(attributes)),
        WriteMode::As(name, attributes) => (name, Some(attributes)),
    };
    out.push('<');
    out.push_str(name);
    let mut attribute = |name: &str, value: &str| {
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(value, true, out);
        out.push('"');
    };
    match &attributes {
        Some(attributes) => attributes.iter().for_each(|(name, value)| attribute(name, value)),
        None => element.attributes().iter().for_each(|a| attribute(&a.name, &a.value)),
    }
    let before = out.len();
    out.push('>');
    write_children(element, choose, out);
    if out.len() == before + 1 {
        out.insert(before, '/');
        return;
    }
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

/// Appends what is in an element, as [`write`] writes it.
pub(crate) fn write_children(
    element: Element<'_>,
    choose: &mut dyn FnMut(Element<'_>) -> WriteMode,
    out: &mut String,
) {
    for child in element.children() {
        match child {
            ChildNode::Text(text, _) => escape(text, false, out),
            ChildNode::Element(inner) => write_child(inner, choose, out),
        }
    }
}

/// Adds a text with what XML reserves written as references; inside an attribute white space too,
/// which a reader would turn into blanks.
pub(crate) fn escape(text: &str, inside_attribute: bool, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['<', '>', '&', '"', '\n', '\t', '\r']) {
        out.push_str(&rest[..at]);
        out.push_str(match (rest.as_bytes()[at], inside_attribute) {
            (b'<', _) => "&lt;",
            (b'>', _) => "&gt;",
            (b'&', _) => "&amp;",
            (b'"', true) => "&quot;",
            (b'"', false) => "\"",
            (b'\r', _) => "&#13;",
            (b'\t', true) => "&#9;",
            (b'\t', false) => "\t",
            (_, true) => "&#10;",
            (_, false) => "\n",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}
