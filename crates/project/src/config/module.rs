//! Combines the text of a config module with the result of evaluating it.

use std::path::{Path, PathBuf};

use lyceum_core::Result;
use serde_json::Value as Json;

use super::{Config, read};
use crate::literal::{self, Literal, Value, place};

/// A config module that must be evaluated.
#[derive(Debug)]
pub struct ConfigModule {
    file: PathBuf,
    text: String,
    /// The exported object in the text, if it was found.
    written: Option<Literal>,
}

impl ConfigModule {
    pub(super) fn new(file: PathBuf, text: String) -> Self {
        let written = literal::module(&text);
        Self { file, text, written }
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The config from the module's evaluated default export. It distinguishes values that are literals in the text
    /// from those that expressions compute. `inputs` are all files that the module was made of.
    ///
    /// Errors: `Invalid` with every error, at the nearest place in the text.
    pub fn evaluated(self, value: &Json, inputs: Vec<PathBuf>) -> Result<Config> {
        let whole = Literal { value: Value::Expression, span: 0..0 };
        let written = self.written.as_ref().unwrap_or(&whole);
        let mut merge = Merge { text: &self.text, expressions: Vec::new() };
        let root = merge.value(value, written, "");
        let expressions = merge.expressions;
        let mut config = read::read(&self.file, &root, &self.text)?;
        let is_built =
            |field: &str| expressions.iter().any(|(path, _)| path.is_empty() || path == field);
        config.scalars.retain(|(field, _)| !is_built(field));
        Ok(Config { expressions, inputs, ..config })
    }
}

/// Combines evaluated values with their places in the text.
struct Merge<'t> {
    text: &'t str,
    expressions: Vec<(String, (usize, usize))>,
}

impl Merge<'_> {
    fn value(&mut self, value: &Json, written: &Literal, path: &str) -> Literal {
        let (merged, is_written) = match (value, &written.value) {
            (Json::Object(members), Value::Object(_)) => {
                (self.members(members, written, path), true)
            }
            (Json::Array(items), Value::List(literals)) if items.len() == literals.len() => {
                let pairs = items.iter().zip(literals).enumerate();
                let one = |(number, (item, literal))| {
                    self.value(item, literal, &format!("{path}[{number}]"))
                };
                (Value::List(pairs.map(one).collect()), true)
            }
            (other, _) => {
                let merged = unplaced(other, written);
                let is_written = merged == written.value;
                (merged, is_written)
            }
        };
        if !is_written {
            self.expressions.push((path.to_owned(), place(self.text, written.span.start)));
        }
        Literal { value: merged, span: written.span.clone() }
    }

    fn members(
        &mut self,
        members: &serde_json::Map<String, Json>,
        written: &Literal,
        path: &str,
    ) -> Value {
        let built = Literal { value: Value::Expression, span: written.span.clone() };
        let merged = members.iter().map(|(name, value)| {
            let inside = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            let literal = match (written.lasting_member(name), written.member(name)) {
                (Some(literal), _) => literal,
                // A spread or a later member may have overridden the value at this place.
                (None, Some(hidden)) => {
                    &Literal { value: Value::Expression, span: hidden.span.clone() }
                }
                (None, None) => &built,
            };
            (name.clone(), self.value(value, literal, &inside))
        });
        Value::Object(merged.collect())
    }
}

/// An evaluated value that is not in the text, at the place of the expression that computes it.
fn unplaced(value: &Json, at: &Literal) -> Value {
    let inside = |value: &Json| Literal { value: unplaced(value, at), span: at.span.clone() };
    match value {
        Json::Null => Value::Null,
        Json::Bool(found) => Value::Bool(*found),
        Json::Number(found) => Value::Number(found.as_f64().unwrap_or_default()),
        Json::String(found) => Value::Text(found.clone()),
        Json::Array(items) => Value::List(items.iter().map(inside).collect()),
        Json::Object(members) => Value::Object(
            members.iter().map(|(name, value)| (name.clone(), inside(value))).collect(),
        ),
    }
}
