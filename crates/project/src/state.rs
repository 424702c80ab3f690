//! The state of a project on a server, and the desired state of a deploy.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Uses;
use crate::courses::{LmsState, LmsWish};
use crate::database::{DatabaseState, DatabaseWish};

/// The state of a project on a server, from which a plan starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ProjectState")]
pub struct State {
    /// The project's slug.
    pub slug: String,
    /// The server's environment: `local`, `staging`, `production`.
    pub environment: String,
    /// Increases by one with every change; 0 if the server has no such project.
    pub revision: i64,
    /// The display fields; `None` if the project is unknown.
    pub metadata: Option<Metadata>,
    /// The version in use.
    pub version: Option<i64>,
    /// The frontend build in use.
    pub frontend: Option<Artifact>,
    /// The backend in use.
    pub backend: Option<Backend>,
    /// The integrations in use.
    pub uses: Uses,
    /// The secrets, without their values.
    pub secrets: Secrets,
    /// Its database.
    pub database: DatabaseState,
    /// The courses; `None` if deploys to this server set up no courses.
    #[serde(default)]
    pub lms: Option<LmsState>,
    /// The frontend's address, also before the first deploy.
    pub frontend_url: String,
    /// The backend's address, also before the first deploy.
    pub backend_url: String,
    /// The address where people play, also before the first deploy.
    pub play_url: String,
}

/// The display fields of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ProjectMetadata")]
pub struct Metadata {
    /// The display name.
    pub name: String,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The emoji that represents the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emoji: Option<String>,
    /// The platform that it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
}

/// The names of [`Metadata`]'s fields, in display order.
pub const SCALARS: [&str; 4] = ["name", "description", "emoji", "platform"];

impl Metadata {
    /// Reads a field by its name in [`SCALARS`].
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

/// A file, identified by its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProjectArtifact")]
pub struct Artifact {
    /// SHA-256 in hexadecimal.
    #[schemars(extend("pattern" = "^[0-9a-f]{64}$"))]
    pub sha256: String,
    /// Size in bytes.
    pub size: u64,
}

/// A bundled backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ProjectBackend")]
pub struct Backend {
    /// SHA-256 over all sources. Equal sources have equal hashes.
    pub source_hash: String,
    /// The main module.
    pub main: String,
    /// Its modules.
    pub modules: Vec<Module>,
    /// The compatibility date of the runtime, as `YYYY-MM-DD`.
    pub compatibility_date: String,
    /// The paths of its routes, such as `/api/users/:id`.
    pub routes: Vec<String>,
}

impl Backend {
    /// Total bytes of all modules.
    pub fn size(&self) -> u64 {
        self.modules.iter().map(|module| module.size).sum()
    }
}

/// A module of a backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BackendModule")]
pub struct Module {
    /// The name by which other modules import it.
    pub name: String,
    /// SHA-256 in hexadecimal.
    #[schemars(extend("pattern" = "^[0-9a-f]{64}$"))]
    pub sha256: String,
    /// Size in bytes.
    pub size: u64,
}

/// Secrets without their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProjectSecrets")]
pub struct Secrets {
    /// The project's key for digests, in base64.
    pub key: String,
    /// Keyed digests of the values by name.
    pub digests: BTreeMap<String, String>,
}

/// The desired state of a project. Fields that are `None` stay as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DesiredProject")]
pub struct Desired {
    /// The project's slug.
    pub slug: String,
    /// The display fields. Fields that are `None` stay as they are.
    pub metadata: Metadata,
    /// The zip of the frontend build.
    pub frontend: Option<Artifact>,
    /// The backend.
    pub backend: Option<Backend>,
    /// Deploy the backend even if its sources are unchanged.
    pub force_backend: bool,
    /// The integrations.
    pub uses: Uses,
    /// All secrets: keyed digests by name.
    pub secrets: Option<BTreeMap<String, String>>,
    /// The database schema.
    pub database: Option<DatabaseWish>,
    /// The courses.
    #[serde(default)]
    pub lms: Option<LmsWish>,
}
