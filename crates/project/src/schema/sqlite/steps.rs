//! The statements of steps.

use super::super::text::{definition, quoted};
use super::super::{Program, Rename, Table};

pub(crate) fn add_column(table: &str, text: &str) -> String {
    format!("ALTER TABLE {} ADD COLUMN {text}", quoted(table))
}

pub(crate) fn drop_table(name: &str) -> String {
    format!("DROP TABLE {}", quoted(name))
}

pub(crate) fn drop_index(name: &str) -> String {
    format!("DROP INDEX {}", quoted(name))
}

pub(crate) fn drop_program(program: &Program) -> String {
    format!("DROP {} {}", program.kind.to_uppercase(), quoted(&program.name))
}

pub(crate) fn rename(rename: &Rename) -> String {
    match rename {
        Rename::Table(from, to) => {
            format!("ALTER TABLE {} RENAME TO {}", quoted(from), quoted(to))
        }
        Rename::Column(table, from, to) => {
            let [table, from, to] = [table, from, to].map(|name| quoted(name));
            format!("ALTER TABLE {table} RENAME COLUMN {from} TO {to}")
        }
    }
}

/// A new table takes the place of the old one, with the rows' common columns.
pub(crate) fn rebuild(old: &Table, new: &Table, common: &[String]) -> Vec<String> {
    let draft_name = format!("__new_{}", new.name);
    let (draft, name) = (quoted(&draft_name), quoted(&new.name));
    let start = definition(&new.sql).map_or(0, |found| found.start);
    let columns = common.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ");
    let mut steps = vec![format!("CREATE TABLE {draft} {}", &new.sql[start..])];
    if !common.is_empty() {
        steps.push(format!(
            "INSERT INTO {draft} ({columns}) SELECT {columns} FROM {}",
            quoted(&old.name)
        ));
    }
    if old.counts_up() && new.counts_up() {
        // Numbers of rows that were deleted are not given again.
        let [draft, old] = [&draft_name, &old.name].map(|name| name.replace('\'', "''"));
        steps.push(format!("DELETE FROM sqlite_sequence WHERE name = '{draft}'"));
        steps.push(format!(
            "INSERT INTO sqlite_sequence (name, seq) \
             SELECT '{draft}', seq FROM sqlite_sequence WHERE name = '{old}'"
        ));
    }
    steps.push(format!("DROP TABLE {}", quoted(&old.name)));
    steps.push(format!("ALTER TABLE {draft} RENAME TO {name}"));
    steps
}
