//! From the tokens of `quick-xml` to the tree, with every limit and what the tokenizer leaves
//! unchecked: one root, legal characters, known references, bound prefixes.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::errors::{Error, IllFormedError};
use quick_xml::events::Event;

use super::{Attribute, Document, ElementNamespace, NONE, XmlNode, attributes};
use crate::fault::{DocumentFault, DocumentPlace};
use crate::limits::{
    QTI_ATTRIBUTES_MAX_COUNT, QTI_DEPTH_MAX_LEVELS, QTI_DOCUMENT_MAX_BYTES, QTI_MAX_NODES,
};
use crate::schema;

pub(super) fn build(source: &str) -> Result<Document<'_>, DocumentFault> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    if source.len() > QTI_DOCUMENT_MAX_BYTES {
        return Err(DocumentFault::at(
            DocumentPlace { line: 1, column: 1 },
            format!("the document has {} bytes", source.len()),
            format!("keep it below {QTI_DOCUMENT_MAX_BYTES} bytes; move media into files"),
        ));
    }
    let mut builder = DocumentBuilder {
        document: Document {
            source,
            // A node for about every 40 bytes is usual in items.
            nodes: Vec::with_capacity(source.len() / 32 + 4),
            attributes: Vec::with_capacity(source.len() / 40 + 4),
            lines: source.match_indices('\n').map(|(at, _)| place_of(at + 1)).collect(),
            losses: Vec::new(),
        },
        open: Vec::new(),
        last: NONE,
        scopes: Vec::new(),
        done: false,
    };
    builder.run()?;
    Ok(builder.document)
}

struct DocumentBuilder<'x> {
    document: Document<'x>,
    /// The elements that are open, and how many namespace bindings stood before each.
    open: Vec<(u32, usize)>,
    /// The last child of the innermost open element.
    last: u32,
    /// Prefixes and what they mean, innermost last.
    scopes: Vec<(&'x str, ElementNamespace)>,
    done: bool,
}

fn offset(position: u64) -> usize {
    usize::try_from(position).expect("a position lies inside the source")
}

impl<'x> DocumentBuilder<'x> {
    fn run(&mut self) -> Result<(), DocumentFault> {
        let source = self.document.source;
        // Most documents have none of the bytes that such a character begins with.
        let suspicious = |byte| matches!(byte, 0..=8 | 0xb | 0xc | 0xe..=0x1f | 0xef);
        let mut first = source.bytes().filter(|byte| suspicious(*byte));
        if let Some(at) = first.next().and_then(|_| source.find(illegal)) {
            return Err(self.fault(
                at,
                "the text has a character that XML does not allow",
                "remove it",
            ));
        }
        let mut reader = Reader::from_str(source);
        reader.config_mut().enable_all_checks(true);
        loop {
            let start = offset(reader.buffer_position());
            let event = reader.read_event().map_err(|error| {
                let at = offset(reader.error_position()).min(source.len());
                self.not_well_formed(at, &error)
            })?;
            let end = offset(reader.buffer_position());
            let raw = &source[start..end];
            match event {
                Event::Start(_) => self.start(raw, start, false)?,
                Event::Empty(_) => self.start(raw, start, true)?,
                Event::End(_) => self.end(end),
                Event::Text(_) => self.text(lines(raw), start)?,
                Event::CData(_) => {
                    let inner = raw.strip_prefix("<![CDATA[").and_then(|r| r.strip_suffix("]]>"));
                    self.text(lines(inner.unwrap_or_default()), start)?;
                }
                Event::GeneralRef(_) => {
                    let character = attributes::reference(&raw[1..raw.len() - 1])
                        .ok_or_else(|| self.unknown_reference(raw, start))?;
                    self.text(Cow::Owned(character.to_string()), start)?;
                }
                Event::DocType(_) => {
                    return Err(self.fault(
                        start,
                        "a document type (DOCTYPE) is not allowed, because it could refer to \
                         files and entities",
                        "remove the DOCTYPE and replace its entities by characters",
                    ));
                }
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
                Event::Eof => break,
            }
        }
        match self.open.last() {
            Some(&(open, _)) => {
                let node = &self.document.nodes[open as usize];
                Err(self.fault(
                    node.start as usize,
                    format!("the element '{}' is never closed", node.qname),
                    format!("add </{}>", node.qname),
                ))
            }
            None if !self.done => Err(self.fault(
                source.len(),
                "the document has no element",
                "send a qti-assessment-item, -test, -section or -stimulus",
            )),
            None => Ok(()),
        }
    }

