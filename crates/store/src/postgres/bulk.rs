//! Many rows in one statement.

use std::pin::pin;

use lyceum_core::Result;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::{PostgresSession, values};
use crate::Value;
use crate::limits::INSERT_CHUNK_ROWS;

/// So many rows are streamed: fewer cost less in a statement, which is one way to the server and back.
const COPY_MIN_ROWS: usize = 100;

impl PostgresSession {
    pub(crate) fn insert_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        values: &[Value<'_>],
        conflict: &str,
    ) -> Result<u64> {
        if is_copied(columns, values, conflict) {
            return self.copy_rows(table, columns, values);
        }
        let mut changed = 0;
        for rows in values.chunks(columns.len() * INSERT_CHUNK_ROWS) {
            let arrays = by_column(columns.len(), rows);
            let unrolled = UnrolledArrays::of(&arrays);
            changed +=
                self.execute_with(&unrolled.insert(table, columns, conflict), &unrolled.params)?;
        }
        Ok(changed)
    }

    /// Inserts rows; a failure may show later.
    pub(crate) fn send_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        values: &[Value<'_>],
        conflict: &str,
    ) -> Result<()> {
        if is_copied(columns, values, conflict) {
            return self.copy_rows(table, columns, values).map(drop);
        }
        for rows in values.chunks(columns.len() * INSERT_CHUNK_ROWS) {
            let arrays = by_column(columns.len(), rows);
            let unrolled = UnrolledArrays::of(&arrays);
            self.send_with(&unrolled.insert(table, columns, conflict), &unrolled.params)?;
        }
        Ok(())
    }

    /// Inserts rows as one stream, which the server puts into pages many at a time.
    fn copy_rows(&mut self, table: &str, columns: &[&str], values: &[Value<'_>]) -> Result<u64> {
        let names = columns.join(", ");
        let types = self.prepare(&format!("SELECT {names} FROM {table}"))?;
        let types: Vec<Type> = types.columns().iter().map(|one| one.type_().clone()).collect();
        let sql = format!("COPY {table} ({names}) FROM STDIN (FORMAT binary)");
        let statement = self.prepare(&sql)?;
        // Behind a statement that failed, it would be refused.
        let settled = self.client.settle(&sql);
        self.note(settled)?;
        let mut begun = false;
        let copied = self.wait(&sql, async |client| {
            let stream = client.copy_in(&statement).await?;
            begun = true;
            let mut rows = pin!(BinaryCopyInWriter::new(stream, &types));
            for row in values.chunks(columns.len()) {
                rows.as_mut().write_raw(row).await?;
            }
            rows.finish().await
        });
        // The server answers twice where it refuses to begin, and the client counts one answer.
        self.is_out_of_step |= copied.is_err() && !begun;
        copied
    }

    /// Updates rows as `Tx::update_rows` says.
    pub(crate) fn update_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        keys: &[&str],
        values: &[Value<'_>],
    ) -> Result<u64> {
        let width = columns.len() + keys.len();
        if values.len() == width {
            // The text of one row does not depend on which values are NULL: one plan for all.
            let cells = |from: usize| (from..).map(|n| format!("${n}"));
            let sql = update(table, columns, cells(1), "", keys, cells(columns.len() + 1));
            return self.execute(&sql, values);
        }
        let mut changed = 0;
        for rows in values.chunks(width * INSERT_CHUNK_ROWS) {
            let arrays = by_column(width, rows);
            let UnrolledArrays { cells, from, params } = UnrolledArrays::of(&arrays);
            let (sets, finds) = cells.split_at(columns.len());
            let from = format!("FROM {from}");
            let sql = update(table, columns, sets.iter(), &from, keys, finds.iter());
            changed += self.execute_with(&sql, &params)?;
        }
        Ok(changed)
    }
}

fn is_copied(columns: &[&str], values: &[Value<'_>], conflict: &str) -> bool {
    conflict.is_empty() && values.len() >= columns.len() * COPY_MIN_ROWS
}

fn by_column<'v>(columns: usize, rows: &[Value<'v>]) -> Vec<Vec<Value<'v>>> {
    (0..columns).map(|at| rows.iter().skip(at).step_by(columns).copied().collect()).collect()
}

/// Arrays that the server unrolls to rows, one a column: the statement's text stays the same for
/// any number of rows.
struct UnrolledArrays<'p> {
    /// The expression for each column: its name among the rows, or NULL.
    cells: Vec<String>,
    /// The item of `FROM`.
    from: String,
    params: Vec<&'p (dyn ToSql + Sync)>,
}

impl<'p> UnrolledArrays<'p> {
    fn of(arrays: &'p [Vec<Value<'p>>]) -> Self {
        let mut params: Vec<&(dyn ToSql + Sync)> = Vec::new();
        let (mut cells, mut types, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for array in arrays {
            // A column of NULLs has no type to name; the bare NULL takes the target's.
            let Some(kind) = values::array_type(array) else {
                cells.push("NULL".to_owned());
                continue;
            };
            params.push(array);
            let n = params.len();
            cells.push(format!("c{n}"));
            names.push(format!("c{n}"));
            types.push(format!("${n}::{kind}[]"));
        }
        let from = match params.len() {
            0 => format!("generate_series(1, {})", arrays[0].len()),
            _ => format!("unnest({}) AS rows({})", types.join(", "), names.join(", ")),
        };
        Self { cells, from, params }
    }

    fn insert(&self, table: &str, columns: &[&str], conflict: &str) -> String {
        let (columns, cells) = (columns.join(", "), self.cells.join(", "));
        format!("INSERT INTO {table} ({columns}) SELECT {cells} FROM {} {conflict}", self.from)
    }
}

/// The statement that sets columns where keys fit.
fn update<S: std::fmt::Display>(
    table: &str,
    columns: &[&str],
    sets: impl Iterator<Item = S>,
    from: &str,
    keys: &[&str],
    finds: impl Iterator<Item = S>,
) -> String {
    let sets = columns.iter().zip(sets).map(|(name, cell)| format!("{name} = {cell}"));
    let finds = keys.iter().zip(finds).map(|(name, cell)| format!("t.{name} = {cell}"));
    let (sets, finds): (Vec<_>, Vec<_>) = (sets.collect(), finds.collect());
    format!("UPDATE {table} AS t SET {} {from} WHERE {}", sets.join(", "), finds.join(" AND "))
}
