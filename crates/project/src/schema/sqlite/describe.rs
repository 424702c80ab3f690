//! Reads the schema of a database from SQLite.

use lyceum_core::{Problem, ProblemKind, Result, message};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use serde_json::{Value, json};

use super::super::difference::parts;
use super::super::text::normal;
use super::super::{Column, Index, Program, Schema, Table};
use crate::limits;

/// Tables that tools keep for themselves beside a project's own.
const NOT_OURS: [&str; 5] = ["sqlite_", "_cf_", "__lyceum_", "__drizzle_", "d1_migrations"];

impl Schema {
    /// The schema that DDL makes: one text, or several behind each other.
    /// Errors: what SQLite does not understand; a text beyond [`limits::SCHEMA_MAX_BYTES`].
    pub fn of(ddl: &str) -> Result<Self> {
        if ddl.len() > limits::SCHEMA_MAX_BYTES {
            let message =
                message!("a schema is {most} bytes at most", most = limits::SCHEMA_MAX_BYTES);
            return Err(Problem::new(ProblemKind::TooLarge, message));
        }
        describe(&scratch(ddl)?)
    }

    /// Its DDL: loaded, it makes this schema again.
    pub fn ddl(&self) -> String {
        let tables = self.tables.values().map(|table| &table.sql);
        let indexes = self.indexes.values().map(|index| &index.sql);
        let programs = self.programs.values().map(|program| &program.sql);
        let all = tables.chain(indexes).chain(programs);
        all.flat_map(|sql| [sql.as_str(), ";\n"]).collect()
    }
}

impl Schema {
    /// Its tables, indexes, views and triggers with their SQL.
    pub fn described(&self) -> Value {
        let column = |column: &Column| {
            json!({
                "name": column.name, "type": column.declared, "notNull": column.not_null,
                "default": column.default, "generated": column.is_generated,
            })
        };
        let table = |table: &Table| {
            let columns: Vec<_> = table.columns.iter().map(column).collect();
            json!({ "name": table.name, "columns": columns, "sql": table.sql })
        };
        let index =
            |index: &Index| json!({ "name": index.name, "table": index.table, "sql": index.sql });
        let program = |program: &Program| json!({ "kind": program.kind, "name": program.name, "sql": program.sql });
        json!({
            "tables": self.tables.values().map(table).collect::<Vec<_>>(),
            "indexes": self.indexes.values().map(index).collect::<Vec<_>>(),
            "programs": self.programs.values().map(program).collect::<Vec<_>>(),
        })
    }
}

/// The schema after one statement more.
pub(crate) fn after(schema: &Schema, statement: &str) -> Result<Schema> {
    let mut connection = scratch(&schema.ddl())?;
    run(&mut connection, statement)?;
    describe(&connection)
}

pub(crate) fn scratch(ddl: &str) -> Result<Connection> {
    let mut connection = Connection::open_in_memory().map_err(Problem::internal)?;
    guard(&connection)?;
    run(&mut connection, ddl)?;
    Ok(connection)
}

/// Makes a connection fit for statements of others: a name in double quotes is never a text, foreign
/// keys are off until somebody checks them, no other file is reached, no transaction is ended.
pub(crate) fn guard(connection: &Connection) -> Result<()> {
    let options = [
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false),
    ];
    for (option, value) in options {
        connection.set_db_config(option, value).map_err(Problem::internal)?;
    }
    Ok(())
}

/// Runs statements of others.
pub(crate) fn run(connection: &mut Connection, statements: &str) -> Result<()> {
    let allow = |context: AuthContext<'_>| match context.action {
        AuthAction::Attach { .. }
        | AuthAction::Detach { .. }
        | AuthAction::Transaction { .. }
        | AuthAction::Savepoint { .. }
        | AuthAction::Function { function_name: "load_extension" } => Authorization::Deny,
        // Whatever else is set changes how the file is kept, not what is in it.
        AuthAction::Pragma { pragma_name, pragma_value: Some(_) }
            if !["foreign_keys", "defer_foreign_keys", "quick_check"]
                .iter()
                .any(|known| known.eq_ignore_ascii_case(pragma_name)) =>
        {
            Authorization::Deny
        }
        _ => Authorization::Allow,
    };
    connection.authorizer(Some(allow)).map_err(Problem::internal)?;
    let ran = connection.execute_batch(statements);
    let free: Option<fn(AuthContext<'_>) -> Authorization> = None;
    connection.authorizer(free).map_err(Problem::internal)?;
    ran.map_err(|error| refused(statements, &error))
}

