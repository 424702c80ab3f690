//! A transaction, and a row of an answer.

use lyceum_core::Result;

use crate::{Dialect, Value};

/// A transaction on either store.
pub struct Tx<'a> {
    _marker: std::marker::PhantomData<&'a ()>,
}

/// One row of an answer; columns are numbered from 0. A column read as a type that it does not
/// have is an `Internal` problem.
pub struct Row<'a> {
    _marker: std::marker::PhantomData<&'a ()>,
}

impl Tx<'_> {
    /// Which store this is.
    pub fn dialect(&self) -> Dialect {
        unimplemented!()
    }

    /// Runs a query and hands its rows, one by one, to `each`; `Ok(false)` ends it early.
    /// Holds one row at a time in memory on SQLite, one fetch on PostgreSQL.
    pub fn query(
        &mut self,
        _sql: &str,
        _params: &[Value<'_>],
        _each: impl FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        unimplemented!()
    }

    /// The first row of a query, if there is one.
    pub fn query_one<T>(
        &mut self,
        _sql: &str,
        _params: &[Value<'_>],
        _read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        unimplemented!()
    }

    /// Runs a statement and answers the number of rows that it changed.
    pub fn execute(&mut self, _sql: &str, _params: &[Value<'_>]) -> Result<u64> {
        unimplemented!()
    }

    /// Inserts rows in bulk: `values` holds them row after row, `columns.len()` values each.
    /// `conflict` is the text behind the values, such as `ON CONFLICT DO NOTHING`, or empty.
    pub fn insert_rows(
        &mut self,
        _table: &str,
        _columns: &[&str],
        _values: &[Value<'_>],
        _conflict: &str,
    ) -> Result<u64> {
        unimplemented!()
    }

    /// Adds to a counter (see `tally.rs`): `(collection, seq)` gained `delta` live records.
    /// Deltas are summed in memory and written once, just before the commit.
    pub fn tally(&mut self, _collection: &'static str, _seq: i64, _delta: i64) {
        unimplemented!()
    }
}

impl Row<'_> {
    /// A whole number.
    pub fn int(&self, _column: usize) -> Result<i64> {
        unimplemented!()
    }
    /// A whole number or NULL.
    pub fn opt_int(&self, _column: usize) -> Result<Option<i64>> {
        unimplemented!()
    }
    /// A floating-point number or NULL.
    pub fn opt_real(&self, _column: usize) -> Result<Option<f64>> {
        unimplemented!()
    }
    /// Text, borrowed from the row.
    pub fn text(&self, _column: usize) -> Result<&str> {
        unimplemented!()
    }
    /// Text or NULL, borrowed from the row.
    pub fn opt_text(&self, _column: usize) -> Result<Option<&str>> {
        unimplemented!()
    }
    /// Bytes, borrowed from the row.
    pub fn blob(&self, _column: usize) -> Result<&[u8]> {
        unimplemented!()
    }
}
