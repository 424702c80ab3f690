//! Contexts in force: what the terms at one place of a document stand for (JSON-LD 1.1 API, 4).

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, RwLock};

use lyceum_core::limits::CONTEXT_CACHE_ENTRIES;

use super::local::{Container, Definition, Local};

/// What the terms stand for at one place. It is never changed: another context makes another one.
pub(crate) struct Context {
    id: u64,
    terms: HashMap<Arc<str>, Arc<Term>>,
    /// What nodes below go back to, where a type brought this context.
    previous: Option<Arc<Context>>,
}

/// A term that is defined.
#[derive(Debug, PartialEq)]
pub(crate) struct Term {
    /// An absolute IRI, or a keyword.
    pub(crate) iri: Arc<str>,
    /// What strings below the term are.
    pub(crate) coercion: Coercion,
    /// How its values are held.
    pub(crate) container: Container,
    /// The context of its values, or of nodes of this type.
    pub(crate) scoped: Option<Arc<Local>>,
    prefix: bool,
    protected: bool,
}

/// What a term's definition says of values that do not say themselves what they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Coercion {
    /// Nothing.
    None,
    /// A string is an IRI.
    Id,
    /// A string is a term or an IRI.
    Vocab,
    /// Any JSON is a JSON literal.
    Json,
    /// A literal of this datatype.
    Datatype(Arc<str>),
}

/// How a context is laid over another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// Written in the document.
    Document,
    /// Of a property: may redefine what is protected.
    Property,
    /// Of a type: nodes below do not see it.
    Type,
}

type Key = (u64, u64, Scope);
type Made = Result<Arc<Context>, String>;

/// The context in which nothing is defined: number 0.
static EMPTY: LazyLock<Arc<Context>> =
    LazyLock::new(|| Arc::new(Context { id: 0, terms: HashMap::new(), previous: None }));

/// What was made before. Both sides come from embedded contexts alone, so few things are made
/// again and again; a document that combines them in other ways empties it now and then.
static MADE: LazyLock<RwLock<HashMap<Key, Made>>> = LazyLock::new(RwLock::default);

impl Context {
    /// The context in which nothing is defined.
    pub(crate) fn empty() -> Arc<Self> {
        EMPTY.clone()
    }

    /// The term of that name.
    pub(crate) fn term(&self, name: &str) -> Option<&Arc<Term>> {
        self.terms.get(name)
    }

    /// Whether a term stands for the IRI.
    pub(crate) fn names(&self, iri: Iri<'_>) -> bool {
        let is = |term: &Arc<Term>| match iri {
            Iri::Whole(iri) => *term.iri == *iri,
            Iri::Compact(prefix, suffix) => term.iri.strip_prefix(prefix) == Some(suffix),
        };
        self.terms.values().any(is)
    }

    /// What a key, type or value of `@vocab` stands for: a keyword, an IRI that is absolute or a
    /// blank node; none: it is not defined (5.2, without a base or a vocabulary mapping).
    pub(crate) fn expand<'a>(&'a self, name: &'a str) -> Option<Iri<'a>> {
        match self.terms.get(name) {
            Some(term) => Some(Iri::Whole(&term.iri)),
            None if matches!(name, "@id" | "@type") && !self.terms.contains_key(&name[1..]) => {
                Some(Iri::Whole(name))
            }
            None if name.starts_with('@') => None,
            None => self.expand_iri(name),
        }
    }

    /// The same without terms: what a value of `@id` stands for.
    pub(crate) fn expand_iri<'a>(&'a self, name: &'a str) -> Option<Iri<'a>> {
        let (prefix, suffix) = name.split_once(':').filter(|(prefix, _)| !prefix.is_empty())?;
        if prefix != "_"
            && !suffix.starts_with("//")
            && let Some(term) = self.terms.get(prefix).filter(|term| term.prefix)
        {
            return Some(Iri::Compact(&term.iri, suffix));
        }
        is_scheme(prefix).then_some(Iri::Whole(name))
    }

    /// The context that nodes below go back to.
    pub(crate) fn reverted(self: &Arc<Self>) -> Arc<Self> {
        self.previous.as_ref().unwrap_or(self).clone()
    }

