//! Backup and restore of PostgreSQL, by its own tools.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use percent_encoding::percent_decode_str;

use crate::failure::{Failure, Result};

/// Writes the database, as of a snapshot, into a file of `pg_dump`'s custom format.
pub(super) fn dump(url: &str, file: &Path, snapshot: &str) -> Result {
    let mut command = tool("pg_dump", url);
    command.arg(format!("--snapshot={snapshot}"));
    // The archive that it goes into is compressed.
    command.arg("--compress=0");
    command.args(["--format=custom", "--no-owner", "--no-privileges", "--file"]).arg(file);
    run(command, "pg_dump").map_err(Failure::failed)
}

/// Makes the database from such a file, or leaves it as it was. Without `force` it must not hold
/// the platform's tables yet.
pub(super) fn restore(url: &str, file: &Path, force: bool) -> Result {
    let mut command = tool("pg_restore", url);
    command.args(["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error"]);
    if force {
        command.args(["--clean", "--if-exists"]);
    }
    command.arg(file);
    run(command, "pg_restore").map_err(|message| {
        let taken = message.contains("already exists");
        let failure = Failure::failed(message);
        if taken && !force {
            failure.hint("name an empty database, or replace what this one holds with --force")
        } else {
            failure
        }
    })
}

/// A tool on the database. The password goes by its environment: arguments are for all to see.
fn tool(program: &str, url: &str) -> Command {
    let (url, password) = take_password(url);
    let mut command = Command::new(program);
    command.arg("--dbname").arg(url);
    if let Some(password) = password {
        command.env("PGPASSWORD", password);
    }
    command
}

fn run(mut command: Command, program: &str) -> Result<(), String> {
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "`{program}` is not installed; install the client tools of PostgreSQL, \
             of the server's version or newer"
        ),
        _ => format!("`{program}` does not start: {error}"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{program}` failed: {}", told.trim()))
}

/// Parts `postgres://user:password@host/database` into the address without the password, and the
/// password, percent-decoded.
fn take_password(url: &str) -> (String, Option<String>) {
    let parts = url.split_once("://").and_then(|(scheme, rest)| {
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let at = rest[..end].rfind('@')?;
        let (user, password) = rest[..at].split_once(':')?;
        Some((
            format!("{scheme}://{user}{}", &rest[at..]),
            percent_decode_str(password).decode_utf8_lossy().into_owned(),
        ))
    });
    parts.map_or_else(|| (url.to_owned(), None), |(url, password)| (url, Some(password)))
}

#[cfg(test)]
mod tests {
    use super::take_password;

    #[test]
    fn the_password_leaves_the_address() {
        let parted = |url: &str| take_password(url);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            parted("postgres://u:p%40%2Fs@h:1/d?x=1"),
            ("postgres://u@h:1/d?x=1".into(), some("p@/s"))
        );
        assert_eq!(parted("postgres://u:a%zz@h/d"), ("postgres://u@h/d".into(), some("a%zz")));
        assert_eq!(parted("postgres://u@h/d"), ("postgres://u@h/d".into(), None));
        assert_eq!(parted("postgres://h:5432/d"), ("postgres://h:5432/d".into(), None));
    }
}
