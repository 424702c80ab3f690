//! The steps from one schema to another, in order, and the data that they would lose.

use std::collections::BTreeSet;

use lyceum_core::{Problem, ProblemKind, Result, message};
use serde::{Deserialize, Serialize};

use super::sqlite::{describe, steps};
use super::text::{self, definition};
use super::{Column, Rename, Schema, Table};

/// The steps from one schema to another, and the data that they lose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The statements, in order; empty if the schemas are equal.
    pub statements: Vec<String>,
    /// The data that would be lost, one sentence each.
    pub losses: Vec<String>,
    /// Changes that could be meant as renames, one sentence each.
    pub hints: Vec<String>,
}

impl Difference {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }
}

/// The difference that leads from one schema to another. A table is rebuilt only if `ALTER TABLE` cannot make the
/// change. Then only the columns that both schemas have are copied.
/// Errors: a rename of an unknown table or column, or to a name that the desired schema lacks; a virtual table that
/// changes.
pub fn diff(current: &Schema, desired: &Schema, renames: &[Rename]) -> Result<Difference> {
    let mut out = Difference::default();
    let base = rename(current, desired, renames, &mut out)?;
    let current = base.as_ref().unwrap_or(current);
    let mut rebuilt = BTreeSet::new();
    let mut of_tables = Vec::new();
    for (key, table) in &desired.tables {
        match current.tables.get(key) {
            None => of_tables.push(table.sql.clone()),
            Some(old) if old == table => {}
            Some(old) if old.is_virtual || table.is_virtual => {
                let message = message!(
                    "the virtual table '{table.name}' changes, which cannot be done without recreating it; \
                     drop it in one step and create it in the next"
                );
                return Err(Problem::new(ProblemKind::Invalid, message));
            }
            Some(old) => match added(old, table) {
                Some(columns) => of_tables
                    .extend(columns.into_iter().map(|text| steps::add_column(&table.name, text))),
                None => {
                    of_tables.extend(rebuild(old, table, &mut out));
                    rebuilt.insert(key.clone());
                }
            },
        }
    }
    for (key, table) in &current.tables {
        if !desired.tables.contains_key(key) {
            out.losses.push(format!("the table '{}' is dropped, with all its rows", table.name));
            of_tables.push(steps::drop_table(&table.name));
        }
    }
    let tables_change = base.is_some() || !of_tables.is_empty();
    for (key, program) in &current.programs {
        if tables_change || desired.programs.get(key) != Some(program) {
            out.statements.push(steps::drop_program(program));
        }
    }
    for (key, index) in &current.indexes {
        let stays = desired.indexes.get(key) == Some(index);
        let goes_with_table =
            rebuilt.contains(&index.table) || !desired.tables.contains_key(&index.table);
        if !stays && !goes_with_table {
            out.statements.push(steps::drop_index(&index.name));
        }
    }
    out.statements.append(&mut of_tables);
    for (key, index) in &desired.indexes {
        if rebuilt.contains(&index.table) || current.indexes.get(key) != Some(index) {
            out.statements.push(index.sql.clone());
        }
    }
    for (key, program) in &desired.programs {
        if tables_change || current.programs.get(key) != Some(program) {
            out.statements.push(program.sql.clone());
        }
    }
    Ok(out)
}

/// The schema after the renames, which are the first statements; `None` without renames.
fn rename(
    current: &Schema,
    desired: &Schema,
    renames: &[Rename],
    out: &mut Difference,
) -> Result<Option<Schema>> {
    if renames.is_empty() {
        return Ok(None);
    }
    let mut now = current.clone();
    // Views and triggers read the tables. They are created again at the end.
    let drops: Vec<String> = now.programs.values().map(steps::drop_program).collect();
    now.programs.clear();
    out.statements.extend(drops);
    for rename in renames {
        check_rename(&now, desired, rename)?;
        let statement = steps::rename(rename);
        now = describe::after(&now, &statement)?;
        out.statements.push(statement);
    }
    Ok(Some(now))
}

fn check_rename(current: &Schema, desired: &Schema, rename: &Rename) -> Result<()> {
    let has = |schema: &Schema, table: &str, column: Option<&str>| {
        let found = schema.tables.get(&table.to_lowercase());
        found.is_some_and(|found| column.is_none_or(|name| found.column(name).is_some()))
    };
    let (from, to, exists, is_wanted, is_free) = match rename {
        Rename::Table(from, to) => (
            from.clone(),
            to.clone(),
            has(current, from, None),
            has(desired, to, None),
            !has(current, to, None),
        ),
        Rename::Column(table, from, to) => (
            format!("{table}.{from}"),
            format!("{table}.{to}"),
            has(current, table, Some(from)),
            has(desired, table, Some(to)),
            !has(current, table, Some(to)),
        ),
    };
    let fault = match (exists, is_wanted, is_free) {
        (false, ..) => message!("there is no '{from}' to rename"),
        (_, false, _) => message!("the new schema has no '{to}' that '{from}' could become"),
        (.., false) => message!("there is a '{to}' already, so that '{from}' cannot become it"),
        _ => return Ok(()),
    };
    Err(Problem::new(ProblemKind::Invalid, fault))
}

