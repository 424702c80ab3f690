//! Statements with parameters, as D1's client sends them. They are parsed directly into SQLite's
//! types and limits apply while parsing, so a request needs no more memory than its text.

use std::fmt;
use std::marker::PhantomData;

use rusqlite::ToSql;
use rusqlite::types::{Null, ToSqlOutput};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::limits::{D1_PARAMETERS_MAX_COUNT, D1_STATEMENTS_MAX_COUNT};

/// A statement with its parameters.
#[derive(serde::Deserialize)]
pub(crate) struct D1Query {
    pub(super) sql: String,
    #[serde(default, deserialize_with = "parameters")]
    pub(super) params: Vec<Parameter>,
}

/// A parameter as the client sends it. A blob is an array of bytes.
pub(super) enum Parameter {
    Null,
    /// JavaScript has one number type; the affinity of a column turns whole numbers into integers.
    Number(f64),
    Truth(bool),
    Text(String),
    Blob(Vec<u8>),
}

/// The statements of a request: one, or a list.
pub(crate) fn queries(body: &[u8]) -> serde_json::Result<Vec<D1Query>> {
    if !body.trim_ascii_start().starts_with(b"[") {
        return Ok(vec![serde_json::from_slice(body)?]);
    }
    let mut text = serde_json::Deserializer::from_slice(body);
    let queries =
        text.deserialize_seq(LimitedList::<_, D1_STATEMENTS_MAX_COUNT>::of("statements"))?;
    text.end()?;
    Ok(queries)
}

fn parameters<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Parameter>, D::Error> {
    deserializer.deserialize_any(LimitedList::<_, D1_PARAMETERS_MAX_COUNT>::of("parameters"))
}

/// A list of limited length. `null` is an empty list.
struct LimitedList<T, const MAX: usize> {
    what: &'static str,
    of: PhantomData<T>,
}

impl<T, const MAX: usize> LimitedList<T, MAX> {
    fn of(what: &'static str) -> Self {
        Self { what, of: PhantomData }
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for LimitedList<T, MAX> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX} {}", self.what)
    }

    fn visit_unit<E>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            if all.len() == MAX {
                return Err(A::Error::custom(format!(
                    "too many {}: the limit is {MAX}",
                    self.what
                )));
            }
            all.push(one);
        }
        Ok(all)
    }
}

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ParameterVisitor)
    }
}

struct ParameterVisitor;

#[expect(clippy::cast_precision_loss, reason = "as JavaScript does")]
impl<'de> Visitor<'de> for ParameterVisitor {
    type Value = Parameter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "null, a number, a truth value, a text or an array of bytes; D1 stores no other",
        )
    }

    fn visit_unit<E>(self) -> Result<Parameter, E> {
        Ok(Parameter::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Parameter, E> {
        Ok(Parameter::Truth(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Parameter, E> {
        Ok(Parameter::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Parameter, E> {
        Ok(Parameter::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Parameter, E> {
        Ok(Parameter::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Parameter, E> {
        Ok(Parameter::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut bytes: A) -> Result<Parameter, A::Error> {
        let mut blob = Vec::new();
        while let Some(byte) = bytes.next_element()? {
            blob.push(byte);
        }
        Ok(Parameter::Blob(blob))
    }
}

impl ToSql for Parameter {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => Null.into(),
            Self::Number(number) => (*number).into(),
            Self::Truth(truth) => i64::from(*truth).into(),
            Self::Text(text) => text.as_str().into(),
            Self::Blob(blob) => blob.as_slice().into(),
        })
    }
}
