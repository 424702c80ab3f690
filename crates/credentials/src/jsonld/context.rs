//! Active contexts: what terms mean at one place of a document (JSON-LD 1.1 API, 4).

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, RwLock};

use lyceum_core::{Message, message};

use super::local::{Container, Definition, Local};
use crate::limits::CONTEXT_CACHE_ENTRIES;

/// The meaning of terms at one place. It never changes: applying a further context creates a new one.
pub(crate) struct Context {
    id: u64,
    terms: HashMap<Arc<str>, Arc<Term>>,
    /// The context for nodes below, if a type set this one.
    previous: Option<Arc<Context>>,
}

/// A term that is defined.
#[derive(Debug, PartialEq)]
pub(crate) struct Term {
    /// An absolute IRI, or a keyword.
    pub(crate) iri: Arc<str>,
    /// The type of strings below the term.
    pub(crate) coercion: Coercion,
    /// The container of its values.
    pub(crate) container: Container,
    /// The context of its values, or of nodes of this type.
    pub(crate) scoped: Option<Arc<Local>>,
    prefix: bool,
    protected: bool,
}

/// The type that a term's definition gives to values without an explicit one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Coercion {
    /// No type.
    None,
    /// Strings are IRIs.
    Id,
    /// Strings are terms or IRIs.
    Vocab,
    /// Values are JSON literals.
    Json,
    /// Values are literals of this datatype.
    Datatype(Arc<str>),
}

/// How a context is applied to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// It is written in the document.
    Document,
    /// It belongs to a property, so it may redefine protected terms.
    Property,
    /// It belongs to a type, so it does not apply to nodes below.
    Type,
}

type Key = (u64, u64, Scope);
type ContextResult = Result<Arc<Context>, Message>;

/// The empty context: number 0.
static EMPTY: LazyLock<Arc<Context>> =
    LazyLock::new(|| Arc::new(Context { id: 0, terms: HashMap::new(), previous: None }));

/// A cache of combined contexts. Both parts come from embedded contexts, so there are few combinations. A document
/// with unusual combinations may cause the cache to be cleared.
static CONTEXTS: LazyLock<RwLock<HashMap<Key, ContextResult>>> = LazyLock::new(RwLock::default);

impl Context {
    /// The empty context.
    pub(crate) fn empty() -> Arc<Self> {
        EMPTY.clone()
    }

    /// The term with that name.
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

    /// The meaning of a key, a type or a value of `@vocab`: a keyword, an absolute IRI or a blank node; `None` if it
    /// is not defined (5.2, without a base or a vocabulary mapping).
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

    /// The meaning of a value of `@id`, for which terms do not count.
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

    /// The context for nodes below.
    pub(crate) fn reverted(self: &Arc<Self>) -> Arc<Self> {
        self.previous.as_ref().unwrap_or(self).clone()
    }

    /// Applies a context to this one. Errors: it would change a protected term, or a term does not stand for an
    /// absolute IRI.
    pub(crate) fn with(self: &Arc<Self>, local: &Arc<Local>, scope: Scope) -> ContextResult {
        let key = (self.id, local.id, scope);
        if let Some(cached) = CONTEXTS.read().ok().and_then(|cache| cache.get(&key).cloned()) {
            return cached;
        }
        let context = self.make(local, scope);
        if let Ok(mut cache) = CONTEXTS.write() {
            if cache.len() >= CONTEXT_CACHE_ENTRIES {
                cache.clear();
            }
            cache.insert(key, context.clone());
        }
        context
    }

    fn make(self: &Arc<Self>, local: &Local, scope: Scope) -> ContextResult {
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
                    started: HashSet::new(),
                    done: HashSet::new(),
                    scope,
                };
                for (term, _) in &definitions.0 {
                    making.define(term)?;
                }
                making.terms
            }
            None if scope != Scope::Property && self.terms.values().any(|term| term.protected) => {
                return Err("a null context must not remove protected terms".into());
            }
            None => HashMap::new(),
        };
        Ok(Arc::new(Self { id: NEXT.fetch_add(1, Ordering::Relaxed), terms, previous }))
    }
}

/// A context under construction.
struct Making<'a> {
    local: HashMap<&'a str, &'a Definition>,
    terms: HashMap<Arc<str>, Arc<Term>>,
    started: HashSet<&'a str>,
    done: HashSet<&'a str>,
    scope: Scope,
}

impl<'a> Making<'a> {
    /// Create Term Definition (4.2.2).
    fn define(&mut self, name: &'a str) -> Result<(), Message> {
        if self.done.contains(name) {
            return Ok(());
        }
        if !self.started.insert(name) {
            return Err(message!("the definition of the term '{name}' refers to itself"));
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
                return Err(message!("the protected term '{name}' cannot be redefined"));
            }
        }
        self.terms.insert(Arc::from(name), Arc::new(term));
        self.done.insert(name);
        Ok(())
    }

    fn coercion(&mut self, name: &str, definition: &'a Definition) -> Result<Coercion, Message> {
        Ok(match definition.kind.as_deref() {
            None => Coercion::None,
            Some("@id") => Coercion::Id,
            Some("@vocab") => Coercion::Vocab,
            Some("@json") => Coercion::Json,
            Some(datatype) => Coercion::Datatype(self.absolute(name, datatype)?),
        })
    }

    /// IRI expansion (5.2) during the definition of terms.
    fn absolute(&mut self, name: &str, value: &'a str) -> Result<Arc<str>, Message> {
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
            None => Err(message!("the term '{name}' stands for '{value}', which is not absolute")),
        }
    }
}

/// The meaning of a name: one text, or a prefix and a suffix.
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
