//! Searches the files of projects for texts, without changing them.

use std::path::Path;

use lyceum_core::Result;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::failed;

/// The tables of a SQLite file with rows that contain one of the terms, which are in lower case, and the number of
/// these rows.
pub(crate) fn tables_with(file: &Path, terms: &[String]) -> Result<Vec<(String, u64)>> {
    let searched = || -> rusqlite::Result<Vec<(String, u64)>> {
        let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' \
                   AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name";
        let mut names = connection.prepare(sql)?;
        let names = names.query_map([], |row| row.get::<_, String>(0))?;
        let mut found = Vec::new();
        for name in names {
            let name = name?;
            let count = rows_with(&connection, &name, terms)?;
            if count > 0 {
                found.push((name, count));
            }
        }
        Ok(found)
    };
    searched().map_err(|fault| failed(&format!("search {}", file.display()), &fault))
}

fn rows_with(connection: &Connection, table: &str, terms: &[String]) -> rusqlite::Result<u64> {
    let quoted = table.replace('"', "\"\"");
    let mut statement = connection.prepare(&format!("SELECT * FROM \"{quoted}\""))?;
    let width = statement.column_count();
    let mut rows = statement.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let has_term = (0..width).any(|column| match row.get_ref(column) {
            Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => contains(bytes, terms),
            _ => false,
        });
        count += u64::from(has_term);
    }
    Ok(count)
}

fn contains(bytes: &[u8], terms: &[String]) -> bool {
    let lower = bytes.to_ascii_lowercase();
    terms.iter().any(|term| lower.windows(term.len()).any(|part| part == term.as_bytes()))
}
