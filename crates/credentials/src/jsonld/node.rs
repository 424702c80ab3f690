//! Turns node objects into quads: expansion (JSON-LD 1.1 API, 5.1), node map generation (7.2) and deserialization to
//! RDF (8.1) in one pass.
//!
//! Each statement has only one accepted notation: keys are terms, and `id` and `type` must be used instead of `@id`
//! and `@type` if the contexts define them. Otherwise, an attacker could rewrite a signed credential so that its
//! proof still fits, but a reader of the JSON no longer finds, for example, its status.

use std::sync::Arc;

use lyceum_core::message;
use lyceum_core::problem::{Problem, Result};
use serde_json::{Map, Value};

use super::context::{Coercion, Context, Iri, Scope, Term};
use super::local::Container;
use super::{Path, Pick, embedded, literal};
use crate::rdf::{Dataset, GraphTerm, Literal, Quad, Text};

const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const FIRST: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#first";
const REST: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#rest";
const NIL: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#nil";

type Object = Map<String, Value>;

/// Writes the statements of a document into a dataset.
pub(super) struct Expander<'a> {
    pub(super) data: &'a mut Dataset,
}

/// The place of a value: its context, its term, its graph, and what is picked of it.
#[derive(Clone, Copy)]
pub(super) struct NodePosition<'a> {
    pub(super) context: &'a Arc<Context>,
    pub(super) term: Option<&'a Term>,
    pub(super) graph: Option<GraphTerm>,
    pub(super) pick: Pick<'a>,
}

