//! Whether a change meets a filter. Pure.

use std::borrow::Cow;
use std::cmp::Ordering;

use lyceum_core::{Message, message};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use crate::filter::{Filter, FilterOperator, FilterType};
use crate::limits;

/// The key of the topic.
pub(crate) const TOPIC_KEY: &str = "$type";

/// A filter, prepared for many changes.
#[derive(Debug)]
pub(crate) struct Condition {
    key: String,
    filter_type: FilterType,
    comparison: Comparison,
    /// Whether the comparison must not hold for any value.
    is_negated: bool,
}

#[derive(Debug)]
enum Comparison {
    /// The value is related to this one in one of these ways.
    Ordered(FilterValue, &'static [Ordering]),
    OneOf(Vec<FilterValue>),
    Contains(String),
    StartsWith(String),
    EndsWith(String),
    Matches(Regex),
}

#[derive(Debug, PartialEq, PartialOrd)]
enum FilterValue {
    Text(String),
    Number(f64),
    Boolean(bool),
}

/// A change, as filters see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchedChange<'a> {
    pub(crate) topic: &'a str,
    pub(crate) object: &'a str,
    pub(crate) sensor: &'a str,
    pub(crate) data: &'a Value,
}

impl Condition {
    /// Prepares a filter. Errors: why its value is not valid for the type or operator.
    pub(crate) fn of(filter: &Filter) -> Result<Self, Message> {
        let text = || filter.filter_value.clone();
        let ordered = |orderings: &'static [Ordering]| {
            let value = parse(filter.filter_type, &filter.filter_value)?;
            Ok::<_, Message>(Comparison::Ordered(value, orderings))
        };
        let comparison = match filter.filter_operator {
            FilterOperator::Eq | FilterOperator::Neq => ordered(&[Ordering::Equal])?,
            FilterOperator::Gt => ordered(&[Ordering::Greater])?,
            FilterOperator::Gte => ordered(&[Ordering::Greater, Ordering::Equal])?,
            FilterOperator::Lt => ordered(&[Ordering::Less])?,
            FilterOperator::Lte => ordered(&[Ordering::Less, Ordering::Equal])?,
            FilterOperator::In | FilterOperator::NotIn => {
                let words = list_values(&filter.filter_value)?;
                let values = words.iter().map(|word| parse(filter.filter_type, word));
                Comparison::OneOf(values.collect::<Result<_, _>>()?)
            }
            FilterOperator::Contains | FilterOperator::NotContains => Comparison::Contains(text()),
            FilterOperator::StartsWith => Comparison::StartsWith(text()),
            FilterOperator::EndsWith => Comparison::EndsWith(text()),
            FilterOperator::Regexp => Comparison::Matches(regex(&filter.filter_value)?),
        };
        let is_negated = matches!(
            filter.filter_operator,
            FilterOperator::Neq | FilterOperator::NotContains | FilterOperator::NotIn
        );
        let (key, filter_type) = (filter.filter_key.clone(), filter.filter_type);
        Ok(Self { key, filter_type, comparison, is_negated })
    }

    /// Whether the condition depends on the topic alone.
    pub(crate) fn is_about_topic(&self) -> bool {
        self.key == TOPIC_KEY
    }

    /// Whether a topic meets a condition about topics.
    pub(crate) fn accepts_topic(&self, topic: &str) -> bool {
        self.holds(&Value::from(topic)) != self.is_negated
    }

    /// Whether a change meets the condition. A missing value meets only the negative operators.
    pub(crate) fn accepts(&self, change: MatchedChange<'_>) -> bool {
        let own = |text: &str| self.holds(&Value::from(text));
        let holds = match self.key.as_str() {
            TOPIC_KEY => own(change.topic),
            "$object" => own(change.object),
            "$sensor" => own(change.sensor),
            path => self.holds_at(change.data, &path.split('.').collect::<Vec<_>>()),
        };
        holds != self.is_negated
    }

    /// Whether the comparison holds for a value at the rest of the path; in lists, for one of the members.
    fn holds_at(&self, value: &Value, path: &[&str]) -> bool {
        if let Value::Array(members) = value {
            return members.iter().any(|member| self.holds_at(member, path));
        }
        match path {
            [] => self.holds(value),
            [name, rest @ ..] => value.get(name).is_some_and(|member| self.holds_at(member, rest)),
        }
    }

    fn holds(&self, value: &Value) -> bool {
        let text = || scalar_text(value);
        match &self.comparison {
            Comparison::Ordered(wanted, orderings) => typed(self.filter_type, value)
                .and_then(|value| value.partial_cmp(wanted))
                .is_some_and(|ordering| orderings.contains(&ordering)),
            Comparison::OneOf(wanted) => {
                typed(self.filter_type, value).is_some_and(|value| wanted.contains(&value))
            }
            Comparison::Contains(part) => text().is_some_and(|text| text.contains(part.as_str())),
            Comparison::StartsWith(part) => {
                text().is_some_and(|text| text.starts_with(part.as_str()))
            }
            Comparison::EndsWith(part) => text().is_some_and(|text| text.ends_with(part.as_str())),
            Comparison::Matches(regex) => text().is_some_and(|text| regex.is_match(&text)),
        }
    }
}

