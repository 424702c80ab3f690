//! The nodes that html5ever makes.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace as Uri, QualName, local_name, ns};

/// The vocabulary of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespace {
    Html,
    MathMl,
    Svg,
    Other,
}

/// A node, by its number.
pub(super) enum HtmlNode {
    Element {
        name: String,
        space: Namespace,
        attributes: Vec<(String, String)>,
        /// Where its tag begins, in bytes of the markup.
        start: usize,
        children: Vec<u32>,
        qualified: QualName,
    },
    Text {
        text: String,
        start: usize,
    },
    /// The document, a comment: nothing that is kept.
    Left,
}

/// Where something is in the markup, what is wrong with it, and what to do.
type MarkupError = (usize, String, &'static str);

/// Takes the nodes. Node 0 is the document, node 1 the element around the markup.
#[derive(Default)]
pub(super) struct NodeSink {
    nodes: RefCell<Vec<HtmlNode>>,
    parents: RefCell<Vec<Option<u32>>>,
    depths: RefCell<Vec<usize>>,
    /// Children of the document.
    roots: RefCell<Vec<u32>>,
    /// Where the present token begins.
    begin: Cell<usize>,
    deepest: Cell<usize>,
    lost: RefCell<Option<MarkupError>>,
}

/// The name of an element, by itself.
#[derive(Debug)]
pub(super) struct HtmlName(QualName);

impl ElemName for HtmlName {
    fn ns(&self) -> &Uri {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl NodeSink {
    /// Makes the document and the element that the markup is read as the inside of.
    pub(super) fn context(&self) -> u32 {
        self.push(HtmlNode::Left);
        self.create_element(
            QualName::new(None, ns!(html), local_name!("div")),
            Vec::new(),
            ElementFlags::default(),
        )
    }

    /// Says where the next token begins.
    pub(super) fn place(&self, begin: usize) {
        self.begin.set(begin);
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.borrow().len()
    }

    /// The maximum depth of elements.
    pub(super) fn depth(&self) -> usize {
        self.deepest.get()
    }

    /// Notes that the present token would vanish; the first one counts.
    pub(super) fn lost(&self, what: String, remedy: &'static str) {
        let at = self.begin.get();
        self.lost.borrow_mut().get_or_insert((at, what, remedy));
    }

    /// The markup that would be lost.
    pub(super) fn fault(&self) -> Option<MarkupError> {
        self.lost.borrow().clone()
    }

    /// The nodes of the markup.
    pub(super) fn content(&self) -> Vec<u32> {
        // The parser puts one element around a fragment.
        let roots = self.roots.borrow();
        let nodes = self.nodes.borrow();
        let inside = |root: &u32| match &nodes[*root as usize] {
            HtmlNode::Element { children, .. } => children.clone(),
            _ => Vec::new(),
        };
        roots.iter().flat_map(inside).collect()
    }

    pub(super) fn with<T>(&self, index: u32, read: impl FnOnce(&HtmlNode) -> T) -> T {
        read(&self.nodes.borrow()[index as usize])
    }

    fn push(&self, node: HtmlNode) -> u32 {
        let mut nodes = self.nodes.borrow_mut();
        let index = u32::try_from(nodes.len()).expect("the node limit is below 2^32");
        nodes.push(node);
        self.parents.borrow_mut().push(None);
        self.depths.borrow_mut().push(0);
        index
    }

    /// Puts a node or a text among the children of an element.
    fn insert(&self, parent: u32, at: Option<usize>, child: NodeOrText<u32>) {
        let child = match child {
            NodeOrText::AppendNode(child) => {
                self.remove_from_parent(&child);
                child
            }
            NodeOrText::AppendText(text) => {
                let before = self.children(parent, |children| {
                    let at = at.unwrap_or(children.len());
                    at.checked_sub(1).map(|before| children[before])
                });
                let mut nodes = self.nodes.borrow_mut();
                if let Some(before) = before
                    && let HtmlNode::Text { text: own, .. } = &mut nodes[before as usize]
                {
                    own.push_str(&text);
                    return;
                }
                drop(nodes);
                self.push(HtmlNode::Text { text: text.to_string(), start: self.begin.get() })
            }
        };
        self.parents.borrow_mut()[child as usize] = Some(parent);
        let mut depths = self.depths.borrow_mut();
        let depth = depths[parent as usize] + 1;
        depths[child as usize] = depth;
        self.deepest.set(self.deepest.get().max(depth));
        drop(depths);
        self.children(parent, |children| match at {
            Some(at) => children.insert(at, child),
            None => children.push(child),
        });
    }

    fn children<T>(&self, parent: u32, change: impl FnOnce(&mut Vec<u32>) -> T) -> T {
        match &mut self.nodes.borrow_mut()[parent as usize] {
            HtmlNode::Element { children, .. } => change(children),
            _ => change(&mut self.roots.borrow_mut()),
        }
    }
}

impl TreeSink for NodeSink {
    type Handle = u32;
    type Output = Self;
    type ElemName<'a> = HtmlName;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> u32 {
        0
    }

    fn elem_name<'a>(&'a self, target: &'a u32) -> HtmlName {
        match &self.nodes.borrow()[*target as usize] {
            HtmlNode::Element { qualified, .. } => HtmlName(qualified.clone()),
            _ => HtmlName(QualName::new(None, ns!(), LocalName::from(""))),
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> u32 {
        let written = |attribute: Attribute| {
            let name = match &attribute.name.prefix {
                Some(prefix) if !prefix.is_empty() => {
                    format!("{prefix}:{}", attribute.name.local)
                }
                _ => attribute.name.local.to_string(),
            };
            (name, attribute.value.to_string())
        };
        self.push(HtmlNode::Element {
            name: name.local.to_string(),
            space: match name.ns {
                ns!(html) => Namespace::Html,
                ns!(mathml) => Namespace::MathMl,
                ns!(svg) => Namespace::Svg,
                _ => Namespace::Other,
            },
            attributes: attributes.into_iter().map(written).collect(),
            start: self.begin.get(),
            children: Vec::new(),
            qualified: name,
        })
    }

    fn create_comment(&self, text: StrTendril) -> u32 {
        // HTML takes these for comments.
        if text.starts_with("[CDATA[") || text.starts_with('?') {
            self.lost(
                "HTML does not allow CDATA sections and processing instructions".to_owned(),
                "write text with &lt; and &amp;, or well-formed XML",
            );
        }
        self.push(HtmlNode::Left)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> u32 {
        self.push(HtmlNode::Left)
    }

    fn append(&self, parent: &u32, child: NodeOrText<u32>) {
        self.insert(*parent, None, child);
    }

    fn append_based_on_parent_node(&self, element: &u32, previous: &u32, child: NodeOrText<u32>) {
        let has_parent = self.parents.borrow()[*element as usize].is_some();
        match has_parent {
            true => self.append_before_sibling(element, child),
            false => self.append(previous, child),
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &u32) -> u32 {
        *target
    }

    fn same_node(&self, x: &u32, y: &u32) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &u32, child: NodeOrText<u32>) {
        if let NodeOrText::AppendNode(child) = &child {
            self.remove_from_parent(child);
        }
        let Some(parent) = self.parents.borrow()[*sibling as usize] else { return };
        let at = self.children(parent, |all| all.iter().rposition(|other| other == sibling));
        self.insert(parent, at, child);
    }

    fn add_attrs_if_missing(&self, _: &u32, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, target: &u32) {
        let parent = self.parents.borrow_mut()[*target as usize].take();
        if let Some(parent) = parent {
            self.children(parent, |all| {
                if let Some(at) = all.iter().rposition(|other| other == target) {
                    all.remove(at);
                }
            });
        }
    }

    fn reparent_children(&self, node: &u32, new_parent: &u32) {
        let moved = self.children(*node, std::mem::take);
        for child in moved {
            self.parents.borrow_mut()[child as usize] = None;
            self.insert(*new_parent, None, NodeOrText::AppendNode(child));
        }
    }
}
