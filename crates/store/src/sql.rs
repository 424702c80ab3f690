//! A statement under construction: its text and its values grow together.

use lyceum_core::Result;

use crate::{SqlDialect, Value};

/// A value that a statement under construction owns.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    /// Text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Real(f64),
}

impl From<&str> for Param {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Param {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

/// Text and values of a statement.
#[derive(Clone, Debug)]
pub struct Sql {
    /// The SQL dialect.
    pub dialect: SqlDialect,
    /// The text.
    pub text: String,
    params: Vec<Param>,
}

impl Sql {
    /// An empty statement.
    #[must_use]
    pub fn new(dialect: SqlDialect) -> Self {
        Self { dialect, text: String::with_capacity(256), params: Vec::new() }
    }

    /// Appends text.
    pub fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Appends a placeholder for the value. Placeholders are numbered in order of first use.
    pub fn bind(&mut self, param: impl Into<Param>) -> &mut Self {
        let placeholder = self.placeholder(param);
        self.push(&placeholder)
    }

    /// The placeholder for the value, to be appended by the caller before the next one.
    pub fn placeholder(&mut self, param: impl Into<Param>) -> String {
        self.params.push(param.into());
        format!("${}", self.params.len())
    }

    /// Appends the parts in parentheses, with a word between them. Errors: those of `each`.
    pub fn joined<T>(
        &mut self,
        parts: &[T],
        word: &str,
        each: impl Fn(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        self.push("(");
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                self.push(word);
            }
            each(self, part)?;
        }
        self.push(")");
        Ok(())
    }

    /// The values, ready to bind.
    pub fn values(&self) -> Vec<Value<'_>> {
        self.params
            .iter()
            .map(|param| match param {
                Param::Text(text) => Value::Text(text),
                Param::Int(number) => Value::Int(*number),
                Param::Real(number) => Value::Real(*number),
            })
            .collect()
    }
}