impl Expander<'_> {
    /// Writes the statements of a node object. Returns its IRI or blank node.
    pub(super) fn node(
        &mut self,
        object: &Object,
        at: NodePosition<'_>,
        path: &Path<'_>,
    ) -> Result<GraphTerm> {
        let before = context_of(object, at, path)?;
        let context = typed(object, &before, path)?;
        let subject = self.subject(object, &context, path)?;
        let (graph, picked) = (at.graph, at.pick.selects_any());
        for (key, value) in object.iter().filter(|(key, _)| *key != "@context") {
            let path = &Path::Key(path, key);
            match context.expand(key) {
                Some(Iri::Whole("@id")) => {}
                Some(Iri::Whole("@type")) => {
                    for kind in strings(value, path)? {
                        let iri = before.expand(kind);
                        if before.term(kind).is_none() && iri.is_some_and(|iri| before.names(iri)) {
                            return Err(
                                path.fault(message!("'{kind}' must be written as its term"))
                            );
                        }
                        let object = self.reference(iri, kind, path)?;
                        let predicate = self.data.iri(TYPE);
                        self.data.add(Quad { subject, predicate, object, graph, picked });
                    }
                }
                _ => {
                    let term = context.term(key).ok_or_else(|| {
                        path.fault(message!(
                            "no context defines the term '{key}', so a signature \
                             would not cover it; remove it or name a context that defines it"
                        ))
                    })?;
                    let predicate = self.data.iri(&term.iri);
                    let pick = at.pick.member(key);
                    let at = NodePosition { context: &context, term: Some(term), graph, pick };
                    self.property((subject, predicate), value, at, path)?;
                }
            }
        }
        Ok(subject)
    }

    fn subject(
        &mut self,
        object: &Object,
        context: &Context,
        path: &Path<'_>,
    ) -> Result<GraphTerm> {
        let mut ids = object.iter().filter(|(key, _)| stands_for(context, key, "@id"));
        let Some((key, value)) = ids.next() else { return Ok(self.data.blank()) };
        let path = &Path::Key(path, key);
        match (value, ids.next()) {
            (Value::String(id), None) => self.reference(context.expand_iri(id), id, path),
            (_, None) => Err(path.fault("an id must be a string")),
            (_, Some(_)) => Err(path.fault("the node has two ids; remove one")),
        }
    }

    /// The node with an IRI or label. Errors: the name is not absolute, or contains characters that are not allowed
    /// in an IRI.
    fn reference(
        &mut self,
        iri: Option<Iri<'_>>,
        name: &str,
        path: &Path<'_>,
    ) -> Result<GraphTerm> {
        let iri = match iri {
            Some(Iri::Whole(iri)) if !iri.starts_with('@') => iri,
            Some(Iri::Compact(prefix, suffix)) => {
                return Err(path.fault(message!("write '{name}' as '{prefix}{suffix}'")));
            }
            _ => {
                return Err(path.fault(message!(
                    "'{name}' is neither a term of the contexts nor an absolute IRI"
                )));
            }
        };
        match iri.strip_prefix("_:") {
            Some(label) if is_label(label) => Ok(self.data.labelled(label)),
            None if is_iri(iri) => Ok(GraphTerm::Text(self.data.iri(iri))),
            _ => {
                Err(path
                    .fault(message!("'{name}' contains characters that are not allowed in an IRI")))
            }
        }
    }

    /// Writes the statements of one key.
    fn property(
        &mut self,
        (subject, predicate): (GraphTerm, Text),
        value: &Value,
        at: NodePosition<'_>,
        path: &Path<'_>,
    ) -> Result<()> {
        let quad = |object, pick: Pick<'_>| {
            let picked = pick.selects_any();
            Quad { subject, predicate, object, graph: at.graph, picked }
        };
        if at.term.is_some_and(|term| term.coercion == Coercion::Json) {
            check_whole(at.pick, path)?;
            let object = self.json(value, path)?;
            self.data.add(quad(object, at.pick));
            return Ok(());
        }
        let container = at.term.map(|term| term.container).unwrap_or_default();
        if container == Container::List && !value.is_null() {
            check_whole(at.pick, path)?;
            let object = self.list(value, at, path)?;
            self.data.add(quad(object, at.pick));
            return Ok(());
        }
        each(value, at.pick, path, &mut |value, pick, path| {
            let at = NodePosition { pick, ..at };
            let object = match container {
                Container::Graph => self.named_graph(value, at, path)?,
                Container::List | Container::Set | Container::None => {
                    self.value(value, at, path)?
                }
            };
            if let Some(object) = object {
                self.data.add(quad(object, pick));
            }
            Ok(())
        })
    }

    /// Writes a value that has its own graph. Returns the graph's blank node.
    fn named_graph(
        &mut self,
        value: &Value,
        at: NodePosition<'_>,
        path: &Path<'_>,
    ) -> Result<Option<GraphTerm>> {
        match value {
            Value::Null => Ok(None),
            Value::Object(object)
                if !object.is_empty()
                    && !is_reference(object, at.context)
                    && !object.contains_key("@value") =>
            {
                let graph = self.data.blank();
                self.node(object, NodePosition { graph: Some(graph), ..at }, path)?;
                Ok(Some(graph))
            }
            _ => Err(path.fault("must be an object with members")),
        }
    }

    /// Writes a single value. `None` for null, which makes no statement.
    fn value(
        &mut self,
        value: &Value,
        at: NodePosition<'_>,
        path: &Path<'_>,
    ) -> Result<Option<GraphTerm>> {
        let coercion = at.term.map_or(&Coercion::None, |term| &term.coercion);
        match (value, coercion) {
            (Value::Null, _) => Ok(None),
            (Value::Object(object), _) => match first_keyword(object) {
                Some("@value") => {
                    check_whole(at.pick, path)?;
                    self.value_object(object, at, path).map(Some)
                }
                Some(keyword) => Err(path.fault(message!(
                    "write the members without {keyword}, because the term defines their container"
                ))),
                None => self.node(object, at, path).map(Some),
            },
            (_, _) if !at.pick.is_whole() => Err(partly(path)),
            (Value::String(text), Coercion::Id) => {
                self.reference(scoped(at, path)?.expand_iri(text), text, path).map(Some)
            }
            (Value::String(text), Coercion::Vocab) => {
                self.reference(scoped(at, path)?.expand(text), text, path).map(Some)
            }
            (value, Coercion::Datatype(datatype)) => {
                self.literal(value, Some(datatype), path).map(Some)
            }
            (value, _) => self.literal(value, None, path).map(Some),
        }
    }

    /// Writes `{"@value": …}` with `@type` or `@language`.
    fn value_object(
        &mut self,
        object: &Object,
        at: NodePosition<'_>,
        path: &Path<'_>,
    ) -> Result<GraphTerm> {
        let context = scoped(at, path)?;
        let (mut kind, mut language) = (None, None);
        for (key, value) in object.iter().filter(|(key, _)| *key != "@value") {
            let path = &Path::Key(path, key);
            let place = match key.as_str() {
                "@language" => &mut language,
                "@type" => &mut kind,
                _ => {
                    return Err(path
                        .fault("an object with @value may only have @type or @language besides"));
                }
            };
            match value {
                Value::String(text) if place.is_none() => *place = Some(text.as_str()),
                _ => return Err(path.fault("must be a string")),
            }
        }
        let value = &object["@value"];
        let path = &Path::Key(path, "@value");
        match (kind, language, value) {
            (Some("@json"), None, value) => self.json(value, path),
            (Some(kind), None, Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
                let GraphTerm::Text(_) = self.reference(context.expand(kind), kind, path)? else {
                    return Err(path.fault("a blank node cannot be a datatype"));
                };
                let datatype = context.term(kind).map_or(kind, |term| &term.iri);
                self.literal(value, Some(datatype), path)
            }
            (None, Some(tag), Value::String(text)) => {
                let tag = tag.to_ascii_lowercase();
                match literal::is_language(&tag) {
                    true => Ok(GraphTerm::Text(self.data.literal(text, Literal::Language(&tag)))),
                    false => Err(path.fault(message!("'{tag}' is not a language tag"))),
                }
            }
            (None, None, Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
                self.literal(value, None, path)
            }
            _ => Err(path.fault("the value does not match its @type or @language")),
        }
    }

    fn list(&mut self, value: &Value, at: NodePosition<'_>, path: &Path<'_>) -> Result<GraphTerm> {
        let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        let mut members = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let path = &Path::Index(path, index);
            match item {
                Value::Array(_) => members.push(self.list(item, at, path)?),
                item => members.extend(self.value(item, at, path)?),
            }
        }
        let (first, rest) = (self.data.iri(FIRST), self.data.iri(REST));
        let nil = GraphTerm::Text(self.data.iri(NIL));
        Ok(members.into_iter().rev().fold(nil, |tail, member| {
            let subject = self.data.blank();
            let (graph, picked) = (at.graph, at.pick.selects_any());
            self.data.add(Quad { subject, predicate: first, object: member, graph, picked });
            self.data.add(Quad { subject, predicate: rest, object: tail, graph, picked });
            subject
        }))
    }

    fn literal(
        &mut self,
        value: &Value,
        datatype: Option<&str>,
        path: &Path<'_>,
    ) -> Result<GraphTerm> {
        let (text, own) = literal::lexical(value, datatype).map_err(|fault| path.fault(fault))?;
        let kind = datatype.or(own).map_or(Literal::Text, Literal::Typed);
        Ok(GraphTerm::Text(self.data.literal(&text, kind)))
    }

    fn json(&mut self, value: &Value, path: &Path<'_>) -> Result<GraphTerm> {
        let text = literal::canonical_json(value).map_err(|fault| path.fault(fault))?;
        Ok(GraphTerm::Text(self.data.literal(&text, Literal::Typed(literal::JSON))))
    }
}

