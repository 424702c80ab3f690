//! `lyceum kv`: the key-value store of a project, on this machine or deployed.

mod target;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::deploy::prompt;
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted, table};
use crate::project::ProjectDataArgs;
use target::Target;

/// List, read, write and delete entries of a project's key-value store
#[derive(Subcommand)]
pub(crate) enum Kv {
    /// List keys
    #[command(visible_alias = "ls")]
    List(List),
    /// Print the value of a key
    Get(Get),
    /// Set the value of a key
    #[command(visible_alias = "put")]
    Set(Set),
    /// Delete keys
    #[command(visible_aliases = ["del", "rm"])]
    Delete(Delete),
}

#[derive(Args)]
pub(crate) struct List {
    /// Only keys that begin with this prefix
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prefix: String,
    /// Maximum number of keys. If there are more, the last line says how to continue [default: all]
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,
    /// Continue after this cursor, which the previous page printed
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    project_data: ProjectDataArgs,
}

#[derive(Args)]
pub(crate) struct Get {
    /// The key
    key: String,
    /// Write the value to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    project_data: ProjectDataArgs,
}

#[derive(Args)]
pub(crate) struct Set {
    /// The key
    key: String,
    /// The value
    #[arg(required_unless_present = "file", allow_hyphen_values = true)]
    value: Option<String>,
    /// Read the value from this file
    #[arg(long, value_name = "FILE", conflicts_with = "value")]
    file: Option<PathBuf>,
    /// Seconds until the entry expires, at least 60 [default: never]
    #[arg(long, value_name = "SECONDS")]
    ttl: Option<i64>,
    /// JSON that lists show beside the key
    #[arg(long, value_name = "JSON", value_parser = json_of)]
    metadata: Option<Value>,
    /// Show what would be stored, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    project_data: ProjectDataArgs,
}

#[derive(Args)]
pub(crate) struct Delete {
    /// The keys
    #[arg(required_unless_present = "prefix")]
    keys: Vec<String>,
    /// Delete all keys that begin with this prefix
    #[arg(long, value_name = "TEXT", conflicts_with = "keys")]
    prefix: Option<String>,
    /// Show what would be deleted, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    project_data: ProjectDataArgs,
}

fn json_of(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|_| "it must be JSON, such as {\"by\":\"ada\"}".to_owned())
}

impl Kv {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::List(list) => list.run(printer),
            Self::Get(get) => get.run(printer),
            Self::Set(set) => set.run(printer),
            Self::Delete(delete) => delete.run(printer),
        }
    }
}

impl List {
    fn run(self, printer: &Printer) -> Result {
        let target = Target::open(&self.project_data, printer)?;
        let mut keys: Vec<Value> = Vec::new();
        let mut cursor = self.cursor;
        loop {
            let most = self.limit.map(|limit| limit.saturating_sub(keys.len()).min(1000));
            let page = target.list(&self.prefix, cursor.as_deref(), most)?;
            keys.extend(page["keys"].as_array().into_iter().flatten().cloned());
            cursor = page["cursor"].as_str().map(str::to_owned);
            if cursor.is_none() || self.limit.is_some_and(|limit| keys.len() >= limit) {
                break;
            }
        }
        let row = |key: &Value| {
            let text = |name: &str| key[name].as_str().unwrap_or_default().to_owned();
            let metadata = key.get("metadata").map(Value::to_string).unwrap_or_default();
            vec![text("name"), text("expires"), metadata]
        };
        printer.answer(
            || table(&["key", "expires", "metadata"], &keys.iter().map(row).collect::<Vec<_>>()),
            || json!({ "keys": keys, "truncated": cursor.is_some(), "cursor": cursor }),
        );
        if let Some(cursor) = cursor {
            printer.note(&format!("there are more keys; continue with --cursor {cursor}"));
        }
        Ok(())
    }
}

