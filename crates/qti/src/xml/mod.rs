//! An XML tree in one vector. Every node knows its place in the source.
//! No document type, no entities but the five predefined ones, nothing that reaches outside.

mod attributes;
mod build;
mod fragment;
mod write;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

pub(crate) use attributes::is_name;
pub(crate) use build::illegal as is_illegal;
pub(crate) use fragment::Fragment;
pub(crate) use write::{WriteMode, escape, write, write_children};

use crate::fault::{DocumentFault, DocumentPlace};
use crate::schema::{self, ElementId};

/// The namespace that QTI 2.2 gives the elements of HTML 5.
pub(crate) const QTI2_HTML: &str = "http://www.imsglobal.org/xsd/imsqtiv2p2_html5_v1p0";

/// The namespace of SVG.
pub(crate) const SVG: &str = "http://www.w3.org/2000/svg";

/// No node.
const NONE: u32 = u32::MAX;

/// The namespace of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementNamespace {
    /// QTI 3.0, which holds HTML too.
    Qti3,
    /// QTI 2.1 or 2.2.
    Qti2(OlderVersion),
    MathMl,
    Svg,
    Ssml,
    XInclude,
    /// The namespace of a content package's manifest, of an extension, or none.
    Other,
}

/// An older version of QTI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OlderVersion {
    One,
    Two,
}

impl ElementNamespace {
    /// The vocabulary of a namespace.
    pub(crate) fn of(uri: &str) -> Self {
        match uri {
            "http://www.imsglobal.org/xsd/imsqtiasi_v3p0" => Self::Qti3,
            "http://www.imsglobal.org/xsd/imsqti_v2p2" | QTI2_HTML => Self::Qti2(OlderVersion::Two),
            "http://www.imsglobal.org/xsd/imsqti_v2p1" => Self::Qti2(OlderVersion::One),
            "http://www.w3.org/1998/Math/MathML" => Self::MathMl,
            SVG => Self::Svg,
            "http://www.w3.org/2010/10/synthesis" | "http://www.w3.org/2001/10/synthesis" => {
                Self::Ssml
            }
            "http://www.w3.org/2001/XInclude" => Self::XInclude,
            _ => Self::Other,
        }
    }
}

/// A document: its nodes in the order of the source, the root first.
pub(crate) struct Document<'x> {
    source: &'x str,
    nodes: Vec<XmlNode<'x>>,
    attributes: Vec<Attribute<'x>>,
    /// Where each line but the first begins.
    lines: Vec<u32>,
    /// The warnings about parts that an older document lost in the conversion to QTI 3.
    losses: Vec<DocumentFault>,
}

struct XmlNode<'x> {
    /// The name as it stands, prefix included; empty for text.
    qname: Cow<'x, str>,
    /// Where in it the name without its prefix begins.
    local: u32,
    space: ElementNamespace,
    id: Option<ElementId>,
    text: Cow<'x, str>,
    parent: u32,
    first: u32,
    next: u32,
    /// Where it begins, in bytes.
    start: u32,
    /// Where an element ends, in bytes; 0 for a text.
    end: u32,
    attributes: (u32, u32),
}

/// An attribute with its value, references resolved and white space normalised.
#[derive(Clone, Debug)]
pub(crate) struct Attribute<'x> {
    pub(crate) name: Cow<'x, str>,
    pub(crate) value: Cow<'x, str>,
    pub(crate) start: u32,
}

/// An element of a document.
#[derive(Clone, Copy)]
pub(crate) struct Element<'d> {
    document: &'d Document<'d>,
    index: u32,
}

/// A child: an element or the text between two tags.
#[derive(Clone, Copy)]
pub(crate) enum ChildNode<'d> {
    Element(Element<'d>),
    Text(&'d str, u32),
}

impl<'x> Document<'x> {
    /// Reads a text. Errors: one fault, at the first place where it is not well-formed or is
    /// larger than the limits allow.
    pub(crate) fn parse(source: &'x str) -> Result<Self, DocumentFault> {
        build::build(source)
    }

    /// The text that places count in: as it was given, without a byte order mark.
    pub(crate) fn source(&self) -> &'x str {
        self.source
    }

    pub(crate) fn losses(&self) -> &[DocumentFault] {
        &self.losses
    }

    pub(crate) fn root(&self) -> Element<'_> {
        Element { document: self, index: 0 }
    }

    /// The line of a place in bytes, from 1.
    pub(crate) fn line(&self, start: u32) -> u32 {
        let line = self.lines.partition_point(|begins| *begins <= start) + 1;
        u32::try_from(line).expect("the size limit is below 4 GiB")
    }

    /// Line and column, from 1, of a place in bytes; the column counts characters.
    pub(crate) fn place(&self, start: u32) -> DocumentPlace {
        DocumentPlace::of(self.source, start as usize)
    }
}