    fn start(&mut self, raw: &'x str, start: usize, empty: bool) -> Result<(), DocumentFault> {
        if self.done {
            return Err(self.fault(
                start,
                "the document has a second root element",
                "send one document at a time",
            ));
        }
        if self.open.len() >= QTI_DEPTH_MAX_LEVELS {
            return Err(self.fault(
                start,
                format!("elements are nested deeper than {QTI_DEPTH_MAX_LEVELS}"),
                "flatten the markup",
            ));
        }
        let inner = raw[1..raw.len() - 1].strip_suffix('/').unwrap_or(&raw[1..raw.len() - 1]);
        let length = inner.find(|c: char| c.is_ascii_whitespace()).unwrap_or(inner.len());
        let (qname, rest) = inner.split_at(length);
        if !attributes::is_name(qname) {
            return Err(self.fault(
                start,
                format!("'{qname}' is not a name"),
                "write '<' as &lt; where no element begins",
            ));
        }
        let from = self.document.attributes.len();
        let source = self.document.source;
        let place = start + 1 + length;
        attributes::read(rest, place, &mut self.document.attributes).map_err(
            |(at, what, remedy)| DocumentFault::at(DocumentPlace::of(source, at), what, remedy),
        )?;
        let bound = self.scopes.len();
        for attribute in &self.document.attributes[from..] {
            bind(&mut self.scopes, attribute);
        }
        if self.scopes.len() > QTI_ATTRIBUTES_MAX_COUNT {
            return Err(self.fault(
                start,
                format!(
                    "more than {QTI_ATTRIBUTES_MAX_COUNT} namespaces are declared in its ancestors"
                ),
                "declare each namespace once",
            ));
        }
        let (prefix, local) = qname.split_once(':').unwrap_or(("", qname));
        let space = match self.scopes.iter().rev().find(|(bound, _)| *bound == prefix) {
            Some((_, space)) => *space,
            None if prefix.is_empty() => ElementNamespace::Other,
            None => {
                return Err(self.fault(
                    start,
                    format!("the prefix '{prefix}' has no namespace"),
                    format!("declare it with xmlns:{prefix}=\"…\""),
                ));
            }
        };
        let index = self.push(XmlNode {
            qname: Cow::Borrowed(qname),
            local: place_of(qname.len() - local.len()),
            space,
            id: match space {
                ElementNamespace::Qti3 => schema::id(local),
                ElementNamespace::MathMl if local == "math" => Some(schema::MATH),
                ElementNamespace::Svg if local == "svg" => Some(schema::DRAWING),
                ElementNamespace::Ssml => Some(schema::SSML),
                ElementNamespace::XInclude if local == "include" => Some(schema::INCLUDE),
                _ => None,
            },
            text: Cow::Borrowed(""),
            parent: self.open.last().map_or(NONE, |open| open.0),
            first: NONE,
            next: NONE,
            start: place_of(start),
            end: place_of(start + raw.len()),
            attributes: (place_of(from), place_of(self.document.attributes.len())),
        })?;
        if empty {
            self.scopes.truncate(bound);
            self.done = self.open.is_empty();
        } else {
            self.open.push((index, bound));
            self.last = NONE;
        }
        Ok(())
    }

    fn end(&mut self, end: usize) {
        let (index, bound) = self.open.pop().expect("the tokenizer checks the names of end tags");
        self.document.nodes[index as usize].end = place_of(end);
        self.scopes.truncate(bound);
        self.last = index;
        self.done = self.open.is_empty();
    }

