//! A database file is changed: first a copy of it, then itself, in one transaction each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits, message};
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};

use super::super::text::quoted;
use super::super::{Difference, Rename, Schema, diff};
use super::describe::{broken, describe, guard, run, texts};
use super::migrate;
use crate::database::{DatabaseState, DatabaseWish, SchemaWish};

/// The data that a change may lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Nothing: a change that would lose data is refused with a list of the losses.
    KeepEverything,
    /// The losses that the difference lists, and rows that migrations delete.
    MayLose,
}

/// The result of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaChange {
    /// The statements or the names of the migration files, in order; empty if nothing was due.
    pub done: Vec<String>,
    /// The copy of the file before the change; `None` if there was no file or no change.
    pub restore_point: Option<PathBuf>,
}

/// The schema of a database file; empty if the file does not exist.
pub fn read(file: &Path) -> Result<Schema> {
    match file.exists() {
        true => describe(&open(file)?),
        false => Ok(Schema::default()),
    }
}

/// Brings a database file to the desired schema. `restore_point` is where the file's copy goes.
/// Errors: what would be lost without consent; rows that the new schema does not allow; anything that
/// is not exactly as planned at the end. The file is then as it was.
pub fn push(
    file: &Path,
    desired: &Schema,
    renames: &[Rename],
    consent: Consent,
    restore_point: &Path,
) -> Result<SchemaChange> {
    let current = read(file)?;
    let Difference { statements, losses, .. } = diff(&current, desired, renames)?;
    if statements.is_empty() {
        return Ok(SchemaChange::default());
    }
    if consent == Consent::KeepEverything && !losses.is_empty() {
        let message = message!("this would lose data: {reason}", reason = losses.join("; "));
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let restore_point = change(file, restore_point, |connection| {
        take_steps(connection, (&current, desired), &statements, renames)
    })?;
    Ok(SchemaChange { done: statements, restore_point })
}

/// The statements of a push, within a transaction.
fn take_steps(
    connection: &mut Connection,
    (current, desired): (&Schema, &Schema),
    statements: &[String],
    renames: &[Rename],
) -> Result<()> {
    if describe(connection)? != *current {
        return Err(moved());
    }
    let before = RowCounts::of(connection)?;
    statements.iter().try_for_each(|statement| run(connection, statement))?;
    if describe(connection)? != *desired {
        let message = "the steps do not lead to the desired schema; nothing was changed";
        return Err(Problem::new(ProblemKind::Internal, message));
    }
    before.check_references(connection)?;
    before.check_rows(connection, renames)
}

fn moved() -> Problem {
    let message = "the database was changed meanwhile; run the command again";
    Problem::new(ProblemKind::Conflict, message)
}

/// Applies a change that was planned from `state` to a copy of `live`. The live file stays as it is. `copy` is
/// overwritten, and unusable if this fails.
///
/// Errors: those of [`push`] and [`super::migrate::migrate`]; `Conflict` if the live file has changed since `state`.
pub fn apply_to_copy(
    live: &Path,
    copy: &Path,
    (state, desired): (&DatabaseState, &DatabaseWish),
    now: Timestamp,
) -> Result<()> {
    let planned = crate::database::change(state, desired)?;
    if live.exists() {
        restore(live, copy)?;
    } else {
        pour(&Connection::open_in_memory().map_err(broken)?, copy)?;
    }
    let Some(planned) = planned else { return Ok(()) };
    planned.check(desired)?;
    let consent = if desired.accept_data_loss { Consent::MayLose } else { Consent::KeepEverything };
    let current = Schema::of(&state.ddl)?;
    let mut connection = open(copy)?;
    attempt(
        &mut connection,
        |connection| match &desired.schema {
            SchemaWish::Push { .. } => {
                let schemas = (&current, &Schema::of(&planned.ddl)?);
                take_steps(connection, schemas, &planned.statements, &desired.schema.renames()?)
            }
            SchemaWish::Migrate { files } => {
                if describe(connection)? != current {
                    return Err(moved());
                }
                migrate::apply(connection, files, now, consent)
            }
        },
        true,
    )
}

/// Runs statements that fill a database file, all of them or none.
pub fn fill(file: &Path, statements: &str) -> Result<()> {
    attempt(&mut open(file)?, |connection| run(connection, statements), true)
}

/// Changes a file by `work`: on its copy, which is taken back there and stays as the restore point,
/// and then on the file itself. What fails changes nothing.
pub(crate) fn change(
    file: &Path,
    restore_point: &Path,
    work: impl Fn(&mut Connection) -> Result<()>,
) -> Result<Option<PathBuf>> {
    let held_something = file.exists();
    if held_something {
        backup(file, restore_point)?;
        let mut copy = open(restore_point)?;
        let rehearsed = attempt(&mut copy, &work, false);
        drop(copy);
        if let Err(problem) = rehearsed {
            let _ = fs::remove_file(restore_point);
            return Err(problem);
        }
    }
    let mut live = open(file)?;
    let changed = attempt(&mut live, &work, true);
    drop(live);
    match changed {
        Ok(()) => Ok(held_something.then(|| restore_point.to_owned())),
        Err(problem) => {
            // A file that came to be for this goes again.
            let leftover = if held_something { restore_point } else { file };
            let _ = fs::remove_file(leftover);
            Err(problem)
        }
    }
}

/// Runs the work in one transaction. Foreign keys are off before it begins, for within it that could not be said.
fn attempt(
    connection: &mut Connection,
    work: impl Fn(&mut Connection) -> Result<()>,
    keep: bool,
) -> Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE").map_err(broken)?;
    let worked = work(connection);
    let end = if keep && worked.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = connection.execute_batch(end).map_err(broken);
    if ended.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    worked.and(ended)
}

