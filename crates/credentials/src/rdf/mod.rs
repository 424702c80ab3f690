//! RDF datasets as far as proofs need them: quads, and their canonical text (RDFC-1.0).

mod canonical;

use std::collections::HashMap;

use canonical::Canonical;
pub(crate) use canonical::hex;
use lyceum_core::problem::Result;
use sha2::{Digest, Sha256};

/// A subject, object or name of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GraphTerm {
    /// A blank node, by its number in the dataset.
    Blank(u32),
    /// An IRI or a literal.
    Text(Text),
}

/// An IRI or a literal as N-Quads writes it: a place in the dataset's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    start: u32,
    end: u32,
}

/// A statement. No graph: the default one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quad {
    pub(crate) subject: GraphTerm,
    pub(crate) predicate: Text,
    pub(crate) object: GraphTerm,
    pub(crate) graph: Option<GraphTerm>,
    /// Whether it is of a part of the document that was picked.
    pub(crate) picked: bool,
}

/// Quads, and the text of their terms.
#[derive(Default)]
pub(crate) struct Dataset {
    text: String,
    quads: Vec<Quad>,
    blanks: u32,
    labels: HashMap<String, u32>,
}

impl Dataset {
    /// The term `<iri>`. The IRI must hold no character that N-Quads forbids there.
    pub(crate) fn iri(&mut self, iri: &str) -> Text {
        self.term(|text| {
            text.push('<');
            text.push_str(iri);
            text.push('>');
        })
    }

    /// A literal: its lexical form, and the datatype or the language; neither: a plain string.
    pub(crate) fn literal(&mut self, value: &str, kind: Literal<'_>) -> Text {
        self.term(|text| {
            text.push('"');
            escape(value, text);
            text.push('"');
            match kind {
                Literal::Text => {}
                Literal::Language(tag) => {
                    text.push('@');
                    text.push_str(tag);
                }
                Literal::Typed(iri) => {
                    text.push_str("^^<");
                    text.push_str(iri);
                    text.push('>');
                }
            }
        })
    }

    fn term(&mut self, write: impl FnOnce(&mut String)) -> Text {
        let place = |text: &String| u32::try_from(text.len()).expect("bodies are below 4 GiB");
        let start = place(&self.text);
        write(&mut self.text);
        Text { start, end: place(&self.text) }
    }

    /// A blank node that nothing else names.
    pub(crate) fn blank(&mut self) -> GraphTerm {
        self.blanks += 1;
        GraphTerm::Blank(self.blanks - 1)
    }

    /// The blank node that the document names `_:label`.
    pub(crate) fn labelled(&mut self, label: &str) -> GraphTerm {
        if let Some(number) = self.labels.get(label) {
            return GraphTerm::Blank(*number);
        }
        let node = self.blank();
        self.labels.insert(label.to_owned(), self.blanks - 1);
        node
    }

    /// Adds a statement; one that is there already says nothing new.
    pub(crate) fn add(&mut self, quad: Quad) {
        self.quads.push(quad);
    }

    /// Whether nothing was said.
    pub(crate) fn is_empty(&self) -> bool {
        self.quads.is_empty()
    }

    /// The dataset's canonical N-Quads (RDFC-1.0 with that hash function). Errors: blank nodes that are so
    /// alike that telling them apart takes more work than
    /// [`crate::limits::CANONIZE_MAX_COUNT`].
    pub(crate) fn canonical<D: Digest>(mut self) -> Result<String> {
        self.deduplicate();
        Canonical::<D>::of(&self).map(|canonical| canonical.write())
    }

    /// The dataset's N-Quads in the order of their lines, with other names for the blank nodes. `names` makes
    /// them of the number of blank nodes, in the order of their canonical names; it may refuse.
    /// Errors: as [`Self::canonical`].
    pub(crate) fn renamed<E>(
        mut self,
        names: impl FnOnce(usize) -> Result<Vec<String>, E>,
    ) -> Result<Result<Vec<Line>, E>> {
        self.deduplicate();
        let canonical = Canonical::<Sha256>::of(&self)?;
        Ok(names(canonical.count()).map(|names| {
            let lines = canonical.lines(&names).into_iter();
            lines.map(|(text, quad)| Line { text, is_picked: quad.picked }).collect()
        }))
    }

    fn deduplicate(&mut self) {
        let text = &self.text;
        let key = |quad: &Quad| {
            let part = |node: GraphTerm| match node {
                GraphTerm::Blank(number) => (number, ""),
                GraphTerm::Text(span) => (u32::MAX, &text[span.start as usize..span.end as usize]),
            };
            let graph = quad.graph.map(part);
            (part(quad.subject), part(GraphTerm::Text(quad.predicate)), part(quad.object), graph)
        };
        self.quads.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        self.quads.dedup_by(|again, first| {
            let is_same = key(again) == key(first);
            first.picked |= is_same && again.picked;
            is_same
        });
    }

    /// Writes the quad as a line, blank nodes by the labels given.
    fn line(&self, quad: &Quad, label: &mut impl FnMut(u32, &mut String), out: &mut String) {
        let mut node = |node: GraphTerm, out: &mut String| {
            match node {
                GraphTerm::Blank(number) => label(number, out),
                GraphTerm::Text(span) => out.push_str(self.text(span)),
            }
            out.push(' ');
        };
        node(quad.subject, out);
        node(GraphTerm::Text(quad.predicate), out);
        node(quad.object, out);
        if let Some(graph) = quad.graph {
            node(graph, out);
        }
        out.push_str(".\n");
    }

    fn text(&self, span: Text) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }
}

/// A quad as a line of N-Quads.
pub(crate) struct Line {
    pub(crate) text: String,
    /// Whether it is of a part of the document that was picked.
    pub(crate) is_picked: bool,
}

/// The type of a literal, beside its lexical form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Literal<'a> {
    /// A string.
    Text,
    /// A string in the language; the tag in small letters.
    Language(&'a str),
    /// A value of the datatype.
    Typed(&'a str),
}

/// Canonical N-Quads write these characters as escapes and all others as they are.
fn escape(value: &str, out: &mut String) {
    use std::fmt::Write;

    let mut clean = 0;
    for (at, byte) in value.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0x00..0x20 | 0x7f => "",
            _ => continue,
        };
        out.push_str(&value[clean..at]);
        clean = at + 1;
        match short {
            "" => write!(out, "\\u{byte:04X}").expect("a string takes everything"),
            short => out.push_str(short),
        }
    }
    out.push_str(&value[clean..]);
}
