//! HTML as authors write it (`<br>`, `&nbsp;`, unclosed `<p>`), read into the tree of this crate.
//!
//! html5ever repairs the markup as browsers do. What a browser would drop or what would not survive
//! as XML is a fault at its place, so that no content vanishes. Whether the elements are those of QTI
//! is for validation to say, which counts its places in the HTML.

mod sink;

use std::borrow::Cow;
use std::cell::Cell;

use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink};

use crate::fault::{DocumentFault, DocumentPlace};
use crate::limits::{QTI_ATTRIBUTES_MAX_COUNT, QTI_DEPTH_MAX_LEVELS, QTI_MAX_NODES};
use crate::schema;
use crate::xml::{Attribute, Document, ElementNamespace, Fragment, SVG, is_illegal, is_name};
use sink::{HtmlNode, Namespace, NodeSink};

/// Attributes that are on or off. HTML writes them without a value.
const FLAGS: [&str; 6] = ["autoplay", "controls", "default", "loop", "muted", "open"];

/// Tags that the surroundings already have; browsers drop them from a fragment without a loss.
const SURROUNDINGS: [&str; 3] = ["body", "head", "html"];

/// Reads markup as the inside of the element `container` of QTI 3. Errors: the first thing that would
/// be lost, or more than the limits allow.
pub(crate) fn parse<'x>(markup: &'x str, container: &str) -> Result<Document<'x>, DocumentFault> {
    if let Some(at) = markup.find(is_illegal) {
        let place = DocumentPlace::of(markup, at);
        return Err(DocumentFault::at(
            place,
            "the text has a character that XML does not allow",
            "remove it",
        ));
    }
    let sink = read(markup)?;
    let mut builder =
        HtmlBuilder { markup, sink: &sink, fragment: Fragment::new(markup, container) };
    for child in sink.content() {
        builder.node(child, 1)?;
    }
    Ok(builder.fragment.done())
}

/// Hands the markup to html5ever in pieces that begin with `<` or end behind `>`, so that it is known
/// where each tag begins.
fn read(markup: &str) -> Result<NodeSink, DocumentFault> {
    let sink = NodeSink::default();
    let context = sink.context();
    let builder = TreeBuilder::new_for_fragment(sink, context, None, TreeBuilderOpts::default());
    let reader = TokenWatcher { builder, was_emitted: Cell::new(false) };
    let tokenizer = Tokenizer::new(reader, TokenizerOpts::default());
    let (input, mut end, mut begin) = (BufferQueue::default(), 0, 0);
    for piece in pieces(markup) {
        end += piece.len();
        let sink = &tokenizer.sink.builder.sink;
        sink.place(begin);
        tokenizer.sink.was_emitted.set(false);
        input.push_back(StrTendril::from_slice(piece));
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        if let Some((at, message, remedy)) = sink.fault() {
            return Err(DocumentFault::at(DocumentPlace::of(markup, at), message, remedy));
        }
        if sink.len() > QTI_MAX_NODES || sink.depth() > 2 * QTI_DEPTH_MAX_LEVELS {
            return Err(DocumentFault::at(
                DocumentPlace::of(markup, begin),
                format!(
                    "the markup has more than {QTI_MAX_NODES} elements and texts, or elements \
                     nested deeper than {QTI_DEPTH_MAX_LEVELS}"
                ),
                "split or flatten it",
            ));
        }
        if tokenizer.sink.was_emitted.get() {
            begin = end;
        }
    }
    if markup[begin..].starts_with('<') {
        return Err(DocumentFault::at(
            DocumentPlace::of(markup, begin),
            "a tag or a comment is never closed",
            "close it with '>', or write '<' as &lt; where no tag begins",
        ));
    }
    tokenizer.end();
    Ok(tokenizer.sink.builder.sink.finish())
}

/// The markup cut before each `<` and behind each `>`.
fn pieces(mut rest: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let cut = rest.char_indices().find_map(|(at, character)| match character {
            '<' if at > 0 => Some(at),
            '>' => Some(at + 1),
            _ => None,
        });
        let (piece, after) = rest.split_at(cut.unwrap_or(rest.len()));
        rest = after;
        Some(piece).filter(|piece| !piece.is_empty())
    })
}

/// A layer between tokenizer and tree builder: it notices when a token is complete, and closes elements
/// of QTI that XML would close (`<qti-gap … />`).
struct TokenWatcher {
    builder: TreeBuilder<u32, NodeSink>,
    was_emitted: Cell<bool>,
}

