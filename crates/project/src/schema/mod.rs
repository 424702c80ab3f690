//! The schema of a project's database, and the safe way from one schema to another.
//!
//! SQLite itself reads DDL: [`Schema::of`] loads it into a database in memory and describes the result. [`diff`] lists
//! the steps, and names the data that they would lose. [`push`] and [`migrate`] change a database file, first on a copy
//! that stays as the restore point, then in one transaction of the file itself, with foreign keys off before it begins
//! and checked before it ends.

mod difference;
mod sqlite;
mod text;

use std::collections::BTreeMap;
use std::str::FromStr;

pub use difference::{Difference, diff};
pub use sqlite::apply::{
    Consent, SchemaChange, apply_to_copy, backup, check, fill, push, read, restore,
};
pub use sqlite::migrate::{
    Applied, MigrationFile, adopts, after_migrations, applied, migrate, migrations_in, pending,
    unapplied,
};
pub use sqlite::problems::problems;

/// The tables, indexes, views and triggers of a database. Two schemas are equal if SQLite would treat every row and
/// every statement in the same way; the order of columns, spelling, quotes and comments do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    pub(crate) tables: BTreeMap<String, Table>,
    pub(crate) indexes: BTreeMap<String, Index>,
    /// Views and triggers, which are created again when a table changes.
    pub(crate) programs: BTreeMap<String, Program>,
}

/// A table. Names in keys of maps are in lower case, as SQLite compares them.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// Its `CREATE TABLE`.
    pub(crate) sql: String,
    pub(crate) columns: Vec<Column>,
    /// The parts of its definition, normalised and sorted: columns and constraints.
    pub(crate) parts: Vec<String>,
    /// The options after the definition: `STRICT`, `WITHOUT ROWID`.
    pub(crate) options: String,
    pub(crate) is_virtual: bool,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        (&self.parts, &self.options) == (&other.parts, &other.options)
    }
}

impl Eq for Table {}

impl Table {
    pub(crate) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    pub(crate) fn counts_up(&self) -> bool {
        self.parts.iter().any(|part| part.split(' ').any(|word| word == "autoincrement"))
    }
}

/// A column as `PRAGMA table_xinfo` tells it.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) declared: String,
    pub(crate) not_null: bool,
    pub(crate) default: Option<String>,
    pub(crate) is_generated: bool,
}

/// An index of its own. Indexes of constraints belong to their tables.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub(crate) name: String,
    pub(crate) table: String,
    pub(crate) sql: String,
    pub(crate) normal: String,
}

impl PartialEq for Index {
    fn eq(&self, other: &Self) -> bool {
        self.normal == other.normal
    }
}

impl Eq for Index {}

/// A view or a trigger.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) sql: String,
    pub(crate) normal: String,
}

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.normal == other.normal
    }
}

impl Eq for Program {}

/// A rename that a person named; renames are never guessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rename {
    /// `old=new`: a table.
    Table(String, String),
    /// `table.old=new`: a column of a table, by the table's new name.
    Column(String, String, String),
}

impl FromStr for Rename {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || "must be TABLE.OLD=NEW for a column, or OLD=NEW for a table".to_owned();
        let (from, to) = text.split_once('=').ok_or_else(form)?;
        if from.is_empty() || to.is_empty() || to.contains('.') {
            return Err(form());
        }
        Ok(match from.split_once('.') {
            Some((table, column)) if !table.is_empty() && !column.is_empty() => {
                Self::Column(table.to_owned(), column.to_owned(), to.to_owned())
            }
            Some(_) => return Err(form()),
            None => Self::Table(from.to_owned(), to.to_owned()),
        })
    }
}
