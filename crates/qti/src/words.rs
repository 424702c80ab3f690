//! The words of an item as plain text, for people who read answers without seeing the item.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::DocumentContent;
use crate::fault::DocumentFault;

/// The words of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemWords {
    /// The question on one line: the text of the body without choices, and the prompts.
    pub question: String,
    /// The text of each choice and target by its identifier, by response variable.
    choices: HashMap<Box<str>, HashMap<Box<str>, String>>,
}

/// Reads the words of an item. Errors: as of [`crate::read`].
pub fn item_words(xml: &str) -> Result<ItemWords, DocumentFault> {
    let (document, version) = crate::parsed(xml)?;
    let root = document.root();
    let body = root.first("qti-item-body");
    let mut texts = vec![body.map(crate::xml::Element::deep_text).unwrap_or_default()];
    let mut choices: HashMap<Box<str>, HashMap<Box<str>, String>> = HashMap::new();
    if let DocumentContent::Item(item) = crate::read_document(&document, version)?.content {
        for interaction in item.interactions {
            texts.push(interaction.prompt);
            let choices = choices.entry(interaction.response).or_default();
            for choice in interaction.choices.into_iter().chain(interaction.targets) {
                if !choice.text.is_empty() {
                    choices.insert(choice.identifier, choice.text);
                }
            }
        }
    }
    texts.retain(|text| !text.is_empty());
    Ok(ItemWords { question: texts.join(" "), choices })
}

impl ItemWords {
    /// A value of a response variable: the text of a choice, two texts of a pair, or the value itself.
    pub fn value(&self, variable: &str, value: &str) -> String {
        let choices = self.choices.get(variable);
        let choice = |identifier: &str| choices?.get(identifier);
        if let Some(text) = choice(value) {
            return text.clone();
        }
        let pair = value
            .split_once(' ')
            .and_then(|(first, second)| Some(format!("{} → {}", choice(first)?, choice(second)?)));
        pair.unwrap_or_else(|| value.to_owned())
    }

    fn response(&self, variable: &str, response: &Value) -> String {
        match response {
            Value::Null => "–".to_owned(),
            Value::String(value) => self.value(variable, value),
            Value::Array(values) => {
                let values = values.iter().map(|value| self.response(variable, value));
                values.collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        }
    }

    /// The answer by response variable. Values of several variables are separated by semicolons.
    pub fn responses(&self, responses: &Map<String, Value>) -> String {
        let all = responses.iter();
        all.map(|(variable, one)| self.response(variable, one)).collect::<Vec<_>>().join("; ")
    }
}
