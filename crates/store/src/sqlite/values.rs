//! Values of SQLite.

use lyceum_core::{Problem, Result};
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::Value;
use crate::problem::NulCharacter;

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(number),
            Value::Real(number) => ValueRef::Real(number),
            Value::Text(text) if memchr::memchr(0, text.as_bytes()).is_some() => {
                return Err(rusqlite::Error::ToSqlConversionFailure(NulCharacter.into()));
            }
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// The value of a column.
pub(crate) fn cell<'a>(row: &'a rusqlite::Row<'_>, column: usize) -> Result<Value<'a>> {
    let value = row.get_ref(column).map_err(Problem::internal)?;
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(bytes) => {
            Value::Text(std::str::from_utf8(bytes).map_err(Problem::internal)?)
        }
        ValueRef::Blob(bytes) => Value::Blob(bytes),
    })
}
