//! JSON Schemas that are derived from Rust types, in the form in which the OpenAPI document has them.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::{ReplaceBoolSchemas, Transform};
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

    fn generate<T: JsonSchema + ?Sized>(settings: SchemaSettings) -> Self {
        // Generators of clients do not understand `true` as the schema of any value.
        let mut no_booleans = ReplaceBoolSchemas::default();
        no_booleans.skip_additional_properties = true;
        let mut settings = settings.with_transform(no_booleans.clone());
        settings.definitions_path = "/components/schemas".into();
        let mut generator = SchemaGenerator::new(settings);
        let mut schema = generator.subschema_for::<T>();
        no_booleans.transform(&mut schema);
        let mut schema = schema.to_value();
        tidy(&mut schema);
        let mut definitions = generator.take_definitions(true);
        definitions.values_mut().for_each(tidy);
        name_parts(&mut definitions);
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

/// Gives objects inside the alternatives of a type definitions of their own. Generators of clients lose alternatives with
/// objects that have no name.
fn name_parts(definitions: &mut Map<String, Value>) {
    let capitalized = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + rest
    };
    let mut parts = Map::new();
    for (name, definition) in definitions.iter_mut() {
        let alternatives = definition.get_mut("oneOf").and_then(Value::as_array_mut);
        for alternative in alternatives.into_iter().flatten() {
            let Some(Value::Object(members)) = alternative.get_mut("properties") else { continue };
            let tag = members.values().find_map(|member| member.get("const")?.as_str());
            let tag: String = tag.unwrap_or_default().split('-').map(capitalized).collect();
            for (member, schema) in members {
                if schema.get("properties").is_some() {
                    let part = format!("{name}{tag}{}", capitalized(member));
                    let reference = json!({ "$ref": format!("#/components/schemas/{part}") });
                    parts.insert(part, std::mem::replace(schema, reference));
                }
            }
        }
    }
    definitions.append(&mut parts);
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