/// The context for the object's keys, without the contexts of its types (5.1.2, 7 to 9).
fn context_of(object: &Object, at: NodePosition<'_>, path: &Path<'_>) -> Result<Arc<Context>> {
    let above = match is_reference(object, at.context) {
        true => at.context.clone(),
        false => at.context.reverted(),
    };
    let mut context = scoped(NodePosition { context: &above, ..at }, path)?;
    let Some(written) = object.get("@context") else { return Ok(context) };
    // If a part of this node were selected, it would be read without this context.
    if at.term.is_some() {
        check_whole(at.pick, path)?;
    }
    let path = &Path::Key(path, "@context");
    let urls = strings(written, path).map_err(|_| {
        path.fault("a context must be an address; contexts in the document are not supported")
    })?;
    for url in urls {
        let found = embedded::find(url).ok_or_else(|| {
            let known = embedded::ALL.each_ref().map(|context| context.url).join(", ");
            path.fault(message!("the context '{url}' is not supported; use {known}"))
        })?;
        context = context
            .with(found.local(), Scope::Document)
            .map_err(|fault| path.fault(message!("'{url}': {fault}")))?;
    }
    Ok(context)
}

/// The context for the term's values.
fn scoped(at: NodePosition<'_>, path: &Path<'_>) -> Result<Arc<Context>> {
    match at.term.and_then(|term| term.scoped.as_ref()) {
        Some(local) => at.context.with(local, Scope::Property).map_err(|fault| path.fault(fault)),
        None => Ok(at.context.clone()),
    }
}