/// Whether text inside the element of SVG is text that a reader sees or hears.
pub(crate) fn is_svg_text(name: &str) -> bool {
    matches!(name, "desc" | "text" | "title" | "tspan")
}

impl<'d> Element<'d> {
    fn node(self) -> &'d XmlNode<'d> {
        &self.document.nodes[self.index as usize]
    }

    /// The number of its node, by which a document is changed.
    pub(crate) fn index(self) -> u32 {
        self.index
    }

    pub(crate) fn document(self) -> &'d Document<'d> {
        self.document
    }

    /// The name as written in the source.
    pub(crate) fn qname(self) -> &'d str {
        &self.node().qname
    }

    /// The name without its prefix.
    pub(crate) fn name(self) -> &'d str {
        &self.qname()[self.node().local as usize..]
    }

    pub(crate) fn space(self) -> ElementNamespace {
        self.node().space
    }

    /// Its row in the schema; `None` if the schema does not have it.
    pub(crate) fn id(self) -> Option<ElementId> {
        self.node().id
    }

    /// Whether it is the element of QTI 3 with that name.
    pub(crate) fn is(self, name: &str) -> bool {
        self.space() == ElementNamespace::Qti3 && self.name() == name
    }

    pub(crate) fn start(self) -> u32 {
        self.node().start
    }

    /// The range of its text in the source, including its tags.
    pub(crate) fn range(self) -> Range<usize> {
        self.node().start as usize..self.node().end as usize
    }

    pub(crate) fn place(self) -> DocumentPlace {
        self.document.place(self.start())
    }

    pub(crate) fn attributes(self) -> &'d [Attribute<'d>] {
        let (from, to) = self.node().attributes;
        &self.document.attributes[from as usize..to as usize]
    }

    pub(crate) fn attribute(self, name: &str) -> Option<&'d str> {
        self.attributes().iter().find(|a| a.name == name).map(|a| &*a.value)
    }

    pub(crate) fn parent(self) -> Option<Self> {
        let parent = self.node().parent;
        (parent != NONE).then_some(Self { index: parent, ..self })
    }

    pub(crate) fn children(self) -> impl Iterator<Item = ChildNode<'d>> {
        let mut next = self.node().first;
        std::iter::from_fn(move || {
            let node = self.document.nodes.get(next as usize)?;
            let here = Self { index: next, ..self };
            next = node.next;
            Some(match node.qname.is_empty() {
                true => ChildNode::Text(&node.text, node.start),
                false => ChildNode::Element(here),
            })
        })
    }

    pub(crate) fn elements(self) -> impl Iterator<Item = Self> {
        self.children().filter_map(|child| match child {
            ChildNode::Element(element) => Some(element),
            ChildNode::Text(..) => None,
        })
    }

    /// The child elements with that name.
    pub(crate) fn all(self, name: &'d str) -> impl Iterator<Item = Self> {
        self.elements().filter(move |e| e.is(name))
    }

    pub(crate) fn first(self, name: &str) -> Option<Self> {
        self.elements().find(|e| e.is(name))
    }

    /// Itself and every element below it, in the order of the source.
    pub(crate) fn descendants(self) -> impl Iterator<Item = Self> {
        let mut next = Some(self);
        std::iter::from_fn(move || {
            let here = next?;
            next = here.elements().next().or_else(|| here.after(self));
            Some(here)
        })
    }

    /// The next element in the order of the source that is not below this one.
    fn after(self, top: Self) -> Option<Self> {
        let mut here = self;
        while here.index != top.index {
            let mut next = here.node().next;
            while let Some(node) = self.document.nodes.get(next as usize) {
                if !node.qname.is_empty() {
                    return Some(Self { index: next, ..self });
                }
                next = node.next;
            }
            here = here.parent()?;
        }
        None
    }

    /// The text directly inside it.
    pub(crate) fn text(self) -> Cow<'d, str> {
        let mut texts = self.children().filter_map(|child| match child {
            ChildNode::Text(text, _) => Some(text),
            ChildNode::Element(_) => None,
        });
        let first = texts.next().unwrap_or_default();
        match texts.next() {
            None => Cow::Borrowed(first),
            Some(second) => Cow::Owned([first, second].into_iter().chain(texts).collect()),
        }
    }

    /// The text inside it at any depth, as a reader sees it.
    pub(crate) fn deep_text(self) -> String {
        fn collect(element: Element<'_>, text: &mut String) {
            let is_drawing = element.space() == ElementNamespace::Svg;
            for child in element.children() {
                match child {
                    // A drawing also has styles, and data of the program that drew it.
                    ChildNode::Text(..) if is_drawing && !is_svg_text(element.name()) => {}
                    ChildNode::Text(more, _) => text.push_str(more),
                    ChildNode::Element(inner)
                        if is_drawing
                            && (inner.space() != ElementNamespace::Svg
                                || inner.name() == "defs") => {}
                    // What says something of its own is read by itself; texts of nested ones
                    // would grow with their depth.
                    ChildNode::Element(inner) if inner.speaks_for_itself() => {}
                    ChildNode::Element(inner) => collect(inner, text),
                }
            }
        }
        let mut text = String::new();
        collect(self, &mut text);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether its text belongs to it alone and not to what it stands in: choices, feedback,
    /// interactions, rubrics.
    pub(crate) fn speaks_for_itself(self) -> bool {
        let name = self.name();
        name.starts_with("qti-")
            && (name.ends_with("-interaction")
                || name == "qti-rubric-block"
                || self.attribute("identifier").is_some())
    }

    /// Where it stands: names from the root down, numbered where a name comes again.
    pub(crate) fn path(self) -> String {
        let Some(parent) = self.parent() else { return format!("/{}", self.qname()) };
        let alike: Vec<_> = parent.elements().filter(|e| e.qname() == self.qname()).collect();
        let path = format!("{}/{}", parent.path(), self.qname());
        match alike.iter().position(|e| e.index == self.index) {
            Some(at) if alike.len() > 1 => format!("{path}[{}]", at + 1),
            _ => path,
        }
    }
}

