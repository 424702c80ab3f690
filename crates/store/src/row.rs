//! A row of a query's result.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};

use crate::Value;
use crate::postgres::cell as postgres_cell;
use crate::sqlite::cell as sqlite_cell;

/// A row of a query's result. [`Row::read`] reads it whole; where only some columns are read, they are numbered
/// from 0. A column read as a type that it does not have is an `Internal` problem.
pub struct Row<'a>(pub(crate) RowCells<'a>);

/// The row below a [`Row`].
pub(crate) enum RowCells<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    /// A whole number; a truth value reads as 0 or 1.
    pub fn int(&self, column: usize) -> Result<i64> {
        self.opt_int(column)?.ok_or_else(|| null(column))
    }

    /// A whole number or NULL.
    pub fn opt_int(&self, column: usize) -> Result<Option<i64>> {
        match self.cell(column)? {
            Value::Null => Ok(None),
            Value::Int(number) => Ok(Some(number)),
            _ => Err(wrong(column, "a whole number")),
        }
    }

    /// A number.
    pub fn real(&self, column: usize) -> Result<f64> {
        self.opt_real(column)?.ok_or_else(|| null(column))
    }

    /// A number or NULL.
    pub fn opt_real(&self, column: usize) -> Result<Option<f64>> {
        match self.cell(column)? {
            Value::Null => Ok(None),
            Value::Real(number) => Ok(Some(number)),
            #[expect(clippy::cast_precision_loss, reason = "asked for as floating point")]
            Value::Int(number) => Ok(Some(number as f64)),
            _ => Err(wrong(column, "a number")),
        }
    }

    /// Text, borrowed from the row.
    pub fn text(&self, column: usize) -> Result<&str> {
        self.opt_text(column)?.ok_or_else(|| null(column))
    }

    /// Text or NULL, borrowed from the row.
    pub fn opt_text(&self, column: usize) -> Result<Option<&str>> {
        match self.cell(column)? {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text)),
            _ => Err(wrong(column, "text")),
        }
    }

    /// Text of its own.
    pub fn string(&self, column: usize) -> Result<String> {
        self.text(column).map(str::to_owned)
    }

    /// Text of its own, or NULL.
    pub fn opt_string(&self, column: usize) -> Result<Option<String>> {
        Ok(self.opt_text(column)?.map(str::to_owned))
    }

    /// An instant that is kept as milliseconds since 1970.
    pub fn time(&self, column: usize) -> Result<Timestamp> {
        self.int(column).map(Timestamp::from_milliseconds)
    }

    /// An instant that is kept as milliseconds since 1970, or NULL.
    pub fn opt_time(&self, column: usize) -> Result<Option<Timestamp>> {
        Ok(self.opt_int(column)?.map(Timestamp::from_milliseconds))
    }

    /// Bytes, borrowed from the row.
    pub fn blob(&self, column: usize) -> Result<&[u8]> {
        self.opt_blob(column)?.ok_or_else(|| null(column))
    }

    /// Bytes or NULL, borrowed from the row.
    pub fn opt_blob(&self, column: usize) -> Result<Option<&[u8]>> {
        match self.cell(column)? {
            Value::Null => Ok(None),
            Value::Blob(bytes) => Ok(Some(bytes)),
            _ => Err(wrong(column, "bytes")),
        }
    }

    /// The number of columns.
    pub(crate) fn width(&self) -> usize {
        match &self.0 {
            RowCells::Sqlite(row) => row.as_ref().column_count(),
            RowCells::Postgres(row) => row.len(),
        }
    }

    /// The value of the column.
    pub fn cell(&self, column: usize) -> Result<Value<'_>> {
        match &self.0 {
            RowCells::Sqlite(row) => sqlite_cell(row, column),
            RowCells::Postgres(row) => postgres_cell(row, column),
        }
    }
}

fn null(column: usize) -> Problem {
    Problem::internal(format!("column {column} of an answer is NULL"))
}

fn wrong(column: usize, wanted: &str) -> Problem {
    Problem::internal(format!("column {column} of an answer is not {wanted}"))
}
