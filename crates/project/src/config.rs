//! The config file of a project: `lyceum.config.json` or `lyceum.config.js`.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use lyceum_core::{Detail, Problem, ProblemKind, Result, limits};
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::literal::{self, Literal, Value, place};
use crate::secrets;

/// The names of the file, the one that is looked for first first.
pub const FILES: [&str; 2] = ["lyceum.config.json", "lyceum.config.js"];

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
    /// Members whose values only running the file would tell, with line and column: not read.
    pub expressions: Vec<(String, (usize, usize))>,
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
/// Errors: `NotFound` for a path where nothing is; those of [`Config::read`].
pub fn find(path: &Path) -> Result<Option<Config>> {
    if path.is_file() {
        return Config::read(path).map(Some);
    }
    if !path.is_dir() {
        let message = format!("there is neither a file nor a folder '{}'", path.display());
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
    Config::read(&file).map(Some)
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
    /// Reads a file. Errors: `Invalid` with every fault and its place; `Malformed` where it is
    /// neither JSON nor a module; what reading a file meets.
    pub fn read(file: &Path) -> Result<Self> {
        let shown = file.display();
        let text = fs::read_to_string(file).map_err(|error| {
            Problem::new(ProblemKind::NotFound, format!("'{shown}' cannot be read: {error}"))
        })?;
        let is_json = file.extension().is_some_and(|extension| extension == "json");
        let root = if is_json { literal::json(&text) } else { literal::module(&text) };
        let root = root.map_err(|problem| {
            let message = format!("'{shown}', {}", problem.message);
            Problem { message, ..problem }
        })?;
        let mut reader = Reader { text: &text, faults: Vec::new(), expressions: Vec::new() };
        let config = reader.config(&root);
        let Reader { faults, expressions, .. } = reader;
        if !faults.is_empty() {
            return Err(Problem::invalid_all(faults));
        }
        Ok(Self { file: file.to_owned(), text, expressions, ..config })
    }

    /// The project's slug, where it has a name.
    pub fn slug(&self) -> Option<String> {
        self.name.as_deref().map(slug_of).filter(|slug| !slug.is_empty())
    }
}

struct Reader<'t> {
    text: &'t str,
    faults: Vec<Detail>,
    expressions: Vec<(String, (usize, usize))>,
}