/// A value of a filter as its type. Errors: it is not of the type.
fn parse(filter_type: FilterType, text: &str) -> Result<FilterValue, Message> {
    match filter_type {
        FilterType::String => Ok(FilterValue::Text(text.to_owned())),
        FilterType::Number => {
            let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
            number.map(FilterValue::Number).ok_or_else(|| {
                message!(
                    "must be a number such as 12.5, because filterType is number (got '{text}')"
                )
            })
        }
        FilterType::Boolean => text.trim().parse().map(FilterValue::Boolean).map_err(|_| {
            message!("must be true or false, because filterType is boolean (got '{text}')")
        }),
    }
}

/// The values of a list: the members of a JSON array, or texts that commas separate.
fn list_values(text: &str) -> Result<Vec<String>, Message> {
    if !text.trim_start().starts_with('[') {
        return Ok(text.split(',').map(|word| word.trim().to_owned()).collect());
    }
    let members: Vec<Value> = serde_json::from_str(text)
        .map_err(|_| "must be a JSON array, or values that commas separate")?;
    let word = |member: &Value| scalar_text(member).map(Cow::into_owned);
    members
        .iter()
        .map(word)
        .collect::<Option<_>>()
        .ok_or_else(|| "must be an array of texts, numbers, true and false".into())
}

fn regex(pattern: &str) -> Result<Regex, Message> {
    let most = limits::WEBHOOK_REGEXP_MAX_BYTES;
    let built = RegexBuilder::new(pattern).size_limit(most).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => {
            message!("is too large a regular expression; the limit is {most} bytes when compiled")
        }
        other => {
            let reason = other.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            message!("is not a regular expression that works in linear time: {reason}")
        }
    })
}

/// A value of a change as the type of a filter; `None` if it has another type. A text that is a number counts as one.
fn typed(filter_type: FilterType, value: &Value) -> Option<FilterValue> {
    match filter_type {
        FilterType::String => scalar_text(value).map(|text| FilterValue::Text(text.into_owned())),
        FilterType::Number => match value {
            Value::Number(number) => number.as_f64().map(FilterValue::Number),
            Value::String(text) => text.parse().ok().map(FilterValue::Number),
            _ => None,
        },
        FilterType::Boolean => value.as_bool().map(FilterValue::Boolean),
    }
}

