//! Values as JSON.

use serde_json::{Map, Value as Json, json};

use super::{BaseType, Cardinality, Scalar, UploadedFile, Value, parse};

/// The value as JSON: numbers and booleans as such, everything else as XML writes it (a pair is
/// `"A B"`), containers as arrays, records as objects, files as `{name, mediaType, data}`.
pub fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Single(scalar) => scalar_to_json(scalar),
        Value::Multiple(values) | Value::Ordered(values) => {
            values.iter().map(scalar_to_json).collect()
        }
        Value::Record(fields) => {
            let field = |(name, value): &super::RecordField| {
                (name.to_string(), value.as_ref().map_or(Json::Null, scalar_to_json))
            };
            Json::Object(fields.iter().map(field).collect())
        }
    }
}

fn scalar_to_json(scalar: &Scalar) -> Json {
    match scalar {
        Scalar::Boolean(value) => json!(value),
        Scalar::Integer(value) => json!(value),
        Scalar::Float(value) | Scalar::Duration(value) if value.is_finite() => json!(value),
        Scalar::File(file) if !file.name.is_empty() || !file.media_type.is_empty() => {
            json!({"name": file.name, "mediaType": file.media_type, "data": file.data})
        }
        other => json!(other.to_string()),
    }
}

/// Reads a value that a caller sent for a variable. A container takes one value too, a single an
/// array of one; an empty text or array is NULL. Errors: what is wrong, for the caller.
pub fn from_json(
    cardinality: Cardinality,
    base_type: Option<BaseType>,
    json: &Json,
) -> Result<Value, String> {
    if cardinality == Cardinality::Record {
        return match json {
            Json::Null => Ok(Value::Null),
            Json::Object(fields) => record(fields),
            other => Err(format!("must be an object with the fields of the record (got {other})")),
        };
    }
    let Some(base_type) = base_type else { return Err("the variable has no base type".into()) };
    let members = match json {
        Json::Null => return Ok(Value::Null),
        Json::Array(members) => members.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut values = Vec::with_capacity(members.len());
    for member in members {
        values.extend(scalar_from_json(base_type, member)?);
    }
    if cardinality == Cardinality::Single && values.len() > 1 {
        return Err(format!("{} values for a variable that can contain only one", values.len()));
    }
    Ok(Value::container(cardinality, values))
}

fn scalar_from_json(base_type: BaseType, json: &Json) -> Result<Option<Scalar>, String> {
    let scalar = match json {
        Json::Null => return Ok(None),
        Json::String(text) if text.is_empty() => return Ok(None),
        Json::String(text) => parse(base_type, text),
        Json::Object(file) if base_type == BaseType::File => file_from_json(file),
        Json::Array(two) if two.len() == 2 => {
            let word = |json: &Json| json.as_str().map_or_else(|| json.to_string(), str::to_owned);
            parse(base_type, &format!("{} {}", word(&two[0]), word(&two[1])))
        }
        Json::Number(number) if matches!(base_type, BaseType::Integer) => {
            // 3.0 is three.
            let whole = number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 9e15);
            number.as_i64().map(Scalar::Integer).or_else(|| parse(base_type, &whole?.to_string()))
        }
        Json::Number(_) | Json::Bool(_) => parse(base_type, &json.to_string()),
        Json::Object(_) | Json::Array(_) => None,
    };
    scalar.map(Some).ok_or_else(|| format!("{json} is not of the type '{}'", base_type.name()))
}

fn file_from_json(file: &Map<String, Json>) -> Option<Scalar> {
    let text = |name: &str| file.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let file =
        UploadedFile { name: text("name"), media_type: text("mediaType"), data: text("data") };
    (!file.data.is_empty()).then(|| Scalar::File(Box::new(file)))
}

fn record(fields: &Map<String, Json>) -> Result<Value, String> {
    let mut values = Vec::with_capacity(fields.len());
    for (name, json) in fields {
        let value = match json {
            Json::Null => None,
            Json::Bool(value) => Some(Scalar::Boolean(*value)),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Some(Scalar::Integer(integer)),
                (None, float) => float.map(Scalar::Float),
            },
            Json::String(text) => Some(Scalar::String(text.as_str().into())),
            other => return Err(format!("the field '{name}' cannot be {other}")),
        };
        values.push((name.as_str().into(), value));
    }
    Ok(match values.is_empty() {
        true => Value::Null,
        false => Value::Record(values),
    })
}