impl TokenSink for TokenWatcher {
    type Handle = u32;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<u32> {
        let begins = match &token {
            Token::ParseError(_) => return self.builder.process_token(token, line),
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                Some((tag.name.clone(), tag.self_closing))
            }
            _ => None,
        };
        self.was_emitted.set(true);
        let before = self.builder.sink.len();
        let result = self.builder.process_token(token, line);
        let Some((name, closes)) = begins else { return result };
        if self.builder.sink.len() == before && !SURROUNDINGS.contains(&&*name) {
            self.builder.sink.lost(
                format!("'{name}' is not allowed here"),
                "remove the tag, or put it where HTML allows it",
            );
        }
        if closes && name.starts_with("qti-") {
            let tag = Tag {
                kind: TagKind::EndTag,
                name,
                self_closing: false,
                attrs: Vec::new(),
                had_duplicate_attributes: false,
            };
            let _ = self.builder.process_token(Token::TagToken(tag), line);
        }
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// From the nodes of the sink to those of a document.
struct HtmlBuilder<'x, 's> {
    markup: &'x str,
    sink: &'s NodeSink,
    fragment: Fragment<'x>,
}

impl HtmlBuilder<'_, '_> {
    fn node(&mut self, index: u32, depth: usize) -> Result<(), DocumentFault> {
        self.sink.with(index, |node| match node {
            HtmlNode::Text { text, start } => {
                if text.contains(is_illegal) {
                    return Err(self.fault(
                        *start,
                        "the text has a character that XML does not allow",
                        "remove it",
                    ));
                }
                self.fragment.text(Cow::Owned(text.clone()), *start);
                Ok(())
            }
            HtmlNode::Element { name, space, attributes, start, children, .. } => {
                if depth > QTI_DEPTH_MAX_LEVELS {
                    let what = format!("elements are nested deeper than {QTI_DEPTH_MAX_LEVELS}");
                    return Err(self.fault(*start, what, "flatten the markup"));
                }
                self.element(name, *space, attributes, *start)?;
                for child in children {
                    self.node(*child, depth + 1)?;
                }
                self.fragment.end();
                Ok(())
            }
            HtmlNode::Left => Ok(()),
        })
    }

    fn element(
        &mut self,
        name: &str,
        namespace: Namespace,
        attributes: &[(String, String)],
        start: usize,
    ) -> Result<(), DocumentFault> {
        if !is_name(name) || name.contains(':') {
            let what = format!("'{name}' is not a name");
            return Err(self.fault(start, what, "write '<' as &lt; where no element begins"));
        }
        if attributes.len() >= QTI_ATTRIBUTES_MAX_COUNT {
            let what = format!("the element has more than {QTI_ATTRIBUTES_MAX_COUNT} attributes");
            return Err(self.fault(start, what, "remove some"));
        }
        let (space, id) = match namespace {
            Namespace::Html => (ElementNamespace::Qti3, schema::id(name)),
            Namespace::MathMl if name == "math" => (ElementNamespace::MathMl, Some(schema::MATH)),
            Namespace::MathMl => (ElementNamespace::MathMl, None),
            Namespace::Svg if name == "svg" => (ElementNamespace::Svg, Some(schema::DRAWING)),
            Namespace::Svg => (ElementNamespace::Svg, None),
            Namespace::Other => (ElementNamespace::Other, None),
        };
        let at = u32::try_from(start).expect("the size limit is below 4 GiB");
        let mut written = Vec::with_capacity(attributes.len() + 1);
        let own_namespace = match id {
            Some(schema::MATH) => Some("http://www.w3.org/1998/Math/MathML"),
            Some(schema::DRAWING) => Some(SVG),
            _ => None,
        };
        written.extend(own_namespace.map(|uri| Attribute {
            name: Cow::Borrowed("xmlns"),
            value: Cow::Borrowed(uri),
            start: at,
        }));
        for (name, value) in attributes {
            // The namespace of an element of HTML is known; another one would make it another element.
            if name == "xmlns" || name.starts_with("xmlns:") {
                continue;
            }
            if !is_name(name) || name.contains(':') && !name.starts_with("xml:") {
                let what = format!("the attribute '{name}' has a name that XML does not allow");
                return Err(self.fault(start, what, "remove it"));
            }
            if value.contains(is_illegal) {
                let what = format!("'{name}' has a character that XML does not allow");
                return Err(self.fault(start, what, "remove it"));
            }
            let is_on = value.is_empty() && FLAGS.contains(&name.as_str());
            let value = if is_on { "true".to_owned() } else { value.clone() };
            written.push(Attribute {
                name: Cow::Owned(name.clone()),
                value: Cow::Owned(value),
                start: at,
            });
        }
        self.fragment.start(name.to_owned(), space, id, written, start);
        Ok(())
    }

    fn fault(
        &self,
        at: usize,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> DocumentFault {
        DocumentFault::at(DocumentPlace::of(self.markup, at), what, remedy)
    }
}
