//! The config file of a project: `lyceum.config.json`, or a module.

mod file;
mod read;
mod reference;
mod schema;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use lyceum_core::messages::io_reason;
use lyceum_core::{Problem, ProblemKind, Result, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::{Uses, limits, places};

pub use reference::config_reference;
pub use schema::config_schema;

/// The possible names of the file.
pub const FILES: [&str; 4] =
    ["lyceum.config.json", "lyceum.config.js", "lyceum.config.mjs", "lyceum.config.ts"];
/// The package that modules import `defineConfig` from.
pub const HELPER: &str = "@lyceum/cli";

/// The content of the file. A missing member is `None` or empty.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file's path.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
    /// The display name; the slug follows from it.
    pub name: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The emoji that represents the project.
    pub emoji: Option<String>,
    /// The platform that it runs on.
    pub platform: Option<String>,
    /// The zip or folder of the build.
    pub build_path: Option<String>,
    /// The integrations of the project.
    pub integrations: Integrations,
    /// Secrets that its integrations require.
    pub required_secrets: Vec<String>,
    /// The byte ranges of `name`, `description`, `emoji` and `platform` in the text if they are literals, including
    /// quotes.
    pub scalars: Vec<(&'static str, Range<usize>)>,
    /// The members that an expression computes, each with its line and column. Tools do not rewrite them.
    pub expressions: Vec<(&'static str, (usize, usize))>,
    /// The files that were read to evaluate it, except the file itself.
    pub inputs: Vec<PathBuf>,
}

/// The default folder of a backend's routes.
pub const ROUTES: &str = "server/api";

/// The integrations of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct Integrations {
    /// The folder of the backend's routes; `None` if the config turns routes off.
    pub routes: Option<String>,
    /// The integrations that are on.
    pub uses: Uses,
    /// The options of the database.
    pub database: Option<Database>,
    /// Learning: courses, XP, events.
    pub lms: Option<Lms>,
}

impl Default for Integrations {
    fn default() -> Self {
        let routes = Some(ROUTES.to_owned());
        Self { routes, uses: Uses::default(), database: None, lms: None }
    }
}

/// The project's database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// The folder of schema and migrations.
    pub directory: Option<String>,
    /// The way in which schema changes are deployed; by default, the folder determines it.
    pub strategy: Option<Strategy>,
}

/// The way in which a schema gets to a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SchemaStrategy")]
pub enum Strategy {
    /// Apply the difference between the schemas.
    Push,
    /// Run migration files.
    Migrate,
}

/// The courses of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lms {
    /// The organization that the courses belong to.
    pub organization: Option<Organization>,
    /// The courses.
    pub courses: Vec<Course>,
}

/// An organization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Organization {
    /// Its name.
    #[schemars(example = &"River School")]
    pub name: Option<String>,
    /// Its type, such as `school`, `district` or `department`.
    #[serde(rename = "type")]
    #[schemars(example = &"school")]
    pub kind: Option<String>,
    /// Its sourcedId in the roster.
    #[schemars(example = &"river-school")]
    pub id: Option<String>,
}

/// A course. Title and code may contain `{grade}`, `{subject}`, `{appSlug}` and `{appName}`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Course {
    /// The subject.
    #[schemars(length(min = 1), example = &"Math")]
    pub subject: String,
    /// The grade: a number, `K`, or another code of OneRoster.
    #[serde(deserialize_with = "file::grade")]
    #[schemars(with = "file::Grade", example = 3)]
    pub grade: String,
    /// All XP that a student can earn in the course. It is needed before the course is set up.
    #[schemars(range(min = 0), example = 1000)]
    pub total_xp: Option<f64>,
    /// The number of units that a student can master.
    #[schemars(range(min = 0), example = 12)]
    pub masterable_units: Option<f64>,
    /// The title.
    #[schemars(example = &"Fractions {grade}")]
    pub title: Option<String>,
    /// The code.
    #[schemars(example = &"FR-{grade}")]
    pub course_code: Option<String>,
}

/// The config file at a path: the file itself, or one of [`FILES`] in that folder; `None` if the folder has none.
///
/// Errors: `NotFound` if the path does not exist; `Conflict` for two config files.
pub fn file_at(path: &Path) -> Result<Option<PathBuf>> {
    if path.is_file() {
        return Ok(Some(path.to_owned()));
    }
    if !path.is_dir() {
        let message = message!("there is no file or folder '{path}'", path = path.display());
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    let mut files = FILES.iter().map(|name| path.join(name)).filter(|file| file.is_file());
    let Some(file) = files.next() else { return Ok(None) };
    if let Some(other) = files.next() {
        let message = message!(
            "there are two config files, '{file}' and '{other}'; remove one",
            file = file.display(),
            other = other.display()
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    Ok(Some(file))
}

/// The project's folder, never an empty path: the folder of the config file at the path, or the path itself.
pub fn folder_of(path: &Path) -> &Path {
    let folder = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Makes a slug from a name: lower-case letters without accents, digits, and single dashes. It is empty if the name
/// has no letters or digits.
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
    slug.truncate(limits::GAME_SLUG_MAX_CHARS);
    slug.trim_end_matches('-').to_owned()
}

impl Config {
    /// Reads a file. `evaluate` gets the default export of a module, and the files that the module was made of.
    ///
    /// Errors: `Invalid` with every error at the nearest place in the text; `Malformed` if the JSON is wrong; `NotFound`
    /// if the file cannot be read; those of `evaluate`.
    pub fn read(
        file: &Path,
        evaluate: impl FnOnce(&Path) -> Result<(Value, Vec<PathBuf>)>,
    ) -> Result<Self> {
        let shown = file.display();
        let text = fs::read_to_string(file).map_err(|error| {
            Problem::new(
                ProblemKind::NotFound,
                message!("'{shown}' cannot be read: {reason}", reason = io_reason(&error)),
            )
        })?;
        let is_json = file.extension().is_some_and(|extension| extension == "json");
        let (value, inputs, root) = if is_json {
            let value =
                serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
                    let message = message!("'{shown}' is not JSON: {error}");
                    Problem::new(ProblemKind::Malformed, message)
                })?;
            (value, Vec::new(), text.find('{').unwrap_or_default()..text.trim_end().len())
        } else {
            let (value, inputs) = evaluate(file)?;
            (value, inputs, places::exported_object(&text).unwrap_or_default())
        };
        read::read(file, text, value, &root).map(|config| Self { inputs, ..config })
    }

    /// Reads one of the display fields by its name.
    pub fn field(&self, name: &str) -> Option<&str> {
        match name {
            "name" => self.name.as_deref(),
            "description" => self.description.as_deref(),
            "emoji" => self.emoji.as_deref(),
            "platform" => self.platform.as_deref(),
            _ => None,
        }
    }

    /// The line and column of the expression that computes a display field; `None` if it is a literal or missing.
    pub fn expression(&self, field: &str) -> Option<(usize, usize)> {
        self.expressions.iter().find(|(name, _)| *name == field).map(|(_, place)| *place)
    }

    /// The project's slug; `None` without a name.
    pub fn slug(&self) -> Option<String> {
        self.name.as_deref().map(slug_of).filter(|slug| !slug.is_empty())
    }
}
