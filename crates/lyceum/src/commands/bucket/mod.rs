//! `lyceum bucket`: files of a project, on this machine or deployed.

mod bulk;
mod target;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use lyceum_core::messages::io_reason;
use lyceum_deploy::media_of;
use lyceum_hosting::buckets::BucketObjectDescription;
use serde_json::{Value, json};

use super::deploy::{prompt, show};
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted, table};
use crate::project::ProjectDataArgs;
use target::Target;

/// List, read, write and delete files in a project's bucket
#[derive(Subcommand)]
pub(crate) enum Bucket {
    /// List objects by key
    #[command(visible_alias = "ls")]
    List(List),
    /// Download an object to a file, or show its properties if no file is given
    Get(Get),
    /// Upload a file as an object
    Put(Put),
    /// Delete objects
    #[command(visible_aliases = ["del", "rm"])]
    Delete(Delete),
    /// Upload a folder. Only new and changed files are sent
    Bulk(bulk::Bulk),
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    project_data: ProjectDataArgs,
    /// Only objects whose keys begin with this prefix
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prefix: String,
    /// Maximum number of objects. If there are more, the last line says how to continue [default: all]
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Continue after this cursor, which the previous page printed
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

#[derive(Args)]
pub(crate) struct Get {
    /// Key of the object
    key: String,
    /// The file to write. An interrupted download continues where it stopped
    #[arg(short, long, value_name = "FILE", conflicts_with = "raw")]
    output: Option<PathBuf>,
    /// Write the bytes to standard output
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    project_data: ProjectDataArgs,
}

#[derive(Args)]
pub(crate) struct Put {
    /// Key of the object
    key: String,
    /// The file to upload. An interrupted upload of a large file continues where it stopped
    file: PathBuf,
    /// Media type [default: derived from the file name]
    #[arg(long, value_name = "TYPE")]
    content_type: Option<String>,
    /// How long browsers may keep the file: the header Cache-Control, such as max-age=3600
    #[arg(long, value_name = "VALUE")]
    cache_control: Option<String>,
    /// Custom metadata that backends can read; can be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    metadata: Vec<(String, String)>,
    /// Show what would be uploaded, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    project_data: ProjectDataArgs,
}

#[derive(Args)]
pub(crate) struct Delete {
    /// Keys of the objects
    #[arg(required_unless_present = "prefix")]
    keys: Vec<String>,
    /// Delete all objects whose keys begin with this prefix
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

fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text
        .split_once('=')
        .filter(|(key, _)| !key.is_empty())
        .ok_or_else(|| "it must have the form KEY=VALUE, such as author=ada".to_owned())?;
    Ok((key.to_owned(), value.to_owned()))
}

impl Bucket {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::List(list) => list.run(printer),
            Self::Get(get) => get.run(printer),
            Self::Put(put) => put.run(printer),
            Self::Delete(delete) => delete.run(printer),
            Self::Bulk(bulk) => bulk.run(printer),
        }
    }
}

impl List {
    fn run(self, printer: &Printer) -> Result {
        let target = Target::open(&self.project_data, printer)?;
        let mut objects: Vec<Value> = Vec::new();
        let mut cursor = self.cursor;
        loop {
            let most = self.limit.map(|limit| {
                limit.saturating_sub(u32::try_from(objects.len()).unwrap_or(u32::MAX)).min(1000)
            });
            let page = target.list(&self.prefix, cursor.as_deref(), most)?;
            objects.extend(page["objects"].as_array().into_iter().flatten().cloned());
            cursor = page["cursor"].as_str().map(str::to_owned);
            let is_full = self.limit.is_some_and(|limit| objects.len() >= limit as usize);
            if cursor.is_none() || is_full {
                break;
            }
        }
        let row = |object: &Value| {
            let text = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
            let size = show::bytes(object["size"].as_u64().unwrap_or_default());
            vec![text("key"), size, text("uploaded")]
        };
        let rows: Vec<_> = objects.iter().map(row).collect();
        printer.answer(
            || table(&["key", "size", "uploaded"], &rows),
            || json!({ "objects": objects, "truncated": cursor.is_some(), "cursor": cursor }),
        );
        if let Some(cursor) = cursor {
            printer.note(&format!("there are more objects; continue with --cursor {cursor}"));
        }
        Ok(())
    }
}

impl Get {
    fn run(self, printer: &Printer) -> Result {
        let target = Target::open(&self.project_data, printer)?;
        if let Some(output) = &self.output {
            let size = target.get(&self.key, output)?;
            printer
                .answer(String::new, || json!({ "key": self.key, "file": output, "size": size }));
            printer.done(&format!(
                "✔ {} ({}) is in '{}'",
                self.key,
                show::bytes(size),
                output.display()
            ));
            return Ok(());
        }
        if self.raw {
            return target.print(&self.key);
        }
        let Some(found) = target.metadata(&self.key)? else { return Err(missing(&self.key)) };
        printer.answer(|| property_lines(&found), || found.clone());
        Ok(())
    }
}

