//! The part of a list that the standard allows. Its payloads are closed: members that only the platform
//! dialect has are left out of the standard's text, and the platform's text has the whole list.

use serde_json::Value;

use crate::kind::{Field, FieldType};

/// The list without members that only the platform dialect has. `None` if there are no such members.
pub(crate) fn standard_part(field: &Field, value: &Value) -> Option<Value> {
    let items = value.as_array()?;
    let narrow = match field.ty {
        FieldType::WordList(words) => {
            items.iter().filter(|word| !words.is_platforms(word)).cloned().collect()
        }
        FieldType::Objects(fields) => items.iter().map(|item| narrowed(fields, item)).collect(),
        _ => return None,
    };
    Some(Value::Array(narrow)).filter(|narrow| narrow != value)
}

fn narrowed(fields: &[Field], item: &Value) -> Value {
    let Value::Object(object) = item else { return item.clone() };
    let member = |(name, value): (&String, &Value)| {
        let field = fields.iter().find(|field| field.name == *name);
        // An `href` is never kept, in neither text.
        let is_known = field.is_some() || name == "href";
        let part = field.and_then(|field| standard_part(field, value));
        is_known.then(|| (name.clone(), part.unwrap_or_else(|| value.clone())))
    };
    Value::Object(object.iter().filter_map(member).collect())
}
