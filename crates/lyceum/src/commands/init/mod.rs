//! `lyceum init`

mod manifest;
mod vite;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use lyceum_project::{file_at, slug_of};
use serde_json::{Value, json};

use crate::commands::deploy::prompt;
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted};
use manifest::Manifest;

/// Files that belong to this machine alone: the sandbox's data and secrets.
const IGNORED: [&str; 2] = [".lyceum", ".env"];

#[derive(Args)]
pub(crate) struct Init {
    /// The folder of the project
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    folder: PathBuf,
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
    /// Make the changes without asking for confirmation
    #[arg(short, long, conflicts_with = "dry_run")]
    yes: bool,
}

/// A file that is created or changed.
struct FileChange {
    file: String,
    /// The changes, in words.
    what: Vec<String>,
    text: String,
}

/// Everything that a project lacks.
struct Missing {
    changes: Vec<FileChange>,
    /// Changes that only a person can make.
    by_hand: Vec<String>,
}

impl Init {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let missing = Missing::in_project(&self.folder)?;
        let answer = |is_applied: bool| {
            let changes = missing.changes.iter();
            let changes: Vec<Value> =
                changes.map(|it| json!({ "file": it.file, "changes": it.what })).collect();
            json!({ "files": changes, "byHand": missing.by_hand, "applied": is_applied })
        };
        if self.dry_run {
            printer.answer(|| missing.text(), || answer(false));
            printer.done("nothing was changed");
            return Ok(());
        }
        printer.note(missing.text().trim_end());
        if missing.changes.is_empty() {
            printer.answer(String::new, || answer(false));
            return Ok(());
        }
        if !self.yes && !prompt::is_interactive() {
            return Err(Failure::new(
                Code::Usage,
                "nothing was changed, because nobody confirmed it",
            )
            .hint("use --yes to make the changes"));
        }
        if !self.yes && !prompt::confirm("Make these changes?", true)? {
            return Err(prompt::cancelled());
        }
        for change in &missing.changes {
            let file = self.folder.join(&change.file);
            fs::write(&file, &change.text).map_err(|error| {
                Failure::failed(format!("cannot write '{}': {error}", file.display()))
            })?;
        }
        printer.done(&format!("changed {}", counted(missing.changes.len(), "file")));
        printer.note("Next: npm install");
        printer.answer(String::new, || answer(true));
        Ok(())
    }
}

impl Missing {
    fn in_project(folder: &Path) -> Result<Self> {
        let manifest = Manifest::read(folder)?;
        let is_typed = folder.join("tsconfig.json").is_file() || manifest.has("typescript");
        let mut changes: Vec<FileChange> = manifest.change().into_iter().collect();
        if file_at(folder)?.is_none() {
            changes.push(config(&project_name(&manifest, folder), is_typed));
        }
        let mut by_hand = Vec::new();
        if manifest.has("vite") {
            match vite::with_plugin(folder, is_typed)? {
                vite::Plugin::Present => {}
                vite::Plugin::Added(change) => changes.push(change),
                vite::Plugin::ByHand(what) => by_hand.push(what),
            }
        }
        changes.extend(ignored(folder)?);
        Ok(Self { changes, by_hand })
    }

    fn text(&self) -> String {
        let mut lines = Vec::new();
        for change in &self.changes {
            lines.extend(change.what.iter().map(|what| format!("{}: {what}", change.file)));
        }
        lines.extend(self.by_hand.iter().map(|what| format!("by hand: {what}")));
        if lines.is_empty() {
            lines.push("the project already uses Lyceum; nothing has to change".to_owned());
        }
        lines.join("\n") + "\n"
    }
}

/// The text of a file in a folder; empty if there is none.
fn read(folder: &Path, file: &str) -> Result<String> {
    let path = folder.join(file);
    match path.exists() {
        true => fs::read_to_string(&path)
            .map_err(|error| Failure::failed(format!("cannot read '{}': {error}", path.display()))),
        false => Ok(String::new()),
    }
}

/// The name in the manifest without its scope, or that of the folder.
fn project_name(manifest: &Manifest, folder: &Path) -> String {
    let of_folder =
        || Some(fs::canonicalize(folder).ok()?.file_name()?.to_string_lossy().into_owned());
    let named = manifest.name().map(|name| name.rsplit('/').next().unwrap_or(name).to_owned());
    let named = named.filter(|name| !slug_of(name).is_empty());
    named.or_else(of_folder).unwrap_or_else(|| "my-app".to_owned())
}

fn config(name: &str, is_typed: bool) -> FileChange {
    let name = Value::from(name);
    let (file, text) = match is_typed {
        true => (
            "lyceum.config.ts",
            format!(
                "import {{ defineConfig }} from \"@lyceum/cli\";\n\n\
                 // What Lyceum knows about this project. Editors explain each key.\n\
                 export default defineConfig({{\n  name: {name},\n  \
                 // The folder that `lyceum deploy` publishes.\n  buildPath: \"dist\",\n}});\n"
            ),
        ),
        false => (
            "lyceum.config.json",
            format!(
                "{{\n  \"$schema\": \"./node_modules/@lyceum/cli/config.schema.json\",\n  \
                 \"name\": {name},\n  \"buildPath\": \"dist\"\n}}\n"
            ),
        ),
    };
    FileChange {
        file: file.to_owned(),
        what: vec![format!("create it with the name {name}")],
        text,
    }
}

/// The entries that `.gitignore` lacks.
fn ignored(folder: &Path) -> Result<Option<FileChange>> {
    let text = read(folder, ".gitignore")?;
    let is_ignored = |name: &&str| {
        text.lines().any(|line| line.trim().trim_matches('/').trim_end_matches('*') == *name)
    };
    let lacking: Vec<&str> = IGNORED.into_iter().filter(|name| !is_ignored(name)).collect();
    if lacking.is_empty() {
        return Ok(None);
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let what = lacking.iter().map(|name| format!("ignore {name}")).collect();
    let text = format!("{text}{end}{}\n", lacking.join("\n"));
    Ok(Some(FileChange { file: ".gitignore".to_owned(), what, text }))
}
