//! Builds a document node by node from markup that is not XML.

use std::borrow::Cow;

use super::{Attribute, Document, ElementNamespace, NONE, XmlNode};
use crate::schema::{self, ElementId};

/// The inside of an element of QTI 3, under construction. Places count in the markup.
pub(crate) struct Fragment<'x> {
    document: Document<'x>,
    /// The open elements, each with its last child.
    open: Vec<(u32, u32)>,
}

impl<'x> Fragment<'x> {
    /// Begins with the element around the markup, which has no attributes.
    pub(crate) fn new(markup: &'x str, container: &str) -> Self {
        let lines = markup.match_indices('\n').map(|(at, _)| place_of(at + 1)).collect();
        let document = Document {
            source: markup,
            nodes: Vec::new(),
            attributes: Vec::new(),
            lines,
            losses: Vec::new(),
        };
        let mut fragment = Self { document, open: Vec::new() };
        let id = schema::id(container);
        fragment.start(container.to_owned(), ElementNamespace::Qti3, id, Vec::new(), 0);
        fragment
    }

    /// Opens an element.
    pub(crate) fn start(
        &mut self,
        name: String,
        space: ElementNamespace,
        id: Option<ElementId>,
        attributes: Vec<Attribute<'x>>,
        start: usize,
    ) {
        let from = place_of(self.document.attributes.len());
        self.document.attributes.extend(attributes);
        let attributes = (from, place_of(self.document.attributes.len()));
        let index = self.push(XmlNode {
            qname: Cow::Owned(name),
            local: 0,
            space,
            id,
            text: Cow::Borrowed(""),
            parent: self.open.last().map_or(NONE, |(parent, _)| *parent),
            first: NONE,
            next: NONE,
            start: place_of(start),
            end: place_of(self.document.source.len()),
            attributes,
        });
        self.open.push((index, NONE));
    }

    /// Adds a text to the innermost open element.
    pub(crate) fn text(&mut self, text: Cow<'x, str>, start: usize) {
        self.push(XmlNode {
            qname: Cow::Borrowed(""),
            local: 0,
            space: ElementNamespace::Other,
            id: None,
            text,
            parent: self.open.last().map_or(NONE, |(parent, _)| *parent),
            first: NONE,
            next: NONE,
            start: place_of(start),
            end: 0,
            attributes: (0, 0),
        });
    }

    /// Closes the innermost open element.
    pub(crate) fn end(&mut self) {
        self.open.pop();
    }

    /// The document whose root is the element around the markup.
    pub(crate) fn done(self) -> Document<'x> {
        self.document
    }

    fn push(&mut self, node: XmlNode<'x>) -> u32 {
        let index = place_of(self.document.nodes.len());
        if let Some((parent, last)) = self.open.last_mut() {
            match self.document.nodes.get_mut(*last as usize) {
                Some(before) => before.next = index,
                None => self.document.nodes[*parent as usize].first = index,
            }
            *last = index;
        }
        self.document.nodes.push(node);
        index
    }
}

fn place_of(offset: usize) -> u32 {
    u32::try_from(offset).expect("the size limit is below 4 GiB")
}
