//! The config file of a project: `lyceum.config.json`, or a module.

mod module;
mod read;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use lyceum_core::{Problem, ProblemKind, Result, limits};
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::literal;

pub use module::ConfigModule;

/// The names that the file may have.
pub const FILES: [&str; 4] =
    ["lyceum.config.json", "lyceum.config.js", "lyceum.config.mjs", "lyceum.config.ts"];
/// The package that modules import `defineConfig` from.
pub const HELPER: &str = "@lyceum/cli";

/// What the file says. Members that it does not have are none.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
    /// The display name; the slug follows from it.
    pub name: Option<String>,
    /// What it is about.
    pub description: Option<String>,
    /// Its sign.
    pub emoji: Option<String>,
    /// What it runs on.
    pub platform: Option<String>,
    /// The zip of the build's output.
    pub build_path: Option<String>,
    /// What the project uses.
    pub integrations: Integrations,
    /// Secrets that its integrations cannot do without.
    pub required_secrets: Vec<String>,
    /// Where `name`, `description`, `emoji` and `platform` stand as literals: bytes of the text,
    /// quotes included.
    pub scalars: Vec<(&'static str, Range<usize>)>,
    /// Members whose values are built by expressions, with line and column: no tool rewrites them.
    pub expressions: Vec<(String, (usize, usize))>,
    /// The files that the values come from, beside the file itself.
    pub inputs: Vec<PathBuf>,
}

/// A config file, as far as it is known without running it.
#[derive(Debug)]
pub enum Reading {
    /// All of it: JSON, or a module that holds literals alone.
    Whole(Box<Config>),
    /// A module that has to be evaluated.
    Module(ConfigModule),
}

/// The folder of a backend's routes, where the config names no other.
pub const ROUTES: &str = "server/api";

/// What a project uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Integrations {
    /// The folder of the backend's routes; none: the config says that there are none.
    pub routes: Option<String>,
    /// The database.
    pub database: Option<Database>,
    /// Whether there is a key-value store.
    pub kv: bool,
    /// Whether there is a bucket.
    pub bucket: bool,
    /// Learning: courses, XP, events.
    pub lms: Option<Lms>,
}

impl Default for Integrations {
    fn default() -> Self {
        let routes = Some(ROUTES.to_owned());
        Self { routes, database: None, kv: false, bucket: false, lms: None }
    }
}

/// The project's database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// The folder of schema and migrations.
    pub directory: Option<String>,
    /// How the schema gets to the database; none: as the folder tells.
    pub strategy: Option<Strategy>,
}

/// How a schema gets to a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Strategy {
    /// The difference to what was deployed.
    Push,
    /// Migrations in files.
    Migrate,
}

/// What the project teaches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lms {
    /// Whose courses they are.
    pub organization: Option<Organization>,
    /// The courses.
    pub courses: Vec<Course>,
}

/// An organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Organization {
    /// Its name.
    pub name: Option<String>,
    /// `department`, `school`, …
    pub kind: Option<String>,
    /// Its sourcedId.
    pub id: Option<String>,
}

/// A course. In title and code `{grade}`, `{subject}`, `{appSlug}` and `{appName}` are filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Such as `Math`.
    pub subject: String,
    /// As OneRoster writes it: `3`, `K`.
    pub grade: String,
    /// XP in all; none while nobody knows.
    pub total_xp: Option<f64>,
    /// Units to master; none while nobody knows.
    pub masterable_units: Option<f64>,
    /// What people call it.
    pub title: Option<String>,
    /// Its code.
    pub course_code: Option<String>,
}

/// The config file at a path: the file itself, or one of [`FILES`] in that folder. None: there is
/// none in the folder.
///
/// Errors: `NotFound` for a path where nothing is; `Conflict` for two config files.
pub fn file_at(path: &Path) -> Result<Option<PathBuf>> {
    if path.is_file() {
        return Ok(Some(path.to_owned()));
    }
    if !path.is_dir() {
        let message = format!("there is no file or folder '{}'", path.display());
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    let mut files = FILES.iter().map(|name| path.join(name)).filter(|file| file.is_file());
    let Some(file) = files.next() else { return Ok(None) };
    if let Some(other) = files.next() {
        let message = format!(
            "there are two config files, '{}' and '{}'; keep one",
            file.display(),
            other.display()
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    Ok(Some(file))
}

/// The project's folder, never empty: the one that the config file at the path is in, or the path itself.
pub fn folder_of(path: &Path) -> &Path {
    let folder = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// A slug made from a name: small letters and digits, single dashes between; letters without their
/// accents. Empty where nothing is left.
pub fn slug_of(name: &str) -> String {
    let mut slug = String::new();
    let plain = name.nfkd().filter(|c| !is_combining_mark(*c)).collect::<String>();
    for c in plain.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(limits::GAME_SLUG_MAX_BYTES);
    slug.trim_end_matches('-').to_owned()
}

impl Config {
    /// Reads a file without running it. Errors: `Invalid` with every fault and its place; `Malformed`
    /// where JSON is wrong; `NotFound` where the file cannot be read.
    pub fn read(file: &Path) -> Result<Reading> {
        let shown = file.display();
        let text = fs::read_to_string(file).map_err(|error| {
            Problem::new(ProblemKind::NotFound, format!("cannot read '{shown}': {error}"))
        })?;
        let is_json = file.extension().is_some_and(|extension| extension == "json");
        let root = match is_json {
            true => Some(literal::json(&text).map_err(|problem| {
                let message = format!("'{shown}', {}", problem.message);
                Problem { message, ..problem }
            })?),
            false => literal::literal_module(&text, HELPER),
        };
        match root {
            Some(root) => read::read(&root, &text)
                .map(|config| Self { file: file.to_owned(), text, ..config })
                .map(|config| Reading::Whole(Box::new(config))),
            None => Ok(Reading::Module(ConfigModule::new(file.to_owned(), text))),
        }
    }

    /// One of the fields that people see, by its name.
    pub fn field(&self, name: &str) -> Option<&str> {
        match name {
            "name" => self.name.as_deref(),
            "description" => self.description.as_deref(),
            "emoji" => self.emoji.as_deref(),
            "platform" => self.platform.as_deref(),
            _ => None,
        }
    }

    /// The line and column of the expression that builds a member; none where it is a literal, or missing.
    pub fn expression(&self, member: &str) -> Option<(usize, usize)> {
        let around = |path: &str| {
            path.is_empty() || path == member || member.starts_with(&format!("{path}."))
        };
        self.expressions.iter().find(|(path, _)| around(path)).map(|(_, place)| *place)
    }

    /// The project's slug, where it has a name.
    pub fn slug(&self) -> Option<String> {
        self.name.as_deref().map(slug_of).filter(|slug| !slug.is_empty())
    }
}
