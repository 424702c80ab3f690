//! Parses contexts: the part of JSON-LD 1.1 that the embedded contexts use.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lyceum_core::{Message, message};
use serde_json::{Map, Value};

/// A parsed context. Equality compares the definitions.
#[derive(Debug)]
pub(crate) struct Local {
    /// A unique number, under which combinations with it are cached.
    pub(crate) id: u64,
    /// The definitions of terms; `None` for `null`, which removes all earlier definitions.
    pub(crate) body: Option<Definitions>,
    source: Value,
}

impl PartialEq for Local {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

/// The definitions of a context, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Definitions(pub(crate) Vec<(Arc<str>, Definition)>);

/// The definition of a term.
#[derive(Debug)]
pub(crate) struct Definition {
    /// Its meaning, not expanded.
    pub(crate) id: String,
    /// The type of its values, not expanded.
    pub(crate) kind: Option<String>,
    /// The container of its values.
    pub(crate) container: Container,
    /// The context of its values, or of nodes of this type.
    pub(crate) scoped: Option<Arc<Local>>,
    /// Whether later contexts must not change it.
    pub(crate) protected: bool,
    /// Whether it is written as a plain string. Only such terms may be prefixes of compact IRIs.
    pub(crate) simple: bool,
}

/// The container of a term's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Container {
    /// Unordered.
    #[default]
    None,
    /// Also unordered, but a protected term must not change between the two.
    Set,
    /// Ordered.
    List,
    /// Each value in its own graph.
    Graph,
}

impl Local {
    /// Parses a context. Errors: a feature that no embedded context uses.
    pub(crate) fn read(source: &Value) -> Result<Self, Message> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let body = match source {
            Value::Null => None,
            Value::Object(object) => Some(Definitions::read(object)?),
            _ => return Err(message!("a context must be an object or null (got {source})")),
        };
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { id, body, source: source.clone() })
    }
}

impl Definitions {
    fn read(object: &Map<String, Value>) -> Result<Self, Message> {
        let protected = object.get("@protected") == Some(&Value::Bool(true));
        let mut definitions = Vec::new();
        for (term, value) in object {
            match (term.as_str(), value) {
                ("@protected", Value::Bool(_)) => {}
                ("@version", version) if version.as_f64() == Some(1.1) => {}
                (keyword, _) if keyword.starts_with('@') => {
                    return Err(message!("contexts with '{keyword}' are not supported"));
                }
                (term, value) => {
                    let definition = Definition::read(term, value, protected)?;
                    definitions.push((Arc::from(term), definition));
                }
            }
        }
        Ok(Self(definitions))
    }
}

impl Definition {
    fn read(term: &str, value: &Value, protected: bool) -> Result<Self, Message> {
        let mut definition = Self {
            id: String::new(),
            kind: None,
            container: Container::None,
            scoped: None,
            protected,
            simple: value.is_string(),
        };
        match value {
            Value::String(id) => definition.id.clone_from(id),
            Value::Object(object) => {
                for (key, value) in object {
                    definition.member(key, value).map_err(|fault| message!("{term}: {fault}"))?;
                }
            }
            _ => return Err(message!("{term}: a definition must be a string or an object")),
        }
        match definition.id.is_empty() {
            true => Err(message!("{term}: a definition without '@id' is not supported")),
            false => Ok(definition),
        }
    }

    fn member(&mut self, key: &str, value: &Value) -> Result<(), Message> {
        match (key, value) {
            ("@id", Value::String(id)) => self.id.clone_from(id),
            ("@type", Value::String(kind)) => self.kind = Some(kind.clone()),
            ("@protected", Value::Bool(protected)) => self.protected = *protected,
            ("@context", context) => self.scoped = Some(Arc::new(Local::read(context)?)),
            ("@container", Value::String(container)) => {
                self.container = match container.as_str() {
                    "@set" => Container::Set,
                    "@list" => Container::List,
                    "@graph" => Container::Graph,
                    other => return Err(message!("the container '{other}' is not supported")),
                }
            }
            _ => return Err(message!("'{key}': {value} is not supported")),
        }
        Ok(())
    }
}