    /// Lays a context over this one. Errors: a protected term would say something else, or a term
    /// stands for no absolute IRI.
    pub(crate) fn with(self: &Arc<Self>, local: &Arc<Local>, scope: Scope) -> Made {
        let key = (self.id, local.id, scope);
        if let Some(made) = MADE.read().ok().and_then(|made| made.get(&key).cloned()) {
            return made;
        }
        let context = self.make(local, scope);
        if let Ok(mut made) = MADE.write() {
            if made.len() >= CONTEXT_CACHE_ENTRIES {
                made.clear();
            }
            made.insert(key, context.clone());
        }
        context
    }

    fn make(self: &Arc<Self>, local: &Local, scope: Scope) -> Made {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let previous = match scope {
            Scope::Type => Some(self.reverted()),
            Scope::Document | Scope::Property => self.previous.clone(),
        };
        let terms = match &local.body {
            Some(definitions) => {
                let mut making = Making {
                    local: definitions.0.iter().map(|(term, one)| (&**term, one)).collect(),
                    terms: self.terms.clone(),
                    begun: HashSet::new(),
                    done: HashSet::new(),
                    scope,
                };
                for (term, _) in &definitions.0 {
                    making.define(term)?;
                }
                making.terms
            }
            None if scope != Scope::Property && self.terms.values().any(|term| term.protected) => {
                return Err("a context of null would forget protected terms".to_owned());
            }
            None => HashMap::new(),
        };
        Ok(Arc::new(Self { id: NEXT.fetch_add(1, Ordering::Relaxed), terms, previous }))
    }
}

/// Terms on their way into a context.
struct Making<'a> {
    local: HashMap<&'a str, &'a Definition>,
    terms: HashMap<Arc<str>, Arc<Term>>,
    begun: HashSet<&'a str>,
    done: HashSet<&'a str>,
    scope: Scope,
}

impl<'a> Making<'a> {
    /// Create Term Definition (4.2.2).
    fn define(&mut self, name: &'a str) -> Result<(), String> {
        if self.done.contains(name) {
            return Ok(());
        }
        if !self.begun.insert(name) {
            return Err(format!("the term '{name}' is defined by itself"));
        }
        let definition = self.local[name];
        let before = self.terms.remove(name);
        let iri = self.absolute(name, &definition.id)?;
        let prefix = definition.simple && iri.ends_with([':', '/', '?', '#', '[', ']', '@']);
        let mut term = Term {
            coercion: self.coercion(name, definition)?,
            container: definition.container,
            scoped: definition.scoped.clone(),
            prefix,
            protected: definition.protected,
            iri,
        };
        if let Some(before) = before.filter(|before| before.protected)
            && self.scope != Scope::Property
        {
            term.protected = true;
            if *before != term {
                return Err(format!("the protected term '{name}' cannot be defined anew"));
            }
        }
        self.terms.insert(Arc::from(name), Arc::new(term));
        self.done.insert(name);
        Ok(())
    }

    fn coercion(&mut self, name: &str, definition: &'a Definition) -> Result<Coercion, String> {
        Ok(match definition.kind.as_deref() {
            None => Coercion::None,
            Some("@id") => Coercion::Id,
            Some("@vocab") => Coercion::Vocab,
            Some("@json") => Coercion::Json,
            Some(datatype) => Coercion::Datatype(self.absolute(name, datatype)?),
        })
    }

    /// IRI expansion (5.2) while terms are being defined.
    fn absolute(&mut self, name: &str, value: &'a str) -> Result<Arc<str>, String> {
        if matches!(value, "@id" | "@type") {
            return Ok(Arc::from(value));
        }
        if value != name && self.local.contains_key(value) {
            self.define(value)?;
        }
        if let Some(term) = self.terms.get(value) {
            return Ok(term.iri.clone());
        }
        let (prefix, suffix) = value.split_once(':').unwrap_or_default();
        if prefix != name && self.local.contains_key(prefix) {
            self.define(prefix)?;
        }
        match self.terms.get(prefix).filter(|term| term.prefix && !suffix.starts_with("//")) {
            Some(term) => Ok(Arc::from(format!("{}{suffix}", term.iri))),
            None if is_scheme(prefix) => Ok(Arc::from(value)),
            None => Err(format!("the term '{name}' stands for '{value}', which is not absolute")),
        }
    }
}

/// What a name stands for: one text, or a prefix and what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Iri<'a> {
    /// A keyword, an IRI or a blank node.
    Whole(&'a str),
    /// An IRI in two parts.
    Compact(&'a str, &'a str),
}

fn is_scheme(text: &str) -> bool {
    text == "_"
        || text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}
