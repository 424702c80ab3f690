//! What is run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lyceum_core::{Problem, Result};

use super::{Api, compatibility};

/// One version of a project's backend, with what it may use.
#[derive(Clone, Debug, Default)]
pub struct Worker {
    /// The project.
    pub slug: String,
    /// Which version this is; whoever deploys chooses the text.
    pub version: String,
    /// Modules by the name that others import them by. The extension tells the sort: `.js` and `.mjs`
    /// are ES modules, `.cjs` modules of `require`, then `.json`, `.wasm`, `.txt`, `.html`, `.sql`; others are bytes.
    pub modules: Vec<(String, Vec<u8>)>,
    /// The module whose default export answers requests.
    pub main: String,
    /// The day whose behaviour of the runtime the backend was written for, as `2026-01-31`.
    pub compatibility_date: String,
    /// The database file of `env.DB`.
    pub d1: Option<PathBuf>,
    /// The file of `env.KV`.
    pub kv: Option<PathBuf>,
    /// The folder of `env.BUCKET`.
    pub bucket: Option<PathBuf>,
    /// What `env.LYCEUM` asks; none: there is no such binding.
    pub api: Option<Api>,
    /// What `env.secrets` holds.
    pub secrets: BTreeMap<String, String>,
    /// Texts that `env` holds by themselves.
    pub variables: BTreeMap<String, String>,
}

impl Worker {
    /// Refuses what workerd would refuse later and less clearly.
    pub(super) fn check(&self) -> Result<()> {
        compatibility::check(&self.compatibility_date)?;
        if !self.modules.iter().any(|(name, _)| *name == self.main) {
            let message = format!("there is no module '{}' among those of the backend", self.main);
            return Err(Problem::invalid("main", message));
        }
        let taken = ["DB", "KV", "BUCKET", "SELF", "LYCEUM", "secrets"];
        match self.variables.keys().find(|name| taken.contains(&name.as_str())) {
            Some(name) => {
                let message = format!("'{name}' is a binding; choose another name");
                Err(Problem::invalid(format!("variables.{name}"), message))
            }
            None => Ok(()),
        }
    }
}
