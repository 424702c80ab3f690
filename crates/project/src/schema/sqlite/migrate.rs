//! Committed migration files, as drizzle-kit writes them: a journal, a file a step, and what was
//! applied is never applied otherwise.

use std::fs;
use std::path::Path;

use lyceum_core::text::hex;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use ring::digest::{SHA256, digest};
use rusqlite::{Connection, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Schema;
use super::super::text::normal;
use super::apply::{Consent, RowCounts, SchemaChange, change, open};
use super::describe::{broken, describe, run, scratch};
use crate::limits;

/// The line that drizzle-kit writes between statements.
const BREAKPOINT: &str = "--> statement-breakpoint";
const BOOKS: &str = "CREATE TABLE IF NOT EXISTS __lyceum_migrations (\
                     idx INTEGER PRIMARY KEY, tag TEXT NOT NULL, sha256 TEXT NOT NULL, \
                     applied_at TEXT NOT NULL)";

/// A migration file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MigrationFile {
    /// Its name in the journal, such as `0003_quick_hulk`.
    pub tag: String,
    /// Its text.
    pub sql: String,
}

impl MigrationFile {
    /// The SHA-256 of its text, in hexadecimal.
    pub fn sha256(&self) -> String {
        hex(digest(&SHA256, self.sql.as_bytes()))
    }

    /// Its statements, one or several a text. Those that switch foreign keys do nothing within the
    /// transaction: they are off before it begins and checked at its end.
    fn statements(&self) -> impl Iterator<Item = &str> {
        self.sql.split(BREAKPOINT).filter(|statement| !normal(statement).is_empty())
    }
}

#[derive(Deserialize)]
struct Journal {
    entries: Vec<JournalEntry>,
}

#[derive(Deserialize)]
struct JournalEntry {
    idx: u64,
    tag: String,
}

/// The migration files of a folder in the order of `meta/_journal.json`.
/// Errors: the journal or a file cannot be read; more or larger ones than the limits allow.
pub fn migrations_in(folder: &Path) -> Result<Vec<MigrationFile>> {
    let text = |path: &Path| {
        fs::read_to_string(path).map_err(|error| {
            let message = message!("cannot read '{path}': {error}", path = path.display());
            Problem::new(ProblemKind::Invalid, message)
        })
    };
    let journal = folder.join("meta/_journal.json");
    let mut entries = serde_json::from_str::<Journal>(&text(&journal)?)
        .map_err(|error| {
            let message =
                message!("'{journal}' is not a journal: {error}", journal = journal.display());
            Problem::new(ProblemKind::Invalid, message)
        })?
        .entries;
    entries.sort_by_key(|entry| entry.idx);
    if entries.len() > limits::MIGRATIONS_MAX_FILES {
        let message =
            message!("there are more than {most} migrations", most = limits::MIGRATIONS_MAX_FILES);
        return Err(Problem::new(ProblemKind::TooLarge, message));
    }
    let read = |entry: JournalEntry| {
        let is_name =
            entry.tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if !is_name || entry.tag.is_empty() {
            let message = message!("the journal names '{entry.tag}', but there is no such file");
            return Err(Problem::new(ProblemKind::Invalid, message));
        }
        let sql = text(&folder.join(format!("{}.sql", entry.tag)))?;
        if sql.len() > limits::SCHEMA_MAX_BYTES {
            let message = message!(
                "the migration '{entry.tag}' is larger than {most} bytes",
                most = limits::SCHEMA_MAX_BYTES
            );
            return Err(Problem::new(ProblemKind::TooLarge, message));
        }
        Ok(MigrationFile { tag: entry.tag, sql })
    };
    entries.into_iter().map(read).collect()
}

/// A migration that was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AppliedMigration")]
pub struct Applied {
    /// Its name in the journal.
    pub tag: String,
    /// The SHA-256 of its text, in hexadecimal.
    pub sha256: String,
}

/// The files that a database file has not seen yet.
/// Errors: the applied migrations differ from the first files.
pub fn pending<'a>(file: &Path, files: &'a [MigrationFile]) -> Result<&'a [MigrationFile]> {
    unapplied(&applied(file)?, files)
}

/// The migrations that were applied to a database file, in order.
pub fn applied(file: &Path) -> Result<Vec<Applied>> {
    match file.exists() {
        true => books(&open(file)?),
        false => Ok(Vec::new()),
    }
}

/// Applies the files that a database file has not seen yet, all of them in one transaction with the
/// books about them. Errors: a history that diverged; a statement that SQLite refuses, with its file;
/// rows that would be lost without consent, or dangle. The file is then as it was.
pub fn migrate(
    file: &Path,
    files: &[MigrationFile],
    now: Timestamp,
    consent: Consent,
    restore_point: &Path,
) -> Result<SchemaChange> {
    let missing = pending(file, files)?;
    if missing.is_empty() {
        return Ok(SchemaChange::default());
    }
    let restore_point =
        change(file, restore_point, |connection| apply(connection, files, now, consent))?;
    Ok(SchemaChange { done: missing.iter().map(|one| one.tag.clone()).collect(), restore_point })
}

