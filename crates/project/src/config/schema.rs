//! The JSON Schema of the config file, for editors.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::file::ConfigFile;

/// The JSON Schema of the config file, made from its types. Draft 7 is what most editors understand.
pub fn config_schema() -> Value {
    let settings = SchemaSettings::draft07().for_deserialize();
    let mut schema = settings.into_generator().into_root_schema_for::<ConfigFile>().to_value();
    schema["title"] = "lyceum.config.json".into();
    tidy(&mut schema);
    schema
}

/// Leaves out defaults of null, which say nothing, and the line breaks of docstrings.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(rules) => {
            rules.retain(|rule, value| rule != "default" || !value.is_null());
            if let Some(Value::String(description)) = rules.get_mut("description") {
                *description = description.replace('\n', " ");
            }
            rules.values_mut().for_each(tidy);
        }
        Value::Array(parts) => parts.iter_mut().for_each(tidy),
        _ => {}
    }
}