/// A statement that SQLite does not take, with the statement.
fn refused(statements: &str, error: &rusqlite::Error) -> Problem {
    let reason = match error {
        rusqlite::Error::SqliteFailure(_, Some(reason)) => reason.clone(),
        rusqlite::Error::SqlInputError { msg, sql, offset, .. } => {
            let at = usize::try_from(*offset).unwrap_or(0);
            let near: String = sql.get(at..).unwrap_or_default().chars().take(40).collect();
            format!("{msg} near '{}'", near.lines().next().unwrap_or_default())
        }
        other => other.to_string(),
    };
    let first: String =
        statements.trim().lines().next().unwrap_or_default().chars().take(80).collect();
    let message = message!("SQLite refuses it: {reason} (in '{first}')");
    Problem::new(ProblemKind::Invalid, message)
}

/// The schema of a database.
pub(crate) fn describe(connection: &Connection) -> Result<Schema> {
    let mut schema = Schema::default();
    let shadows = texts(connection, "SELECT name FROM pragma_table_list WHERE type = 'shadow'")?;
    let listed = "SELECT type, name, tbl_name, sql FROM sqlite_schema \
                  WHERE sql IS NOT NULL ORDER BY rowid";
    let mut statement = connection.prepare(listed).map_err(broken)?;
    let rows = statement
        .query_map([], |row| Ok([row.get::<_, String>(0)?, row.get(1)?, row.get(2)?, row.get(3)?]));
    for row in rows.map_err(broken)? {
        let [kind, name, table, sql] = row.map_err(broken)?;
        let key = name.to_lowercase();
        if NOT_OURS.iter().any(|prefix| table.to_lowercase().starts_with(prefix))
            || shadows.contains(&table)
        {
            continue;
        }
        match kind.as_str() {
            "table" => {
                let (parts, options) = parts(&sql);
                let is_virtual = normal(&sql).starts_with("create virtual");
                let columns = columns(connection, &name)?;
                let table = Table { name, sql, columns, parts, options, is_virtual };
                schema.tables.insert(key, table);
            }
            "index" => {
                let (table, normal) = (table.to_lowercase(), normal(&sql));
                schema.indexes.insert(key, Index { name, table, sql, normal });
            }
            _ => {
                let normal = normal(&sql);
                schema.programs.insert(key, Program { kind, name, sql, normal });
            }
        }
    }
    Ok(schema)
}

fn columns(connection: &Connection, table: &str) -> Result<Vec<Column>> {
    let sql = "SELECT name, type, \"notnull\", dflt_value, hidden FROM pragma_table_xinfo(?1)";
    let mut statement = connection.prepare_cached(sql).map_err(broken)?;
    let rows = statement.query_map([table], |row| {
        Ok(Column {
            name: row.get(0)?,
            declared: row.get(1)?,
            not_null: row.get(2)?,
            default: row.get(3)?,
            is_generated: row.get::<_, i64>(4)? > 1,
        })
    });
    rows.map_err(broken)?.collect::<Result<_, _>>().map_err(broken)
}

/// The one column of an answer.
pub(crate) fn texts(connection: &Connection, sql: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare(sql).map_err(broken)?;
    let rows = statement.query_map([], |row| row.get(0)).map_err(broken)?;
    rows.collect::<Result<_, _>>().map_err(broken)
}

/// A database that cannot be read or written.
pub(crate) fn broken(error: rusqlite::Error) -> Problem {
    let message = message!("the database cannot be used: {error}");
    Problem::new(ProblemKind::Unavailable, message).because(error)
}
