//! The shape of the config file. The JSON Schema for editors, the reference in the documentation and the types of
//! `@lyceum/cli` are generated from these types, so their comments are written for app developers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::Binding;

use super::{Course, Organization, ROUTES, Strategy};

/// The config of a project: `lyceum.config.json`, or the default export of `lyceum.config.js`, `.mjs` or `.ts`.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Config")]
pub(crate) struct ConfigFile {
    /// In a JSON file, the path of the JSON Schema with which editors check the file.
    #[serde(rename = "$schema")]
    #[schemars(example = &"./node_modules/@lyceum/cli/config.schema.json")]
    #[expect(dead_code, reason = "only editors read it")]
    schema: Option<String>,
    /// The display name. The slug, which names the project in addresses, is made from it at the first deploy.
    #[schemars(example = &"Rivers")]
    pub(crate) name: Option<String>,
    /// A sentence about the project.
    #[schemars(example = &"Practice fractions on a river")]
    pub(crate) description: Option<String>,
    /// The emoji that represents the project in lists.
    #[schemars(example = &"🌊")]
    pub(crate) emoji: Option<String>,
    /// The platform that the project runs on.
    #[schemars(example = &"web")]
    pub(crate) platform: Option<String>,
    /// The folder or zip of the build that a deploy publishes.
    #[schemars(example = &"dist")]
    pub(crate) build_path: Option<String>,
    /// The services that the project uses: routes, database, stores and learning.
    pub(crate) integrations: Option<IntegrationsFile>,
}

/// The services that a project uses. Any other name is a service outside Lyceum, which lists only the secrets that it
/// needs.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Integrations")]
pub(crate) struct IntegrationsFile {
    /// The routes of the backend. They are served if their folder exists, unless this is false.
    #[schemars(extend("default" = true))]
    pub(crate) custom_routes: Option<Switch<CustomRoutes>>,
    /// A SQLite database for the backend, as `c.env.DB`.
    #[schemars(extend("default" = false))]
    pub(crate) database: Option<Switch<DatabaseFile>>,
    /// A key-value store for the backend, as `c.env.KV`.
    #[schemars(extend("default" = false))]
    pub(crate) kv: Option<Switch<NeededSecrets>>,
    /// A bucket for the backend's files, as `c.env.BUCKET`.
    #[schemars(extend("default" = false))]
    pub(crate) bucket: Option<Switch<NeededSecrets>>,
    /// The courses that the project teaches.
    #[schemars(extend("default" = false))]
    pub(crate) lms: Option<Switch<LmsFile>>,
    /// Another name for `lms`.
    #[schemars(extend("default" = false))]
    pub(crate) timeback: Option<Switch<LmsFile>>,
    /// A service outside Lyceum.
    #[serde(flatten)]
    pub(crate) services: BTreeMap<String, NeededSecrets>,
}

impl IntegrationsFile {
    /// The secrets that the binding needs; `None` if it is off.
    pub(super) fn secrets(&self, binding: Binding) -> Option<&[String]> {
        match binding {
            Binding::Database => self.database.as_ref()?.secrets(|options| &options.secrets),
            Binding::Kv => self.kv.as_ref()?.secrets(|options| &options.secrets),
            Binding::Bucket => self.bucket.as_ref()?.secrets(|options| &options.secrets),
        }
    }
}

/// An integration that is on, off, or on with options.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum Switch<T> {
    On(bool),
    With(T),
}

impl<T: Default> Switch<T> {
    /// The options; `None` if the integration is off.
    pub(crate) fn options(self) -> Option<T> {
        match self {
            Self::With(options) => Some(options),
            Self::On(is_on) => is_on.then(T::default),
        }
    }
}

impl<T> Switch<T> {
    /// The secrets in the options; `None` if the integration is off.
    pub(super) fn secrets(&self, listed: impl Fn(&T) -> &Vec<String>) -> Option<&[String]> {
        match self {
            Self::With(options) => Some(listed(options)),
            Self::On(is_on) => is_on.then_some(&[]),
        }
    }
}

/// Options of the backend's routes.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CustomRoutes {
    /// The folder of the routes.
    #[schemars(extend("default" = ROUTES), example = &"backend/routes")]
    pub(crate) directory: Option<String>,
    /// Names of secrets that the routes need. A deploy without one of them is refused.
    #[serde(default)]
    #[schemars(example = one("MAP_KEY"))]
    pub(crate) secrets: Vec<String>,
}

/// Options of the database.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Database")]
pub(crate) struct DatabaseFile {
    /// The folder of the schema and the migrations. By default, it is searched in the usual places, first `db`.
    #[schemars(example = &"db")]
    pub(crate) directory: Option<String>,
    /// How a deploy changes the schema. By default `migrate` if the folder has migrations, otherwise `push`.
    #[schemars(example = &"push")]
    pub(crate) strategy: Option<Strategy>,
    /// Names of secrets that the database needs. A deploy without one of them is refused.
    #[serde(default)]
    #[schemars(example = one("DB_KEY"))]
    pub(crate) secrets: Vec<String>,
}

/// An integration without options of its own.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NeededSecrets {
    /// Names of secrets that the integration needs. A deploy without one of them is refused.
    #[serde(default)]
    #[schemars(example = one("API_KEY"))]
    pub(crate) secrets: Vec<String>,
}

/// The courses that a project teaches.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Lms")]
pub(crate) struct LmsFile {
    /// The properties that all courses have.
    pub(crate) base: Option<CourseBase>,
    /// The courses. `lyceum lms setup` and the deploy create them.
    #[serde(default)]
    pub(crate) courses: Vec<Course>,
    /// Names of secrets that learning needs. A deploy without one of them is refused.
    #[serde(default)]
    #[schemars(example = one("LMS_KEY"))]
    pub(crate) secrets: Vec<String>,
}

/// The properties that all courses of a project have.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CourseBase {
    /// The organization that the courses belong to.
    pub(crate) organization: Option<Organization>,
    /// Values for courses that do not have their own.
    pub(crate) course: Option<CourseDefaults>,
}

/// Values for courses that do not have their own. They may contain `{grade}`, `{subject}`, `{appSlug}` and `{appName}`.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CourseDefaults {
    /// The title.
    #[schemars(example = &"{appName}: {subject} {grade}")]
    pub(crate) title: Option<String>,
    /// The code.
    #[schemars(example = &"{appSlug}-{grade}")]
    pub(crate) course_code: Option<String>,
}

/// A grade: a number or a text.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum Grade {
    Number(f64),
    Text(String),
}

/// Reads a grade in OneRoster's form: `3`, `K`.
pub(super) fn grade<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(match Grade::deserialize(from)? {
        Grade::Number(number) => number.to_string(),
        Grade::Text(text) => text,
    })
}

/// A list of one name, as an example.
fn one(name: &'static str) -> [&'static str; 1] {
    [name]
}