/// The definitions of the columns that are added, where nothing else changes and SQLite can add them
/// to a table that holds rows.
fn added<'a>(old: &Table, new: &'a Table) -> Option<Vec<&'a str>> {
    let mut missing = old.parts.clone();
    let found = definition(&new.sql)?;
    let mut texts = Vec::new();
    for part in &found.parts {
        if let Some(at) = missing.iter().position(|known| *known == part.normal) {
            missing.remove(at);
            continue;
        }
        let column = new.column(part.column.as_deref()?)?;
        if !can_be_added(column, &part.normal) {
            return None;
        }
        texts.push(part.text);
    }
    (missing.is_empty() && old.options == new.options).then_some(texts)
}

/// Whether `ALTER TABLE … ADD COLUMN` can add the column to a table with rows.
fn can_be_added(column: &Column, normal: &str) -> bool {
    let forbidden = ["primary", "unique", "generated", "as", "check", "references"];
    let is_plain =
        !normal.split(' ').any(|word| forbidden.contains(&word)) && !normal.contains(" default (");
    let is_null = |default: &str| default.eq_ignore_ascii_case("null");
    is_plain
        && match column.default.as_deref() {
            None => !column.not_null,
            Some(default) if is_null(default) => !column.not_null,
            Some(default) => is_constant(default),
        }
}

fn is_constant(default: &str) -> bool {
    let number = default.trim_start_matches(['+', '-']);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let is_text =
        default.starts_with('\'') || default.starts_with("x'") || default.starts_with("X'");
    is_number || is_text || ["true", "false"].iter().any(|word| default.eq_ignore_ascii_case(word))
}

/// The statements that rebuild a table, in the order of SQLite's own advice
/// (<https://sqlite.org/lang_altertable.html>, "Making Other Kinds Of Table Schema Changes").
fn rebuild(old: &Table, new: &Table, out: &mut Difference) -> Vec<String> {
    let mut common = Vec::new();
    for column in &old.columns {
        match new.column(&column.name) {
            None => out.losses.push(format!(
                "the column '{}.{}' is dropped with its values",
                old.name, column.name
            )),
            Some(former) if former.is_generated && column.is_generated => {}
            Some(former) if former.is_generated => out.losses.push(format!(
                "the column '{}.{}' becomes a computed one, and its values are dropped",
                old.name, column.name
            )),
            Some(former) => {
                if affinity(&column.declared) != affinity(&former.declared) {
                    out.losses.push(format!(
                        "the column '{}.{}' changes from '{}' to '{}', which may change values",
                        old.name, column.name, column.declared, former.declared
                    ));
                }
                common.push(former.name.clone());
            }
        }
    }
    let dropped = old.columns.iter().filter(|column| new.column(&column.name).is_none());
    let come: Vec<_> =
        new.columns.iter().filter(|column| old.column(&column.name).is_none()).collect();
    for column in dropped {
        out.hints.extend(come.iter().map(|other| {
            format!(
                "if '{}.{}' became '{}', say --rename {0}.{1}={2}",
                old.name, column.name, other.name
            )
        }));
    }
    steps::rebuild(old, new, &common)
}

/// The affinity of a column: the form in which SQLite stores its values (<https://sqlite.org/datatype3.html>, 3.1).
fn affinity(declared: &str) -> &'static str {
    let declared = declared.to_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| declared.contains(word));
    match () {
        () if has(&["INT"]) => "integer",
        () if has(&["CHAR", "CLOB", "TEXT"]) => "text",
        () if declared.is_empty() || has(&["BLOB"]) => "blob",
        () if has(&["REAL", "FLOA", "DOUB"]) => "real",
        () => "numeric",
    }
}

/// The parts of a table's text, as they are compared.
pub(super) fn parts(sql: &str) -> (Vec<String>, String) {
    match definition(sql) {
        Some(found) => {
            let mut parts: Vec<_> = found.parts.into_iter().map(|part| part.normal).collect();
            parts.sort_unstable();
            (parts, found.options)
        }
        None => (vec![text::normal(sql)], String::new()),
    }
}
