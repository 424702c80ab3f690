//! Finds rows of a database that do not fit a schema, before anything is changed.

use std::collections::BTreeMap;
use std::path::Path;

use lyceum_core::Result;
use rusqlite::{Connection, OptionalExtension};

use super::super::text::quoted;
use super::super::{Rename, Schema, Table};
use super::apply::open;
use super::describe::{broken, describe, scratch};

/// The rows that do not fit, one sentence for each cause: null values in columns that forbid them, duplicate keys,
/// references to missing rows. Empty if nothing was found; checks of rows are tried, not foreseen.
pub fn problems(file: &Path, desired: &Schema, renames: &[Rename]) -> Result<Vec<String>> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let live = open(file)?;
    let current = describe(&live)?;
    let wanted = scratch(&desired.ddl())?;
    let look = ProblemSearch { live: &live, wanted: &wanted, current: &current, desired, renames };
    let mut found = Vec::new();
    for table in desired.tables.values().filter(|table| !table.is_virtual) {
        let Some(old) = look.old_table(&table.name) else { continue };
        look.nulls(old, table, &mut found)?;
        look.duplicates(old, table, &mut found)?;
        look.dangling(old, table, &mut found)?;
    }
    Ok(found)
}

struct ProblemSearch<'a> {
    live: &'a Connection,
    wanted: &'a Connection,
    current: &'a Schema,
    desired: &'a Schema,
    renames: &'a [Rename],
}