/// Changes that turn an older document into one of QTI 3; places stay those of the source.
impl<'x> Document<'x> {
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.nodes.len()).expect("the node limit is below 2^32")
    }

    pub(crate) fn element(&self, index: u32) -> Option<Element<'_>> {
        (!self.nodes[index as usize].qname.is_empty()).then_some(Element { document: self, index })
    }

    /// Notes what the document loses.
    pub(crate) fn lose(&mut self, losses: Vec<DocumentFault>) {
        self.losses = losses;
    }

    /// Takes an element out.
    pub(crate) fn remove(&mut self, index: u32) {
        let XmlNode { parent, next, .. } = self.nodes[index as usize];
        let Some(above) = self.nodes.get_mut(parent as usize) else { return };
        if above.first == index {
            above.first = next;
            return;
        }
        let mut before = above.first;
        while let Some(node) = self.nodes.get_mut(before as usize) {
            if node.next == index {
                node.next = next;
                return;
            }
            before = node.next;
        }
    }

    /// Gives an element another name in the vocabulary of QTI 3.
    pub(crate) fn rename(&mut self, index: u32, name: Cow<'x, str>) {
        let node = &mut self.nodes[index as usize];
        node.id = schema::id(&name);
        node.space = ElementNamespace::Qti3;
        node.local = 0;
        node.qname = name;
    }

    /// Gives an element other attributes.
    pub(crate) fn set_attributes(&mut self, index: u32, attributes: Vec<Attribute<'x>>) {
        let count = |length: usize| u32::try_from(length).expect("attributes are below 2^32");
        let from = count(self.attributes.len());
        self.attributes.extend(attributes);
        self.nodes[index as usize].attributes = (from, count(self.attributes.len()));
    }

    /// Puts the children `shown` of an element where its children `places` stand, in that order. Both
    /// name the same children.
    pub(crate) fn put_children(&mut self, parent: u32, places: &[u32], shown: &[u32]) {
        let moves: HashMap<u32, u32> = places.iter().copied().zip(shown.iter().copied()).collect();
        let mut children = Vec::new();
        let mut child = self.nodes[parent as usize].first;
        while let Some(node) = self.nodes.get(child as usize) {
            children.push(moves.get(&child).copied().unwrap_or(child));
            child = node.next;
        }
        for (at, child) in children.iter().enumerate() {
            self.nodes[*child as usize].next = children.get(at + 1).copied().unwrap_or(NONE);
        }
        if let Some(first) = children.first() {
            self.nodes[parent as usize].first = *first;
        }
    }

    /// Puts the children of an element, from the first that is not named in `but`, into a new
    /// element between.
    pub(crate) fn wrap(&mut self, index: u32, name: &'static str, but: &[&str]) {
        let wrapper = self.len();
        let start = self.nodes[index as usize].start;
        let (mut before, mut child) = (NONE, self.nodes[index as usize].first);
        while let Some(node) = self.nodes.get(child as usize) {
            let stays = match node.qname.is_empty() {
                true => node.text.trim().is_empty(),
                false => but.contains(&&*node.qname),
            };
            if !stays {
                break;
            }
            (before, child) = (child, node.next);
        }
        let first = child;
        while child != NONE {
            let node = &mut self.nodes[child as usize];
            node.parent = wrapper;
            child = node.next;
        }
        self.nodes.push(XmlNode {
            qname: Cow::Borrowed(name),
            local: 0,
            space: ElementNamespace::Qti3,
            id: schema::id(name),
            text: Cow::Borrowed(""),
            parent: index,
            first,
            next: NONE,
            start,
            end: self.nodes[index as usize].end,
            attributes: (0, 0),
        });
        match before {
            NONE => self.nodes[index as usize].first = wrapper,
            before => self.nodes[before as usize].next = wrapper,
        }
    }
}