fn missing(key: &str) -> Failure {
    Failure::new(Code::NotFound, format!("the bucket has no object with the key '{key}'"))
        .hint("run `lyceum bucket list` to see the keys")
}

/// A line for each known property.
fn property_lines(object: &Value) -> String {
    let members = object.as_object().into_iter().flatten();
    let line = |(name, value): (&String, &Value)| match value.as_str() {
        Some(text) => format!("{name}: {text}\n"),
        None => format!("{name}: {value}\n"),
    };
    members.map(line).collect()
}

/// Writes bytes to standard output, but never to a terminal.
fn pour(mut from: impl std::io::Read) -> Result {
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        return Err(Failure::new(Code::Usage, "an object's bytes are not printed to a terminal")
            .hint("write them to a file with -o, or redirect the output"));
    }
    let poured = std::io::copy(&mut from, &mut out).and_then(|_| out.flush());
    poured.map_err(|error| Failure::failed(format!("the object cannot be written: {error}")))
}

impl Put {
    fn run(self, printer: &Printer) -> Result {
        let target = Target::open(&self.project_data, printer)?;
        let size = size_of(&self.file)?;
        let media = self.content_type.unwrap_or_else(|| media_of(&self.file.to_string_lossy()));
        let custom = self.metadata.into_iter().map(|(key, value)| (key, value.into()));
        let about = BucketObjectDescription {
            content_type: Some(media),
            cache_control: self.cache_control,
            custom_metadata: custom.collect(),
        };
        if self.dry_run {
            let replaces = target.metadata(&self.key)?.is_some();
            printer.answer(
                || format!("put {} ({})\n", self.key, show::bytes(size)),
                || json!({ "put": self.key, "size": size, "replaces": replaces }),
            );
            return Ok(());
        }
        let bar = printer.progress("Uploading", size);
        let sent = target.put(&self.key, &self.file, &about, |bytes| bar.inc(bytes))?;
        bar.finish_and_clear();
        printer.answer(
            String::new,
            || json!({ "key": self.key, "size": size, "uploadedBytes": sent }),
        );
        printer.done(&format!("✔ {} ({}) is in {}", self.key, show::bytes(size), target.name()));
        Ok(())
    }
}

fn size_of(file: &Path) -> Result<u64> {
    let found = std::fs::metadata(file).map_err(|error| {
        Failure::new(
            Code::NotFound,
            format!("'{}' cannot be read: {}", file.display(), io_reason(&error)),
        )
    })?;
    if found.is_file() {
        return Ok(found.len());
    }
    Err(Failure::new(Code::Usage, format!("'{}' is not a regular file", file.display()))
        .hint("run `lyceum bucket bulk` to upload a folder"))
}

impl Delete {
    fn run(self, printer: &Printer) -> Result {
        let target = Target::open(&self.project_data, printer)?;
        let keys: Vec<String> = match &self.prefix {
            Some(prefix) => target.all(prefix)?.into_keys().collect(),
            None => existing(&target, self.keys, printer)?,
        };
        if self.dry_run {
            let lines = || keys.iter().flat_map(|key| ["delete ", key, "\n"]).collect();
            printer.answer(lines, || json!({ "delete": keys }));
            return Ok(());
        }
        if let Some(prefix) = &self.prefix {
            let objects = counted(keys.len(), "object");
            let question = format!("Delete {objects} '{prefix}…' of {}?", target.name());
            if !self.yes && !prompt::is_interactive() {
                let message = format!("this deletes {objects}");
                return Err(Failure::new(Code::Conflict, message).hint("confirm it with --yes"));
            }
            if !self.yes && !prompt::confirm(&question, false)? {
                return Err(prompt::cancelled());
            }
        }
        for keys in keys.chunks(1000) {
            target.delete(keys)?;
        }
        printer.answer(String::new, || json!({ "deleted": keys }));
        printer.done(&format!(
            "✔ Deleted {} from {}",
            counted(keys.len(), "object"),
            target.name()
        ));
        Ok(())
    }
}

/// The keys that have an object, each once. The others are printed as a warning.
fn existing(target: &Target, keys: Vec<String>, printer: &Printer) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for key in keys {
        if found.contains(&key) {
            continue;
        }
        match target.metadata(&key)? {
            Some(_) => found.push(key),
            None => printer.warn(&format!("the bucket has no object with the key '{key}'")),
        }
    }
    Ok(found)
}
