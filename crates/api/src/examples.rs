//! Examples of requests, which the API document shows. A new server accepts them in their order: later ones use what
//! earlier ones created.

use std::collections::HashMap;

use lyceum_http::openapi::SHORT_SUFFIX;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A request for an operation of the API document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The `operationId`.
    pub operation: String,
    /// The parameters by name.
    #[serde(default)]
    pub parameters: Map<String, Value>,
    /// The body; `None` for a request without one.
    pub body: Option<Value>,
}

/// The examples, in the order in which a new server accepts them.
pub fn all() -> Vec<Example> {
    serde_json::from_str(include_str!("examples.json")).expect("a test sends all examples")
}

/// Adds the examples to the operations of an API document.
pub(crate) fn insert(document: &mut Value) {
    let examples: HashMap<_, _> = all().into_iter().map(|it| (it.operation.clone(), it)).collect();
    let shared = document["components"]["parameters"].clone();
    let paths = document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut);
    for operation in paths.filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
        let name = operation["operationId"].as_str().unwrap_or_default();
        let name = name.strip_suffix(SHORT_SUFFIX).unwrap_or(name);
        let Some(example) = examples.get(name) else { continue };
        let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
        for parameter in parameters.into_iter().flatten() {
            let reference = parameter["$ref"].as_str().unwrap_or_default();
            let full = shared.get(reference.rsplit('/').next().unwrap_or_default());
            let full = full.unwrap_or(&*parameter);
            if let Some(value) = example.parameters.get(full["name"].as_str().unwrap_or_default()) {
                let mut full = full.clone();
                full["example"] = value.clone();
                *parameter = full;
            }
        }
        let content = operation.pointer_mut("/requestBody/content").and_then(Value::as_object_mut);
        let described = content.and_then(|content| content.values_mut().next());
        if let (Some(described), Some(body)) = (described, &example.body) {
            described["example"] = body.clone();
        }
    }
}
