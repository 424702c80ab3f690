//! The reference of the config file, generated from its schema.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::config_schema;

/// Every key of the config file with its kind, default, example and meaning, as Markdown.
pub fn config_reference() -> String {
    let schema = config_schema();
    let mut text = String::from(
        "# Config file of a project\n\nEvery key of `lyceum.config.json`, and of the object that `lyceum.config.js`, `.mjs` or \
         `.ts` exports. This page is generated from the types that read the file. `lyceum config schema` prints the same as \
         a JSON Schema, and the package `@lyceum/cli` contains it: with \
         `\"$schema\": \"./node_modules/@lyceum/cli/config.schema.json\"`, editors complete and check the keys.\n\n\
         All keys are optional, except those marked as required. A key whose value is `null` counts as missing.\n",
    );
    let mut keys = Keys { definitions: object(&schema["definitions"]), described: Vec::new() };
    keys.section(&mut text, "", &schema);
    text
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("schemas of types have objects here")
}

/// The keys of a schema.
struct Keys<'s> {
    definitions: &'s Map<String, Value>,
    /// The objects that have a section already, with its heading.
    described: Vec<(&'s Value, String)>,
}

impl<'s> Keys<'s> {
    /// The table of an object's keys, and a section for each key that is an object itself.
    fn section(&mut self, text: &mut String, path: &str, schema: &'s Value) {
        if !path.is_empty() {
            let _ = write!(text, "\n## {path}\n\n{}\n", description(schema));
        }
        if let Some((_, first)) =
            self.described.iter().find(|(known, _)| std::ptr::eq(*known, schema))
        {
            let _ = write!(text, "\nIt has the keys of `{first}`.\n");
            return;
        }
        self.described.push((schema, path.to_owned()));
        text.push_str("\n| key | kind | default | example | meaning |\n|---|---|---|---|---|\n");
        let mut inner = Vec::new();
        for (name, property) in object(&schema["properties"]) {
            let is_required =
                schema["required"].as_array().is_some_and(|it| it.contains(&(&**name).into()));
            let default =
                if is_required { "required".to_owned() } else { shown(&property["default"]) };
            let example = shown(&property["examples"][0]);
            let (kind, about) = (self.kinds(property).join(" or "), description(property));
            let _ = writeln!(text, "| `{name}` | {kind} | {default} | {example} | {about} |");
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let objects = self.objects(property).into_iter();
            inner.extend(objects.map(|(suffix, schema)| (path.clone() + suffix, schema)));
        }
        if let Some(other) = schema.get("additionalProperties").filter(|other| other.is_object()) {
            let kind = self.kinds(other).join(" or ");
            let objects = self.objects(other).into_iter();
            inner.extend(objects.map(|(_, schema)| (format!("{path}.*"), schema)));
            let about = inner.last().map_or("", |(_, schema)| description(schema));
            let _ = writeln!(text, "| any other name | {kind} | – | – | {about} |");
        }
        for (path, schema) in inner {
            self.section(text, &path, schema);
        }
    }

    /// The words for the kinds of values that a schema allows, except null.
    fn kinds(&self, schema: &'s Value) -> Vec<String> {
        if let Some(words) = Self::listed_values(schema) {
            return words;
        }
        if let Some(definition) = self.definition(schema) {
            return self.kinds(definition);
        }
        if let Some(alternatives) = schema["anyOf"].as_array() {
            return alternatives.iter().flat_map(|one| self.kinds(one)).collect();
        }
        let types = match &schema["type"] {
            Value::Array(types) => types.iter().collect(),
            one => vec![one],
        };
        let word = |ty: &Value| match ty.as_str()? {
            "null" => None,
            "boolean" => Some("true or false".to_owned()),
            "array" => Some(format!("list of {}s", self.kinds(&schema["items"]).join(" or "))),
            other => Some(other.to_owned()),
        };
        types.into_iter().filter_map(word).collect()
    }

    /// The texts that a schema lists.
    fn listed_values(schema: &'s Value) -> Option<Vec<String>> {
        let constants = schema["oneOf"].as_array()?.iter().filter_map(|one| one["const"].as_str());
        Some(constants.map(|word| format!("`{word}`")).collect())
    }

    /// The objects that a value with this schema can be or contain, with the suffix of their path.
    fn objects(&self, schema: &'s Value) -> Vec<(&'static str, &'s Value)> {
        if let Some(definition) = self.definition(schema) {
            return self.objects(definition);
        }
        if let Some(alternatives) = schema["anyOf"].as_array() {
            return alternatives.iter().flat_map(|one| self.objects(one)).collect();
        }
        if schema["properties"].is_object() {
            return vec![("", schema)];
        }
        let items = schema.get("items").map(|items| self.objects(items)).unwrap_or_default();
        items.into_iter().map(|(_, schema)| ("[]", schema)).collect()
    }

    fn definition(&self, schema: &'s Value) -> Option<&'s Value> {
        let reference = schema.get("$ref").or_else(|| schema["allOf"][0].get("$ref"))?;
        self.definitions.get(reference.as_str()?.rsplit('/').next()?)
    }
}

fn description(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

/// A default or an example as a code span.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        value => format!("`{value}`"),
    }
}