    fn text(&mut self, text: Cow<'x, str>, start: usize) -> Result<(), DocumentFault> {
        let Some(&(parent, _)) = self.open.last() else {
            return match text.trim().is_empty() {
                true => Ok(()),
                false => Err(self.fault(
                    start + (text.len() - text.trim_start().len()),
                    "there is text outside the root element",
                    "remove it",
                )),
            };
        };
        if text.is_empty() {
            return Ok(());
        }
        if let Some(node) = self.document.nodes.get_mut(self.last as usize)
            && node.qname.is_empty()
        {
            node.text.to_mut().push_str(&text);
            return Ok(());
        }
        self.push(XmlNode {
            qname: Cow::Borrowed(""),
            local: 0,
            space: ElementNamespace::Other,
            id: None,
            text,
            parent,
            first: NONE,
            next: NONE,
            start: place_of(start),
            end: 0,
            attributes: (0, 0),
        })?;
        Ok(())
    }

    fn push(&mut self, node: XmlNode<'x>) -> Result<u32, DocumentFault> {
        let index = self.document.nodes.len();
        if index >= QTI_MAX_NODES {
            return Err(self.fault(
                node.start as usize,
                format!("the document has more than {QTI_MAX_NODES} elements and texts"),
                "split it",
            ));
        }
        let index = place_of(index);
        match self.last {
            NONE => {
                if let Some(parent) = self.document.nodes.get_mut(node.parent as usize) {
                    parent.first = index;
                }
            }
            last => self.document.nodes[last as usize].next = index,
        }
        self.last = index;
        self.document.nodes.push(node);
        Ok(index)
    }

    fn fault(
        &self,
        at: usize,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> DocumentFault {
        DocumentFault::at(DocumentPlace::of(self.document.source, at), what, remedy)
    }

    fn unknown_reference(&self, raw: &str, at: usize) -> DocumentFault {
        self.fault(
            at,
            format!("the entity '{raw}' is unknown"),
            "XML has only &lt; &gt; &amp; &quot; &apos;; write other characters themselves or as \
             &#number;",
        )
    }

    fn not_well_formed(&self, at: usize, error: &Error) -> DocumentFault {
        let (what, remedy) = match error {
            Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }) => (
                format!("</{found}> closes the element '{expected}'"),
                format!("write </{expected}> here, or close the inner element first"),
            ),
            Error::IllFormed(IllFormedError::UnmatchedEndTag(found)) => {
                (format!("</{found}> has no opening tag"), "remove it".to_owned())
            }
            Error::IllFormed(IllFormedError::UnclosedReference) => {
                ("an ampersand does not begin an entity".to_owned(), "write it as &amp;".to_owned())
            }
            Error::IllFormed(IllFormedError::DoubleHyphenInComment) => {
                ("a comment contains '--'".to_owned(), "write one hyphen".to_owned())
            }
            other => (format!("not well-formed XML: {other}"), "fix the markup here".to_owned()),
        };
        self.fault(at, what, remedy)
    }
}

fn bind<'x>(scopes: &mut Vec<(&'x str, ElementNamespace)>, attribute: &Attribute<'x>) {
    let Cow::Borrowed(name) = attribute.name else { return };
    match name.strip_prefix("xmlns") {
        Some("") => scopes.push(("", ElementNamespace::of(&attribute.value))),
        Some(rest) => {
            if let Some(prefix) = rest.strip_prefix(':') {
                scopes.push((prefix, ElementNamespace::of(&attribute.value)));
            }
        }
        None => {}
    }
}

fn place_of(offset: usize) -> u32 {
    u32::try_from(offset).expect("the size limit is below 4 GiB")
}

/// XML 1.0, production 2, the other way round.
pub(crate) fn illegal(character: char) -> bool {
    matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// XML 1.0, 2.11: every end of a line is one line feed.
fn lines(text: &str) -> Cow<'_, str> {
    match text.contains('\r') {
        true => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
        false => Cow::Borrowed(text),
    }
}
