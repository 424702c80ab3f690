//! The outcomes of a response.

use serde_json::Value as Json;

use crate::model::{Feedback, Item};
use crate::value::{Value, to_json};

/// Outcome variables and what they hold, in the order of their declarations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcomes(Vec<(Box<str>, Value)>);

impl Outcomes {
    pub(crate) fn new(values: Vec<(Box<str>, Value)>) -> Self {
        Self(values)
    }

    /// The value of an outcome; `None` if it does not exist.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(own, _)| &**own == name).map(|(_, value)| value)
    }

    /// The names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// The number in `SCORE`.
    pub fn score(&self) -> Option<f64> {
        self.get("SCORE").and_then(Value::as_number)
    }

    /// As a JSON object of names and values.
    pub fn to_json(&self) -> Json {
        Json::Object(self.iter().map(|(name, value)| (name.to_owned(), to_json(value))).collect())
    }

    /// The feedback of an item that these outcomes show, in the order of the document.
    pub fn feedback<'i>(&self, item: &'i Item) -> Vec<&'i Feedback> {
        item.feedback.iter().filter(|feedback| self.shows(feedback)).collect()
    }

    /// Whether a feedback is shown: its outcome has, or among its values holds, the identifier; the
    /// other way round if it says `hide` (QTI 3.0, feedback visibility).
    pub fn shows(&self, feedback: &Feedback) -> bool {
        let value = self.get(&feedback.outcome).unwrap_or(&Value::Null);
        let has = value.scalars().iter().any(|scalar| scalar.to_string() == *feedback.identifier);
        has == feedback.show
    }
}
