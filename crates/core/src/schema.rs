//! JSON Schemas that are derived from Rust types, in the form in which the OpenAPI document has them.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// The schema of a type, and the definitions to which it refers by name.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeSchema {
    /// The schema itself, often only a reference.
    pub schema: Value,
    /// The definitions that `#/components/schemas/NAME` refers to.
    pub definitions: Map<String, Value>,
}

impl TypeSchema {
    /// The schema of JSON that is read as the type.
    pub fn input<T: JsonSchema + ?Sized>() -> Self {
        Self::generate::<T>(SchemaSettings::draft2020_12().for_deserialize())
    }

    /// The schema of JSON that is written from the type.
    pub fn output<T: JsonSchema + ?Sized>() -> Self {
        Self::generate::<T>(SchemaSettings::draft2020_12().for_serialize())
    }

    /// A schema that no type describes, under a name of its own.
    pub fn named(name: impl Into<String>, schema: Value) -> Self {
        let name = name.into();
        let reference = json!({ "$ref": format!("#/components/schemas/{name}") });
        Self { schema: reference, definitions: Map::from_iter([(name, schema)]) }
    }

    fn generate<T: JsonSchema + ?Sized>(mut settings: SchemaSettings) -> Self {
        settings.definitions_path = "/components/schemas".into();
        let mut generator = SchemaGenerator::new(settings);
        let mut schema = generator.subschema_for::<T>().to_value();
        tidy(&mut schema);
        let mut definitions = generator.take_definitions(true);
        definitions.values_mut().for_each(tidy);
        for name in definitions.keys() {
            // The generator numbers the second of two types that have one name.
            let first = name.trim_end_matches(|c: char| c.is_ascii_digit());
            assert!(
                first == name || !definitions.contains_key(first),
                "two types in the schema of {} are called {first}; rename one of them",
                T::schema_name()
            );
        }
        Self { schema, definitions }
    }
}

/// Gives a type that is read and answered one schema: members that may be null may be left out, although answers
/// always have them. For `#[schemars(transform = …)]`.
pub fn nulls_may_be_missing(schema: &mut Schema) {
    let takes_null = |property: &Value| match &property["type"] {
        Value::Array(types) => types.iter().any(|ty| ty == "null"),
        _ => property["anyOf"]
            .as_array()
            .is_some_and(|parts| parts.iter().any(|part| part["type"] == "null")),
    };
    let properties = schema.get("properties").cloned().unwrap_or_default();
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| !takes_null(&properties[name.as_str().unwrap_or_default()]));
        if required.is_empty() {
            schema.remove("required");
        }
    }
}

/// Leaves out what says nothing: defaults of null, permission for further members, and the line breaks of docstrings.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(rules) => {
            rules.retain(|rule, value| match rule.as_str() {
                "default" => !value.is_null(),
                "additionalProperties" => *value != true,
                _ => true,
            });
            if let Some(Value::String(description)) = rules.get_mut("description") {
                *description = description.replace('\n', " ");
            }
            rules.values_mut().for_each(tidy);
        }
        Value::Array(parts) => parts.iter_mut().for_each(tidy),
        _ => {}
    }
}

impl From<Value> for TypeSchema {
    /// A schema that no type describes.
    fn from(schema: Value) -> Self {
        Self { schema, definitions: Map::new() }
    }
}
