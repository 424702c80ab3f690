//! What a candidate answers: read from JSON, and held against the rules of the interactions.

mod check;

use lyceum_core::limits::{QTI_CONTAINER_MAX_VALUES, QTI_RESPONSE_MAX_BYTES};
use serde_json::{Map, Value as Json};

pub use check::check;

use crate::model::Item;
use crate::value::{Value, from_json};

/// The values of response variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Responses(Vec<(Box<str>, Value)>);

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ResponseFault {
    /// The response variable.
    pub identifier: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub mend: String,
}

impl ResponseFault {
    fn new(identifier: &str, message: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { identifier: identifier.to_owned(), message: message.into(), mend: mend.into() }
    }
}

impl Responses {
    /// The value of a response variable; `None` where there is no answer.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(own, _)| &**own == name).map(|(_, value)| value)
    }

    /// Gives a response variable a value, whatever it had.
    pub fn set(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(own, _)| &**own == name) {
            Some((_, own)) => *own = value,
            None => self.0.push((name.into(), value)),
        }
    }

    /// Reads an object of identifiers and values: a text, number, boolean, array or `null`; see
    /// [`from_json`]. Errors: identifiers that the item does not declare, values that are not of the
    /// declared type.
    pub fn from_json(item: &Item, json: &Map<String, Json>) -> Result<Self, Vec<ResponseFault>> {
        let (mut responses, mut faults) = (Vec::with_capacity(json.len()), Vec::new());
        for (name, json) in json {
            match read(item, name, json) {
                Ok(value) => responses.push((name.as_str().into(), value)),
                Err(fault) => faults.push(fault),
            }
        }
        match faults.is_empty() {
            true => Ok(Self(responses)),
            false => Err(faults),
        }
    }
}

fn read(item: &Item, name: &str, json: &Json) -> Result<Value, ResponseFault> {
    let Some(response) = item.response(name) else {
        let known = item.responses.iter().map(|r| &*r.declaration.identifier);
        let mend = crate::validate::near(name, known.clone())
            .unwrap_or_else(|| format!("it has {}", known.collect::<Vec<_>>().join(", ")));
        return Err(ResponseFault::new(
            name,
            "the item has no response variable of that name",
            mend,
        ));
    };
    let size = match json {
        Json::Array(members) => members.len(),
        _ => 1,
    };
    if size > QTI_CONTAINER_MAX_VALUES {
        let message = format!("{size} values");
        let mend = format!("send at most {QTI_CONTAINER_MAX_VALUES}");
        return Err(ResponseFault::new(name, message, mend));
    }
    if json.as_str().is_some_and(|text| text.len() > QTI_RESPONSE_MAX_BYTES) {
        let mend = format!("send at most {QTI_RESPONSE_MAX_BYTES} bytes");
        return Err(ResponseFault::new(name, "the text is too long", mend));
    }
    let declaration = &response.declaration;
    from_json(declaration.cardinality, declaration.base_type, json).map_err(|message| {
        let base_type = declaration.base_type.map_or("record", crate::value::BaseType::name);
        ResponseFault::new(name, message, format!("send a {base_type}"))
    })
}
