//! Backup and restore of PostgreSQL with `pg_dump` and `pg_restore`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use lyceum_store::migrate;
use percent_encoding::percent_decode_str;
use tempfile::TempDir;

use crate::failure::{Failure, Result};

/// Writes the database as of a snapshot to a file in `pg_dump`'s custom format.
pub(super) fn dump(url: &str, file: &Path, snapshot: &str) -> Result {
    let mut command = tool("pg_dump", url);
    command.arg(format!("--snapshot={snapshot}"));
    // The archive that contains this file is compressed.
    command.arg("--compress=0");
    command.args(["--format=custom", "--no-owner", "--no-privileges", "--file"]).arg(file);
    run(command, "pg_dump").map_err(Failure::failed)
}

/// Restores the database from such a file, or leaves it unchanged on failure. Without `force`, the database must
/// not contain the platform's tables. `folder` temporarily needs as much space as the database.
pub(super) fn restore(url: &str, file: &Path, force: bool, folder: &Path) -> Result {
    if force {
        return replace(url, file, folder);
    }
    let mut command = tool("pg_restore", url);
    command.args(["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error"]);
    command.arg(file);
    run(command, "pg_restore").map_err(|message| {
        let taken = message.contains("already exists");
        let failure = Failure::failed(message);
        if taken {
            failure.hint("name an empty database with --database, or replace this one with --force")
        } else {
            failure
        }
    })
}

/// Replaces the platform's tables. `pg_restore --clean` alone drops only the tables in the file: a table
/// that a later release created would stay, and its migration would fail.
fn replace(url: &str, file: &Path, folder: &Path) -> Result {
    let scratch = TempDir::new_in(folder).map_err(|error| Failure::failed(error.to_string()))?;
    let [drop, script] = ["drop.sql", "restore.sql"].map(|name| scratch.path().join(name));
    let tables = migrate::tables(&lyceum_server::migrations()).join("\", \"");
    fs::write(&drop, format!("DROP TABLE IF EXISTS \"{tables}\" CASCADE;\n"))
        .map_err(|error| Failure::failed(error.to_string()))?;
    let mut command = Command::new("pg_restore");
    command.args(["--no-owner", "--no-privileges", "--clean", "--if-exists", "--file"]);
    command.arg(&script).arg(file);
    run(command, "pg_restore").map_err(Failure::failed)?;
    let mut command = tool("psql", url);
    command.args(["--no-psqlrc", "--quiet", "--output=/dev/null", "--single-transaction"]);
    command.arg("--set=ON_ERROR_STOP=1");
    command.arg("--file").arg(&drop).arg("--file").arg(&script);
    run(command, "psql").map_err(Failure::failed)
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

fn run(mut command: Command, program: &str) -> Result<(), String> {
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "`{program}` is not installed; install PostgreSQL's client tools, \
             in the server's version or newer"
        ),
        _ => format!("`{program}` could not be started: {error}"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{program}` failed: {}", told.trim()))
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
    use super::take_password;

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