/// A text as it is; a number, `true` and `false` as JSON writes them.
fn scalar_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.into()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string().into()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use lyceum_core::time::Timestamp;
    use serde_json::json;

    use super::*;

    fn condition(
        key: &str,
        filter_type: &str,
        operator: &str,
        value: &str,
    ) -> Result<Condition, Message> {
        let now = Timestamp::from_milliseconds(0);
        Condition::of(&Filter {
            id: "f".into(),
            webhook_id: "w".into(),
            filter_key: key.into(),
            filter_value: value.into(),
            filter_type: serde_json::from_value(json!(filter_type)).unwrap(),
            filter_operator: serde_json::from_value(json!(operator)).unwrap(),
            active: true,
            created: now,
            updated: now,
            deleted: None,
        })
    }

    #[test]
    fn each_operator_compares_as_its_type() {
        let data = json!({
            "type": "ActivityEvent", "score": 87.5, "text": "12", "late": false,
            "actor": { "email": "ada@example.org", "tags": ["new", "math"] },
            "items": [{ "type": "xp", "value": 3 }, { "type": "time", "value": 40 }],
        });
        let change =
            MatchedChange { topic: "caliper.event", object: "e-1", sensor: "s", data: &data };
        for (key, filter_type, operator, value, holds) in [
            ("type", "string", "eq", "ActivityEvent", true),
            ("type", "string", "eq", "activityevent", false),
            ("type", "string", "neq", "ActivityEvent", false),
            ("type", "string", "neq", "Other", true),
            ("missing", "string", "eq", "x", false),
            ("missing", "string", "neq", "x", true),
            ("score", "number", "eq", "87.50", true),
            ("score", "number", "gt", "87.5", false),
            ("score", "number", "gte", "87.5", true),
            ("score", "number", "lt", "100", true),
            ("score", "number", "lte", "87", false),
            ("text", "number", "gt", "9", true),
            ("text", "string", "gt", "9", false),
            ("score", "string", "startsWith", "87", true),
            ("type", "number", "gt", "1", false),
            ("late", "boolean", "eq", "false", true),
            ("late", "boolean", "neq", "false", false),
            ("late", "string", "eq", "false", true),
            ("actor.email", "string", "contains", "@example", true),
            ("actor.email", "string", "notContains", "@example", false),
            ("actor.email", "string", "startsWith", "ada", true),
            ("actor.email", "string", "endsWith", ".com", false),
            ("actor.email", "string", "regexp", "^[a-z]+@example\\.(org|com)$", true),
            ("actor.email", "string", "regexp", "^ada$", false),
            ("type", "string", "in", "ViewEvent, ActivityEvent", true),
            ("type", "string", "in", "[\"ViewEvent\"]", false),
            ("type", "string", "notIn", "ViewEvent,SessionEvent", true),
            ("score", "number", "in", "[1, 87.5]", true),
            ("actor.tags", "string", "eq", "math", true),
            ("actor.tags", "string", "notIn", "math", false),
            ("items.value", "number", "gt", "39", true),
            ("items.value", "number", "gt", "40", false),
            ("actor", "string", "contains", "ada", false),
            ("$type", "string", "startsWith", "caliper.", true),
            ("$object", "string", "eq", "e-1", true),
            ("$sensor", "string", "neq", "s", false),
        ] {
            let condition = condition(key, filter_type, operator, value).unwrap();
            assert_eq!(condition.accepts(change), holds, "{key} {filter_type} {operator} {value}");
        }
    }

    #[test]
    fn values_that_cannot_be_compared_are_refused_with_the_reason() {
        for (filter_type, operator, value, reason) in [
            ("number", "gt", "many", "must be a number such as 12.5"),
            ("number", "in", "1,x", "must be a number"),
            ("boolean", "eq", "yes", "must be true or false"),
            ("string", "in", "[\"a\", {}]", "must be an array of texts"),
            ("string", "in", "[a", "must be a JSON array"),
            ("string", "regexp", "(", "is not a regular expression"),
            ("string", "regexp", "(a)\\1", "is not a regular expression"),
            ("string", "regexp", "(\\w{200}){200}", "is too large a regular expression"),
        ] {
            let refused = condition("a", filter_type, operator, value).unwrap_err().to_string();
            assert!(refused.starts_with(reason), "{value}: {refused}");
        }
    }
}
