//! Changes of a text at places of its tree. The rest of the text stays the same byte for byte.

use std::ops::Range;

use crate::json::write::NAMESPACE;
use crate::xml::{Element, escape};

/// Changes of one text, none inside another.
pub(super) struct Splices<'s> {
    source: &'s str,
    changes: Vec<(Range<usize>, String)>,
}

impl<'s> Splices<'s> {
    pub(super) fn of(source: &'s str) -> Self {
        Self { source, changes: Vec::new() }
    }

    pub(super) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.changes.push((range, text.into()));
    }

    /// Takes an element away with the white space before it.
    pub(super) fn remove(&mut self, element: Element<'_>) {
        let start = self.before(element);
        self.replace(start..element.range().end, "");
    }

    /// Puts a text before an element, with the white space that stands before that.
    pub(super) fn insert_before(&mut self, element: Element<'_>, text: &str) {
        let start = element.range().start;
        let space = self.space(element);
        self.replace(start..start, format!("{text}{space}"));
    }

    /// Puts texts behind an element, each with the white space that stands before that.
    pub(super) fn insert_after(&mut self, element: Element<'_>, texts: &[String]) {
        let end = element.range().end;
        let space = self.space(element);
        let all: String = texts.iter().flat_map(|text| [space, text]).collect();
        self.replace(end..end, all);
    }

    /// Puts a text into an element, before everything that it holds; once an element.
    pub(super) fn insert_first(&mut self, parent: Element<'_>, text: &str) {
        let Range { start, end } = parent.range();
        if self.source[start..end].ends_with("/>") {
            let closed = format!(">{text}</{}>", parent.qname());
            return self.replace(end - 2..end, closed);
        }
        let inside = end_of_tag(self.source, parent);
        self.replace(inside..inside, text);
    }

    /// Gives an attribute a value; nothing if it says that already.
    pub(super) fn set(&mut self, element: Element<'_>, name: &str, value: &str) {
        if element.attribute(name).is_some_and(|old| has_same_content(old, value)) {
            return;
        }
        let mut quoted = "\"".to_owned();
        escape(value, true, &mut quoted);
        quoted.push('"');
        match element.attributes().iter().find(|attribute| attribute.name == name) {
            Some(attribute) => {
                let range = value_of(self.source, attribute.start as usize);
                self.replace(range, quoted);
            }
            None => {
                let behind = element.range().start + 1 + element.qname().len();
                self.replace(behind..behind, format!(" {name}={quoted}"));
            }
        }
    }

    /// The changed text of a range of the source; changes lie all within it.
    pub(super) fn within(mut self, range: Range<usize>) -> String {
        self.changes.sort_by_key(|(range, _)| (range.start, range.end));
        let mut text = String::with_capacity(range.len());
        let mut at = range.start;
        for (change, new) in &self.changes {
            text.push_str(&self.source[at..change.start]);
            text.push_str(new);
            at = change.end;
        }
        text.push_str(&self.source[at..range.end]);
        text
    }

    /// The whole changed text.
    pub(super) fn applied(self) -> String {
        let whole = 0..self.source.len();
        self.within(whole)
    }

    /// Where the white space before an element begins.
    fn before(&self, element: Element<'_>) -> usize {
        self.source[..element.range().start].trim_ascii_end().len()
    }

    fn space(&self, element: Element<'_>) -> &'s str {
        &self.source[self.before(element)..element.range().start]
    }
}

/// A new element as it stands inside that parent: where names have a prefix, one without would mean
/// nothing.
pub(super) fn fitting(parent: Element<'_>, mut element: String) -> String {
    if parent.qname() != parent.name() {
        let name = element.find([' ', '/', '>']).unwrap_or_default();
        element.insert_str(name, &format!(" xmlns=\"{NAMESPACE}\""));
    }
    element
}

/// Whether a value of XML equals a value of JSON, however it is written.
pub(super) fn has_same_content(old: &str, new: &str) -> bool {
    let (old, new) = (old.trim(), new.trim());
    let number = |text: &str| text.parse::<f64>().ok();
    old == new
        || matches!((old, new), ("1", "true") | ("0", "false"))
        || number(old).is_some() && number(old) == number(new)
}

/// The value of an attribute with its quotes, from where its name begins.
fn value_of(source: &str, name: usize) -> Range<usize> {
    let start = name + source[name..].find(['"', '\'']).expect("the parser saw a quote");
    let quote = &source[start..=start];
    let length = source[start + 1..].find(quote).expect("the parser saw the second quote");
    start..start + length + 2
}

/// Where the start tag of an element ends.
fn end_of_tag(source: &str, element: Element<'_>) -> usize {
    let from = match element.attributes().iter().map(|a| a.start).max() {
        Some(last) => value_of(source, last as usize).end,
        None => element.range().start,
    };
    from + source[from..].find('>').expect("the parser saw the end of the tag") + 1
}
