//! Backup and restore of PostgreSQL with `pg_dump` and `pg_restore`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_store::migrate;
use percent_encoding::percent_decode_str;
use tempfile::TempDir;

use super::check::TrialPlace;

/// Writes the database as of a snapshot to a file in `pg_dump`'s custom format.
pub(super) fn dump(url: &str, file: &Path, snapshot: &str) -> Result<()> {
    let mut command = tool("pg_dump", url);
    command.arg(format!("--snapshot={snapshot}"));
    // The archive that contains this file is compressed.
    command.arg("--compress=0");
    command.args(["--format=custom", "--no-owner", "--no-privileges", "--file"]).arg(file);
    run(command, "pg_dump")
}

/// Restores the database from such a file, or leaves it unchanged on failure. Without `force`, the database must
/// not contain the platform's tables. `folder` temporarily needs as much space as the database.
///
/// Errors: `Conflict` if it contains such tables.
pub fn restore(url: &str, file: &Path, force: bool, folder: &Path) -> Result<()> {
    if force {
        return replace(url, file, folder);
    }
    let mut command = tool("pg_restore", url);
    command.args(["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error"]);
    command.arg(file);
    run(command, "pg_restore").map_err(|problem| {
        let is_taken = problem.message.contains("already exists");
        if is_taken { Problem { kind: ProblemKind::Conflict, ..problem } } else { problem }
    })
}

/// Restores a dump into a temporary database, does work with its address and drops it. `None` if the role may not
/// create databases.
pub(super) fn restore_as_trial<T>(
    place: TrialPlace<'_>,
    dump: &Path,
    work: impl FnOnce(&str) -> Result<T>,
) -> Result<Option<T>> {
    let TrialPlace { address, name } = place;
    let drop = format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)");
    // What a server that stopped during a trial left.
    statement(address, &drop)?;
    match statement(address, &format!("CREATE DATABASE \"{name}\" TEMPLATE template0")) {
        Err(problem) if problem.message.contains("permission denied") => {
            return Ok(None);
        }
        created => created?,
    }
    let own = with_database(address, name);
    let worked = restore(&own, dump, false, Path::new(".")).and_then(|()| work(&own));
    let dropped = statement(address, &drop);
    let worked = worked?;
    dropped?;
    Ok(Some(worked))
}

/// Reads the list of contents of a dump. Errors: the file is not a dump, or is damaged.
pub(super) fn list(dump: &Path) -> Result<()> {
    let mut command = Command::new("pg_restore");
    command.arg("--list").arg(dump);
    run(command, "pg_restore")
}

fn statement(address: &str, sql: &str) -> Result<()> {
    let mut command = tool("psql", address);
    command.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--command", sql]);
    run(command, "psql")
}

/// The address of another database of the same server.
fn with_database(address: &str, name: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", address));
    let (credentials, place) = match rest.split_once('@') {
        Some((credentials, place)) => (format!("{credentials}@"), place),
        None => (String::new(), rest),
    };
    let (place, query) = place.split_once('?').unwrap_or((place, ""));
    let hosts = place.split('/').next().unwrap_or_default();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{scheme}://{credentials}{hosts}/{name}{mark}{query}")
}

/// Replaces the platform's tables. `pg_restore --clean` alone drops only the tables in the file: a table
/// that a later release created would stay, and its migration would fail.
fn replace(url: &str, file: &Path, folder: &Path) -> Result<()> {
    let scratch = TempDir::new_in(folder).map_err(Problem::internal)?;
    let [drop, script] = ["drop.sql", "restore.sql"].map(|name| scratch.path().join(name));
    let tables = migrate::tables(&crate::migrations()).join("\", \"");
    fs::write(&drop, format!("DROP TABLE IF EXISTS \"{tables}\" CASCADE;\n"))
        .map_err(Problem::internal)?;
    let mut command = Command::new("pg_restore");
    command.args(["--no-owner", "--no-privileges", "--clean", "--if-exists", "--file"]);
    command.arg(&script).arg(file);
    run(command, "pg_restore")?;
    let mut command = tool("psql", url);
    command.args(["--no-psqlrc", "--quiet", "--output=/dev/null", "--single-transaction"]);
    command.arg("--set=ON_ERROR_STOP=1");
    command.arg("--file").arg(&drop).arg("--file").arg(&script);
    run(command, "psql")
}