/// The number of rows in each table, and of rows that refer to missing rows.
pub(crate) struct RowCounts {
    tables: BTreeMap<String, i64>,
    dangling: i64,
}

impl RowCounts {
    pub(crate) fn of(connection: &Connection) -> Result<Self> {
        let mut tables = BTreeMap::new();
        for (key, table) in describe(connection)?.tables {
            if !table.is_virtual {
                let sql = format!("SELECT count(*) FROM {}", quoted(&table.name));
                let rows = connection.query_row(&sql, [], |row| row.get(0)).map_err(broken)?;
                tables.insert(key, rows);
            }
        }
        let dangling = "SELECT count(*) FROM pragma_foreign_key_check";
        let dangling = connection.query_row(dangling, [], |row| row.get(0)).map_err(broken)?;
        Ok(Self { tables, dangling })
    }

    /// Refuses references to rows that no longer exist.
    pub(crate) fn check_references(&self, connection: &Connection) -> Result<()> {
        let after = Self::of(connection)?;
        if after.dangling <= self.dangling {
            return Ok(());
        }
        let sql = "SELECT DISTINCT \"table\" || ' → ' || parent FROM pragma_foreign_key_check";
        let references = texts(connection, sql)?.join(", ");
        let message = match after.dangling - self.dangling {
            1 => message!("a row would refer to a row that does not exist: {references}"),
            n => message!("{n} rows would refer to rows that do not exist: {references}"),
        };
        Err(Problem::new(ProblemKind::Conflict, message))
    }

    /// Refuses the loss of rows of a table that is still there.
    pub(crate) fn check_rows(&self, connection: &Connection, renames: &[Rename]) -> Result<()> {
        let after = Self::of(connection)?;
        for (table, before) in &self.tables {
            let new_name = renames.iter().find_map(|rename| match rename {
                Rename::Table(from, to) if from.to_lowercase() == *table => Some(to.to_lowercase()),
                _ => None,
            });
            let now = after.tables.get(new_name.as_ref().unwrap_or(table));
            if let Some(now) = now.filter(|now| *now < before) {
                let message =
                    message!("the table '{table}' would have {now} rows instead of {before}");
                return Err(Problem::new(ProblemKind::Conflict, message));
            }
        }
        Ok(())
    }
}

impl RowCounts {
    /// Refuses what lost a whole table with its rows; a new one that holds as many took its place.
    pub(crate) fn check_gone(&self, connection: &Connection) -> Result<()> {
        let after = Self::of(connection)?;
        let is_new = |table: &&String| !self.tables.contains_key(*table);
        for (table, before) in &self.tables {
            let took_over =
                || after.tables.keys().filter(is_new).any(|new| after.tables[new] >= *before);
            if *before > 0 && !after.tables.contains_key(table) && !took_over() {
                let message =
                    message!("the table '{table}' would be dropped with its {before} rows");
                return Err(Problem::new(ProblemKind::Conflict, message));
            }
        }
        Ok(())
    }
}

/// Opens a database file for a change; foreign keys are off.
pub(crate) fn open(file: &Path) -> Result<Connection> {
    let connection = Connection::open(file).map_err(broken)?;
    connection.busy_timeout(Duration::from_millis(limits::STORE_LOCK_WAIT_MS)).map_err(broken)?;
    guard(&connection)?;
    Ok(connection)
}

/// Refuses a file that is not a complete database.
pub fn check(file: &Path) -> Result<()> {
    let reports = texts(&open(file)?, "PRAGMA quick_check(1)")
        .map_err(|_| Problem::invalid("file", "is not a SQLite database"))?;
    match reports.first().map(String::as_str) {
        Some("ok") => Ok(()),
        _ => Err(Problem::invalid("file", "is a damaged SQLite database")),
    }
}

/// Copies a database file while others use it. Errors: there is no such file; the copy's name is taken.
pub fn backup(file: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        let message = message!("the file '{to}' already exists", to = to.display());
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|error| {
            let message =
                message!("cannot create the folder '{folder}': {error}", folder = folder.display());
            Problem::new(ProblemKind::Unavailable, message)
        })?;
    }
    restore(file, to).inspect_err(|_| {
        let _ = fs::remove_file(to);
    })
}

/// Replaces the content of a database file by that of another, in one transaction: readers see the old content or the
/// new one. Errors: the other file is not a database.
pub fn restore(from: &Path, to: &Path) -> Result<()> {
    let source =
        Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|error| {
            let message = message!("cannot open '{from}': {error}", from = from.display());
            Problem::new(ProblemKind::NotFound, message)
        })?;
    pour(&source, to)
}

fn pour(source: &Connection, to: &Path) -> Result<()> {
    let mut target = Connection::open(to).map_err(broken)?;
    target.busy_timeout(Duration::from_millis(limits::STORE_LOCK_WAIT_MS)).map_err(broken)?;
    // An open read keeps the snapshot; without it every write by another connection starts the copy over.
    let snapshot = source.unchecked_transaction().map_err(broken)?;
    let read = snapshot.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |_| Ok(()));
    read.map_err(broken)?;
    let backup = Backup::new(&snapshot, &mut target).map_err(broken)?;
    backup.run_to_completion(1024, Duration::from_millis(1), None).map_err(broken)
}