impl Get {
    fn run(self, printer: &Printer) -> Result {
        let target = Target::open(&self.project_data, printer)?;
        let Some(value) = target.get(&self.key)? else { return Err(self.missing(&target)) };
        if let Some(output) = &self.output {
            std::fs::write(output, &value).map_err(|error| {
                Failure::failed(format!("'{}' cannot be written: {error}", output.display()))
            })?;
            printer.answer(
                String::new,
                || json!({ "key": self.key, "file": output, "size": value.len() }),
            );
            printer.done(&format!("✔ The value of {} is in '{}'", self.key, output.display()));
            return Ok(());
        }
        if !printer.is_json() {
            return print(&value);
        }
        let text = String::from_utf8(value).map_err(|_| binary())?;
        let mut found = target.key(&self.key)?.unwrap_or_else(|| json!({ "name": self.key }));
        found["value"] = text.into();
        printer.answer(String::new, || found);
        Ok(())
    }

    fn missing(&self, target: &Target) -> Failure {
        let message = format!("the key '{}' does not exist in {}", self.key, target.name());
        Failure::new(Code::NotFound, message).hint("run `lyceum kv list` to see the keys")
    }
}

fn binary() -> Failure {
    Failure::new(Code::Usage, "the value is not text").hint("write it to a file with -o")
}

/// Writes a value to standard output. On a terminal, text ends with a line break, and other bytes are refused.
fn print(value: &[u8]) -> Result {
    let mut out = std::io::stdout().lock();
    let is_terminal = out.is_terminal();
    if is_terminal && std::str::from_utf8(value).is_err() {
        return Err(binary());
    }
    let end: &[u8] = if is_terminal && !value.ends_with(b"\n") { b"\n" } else { b"" };
    let printed = out.write_all(value).and_then(|()| out.write_all(end));
    printed
        .and_then(|()| out.flush())
        .map_err(|error| Failure::failed(format!("the value cannot be written: {error}")))
}

impl Set {
    fn run(self, printer: &Printer) -> Result {
        let value = match (self.value, &self.file) {
            (Some(value), _) => value.into_bytes(),
            (None, Some(file)) => std::fs::read(file).map_err(|error| {
                let message = format!("'{}' cannot be read: {error}", file.display());
                Failure::new(Code::NotFound, message)
            })?,
            (None, None) => Vec::new(),
        };
        let target = Target::open(&self.project_data, printer)?;
        let (key, size, name) = (&self.key, counted(value.len(), "byte"), target.name());
        if self.dry_run {
            let replaces = target.key(key)?.is_some();
            printer.answer(
                || format!("set {key} ({size})\n"),
                || json!({ "set": key, "size": value.len(), "replaces": replaces }),
            );
            return Ok(());
        }
        target.put(key, &value, self.metadata.as_ref(), self.ttl)?;
        printer.answer(String::new, || json!({ "key": key, "size": value.len() }));
        printer.done(&format!("✔ {key} ({size}) is set in {name}"));
        Ok(())
    }
}

impl Delete {
    fn run(self, printer: &Printer) -> Result {
        let target = Target::open(&self.project_data, printer)?;
        let mut keys = Vec::new();
        match &self.prefix {
            Some(prefix) => keys = target.keys(prefix)?,
            None => {
                for key in &self.keys {
                    if target.key(key)?.is_some() {
                        keys.push(key.clone());
                    }
                }
            }
        }
        if self.dry_run {
            let lines = || keys.iter().flat_map(|key| ["delete ", key, "\n"]).collect();
            printer.answer(lines, || json!({ "delete": keys }));
            return Ok(());
        }
        let (count, name) = (counted(keys.len(), "key"), target.name());
        if let (Some(prefix), false) = (&self.prefix, self.yes) {
            if !prompt::is_interactive() {
                let message = format!("this deletes {count}");
                return Err(Failure::new(Code::Conflict, message).hint("confirm it with --yes"));
            }
            if !prompt::confirm(&format!("Delete {count} '{prefix}…' of {name}?"), false)? {
                return Err(prompt::cancelled());
            }
        }
        target.delete(&keys)?;
        printer.answer(String::new, || json!({ "deleted": keys }));
        printer.done(&format!("✔ Deleted {count} from {name}"));
        Ok(())
    }
}
