//! Grades: stored as sent, compared by value (docs/decisions/006).

use std::borrow::Cow;

use lyceum_core::{Message, message};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

/// Names of grades that also have a number.
const NUMBERED: [(&str, i64); 3] = [("PK", -1), ("K", 0), ("KG", 0)];

/// Levels of the Common Education Data Standards without a number: infant or toddler, preschool,
/// transitional kindergarten, adult education, postsecondary, ungraded, others.
const LEVELS: [&str; 11] =
    ["IT", "PR", "TK", "AE", "ABE", "ASE", "AdultESL", "PS", "UG", "OutOfSchool", "Other"];

/// The numbers of grades: -1 is the year before kindergarten, 0 kindergarten, 13 the year after the
/// twelfth grade.
const NUMBERS: std::ops::RangeInclusive<i64> = -1..=13;

/// The stored text of a grade that was sent as a number: `3` is `03`, `11` is `11`, `-1` is `-1`.
pub(crate) fn number_text(number: &Number) -> String {
    match number.as_i64() {
        Some(grade @ 0..=9) => format!("0{grade}"),
        _ => number.to_string(),
    }
}

/// The text by which grades are compared: `3` equals `03`, and `0`, `K` and `KG` are equal. Other grades ignore
/// ASCII case.
pub fn comparable(grade: &str) -> String {
    let grade = grade.trim();
    match number(grade) {
        Some(number) => number_text(&number.into()),
        None => grade.to_ascii_lowercase(),
    }
}

/// Checks that the text is a grade. Errors: what a grade must be.
pub fn check(grade: &str) -> Result<(), Message> {
    let is_digits = matches!(grade.len(), 1 | 2) && !grade.starts_with('+');
    let is_numbered = number(grade).is_some_and(|number| NUMBERS.contains(&number));
    let is_name = || NUMBERED.iter().any(|(name, _)| name.eq_ignore_ascii_case(grade));
    let is_level = || LEVELS.iter().any(|level| level.eq_ignore_ascii_case(grade));
    if is_numbered && (is_digits || is_name()) || is_level() {
        return Ok(());
    }
    let levels = LEVELS.join(", ");
    Err(message!("must be a grade: PK, KG, -1 to 13, or one of {levels} (got '{grade}')"))
}

/// The text of a grade that is a string or a number. Errors: what a grade must be.
pub fn read(value: &Value) -> Result<String, Message> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number_text(number),
        other => return Err(message!("must be a grade as a string or a number (got {other})")),
    };
    check(&text).map(|()| text)
}

/// A grade in a request: a string or a number.
#[derive(Clone, Debug)]
pub struct Grade {
    /// Its text as sent: the number 3 is `3`.
    pub sent: String,
    /// Its text as records have it: the number 3 is `03`.
    pub stored: String,
}

impl Serialize for Grade {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.stored)
    }
}

impl<'de> Deserialize<'de> for Grade {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = match Value::deserialize(deserializer)? {
            Value::String(text) => text.trim().into(),
            other => other,
        };
        let stored = read(&value).map_err(D::Error::custom)?;
        let sent = if value.is_number() { value.to_string() } else { stored.clone() };
        Ok(Self { sent, stored })
    }
}

impl JsonSchema for Grade {
    fn schema_name() -> Cow<'static, str> {
        "GradeInput".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let description = format!("PK, KG, -1 to 13, or one of {}.", LEVELS.join(", "));
        json_schema!({ "type": ["string", "integer"], "minLength": 1, "description": description })
    }
}

/// The number that a grade stands for if it says one, or the names of [`NUMBERED`].
fn number(grade: &str) -> Option<i64> {
    let named = NUMBERED.iter().find(|(name, _)| name.eq_ignore_ascii_case(grade));
    named.map(|(_, number)| *number).or_else(|| grade.parse().ok())
}

/// The number by which a grade is placed among others: transitional kindergarten beside kindergarten, what
/// comes before it -1, advanced placement 13.
pub fn value(grade: &str) -> Option<i64> {
    let grade = grade.trim();
    number(grade).or_else(|| match grade.to_ascii_uppercase().as_str() {
        "TK" => Some(0),
        "PR" | "IT" => Some(-1),
        "AP" => Some(13),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::{check, comparable};

    #[test]
    fn grades_compare_by_value() {
        for same in [["3", "03"], ["K", "0"], ["KG", "00"], ["kg", "K"], ["PK", "-1"]] {
            assert_eq!(comparable(same[0]), comparable(same[1]), "{same:?}");
        }
        assert_eq!(comparable("3"), "03");
        assert_eq!(comparable("11"), "11");
        assert_eq!(comparable("-1"), "-1");
        assert_eq!(comparable("UG"), "ug");
        assert_ne!(comparable("TK"), comparable("KG"), "they are two grades");
    }

    #[test]
    fn only_the_table_has_grades() {
        for grade in ["PK", "K", "KG", "kg", "-1", "0", "00", "09", "9", "13", "IT", "ug", "Other"]
        {
            assert!(check(grade).is_ok(), "{grade}");
        }
        for grade in ["banana", "99", "14", "-2", "", " ", "+3", "003", "3.5", "3rd", "AP", "K-5"] {
            let message = check(grade).unwrap_err().to_string();
            assert!(message.contains(&format!("got '{grade}'")), "{message}");
        }
    }
}
