//! JSON Merge Patch (RFC 7396).

use serde_json::Value;

use crate::record::Object;

/// Merges the patch into the object: `null` removes, objects merge, all else replaces.
pub fn merge(target: &mut Object, patch: &Object) {
    for (name, value) in patch {
        match value {
            Value::Null => {
                target.shift_remove(name);
            }
            Value::Object(patch) => {
                let entry = target.entry(name.clone()).or_insert(Value::Null);
                if !entry.is_object() {
                    *entry = Value::Object(Object::new());
                }
                if let Value::Object(inner) = entry {
                    merge(inner, patch);
                }
            }
            _ => {
                target.insert(name.clone(), value.clone());
            }
        }
    }
}