impl ProblemSearch<'_> {
    /// The table that becomes the one of this name.
    fn old_table(&self, name: &str) -> Option<&Table> {
        let renamed = self.renames.iter().find_map(|rename| match rename {
            Rename::Table(from, to) if to.eq_ignore_ascii_case(name) => Some(from.as_str()),
            _ => None,
        });
        self.current.tables.get(&renamed.unwrap_or(name).to_lowercase())
    }

    /// The column that becomes the one of this name; `None` if it is new.
    fn old_column(&self, old: &Table, table: &str, column: &str) -> Option<String> {
        let renamed = self.renames.iter().find_map(|rename| match rename {
            Rename::Column(of, from, to)
                if of.eq_ignore_ascii_case(table) && to.eq_ignore_ascii_case(column) =>
            {
                Some(from.as_str())
            }
            _ => None,
        });
        Some(old.column(renamed.unwrap_or(column))?.name.clone())
    }

    fn count(&self, sql: &str) -> Result<i64> {
        self.live.query_row(sql, [], |row| row.get(0)).map_err(broken)
    }

    fn nulls(&self, old: &Table, new: &Table, found: &mut Vec<String>) -> Result<()> {
        let from = quoted(&old.name);
        for column in new.columns.iter().filter(|column| column.not_null && !column.is_generated) {
            let name = format!("{}.{}", new.name, column.name);
            match self.old_column(old, &new.name, &column.name) {
                None if column.default.is_none() => {
                    let rows = self.count(&format!("SELECT count(*) FROM {from}"))?;
                    if rows > 0 {
                        found.push(format!(
                            "the new column '{name}' must not be null and has no default, and there \
                             are {rows} rows; give it a default"
                        ));
                    }
                }
                None => {}
                Some(before) => {
                    let before = quoted(&before);
                    let sql = format!("SELECT count(*) FROM {from} WHERE {before} IS NULL");
                    let rows = self.count(&sql)?;
                    if rows > 0 {
                        found.push(format!(
                            "'{name}' must not be null, and is in {rows} rows; fill them first"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    fn duplicates(&self, old: &Table, new: &Table, found: &mut Vec<String>) -> Result<()> {
        let sql = "SELECT name FROM pragma_index_list(?1) WHERE \"unique\" AND NOT partial";
        for index in strings(self.wanted, sql, &new.name)? {
            let sql = "SELECT name FROM pragma_index_info(?1)";
            let columns = strings(self.wanted, sql, &index)?;
            let before: Option<Vec<_>> =
                columns.iter().map(|name| self.old_column(old, &new.name, name)).collect();
            // An expression has no name, and a new column no values.
            let Some(before) = before.filter(|columns| !columns.is_empty()) else { continue };
            let list = before.iter().map(|name| quoted(name)).collect::<Vec<_>>();
            let filled = list.iter().map(|name| format!("{name} IS NOT NULL")).collect::<Vec<_>>();
            let sql = format!(
                "SELECT count(*) FROM (SELECT 1 FROM {} WHERE {} GROUP BY {} HAVING count(*) > 1)",
                quoted(&old.name),
                filled.join(" AND "),
                list.join(", ")
            );
            let values = self.count(&sql)?;
            if values > 0 {
                found.push(format!(
                    "'{} ({})' must be unique, and {values} values occur more than once",
                    new.name,
                    columns.join(", ")
                ));
            }
        }
        Ok(())
    }

    fn dangling(&self, old: &Table, new: &Table, found: &mut Vec<String>) -> Result<()> {
        for (parent, pairs) in references(self.wanted, &new.name)? {
            let mut on = Vec::new();
            let mut filled = Vec::new();
            let old_parent = self.old_table(&parent);
            for (from, to) in pairs {
                let Some(child) = self.old_column(old, &new.name, &from) else { break };
                filled.push(format!("c.{} IS NOT NULL", quoted(&child)));
                let key = to.or_else(|| self.primary_key(&parent));
                let key =
                    old_parent.zip(key).and_then(|(p, key)| self.old_column(p, &parent, &key));
                on.extend(key.map(|key| format!("p.{} = c.{}", quoted(&key), quoted(&child))));
            }
            if filled.is_empty() {
                continue;
            }
            let was_dangling = match old_parent {
                Some(table) if on.len() == filled.len() => format!(
                    " AND NOT EXISTS (SELECT 1 FROM {} p WHERE {})",
                    quoted(&table.name),
                    on.join(" AND ")
                ),
                // A table that is new has no rows to refer to.
                _ => String::new(),
            };
            let sql = format!(
                "SELECT count(*) FROM {} c WHERE {}{was_dangling}",
                quoted(&old.name),
                filled.join(" AND ")
            );
            let rows = self.count(&sql)?;
            if rows > 0 {
                found.push(format!(
                    "{rows} rows of '{}' refer to rows of '{parent}' that do not exist",
                    new.name
                ));
            }
        }
        Ok(())
    }

    fn primary_key(&self, table: &str) -> Option<String> {
        self.desired.tables.get(&table.to_lowercase())?;
        let sql = "SELECT name FROM pragma_table_info(?1) WHERE pk = 1";
        self.wanted.query_row(sql, [table], |row| row.get(0)).optional().ok().flatten()
    }
}

/// The foreign keys of a table: the parent, and pairs of columns; none is the parent's primary key.
type Reference = (String, Vec<(String, Option<String>)>);

fn references(connection: &Connection, table: &str) -> Result<Vec<Reference>> {
    let sql =
        "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq";
    let mut statement = connection.prepare_cached(sql).map_err(broken)?;
    let rows = statement.query_map([table], |row| {
        Ok((row.get::<_, i64>(0)?, row.get(1)?, (row.get(2)?, row.get(3)?)))
    });
    let mut all: BTreeMap<i64, Reference> = BTreeMap::new();
    for row in rows.map_err(broken)? {
        let (id, parent, pair) = row.map_err(broken)?;
        all.entry(id).or_insert_with(|| (parent, Vec::new())).1.push(pair);
    }
    Ok(all.into_values().collect())
}

fn strings(connection: &Connection, sql: &str, of: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(sql).map_err(broken)?;
    let rows = statement.query_map([of], |row| row.get::<_, Option<String>>(0)).map_err(broken)?;
    let names = rows.collect::<Result<Vec<_>, _>>().map_err(broken)?;
    // An index over an expression is left out as a whole.
    Ok(if names.iter().any(Option::is_none) {
        Vec::new()
    } else {
        names.into_iter().flatten().collect()
    })
}
