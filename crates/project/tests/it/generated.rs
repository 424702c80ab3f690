//! Files that are generated from the types of the config file: the JSON Schema and the TypeScript types of
//! `@lyceum/cli`, and the reference in the documentation.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use lyceum_project::{config_reference, config_schema};
use serde_json::Value;

/// Compares a file of the package with what the types give now, or writes it with `LYCEUM_BLESS=1`.
fn is_fresh(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/cli").join(name);
    if std::env::var_os("LYCEUM_BLESS").is_some() {
        fs::write(&file, text).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap_or_default() == text,
        "web/cli/{name} is not what the types of the config file give; run \
         `LYCEUM_BLESS=1 cargo test -p lyceum-project --test it generated` and read the difference"
    );
}

#[test]
fn the_schema_in_the_package_is_that_of_the_types() {
    is_fresh("config.schema.json", &format!("{:#}\n", config_schema()));
}

#[test]
fn the_declarations_in_the_package_are_those_of_the_types() {
    let schema = config_schema();
    let mut text = String::from("// Generated from the types that read the config file.\n");
    interface(&mut text, "Config", &schema);
    for (name, definition) in schema["definitions"].as_object().unwrap() {
        interface(&mut text, name, definition);
    }
    text.push_str(
        "\n/** Returns the given config. Its type lets editors complete the keys. */\n\
         export declare function defineConfig(config: Config): Config;\n",
    );
    is_fresh("index.d.ts", &text);
}

#[test]
fn the_reference_has_every_key_with_its_meaning() {
    let (schema, reference) = (config_schema(), config_reference());
    let definitions = schema["definitions"].as_object().unwrap().values();
    for object in definitions.chain([&schema]).filter(|it| it["properties"].is_object()) {
        for (name, property) in object["properties"].as_object().unwrap() {
            let about = property["description"].as_str().unwrap_or_default();
            let row = reference.lines().find(|line| {
                line.starts_with(&format!("| `{name}` |"))
                    && line.ends_with(&format!("| {about} |"))
            });
            assert!(row.is_some() && about.ends_with('.'), "no row for '{name}': {about}");
        }
    }
    for row in [
        "| `buildPath` | string | – | `\"dist\"` |",
        "| `directory` | string | `\"server/api\"` | `\"backend/routes\"` |",
        "| `strategy` | `push` or `migrate` | – | `\"push\"` |",
        "| `grade` | number or string | required | `3` |",
        "| `kv` | true or false or object | `false` | – |",
        "| `courses` | list of objects |",
        "\n## integrations.lms.courses[]\n",
    ] {
        assert!(reference.contains(row), "'{row}' is not in:\n{reference}");
    }
}

fn interface(text: &mut String, name: &str, schema: &Value) {
    let Some(properties) = schema["properties"].as_object() else { return };
    let _ = write!(text, "\n{}export interface {name} {{\n", comment(schema, ""));
    let mut kinds = BTreeSet::new();
    for (key, property) in properties {
        let is_required =
            schema["required"].as_array().is_some_and(|names| names.iter().any(|it| it == key));
        let (mark, kind) = (if is_required { "" } else { "?" }, kind(property).join(" | "));
        let _ = writeln!(text, "{}  {key}{mark}: {kind};", comment(property, "  "));
        kinds.extend(self::kind(property));
    }
    if let Some(other) = schema.get("additionalProperties").filter(|other| other.is_object()) {
        // TypeScript wants the type of other keys to include those of the known ones.
        kinds.extend(kind(other));
        let kinds = kinds.into_iter().collect::<Vec<_>>().join(" | ");
        let _ = writeln!(text, "{}  [service: string]: {kinds} | undefined;", comment(other, "  "));
    }
    text.push_str("}\n");
}

fn comment(schema: &Value, indent: &str) -> String {
    let mut text = schema["description"].as_str().unwrap_or_default().to_owned();
    if !schema["default"].is_null() && schema["default"] != serde_json::json!([]) {
        let _ = write!(text, " Default: `{}`.", schema["default"]);
    }
    if let Some(example) = schema["examples"].get(0) {
        let _ = write!(text, " Example: `{example}`.");
    }
    if text.is_empty() { text } else { format!("{indent}/** {} */\n", text.trim()) }
}

/// The alternatives of a schema as TypeScript types.
fn kind(schema: &Value) -> Vec<String> {
    let reference = schema.get("$ref").or_else(|| schema["allOf"][0].get("$ref"));
    if let Some(name) = reference.and_then(|it| it.as_str()?.rsplit('/').next()) {
        return match config_schema()["definitions"][name] {
            ref words if words["oneOf"].is_array() => kind(words),
            _ => vec![name.to_owned()],
        };
    }
    for alternatives in ["anyOf", "oneOf"] {
        if let Some(alternatives) = schema[alternatives].as_array() {
            return alternatives.iter().flat_map(kind).collect();
        }
    }
    if let Some(word) = schema.get("const") {
        return vec![word.to_string()];
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    let word = |ty: &Value| match ty.as_str().unwrap() {
        "array" => format!("{}[]", kind(&schema["items"]).join(" | ")),
        other => other.to_owned(),
    };
    types.iter().map(word).collect()
}
