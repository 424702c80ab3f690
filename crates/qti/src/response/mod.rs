//! Responses of candidates: reads them from JSON and checks them against the rules of the interactions.

mod check;

use lyceum_core::{Message, message};
use serde_json::{Map, Value as Json};

pub use check::check;

use crate::limits::{QTI_CONTAINER_MAX_VALUES, QTI_RESPONSE_MAX_BYTES};
use crate::model::{InteractionDetails, Item};
use crate::validate::nearest;
use crate::value::{BaseType, Scalar, Value, from_json};

/// The values of response variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Responses(Vec<(Box<str>, Value)>);

/// An error in an answer.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct ResponseFault {
    /// The response variable.
    pub identifier: String,
    /// The error.
    pub message: Message,
    /// How to fix it.
    pub remedy: Message,
    /// Whether the answer can be scored all the same: it names what there is, but too few or too many
    /// of it, or a text in another form than the interaction asks for.
    #[serde(skip)]
    pub is_scored: bool,
    /// Whether it names more than the interaction allows. A mapping would reward an answer that chooses everything.
    #[serde(skip)]
    pub is_excess: bool,
}

impl ResponseFault {
    fn new(identifier: &str, message: impl Into<Message>, remedy: impl Into<Message>) -> Self {
        Self {
            identifier: identifier.to_owned(),
            message: message.into(),
            remedy: remedy.into(),
            is_scored: false,
            is_excess: false,
        }
    }

    /// A fault of an answer that is scored all the same.
    fn of_scored(
        identifier: &str,
        message: impl Into<Message>,
        remedy: impl Into<Message>,
    ) -> Self {
        Self { is_scored: true, ..Self::new(identifier, message, remedy) }
    }
}

impl Responses {
    /// The value of a response variable; `None` without an answer.
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
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut responses = Self(responses);
        responses.keep_texts(item, json);
        Ok(responses)
    }

    /// Where a number is typed, the text itself goes into the variable that is named for it.
    fn keep_texts(&mut self, item: &Item, json: &Map<String, Json>) {
        for interaction in &item.interactions {
            let InteractionDetails::Text(details) = &interaction.details else { continue };
            let Some(name) = &details.string_identifier else { continue };
            let typed = json.get(&*interaction.response).and_then(Json::as_str);
            if let Some(text) = typed.filter(|text| !text.is_empty())
                && self.get(name).is_none()
                && item.response(name).is_some()
            {
                self.set(name, Value::Single(Scalar::String(text.into())));
            }
        }
    }
}

fn read(item: &Item, name: &str, json: &Json) -> Result<Value, ResponseFault> {
    let Some(response) = item.response(name) else {
        let known = item.responses.iter().map(|r| &*r.declaration.identifier);
        let remedy = match nearest(name, known.clone()) {
            Some(near) => message!("did you mean '{near}'?"),
            None => message!("it has {names}", names = known.collect::<Vec<_>>().join(", ")),
        };
        return Err(ResponseFault::new(
            name,
            "the item has no response variable with this name",
            remedy,
        ));
    };
    let size = match json {
        Json::Array(members) => members.len(),
        _ => 1,
    };
    if size > QTI_CONTAINER_MAX_VALUES {
        let message = message!("{size} values");
        let remedy = message!("send at most {QTI_CONTAINER_MAX_VALUES}");
        return Err(ResponseFault::new(name, message, remedy));
    }
    if json.as_str().is_some_and(|text| text.len() > QTI_RESPONSE_MAX_BYTES) {
        let remedy = message!("send at most {QTI_RESPONSE_MAX_BYTES} bytes");
        return Err(ResponseFault::new(name, "the text is too long", remedy));
    }
    let declaration = &response.declaration;
    let decimal = match (declaration.base_type, base_of(item, name)) {
        (_, 10) => Ok(None),
        (Some(BaseType::Integer), base) => decimal(json, base, &integer).map(Some),
        (Some(BaseType::Float), base) => decimal(json, base, &fraction).map(Some),
        _ => Ok(None),
    };
    let value = decimal.and_then(|decimal| {
        let json = decimal.as_ref().unwrap_or(json);
        from_json(declaration.cardinality, declaration.base_type, json)
            .map_err(Message::untranslated)
    });
    value.map_err(|message| {
        let base_type = declaration.base_type.map_or("record", BaseType::name);
        ResponseFault::new(name, message, message!("send a value of the type '{base_type}'"))
    })
}

/// The base of the numbers in a text interaction (QTI 3.0, `base`).
fn base_of(item: &Item, name: &str) -> u32 {
    let texts = item.interactions.iter().find_map(|interaction| match &interaction.details {
        InteractionDetails::Text(details) if &*interaction.response == name => Some(details.base),
        _ => None,
    });
    texts.filter(|base| (2..=36).contains(base)).unwrap_or(10)
}

/// Converts numbers that were typed in another base to decimal numbers. JSON numbers stay unchanged. Errors: a text
/// that is not a number of that base.
fn decimal(
    json: &Json,
    base: u32,
    read: &dyn Fn(&str, u32) -> Option<Json>,
) -> Result<Json, Message> {
    match json {
        Json::Array(members) => members.iter().map(|one| decimal(one, base, read)).collect(),
        Json::String(text) if !text.trim().is_empty() => {
            let number = read(text.trim(), base);
            number.ok_or_else(|| message!("'{text}' is not a number of base {base}"))
        }
        other => Ok(other.clone()),
    }
}

fn integer(text: &str, base: u32) -> Option<Json> {
    i64::from_str_radix(text, base).ok().map(Json::from)
}

/// `-1a.8` of base 16 is -26.5.
fn fraction(text: &str, base: u32) -> Option<Json> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
    let whole = digits.replacen('.', "", 1);
    let value = whole.chars().try_fold(0.0, |value, digit| {
        Some(value * f64::from(base) + f64::from(digit.to_digit(base)?))
    });
    let scale = f64::from(base).powi(i32::try_from(places).ok()?);
    value.filter(|_| !whole.is_empty()).map(|value| Json::from(sign * value / scale))
}
