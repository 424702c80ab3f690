//! What a server has of a project, and what a deploy wants it to have.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Integrations;
use crate::courses::{LmsState, LmsWish};
use crate::database::{DatabaseState, DatabaseWish};

/// What a server has of a project: what a [`crate::Plan`] starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// Its name in addresses.
    pub slug: String,
    /// Where the server is: `local`, `staging`, `production`.
    pub environment: String,
    /// One more with every change; 0 where the server has no such project.
    pub revision: i64,
    /// What people see of it; none where nothing is known.
    pub metadata: Option<Metadata>,
    /// The version that is served.
    pub version: Option<i64>,
    /// The build that is served.
    pub frontend: Option<Artifact>,
    /// The code that answers.
    pub backend: Option<Backend>,
    /// What it uses.
    pub uses: Uses,
    /// Its secrets, without their values.
    pub secrets: Secrets,
    /// Its database.
    pub database: DatabaseState,
    /// What it teaches; none: deploys set up no courses there.
    #[serde(default)]
    pub lms: Option<LmsState>,
    /// Where the frontend is, or will be.
    pub frontend_url: String,
    /// Where the backend is, or will be.
    pub backend_url: String,
    /// Where people play it, or will; empty where an older server does not say.
    #[serde(default)]
    pub play_url: String,
}

/// What people see of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The display name.
    pub name: String,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emoji: Option<String>,
    /// What it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
}

/// The names of [`Metadata`], in the order in which people read them.
pub const SCALARS: [&str; 4] = ["name", "description", "emoji", "platform"];

impl Metadata {
    /// A field by its name in [`SCALARS`].
    pub fn field(&self, name: &str) -> Option<&str> {
        match name {
            "name" => Some(&self.name),
            "description" => self.description.as_deref(),
            "emoji" => self.emoji.as_deref(),
            "platform" => self.platform.as_deref(),
            _ => None,
        }
    }

    /// Sets a field by its name in [`SCALARS`].
    pub fn set(&mut self, name: &str, value: Option<String>) {
        match name {
            "name" => self.name = value.unwrap_or_default(),
            "description" => self.description = value,
            "emoji" => self.emoji = value,
            "platform" => self.platform = value,
            _ => {}
        }
    }
}

/// A file by its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
}

/// A bundled backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Backend {
    /// SHA-256 over all that it was made from; equal sources have equal hashes.
    pub source_hash: String,
    /// The module that is run.
    pub main: String,
    /// Its modules.
    pub modules: Vec<Module>,
    /// How the engine behaves, as `YYYY-MM-DD`.
    pub compatibility_date: String,
    /// The paths that it answers, as `/api/users/:id`.
    pub routes: Vec<String>,
}

impl Backend {
    /// Bytes of all modules.
    pub fn size(&self) -> u64 {
        self.modules.iter().map(|module| module.size).sum()
    }
}

/// A module of a backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// The name that others import it by.
    pub name: String,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
}

/// What a project uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is an integration that is on or off")]
pub struct Uses {
    /// A database.
    pub database: bool,
    /// A key-value store.
    pub kv: bool,
    /// A bucket.
    pub bucket: bool,
    /// Learning: courses, XP, events.
    pub lms: bool,
}

impl From<&Integrations> for Uses {
    fn from(integrations: &Integrations) -> Self {
        Self {
            database: integrations.database.is_some(),
            kv: integrations.kv,
            bucket: integrations.bucket,
            lms: integrations.lms.is_some(),
        }
    }
}

impl Uses {
    /// The integrations that are on.
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            ("database", self.database),
            ("kv", self.kv),
            ("bucket", self.bucket),
            ("lms", self.lms),
        ];
        all.into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect()
    }
}

/// Secrets without their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secrets {
    /// The project's key of the digests, in base64.
    pub key: String,
    /// Name, and keyed digest of the value (see [`crate::secrets::digest`]).
    pub digests: BTreeMap<String, String>,
}

/// What a server shall have of a project. What is none stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    /// Its name in addresses.
    pub slug: String,
    /// What people see of it; fields that are none stay as they are.
    pub metadata: Metadata,
    /// The zip of the build.
    pub frontend: Option<Artifact>,
    /// The code that answers.
    pub backend: Option<Backend>,
    /// Put the backend in place although its sources are those that are served.
    pub force_backend: bool,
    /// What it uses.
    pub uses: Uses,
    /// All secrets: name and keyed digest.
    pub secrets: Option<BTreeMap<String, String>>,
    /// The database's schema.
    pub database: Option<DatabaseWish>,
    /// What it teaches.
    #[serde(default)]
    pub lms: Option<LmsWish>,
}