/// Applies what is missing, within a transaction.
pub(crate) fn apply(
    connection: &mut Connection,
    files: &[MigrationFile],
    now: Timestamp,
    consent: Consent,
) -> Result<()> {
    let applied = books(connection)?;
    let missing = unapplied(&applied, files)?;
    let adopts = adopts(&describe(connection)?, &applied, files)?;
    let before = RowCounts::of(connection)?;
    connection.execute_batch(BOOKS).map_err(broken)?;
    let first = files.len() - missing.len();
    for (n, one) in missing.iter().enumerate() {
        if !adopts {
            one.run(connection)?;
        }
        let index = i64::try_from(first + n).map_err(Problem::internal)?;
        let row = params![index, one.tag, one.sha256(), now.to_string()];
        connection
            .execute("INSERT INTO __lyceum_migrations VALUES (?1, ?2, ?3, ?4)", row)
            .map_err(broken)?;
    }
    before.check_references(connection)?;
    if consent == Consent::MayLose {
        return Ok(());
    }
    let refused = |problem: Problem| {
        let message = message!("{problem.message}; accept the loss with --accept-data-loss");
        Problem::new(problem.kind, message)
    };
    before.check_rows(connection, &[]).map_err(refused)?;
    before.check_gone(connection).map_err(refused)
}

impl MigrationFile {
    fn run(&self, connection: &mut Connection) -> Result<()> {
        self.statements().try_for_each(|statement| {
            run(connection, statement).map_err(|problem| {
                let message = message!("the migration '{self.tag}' fails: {problem.message}");
                Problem::new(problem.kind, message)
            })
        })
    }
}

/// Whether a database without a record of migrations already has the schema that all files together create. Then the
/// files are recorded as applied without being run.
pub fn adopts(current: &Schema, applied: &[Applied], files: &[MigrationFile]) -> Result<bool> {
    if !applied.is_empty() || *current == Schema::default() {
        return Ok(false);
    }
    // Files that fail on an empty database describe no schema.
    Ok(after_migrations(&Schema::default(), files).is_ok_and(|(schema, _)| schema == *current))
}

/// The schema after the files, and the losses that a comparison of the schemas shows.
pub fn after_migrations(
    current: &Schema,
    files: &[MigrationFile],
) -> Result<(Schema, Vec<String>)> {
    let mut connection = scratch(&current.ddl())?;
    files.iter().try_for_each(|file| file.run(&mut connection))?;
    let after = describe(&connection)?;
    let statements: Vec<_> = files.iter().flat_map(MigrationFile::statements).map(normal).collect();
    let is_renamed = |table: &str, what: &str| {
        let begin = format!("alter table {table} rename ");
        statements.iter().any(|text| {
            let mut found = text.match_indices(&begin);
            found.any(|(at, _)| text[at + begin.len()..].starts_with("to ") == (what == "to"))
        })
    };
    let mut losses = Vec::new();
    for (key, table) in &current.tables {
        let Some(table_after) = after.tables.get(key) else {
            if !is_renamed(key, "to") {
                losses.push(format!("the table '{}' is dropped, with all its rows", table.name));
            }
            continue;
        };
        let dropped =
            table.columns.iter().filter(|column| table_after.column(&column.name).is_none());
        losses.extend(dropped.filter(|_| !is_renamed(key, "column")).map(|column| {
            format!("the column '{}.{}' is dropped with its values", table.name, column.name)
        }));
    }
    Ok((after, losses))
}

fn books(connection: &Connection) -> Result<Vec<Applied>> {
    let has_books = "SELECT count(*) FROM sqlite_schema WHERE name = '__lyceum_migrations'";
    let has_books: bool = connection.query_row(has_books, [], |row| row.get(0)).map_err(broken)?;
    if !has_books {
        return Ok(Vec::new());
    }
    let applied = "SELECT tag, sha256 FROM __lyceum_migrations ORDER BY idx";
    let mut statement = connection.prepare(applied).map_err(broken)?;
    let read = |row: &rusqlite::Row<'_>| Ok(Applied { tag: row.get(0)?, sha256: row.get(1)? });
    let rows = statement.query_map([], read).map_err(broken)?;
    rows.collect::<Result<_, _>>().map_err(broken)
}

/// The files behind those that were applied. Errors: the applied migrations differ from the first files.
pub fn unapplied<'a>(
    applied: &[Applied],
    files: &'a [MigrationFile],
) -> Result<&'a [MigrationFile]> {
    let diverged = |message: Message| Err(Problem::new(ProblemKind::Conflict, message));
    for (n, Applied { tag, sha256 }) in applied.iter().enumerate() {
        match files.get(n) {
            None => {
                return diverged(message!(
                    "the database has the migration '{tag}', which is not among the files; restore \
                     the file from version control"
                ));
            }
            Some(file) if file.tag != *tag => {
                return diverged(message!(
                    "the database has the migration '{tag}' where the files have '{file.tag}'; add new files \
                     after those that were applied"
                ));
            }
            Some(file) if file.sha256() != *sha256 => {
                return diverged(message!(
                    "the migration '{tag}' was changed after it was applied; restore its text and \
                     write a new migration"
                ));
            }
            Some(_) => {}
        }
    }
    Ok(&files[applied.len()..])
}
