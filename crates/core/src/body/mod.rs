//! JSON bodies of requests, read as types: every error is reported with its path.

mod check;
mod expected;

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::limits::INPUT_TEXT_MAX_CHARS;
use crate::problem::{Problem, ProblemKind, Result};
use crate::schema::TypeSchema;
use crate::{Message, message, messages};

/// The schema of each type that was read so far.
static SCHEMAS: LazyLock<RwLock<HashMap<TypeId, Arc<TypeSchema>>>> =
    LazyLock::new(Default::default);

/// The format of a [`OneLineText`] in schemas.
const LINE_FORMAT: &str = "line";

/// Reads a JSON body as a type; an empty body is an empty object.
///
/// Errors: `Malformed` if the text is not JSON or the whole value breaks the schema (a list instead of an object, an empty
/// list); `Invalid` with every error and its path if members break the schema.
pub fn read<T: DeserializeOwned + JsonSchema + 'static>(body: &[u8]) -> Result<T> {
    of(parse(if body.is_empty() { b"{}" } else { body })?)
}

/// Text as JSON. Errors: `Malformed` with line and column.
pub fn parse(text: &[u8]) -> Result<Value> {
    serde_json::from_slice(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = message!("the body is not JSON at line {line}, column {column}: {error}");
        Problem::new(ProblemKind::Malformed, message)
    })
}

/// JSON as a type. Errors: as [`read`].
pub fn of<T: DeserializeOwned + JsonSchema + 'static>(value: Value) -> Result<T> {
    let errors = check::errors(&schema::<T>(), &value);
    match errors.first() {
        None => {}
        Some(first) if first.path.is_empty() => {
            let message = match first.message == messages::MUST_BE_OBJECT {
                true => "the body must be a JSON object".into(),
                false => message!("the body {first.message}"),
            };
            return Err(Problem::new(ProblemKind::Malformed, message));
        }
        Some(_) => return Err(Problem::invalid_all(errors)),
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        Problem::invalid(
            if path == "." { "" } else { &path },
            Message::untranslated(error.inner().to_string()),
        )
    })
}

fn schema<T: JsonSchema + 'static>() -> Arc<TypeSchema> {
    let id = TypeId::of::<T>();
    if let Some(schema) = SCHEMAS.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
        return Arc::clone(schema);
    }
    let schema = Arc::new(TypeSchema::input::<T>());
    let mut schemas = SCHEMAS.write().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(schemas.entry(id).or_insert(schema))
}

/// The schema of a one-line text that is not blank. Fields name it: `#[schemars(with = "OneLineText")]`.
pub struct OneLineText;

impl JsonSchema for OneLineText {
    fn schema_name() -> Cow<'static, str> {
        "Line".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "maxLength": INPUT_TEXT_MAX_CHARS,
            "format": LINE_FORMAT,
            "description": "A text that is not blank and has no control characters.",
        })
    }
}