/// The context with those of the object's types, in the order of their names (5.1.2, 11).
fn typed(object: &Object, before: &Arc<Context>, path: &Path<'_>) -> Result<Arc<Context>> {
    let mut written = object.iter().filter(|(key, _)| stands_for(before, key, "@type"));
    let Some((key, value)) = written.next() else { return Ok(before.clone()) };
    let path = &Path::Key(path, key);
    if written.next().is_some() {
        return Err(path.fault("the node has two lists of types; remove one"));
    }
    let mut types = strings(value, path)?;
    types.sort_unstable();
    let mut context = before.clone();
    for kind in types {
        if let Some(local) = before.term(kind).and_then(|term| term.scoped.as_ref()) {
            context = context.with(local, Scope::Type).map_err(|fault| path.fault(fault))?;
        }
    }
    Ok(context)
}

/// Calls `call` for a single value, or for each member of an array. Nested arrays are refused: JSON-LD treats them
/// like flat ones, but a reader of the JSON would not.
fn each(
    value: &Value,
    pick: Pick<'_>,
    path: &Path<'_>,
    call: &mut impl FnMut(&Value, Pick<'_>, &Path<'_>) -> Result<()>,
) -> Result<()> {
    let Value::Array(items) = value else { return call(value, pick, path) };
    items.iter().enumerate().try_for_each(|(index, item)| {
        let path = &Path::Index(path, index);
        match item.is_array() {
            true => Err(path.fault("must not be an array in an array")),
            false => call(item, pick.item(index, items.len()), path),
        }
    })
}

/// A value without parts can only be picked as a whole.
fn check_whole(pick: Pick<'_>, path: &Path<'_>) -> Result<()> {
    if pick.is_whole() { Ok(()) } else { Err(partly(path)) }
}

fn partly(path: &Path<'_>) -> Problem {
    path.fault("a pointer leads into the value, which has no parts")
}

/// A keyword that makes an object something other than a node.
fn first_keyword(object: &Object) -> Option<&'static str> {
    ["@value", "@list", "@set"].into_iter().find(|keyword| object.contains_key(*keyword))
}

/// Whether the object only refers to a node, without statements about it.
fn is_reference(object: &Object, context: &Context) -> bool {
    object.len() == 1 && object.keys().all(|key| stands_for(context, key, "@id"))
        || object.contains_key("@value")
}

fn stands_for(context: &Context, key: &str, keyword: &str) -> bool {
    context.expand(key) == Some(Iri::Whole(keyword))
}

fn strings<'a>(value: &'a Value, path: &Path<'_>) -> Result<Vec<&'a str>> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let strings: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    strings.ok_or_else(|| path.fault("must be a string or an array of strings"))
}

fn is_iri(text: &str) -> bool {
    !text.bytes().any(|byte| byte <= b' ' || b"<>\"{}|^`\\".contains(&byte))
        && !text.contains(char::is_whitespace)
}

fn is_label(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
