//! The code and settings that a process runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lyceum_core::{Problem, Result, message};
use lyceum_project::Binding;

use super::{PlatformApi, compatibility};

/// A version of a project's backend, with its bindings.
#[derive(Clone, Debug, Default)]
pub struct Worker {
    /// The project, and for a stored version that is not served `@` and its number.
    pub slug: String,
    /// The version, as a text that the deploy chooses.
    pub version: String,
    /// Modules by the name under which others import them. The extension determines the type: `.js` and `.mjs` are ES
    /// modules, `.cjs` are modules for `require`, and `.json`, `.wasm`, `.txt`, `.html` and `.sql` have their own types.
    /// Others are bytes.
    pub modules: Vec<(String, Vec<u8>)>,
    /// The module whose default export answers requests.
    pub main: String,
    /// The day whose runtime behaviour the backend expects, such as `2026-01-31`.
    pub compatibility_date: String,
    /// The file or folder of each binding.
    pub stores: BTreeMap<Binding, PathBuf>,
    /// The target of `env.LYCEUM`; `None` if the binding does not exist.
    pub api: Option<PlatformApi>,
    /// The content of `env.secrets`.
    pub secrets: BTreeMap<String, String>,
    /// Texts that are members of `env`.
    pub variables: BTreeMap<String, String>,
}

impl Worker {
    /// The slug of the project. A stored version that is not served has its number after it.
    pub(crate) fn project(&self) -> &str {
        self.slug.split('@').next().unwrap_or_default()
    }

    /// Refuses what workerd would refuse later with a less clear message.
    pub(super) fn check(&self) -> Result<()> {
        compatibility::check(&self.compatibility_date)?;
        if !self.modules.iter().any(|(name, _)| *name == self.main) {
            let message =
                message!("the backend has no module '{self.main}'; deploy it with its main module");
            return Err(Problem::invalid("main", message));
        }
        let is_taken = |name: &str| {
            Binding::ALL.iter().any(|binding| binding.names().env == name)
                || ["SELF", "LYCEUM", "secrets"].contains(&name)
        };
        match self.variables.keys().find(|name| is_taken(name)) {
            Some(name) => {
                let message = message!("'{name}' is a binding; choose another name");
                Err(Problem::invalid(format!("variables.{name}"), message))
            }
            None => Ok(()),
        }
    }
}
