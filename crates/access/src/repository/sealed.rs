//! Values that are sealed under the master key, of any table.

use lyceum_core::Result;
use lyceum_store::{Tx, Value};

/// A column with sealed values.
#[derive(Clone, Copy)]
pub struct SealedColumn {
    /// Its table.
    pub table: &'static str,
    /// Its name. Rows with NULL have no sealed value.
    pub column: &'static str,
    /// SQL expressions for the texts that name a row.
    pub key: &'static [&'static str],
    /// The label of the value of the row with these texts.
    pub label: fn(&[String]) -> String,
}

/// A sealed value with the texts that name its row.
pub(crate) struct SealedValue {
    pub(crate) key: Vec<String>,
    pub(crate) sealed: Vec<u8>,
}

/// Calls `each` with the values of a column until it returns false.
pub(crate) fn each(
    tx: &mut Tx<'_>,
    column: &SealedColumn,
    mut each: impl FnMut(SealedValue) -> Result<bool>,
) -> Result<()> {
    let SealedColumn { table, column, key, .. } = column;
    let sql =
        format!("SELECT {column}, {} FROM {table} WHERE {column} IS NOT NULL", key.join(", "));
    tx.query(&sql, &[], |row| {
        let texts = (1..=key.len()).map(|at| row.string(at)).collect::<Result<_>>()?;
        each(SealedValue { key: texts, sealed: row.blob(0)?.to_owned() })
    })
}

/// Replaces a value unless it was changed meanwhile. Returns how many values were replaced.
pub(crate) fn replace(
    tx: &mut Tx<'_>,
    column: &SealedColumn,
    old: &SealedValue,
    new: &[u8],
) -> Result<u64> {
    let SealedColumn { table, column, key, .. } = column;
    let is_row: Vec<String> =
        key.iter().zip(3..).map(|(expression, at)| format!("{expression} = ${at}")).collect();
    let sql = format!(
        "UPDATE {table} SET {column} = $1 WHERE {column} = $2 AND {}",
        is_row.join(" AND ")
    );
    let mut values: Vec<Value<'_>> = vec![new.into(), old.sealed.as_slice().into()];
    values.extend(old.key.iter().map(Value::from));
    tx.execute(&sql, &values)
}