/// A command of a PostgreSQL tool. The password is passed in the environment, because other users can see arguments.
fn tool(program: &str, address: &str) -> Command {
    let (address, password) = take_password(address);
    let mut command = Command::new(program);
    command.arg("--dbname").arg(address);
    if let Some(password) = password {
        command.env("PGPASSWORD", password);
    }
    command
}

/// Errors: `Unavailable` with what the command printed.
fn run(mut command: Command, program: &str) -> Result<()> {
    let failed = |message: Message| Problem::new(ProblemKind::Unavailable, message);
    let output = command.output().map_err(|error| {
        failed(match error.kind() {
            ErrorKind::NotFound => message!(
                "`{program}` is not installed; install PostgreSQL's client tools, \
             in the server's version or newer"
            ),
            _ => message!("`{program}` could not be started: {error}"),
        })
    })?;
    if output.status.success() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    Err(failed(message!("`{program}` failed: {reason}", reason = printed.trim())))
}

/// Splits an address into the address without its password, and the password. Like the client library, it ends
/// the credentials at the first `@`. The settings accept only URLs.
fn take_password(address: &str) -> (String, Option<String>) {
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", address));
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (user, mut password, place) = match rest.split_once('@') {
        None => (None, None, rest),
        Some((credentials, place)) => match credentials.split_once(':') {
            None => (Some(credentials), None, place),
            Some((user, password)) => (Some(user), Some(decoded(password)), place),
        },
    };
    let (place, query) = place.split_once('?').unwrap_or((place, ""));
    let mut parameters = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some((name, value)) if decoded(name) == "password" => password = Some(decoded(value)),
            _ => parameters.push(parameter),
        }
    }
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    let mark = if parameters.is_empty() { "" } else { "?" };
    (format!("{scheme}://{user}{place}{mark}{}", parameters.join("&")), password)
}

#[cfg(test)]
mod tests {
    use super::{take_password, with_database};

    #[test]
    fn the_database_in_an_address_is_replaced() {
        for (address, other) in [
            ("postgres://u:p%2F@h:1/d?sslmode=require", "postgres://u:p%2F@h:1/t?sslmode=require"),
            ("postgresql://h1,h2/d", "postgresql://h1,h2/t"),
            ("postgres://u@h", "postgres://u@h/t"),
            ("postgres://u:a/b@h/d", "postgres://u:a/b@h/t"),
            ("postgres://%2Frun%2Fpg/d?user=u", "postgres://%2Frun%2Fpg/t?user=u"),
        ] {
            assert_eq!(with_database(address, "t"), other);
        }
    }

    #[test]
    fn no_password_is_left_in_an_address() {
        for (address, without, password) in [
            ("postgres://u:p%40%2Fs@h:1/d?x=1", "postgres://u@h:1/d?x=1", Some("p@/s")),
            ("postgres://u:a%zz@h/d", "postgres://u@h/d", Some("a%zz")),
            ("postgres://u:a/b?c@h/d?x=y@z", "postgres://u@h/d?x=y@z", Some("a/b?c")),
            ("postgres://u@h/d?password=a%20b&x=1", "postgres://u@h/d?x=1", Some("a b")),
            ("postgres://u:old@h/d?password=new", "postgres://u@h/d", Some("new")),
            ("postgres://u@h/d", "postgres://u@h/d", None),
            ("postgres://h:5432/d", "postgres://h:5432/d", None),
        ] {
            let (left, found) = take_password(address);
            assert_eq!((left.as_str(), found.as_deref()), (without, password), "{address}");
        }
    }
}