impl Reader<'_> {
    fn config(&mut self, root: &Literal) -> Config {
        if !matches!(root.value, Value::Object(_)) {
            self.fault("", root, "must be an object");
        }
        let mut scalars = Vec::new();
        let mut scalar = |reader: &mut Self, name: &'static str| {
            let text = reader.text(root, "", name);
            if let Some(member) = root.member(name).filter(|_| text.is_some()) {
                scalars.push((name, member.span.clone()));
            }
            text
        };
        let name = scalar(self, "name");
        let description = scalar(self, "description");
        let emoji = scalar(self, "emoji");
        let platform = scalar(self, "platform");
        let build_path = self.text(root, "", "buildPath");
        let integrations = match self.object(root, "", "integrations") {
            Some(integrations) => self.integrations(integrations),
            None => Integrations::default(),
        };
        Config {
            file: PathBuf::new(),
            text: String::new(),
            name,
            description,
            emoji,
            platform,
            build_path,
            integrations,
            required_secrets: self.required_secrets(root),
            scalars,
            expressions: Vec::new(),
        }
    }

    fn integrations(&mut self, at: &Literal) -> Integrations {
        let path = "integrations.";
        let routes = self.routes(at, path);
        let database = self.switched(at, path, "database").map(|database| {
            let inside = "integrations.database.";
            let strategy = self.strategy(database, inside);
            Database { directory: self.text(database, inside, "directory"), strategy }
        });
        let kv = self.switched(at, path, "kv").is_some();
        let bucket = self.switched(at, path, "bucket").is_some();
        let name = if at.member("lms").is_some() { "lms" } else { "timeback" };
        let lms = self.switched(at, path, name);
        let lms = lms.map(|lms| self.lms(lms, &format!("integrations.{name}.")));
        Integrations { routes, database, kv, bucket, lms }
    }

    /// Routes are looked for also where the config says nothing of them.
    fn routes(&mut self, at: &Literal, path: &str) -> Option<String> {
        if at
            .member("customRoutes")
            .is_some_and(|routes| matches!(routes.value, Value::Bool(false)))
        {
            return None;
        }
        let routes = self.switched(at, path, "customRoutes");
        let directory =
            routes.and_then(|routes| self.text(routes, "integrations.customRoutes.", "directory"));
        Some(directory.unwrap_or_else(|| ROUTES.to_owned()))
    }

    /// The names below `secrets` of every integration that is on.
    fn required_secrets(&mut self, root: &Literal) -> Vec<String> {
        let Some(Literal { value: Value::Object(integrations), .. }) = root.member("integrations")
        else {
            return Vec::new();
        };
        let mut required = Vec::new();
        for (name, integration) in integrations {
            let path = format!("integrations.{name}.secrets");
            let Some(secrets) = integration.member("secrets") else { continue };
            let Value::List(names) = &secrets.value else {
                self.wrong(&path, secrets, "must be a list of names");
                continue;
            };
            for at in names {
                match &at.value {
                    Value::Text(name) if secrets::is_name(name) => required.push(name.clone()),
                    _ => self.wrong(&path, at, "must be the name of a secret, such as 'API_KEY'"),
                }
            }
        }
        required
    }

    fn strategy(&mut self, database: &Literal, path: &str) -> Option<Strategy> {
        match self.text(database, path, "strategy")?.as_str() {
            "push" => Some(Strategy::Push),
            "migrate" => Some(Strategy::Migrate),
            _ => {
                let at = database.member("strategy")?;
                self.fault(&format!("{path}strategy"), at, "must be 'push' or 'migrate'");
                None
            }
        }
    }

    fn lms(&mut self, at: &Literal, path: &str) -> Lms {
        let base_path = format!("{path}base.");
        let base = self.object(at, path, "base");
        let course_path = format!("{base_path}course.");
        let usual = base.and_then(|base| self.object(base, &base_path, "course"));
        let organization = base.and_then(|base| self.object(base, &base_path, "organization"));
        let organization = organization.map(|organization| {
            let path = format!("{base_path}organization.");
            Organization {
                name: self.text(organization, &path, "name"),
                kind: self.text(organization, &path, "type"),
                id: self.text(organization, &path, "id"),
            }
        });
        let mut courses = Vec::new();
        let list = at.member("courses");
        if let Some(Literal { value: Value::List(items), .. }) = list {
            for (number, item) in items.iter().enumerate() {
                let path = format!("{path}courses[{number}].");
                if let Some(mut course) = self.course(item, &path) {
                    if let Some(usual) = usual {
                        course.title =
                            course.title.or_else(|| self.text(usual, &course_path, "title"));
                        course.course_code = course
                            .course_code
                            .or_else(|| self.text(usual, &course_path, "courseCode"));
                    }
                    courses.push(course);
                }
            }
        } else if let Some(other) = list {
            self.wrong(&format!("{path}courses"), other, "must be a list of courses");
        }
        Lms { organization, courses }
    }

    fn course(&mut self, at: &Literal, path: &str) -> Option<Course> {
        if !matches!(at.value, Value::Object(_)) {
            self.wrong(path.trim_end_matches('.'), at, "must be an object with subject and grade");
            return None;
        }
        let subject = self.text(at, path, "subject");
        let grade = match at.member("grade").map(|grade| &grade.value) {
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => self.text(at, path, "grade"),
        };
        for (name, value) in [("subject", &subject), ("grade", &grade)] {
            if value.is_none() && at.member(name).is_none() {
                self.fault(&format!("{path}{name}"), at, "is required");
            }
        }
        let course = Course {
            subject: subject.unwrap_or_default(),
            grade: grade.unwrap_or_default(),
            total_xp: self.number(at, path, "totalXp"),
            masterable_units: self.number(at, path, "masterableUnits"),
            title: self.text(at, path, "title"),
            course_code: self.text(at, path, "courseCode"),
        };
        (!course.subject.is_empty() && !course.grade.is_empty()).then_some(course)
    }

    fn text(&mut self, at: &Literal, path: &str, name: &str) -> Option<String> {
        let member = at.member(name)?;
        match &member.value {
            Value::Text(text) => return Some(text.clone()),
            Value::Null => {}
            _ => self.wrong(&format!("{path}{name}"), member, "must be a text"),
        }
        None
    }

    /// A number from 0 up.
    fn number(&mut self, at: &Literal, path: &str, name: &str) -> Option<f64> {
        let member = at.member(name)?;
        match member.value {
            Value::Number(number) if number >= 0.0 => return Some(number),
            Value::Null => {}
            _ => self.wrong(&format!("{path}{name}"), member, "must be a number from 0 up"),
        }
        None
    }

    fn object<'l>(&mut self, at: &'l Literal, path: &str, name: &str) -> Option<&'l Literal> {
        let member = at.member(name)?;
        match member.value {
            Value::Object(_) => return Some(member),
            Value::Null => {}
            _ => self.wrong(&format!("{path}{name}"), member, "must be an object"),
        }
        None
    }

    /// The member, where it is `true` or an object: the part is used.
    fn switched<'l>(&mut self, at: &'l Literal, path: &str, name: &str) -> Option<&'l Literal> {
        let member = at.member(name)?;
        match member.value {
            Value::Object(_) | Value::Bool(true) => return Some(member),
            Value::Bool(false) | Value::Null => {}
            _ => self.wrong(&format!("{path}{name}"), member, "must be true, false or an object"),
        }
        None
    }

    /// An expression is noted, anything else is a fault.
    fn wrong(&mut self, path: &str, at: &Literal, message: &str) {
        match at.value {
            Value::Expression => {
                self.expressions.push((path.to_owned(), place(self.text, at.span.start)));
            }
            _ => self.fault(path, at, message),
        }
    }

    fn fault(&mut self, path: &str, at: &Literal, message: &str) {
        let (line, column) = place(self.text, at.span.start);
        let path = if path.is_empty() { "the config".to_owned() } else { path.to_owned() };
        let path = format!("line {line}, column {column}, {path}");
        self.faults.push(Detail { path, message: message.to_owned() });
    }
}
