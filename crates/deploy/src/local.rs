//! Reads a project's folder as the desired state of a server.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_project::courses::{App, LmsWish};
use lyceum_project::{
    Config, DatabaseWish, Desired, Lms, Metadata, SchemaWish, State, Uses, secrets, slug_of,
};

use crate::backend::{Bundle, COMPATIBILITY_DATE, Target};
use crate::database::SchemaSources;
use crate::evaluate::Evaluator;
use crate::frontend::FrontendZip;
use crate::routes::{Route, routes_in};
use crate::unreadable;

/// Whether to deploy the backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendChoice {
    /// If the project has routes or integrations, and its sources changed.
    #[default]
    Detect,
    /// Even if the project has neither routes nor integrations.
    Include,
    /// Even if nothing changed.
    Force,
    /// Never.
    Skip,
}

/// The choices of the person who deploys.
#[derive(Clone, Debug, Default)]
pub struct DeployOptions {
    /// Replaces the config's name.
    pub name: Option<String>,
    /// Replaces the config's description.
    pub description: Option<String>,
    /// Replaces the config's emoji.
    pub emoji: Option<String>,
    /// Replaces the config's build path.
    pub build: Option<PathBuf>,
    /// Whether to deploy the backend.
    pub backend: BackendChoice,
    /// The compatibility date of the backend.
    pub compatibility_date: Option<String>,
    /// Renamed tables and columns, as `old=new` and `table.old=new`.
    pub renames: Vec<String>,
    /// Whether to apply the plan even if the schema change loses data.
    pub accept_data_loss: bool,
}

/// A project, as its folder describes it.
#[derive(Debug)]
pub struct LocalProject {
    /// The folder.
    pub root: PathBuf,
    /// The metadata that people see.
    pub metadata: Metadata,
    /// Its name in URLs, derived from its name.
    pub slug: String,
    /// The zip of its build.
    pub frontend: FrontendZip,
    /// Its integrations.
    pub uses: Uses,
    /// The routes of its backend.
    pub routes: Vec<Route>,
    /// The content of `.env`; `None` if the file does not exist.
    pub secrets: Option<BTreeMap<String, String>>,
    /// Secrets that its integrations require.
    pub required: Vec<String>,
    /// The schema of its database; `None` without a database.
    pub schema: Option<SchemaWish>,
    /// Whether the plan may lose data.
    pub accept_data_loss: bool,
    lms: Option<Lms>,
    backend: BackendChoice,
    compatibility_date: Option<String>,
}

impl LocalProject {
    /// The slug that a project is deployed under, from the option's name or the config's.
    ///
    /// Errors: `Invalid` without a name from which a slug can be made.
    pub fn slug_of(config: Option<&Config>, options: &DeployOptions) -> Result<String> {
        let named = options.name.as_deref().or_else(|| config?.name.as_deref());
        let slug = named.map(slug_of).unwrap_or_default();
        if !slug.is_empty() {
            return Ok(slug);
        }
        let message = match named {
            Some(name) => message!("cannot make a slug from the name '{name}'"),
            None => {
                "the project has no name; set `name` in lyceum.config.json, or use --name".into()
            }
        };
        Err(Problem::new(ProblemKind::Invalid, message))
    }

    /// Reads a folder; `build` is the zip or folder of the build. `progress` is that of [`Zip::of`].
    ///
    /// Errors: a missing build; errors in routes and `.env`; a missing name; a database without a schema.
    pub fn read(
        root: &Path,
        config: Option<&Config>,
        options: &DeployOptions,
        build: &Path,
        evaluator: &Evaluator,
        progress: impl FnMut(u64, u64),
    ) -> Result<Self> {
        let slug = Self::slug_of(config, options)?;
        let of_config =
            |field: fn(&Config) -> &Option<String>| config.and_then(|c| field(c).clone());
        let metadata = Metadata {
            name: options.name.clone().or_else(|| of_config(|c| &c.name)).unwrap_or_default(),
            description: options.description.clone().or_else(|| of_config(|c| &c.description)),
            emoji: options.emoji.clone().or_else(|| of_config(|c| &c.emoji)),
            platform: of_config(|c| &c.platform),
        };
        let integrations = config.map(|config| config.integrations.clone()).unwrap_or_default();
        let uses = integrations.uses;
        let routes = match &integrations.routes {
            Some(folder) => routes_in(&root.join(folder))?,
            None => Vec::new(),
        };
        let schema = match uses.database {
            true => Some(SchemaSources::of(root, config, evaluator).wish(options.renames.clone())?),
            false => None,
        };
        Ok(Self {
            root: root.to_owned(),
            metadata,
            slug,
            frontend: FrontendZip::of(build, progress)?,
            uses,
            routes,
            secrets: secrets_in(&root.join(ENV))?,
            required: config.map(|c| c.required_secrets.clone()).unwrap_or_default(),
            schema,
            accept_data_loss: options.accept_data_loss,
            lms: integrations.lms.clone(),
            backend: options.backend,
            compatibility_date: options.compatibility_date.clone(),
        })
    }

    /// The bundled backend; `None` if it is not deployed. Its compatibility date comes from the options, otherwise
    /// from the server, so that it changes only on request.
    ///
    /// Errors: those of [`Bundle::of`]; `Invalid` if the compatibility date is not a date.
    pub fn bundle(&self, state: &State) -> Result<Option<Bundle>> {
        self.bundle_as(self.backend, state)
    }

    fn bundle_as(&self, choice: BackendChoice, state: &State) -> Result<Option<Bundle>> {
        let has_any = !self.routes.is_empty() || self.uses != Uses::default();
        if choice == BackendChoice::Skip || (choice == BackendChoice::Detect && !has_any) {
            return Ok(None);
        }
        let stored = state.backend.as_ref().map(|backend| backend.compatibility_date.as_str());
        let configured = self.compatibility_date.as_deref();
        let date = configured.or(stored).unwrap_or(COMPATIBILITY_DATE);
        if lyceum_core::time::parse_date(date).is_none() {
            let message = message!("'{date}' is not a date; write it as 2026-01-31");
            return Err(Problem::new(ProblemKind::Invalid, message));
        }
        Bundle::of(&self.root, &self.routes, self.uses, date, Target::Server).map(Some)
    }

    /// Whether a backend that is not deployed differs from the server's; `None` if it is deployed.
    pub fn skipped(&self, state: &State) -> Option<bool> {
        if self.backend != BackendChoice::Skip {
            return None;
        }
        let detecting = BackendChoice::Detect;
        let Ok(bundle) = self.bundle_as(detecting, state) else {
            // A backend that cannot be bundled differs from the deployed one.
            return Some(true);
        };
        let stored = state.backend.as_ref();
        Some(bundle.is_some_and(|bundle| {
            stored.is_none_or(|stored| {
                stored.source_hash != bundle.backend.source_hash
                    || stored.compatibility_date != bundle.backend.compatibility_date
            })
        }))
    }

    /// The desired state. Secrets are compared by digests under the key of the server's state.
    ///
    /// Errors: the server's key is malformed; `Invalid` for courses whose XP are not known.
    pub fn desired(&self, state: &State, bundle: Option<&Bundle>) -> Result<Desired> {
        let key = BASE64_STANDARD.decode(&state.secrets.key).map_err(Problem::internal)?;
        let digest =
            |(name, value): (&String, &String)| (name.clone(), secrets::digest(&key, name, value));
        Ok(Desired {
            slug: self.slug.clone(),
            metadata: self.metadata.clone(),
            frontend: Some(self.frontend.artifact.clone()),
            backend: bundle.map(|bundle| bundle.backend.clone()),
            force_backend: self.backend == BackendChoice::Force,
            uses: self.uses,
            secrets: self.secrets.as_ref().map(|known| known.iter().map(digest).collect()),
            database: self
                .schema
                .clone()
                .map(|schema| DatabaseWish { schema, accept_data_loss: self.accept_data_loss }),
            lms: match &self.lms {
                Some(lms) => {
                    Some(LmsWish::of(lms, App { slug: &self.slug, name: &self.metadata.name })?)
                }
                None => None,
            },
        })
    }

    /// The required secrets that are neither in `.env` nor on the server.
    pub fn missing(&self, state: &State) -> Vec<String> {
        let is_there = |name: &String| match &self.secrets {
            Some(known) => known.get(name).is_some_and(|value| !value.is_empty()),
            None => state.secrets.digests.contains_key(name),
        };
        self.required.iter().filter(|name| !is_there(name)).cloned().collect()
    }
}

/// The name of the file with secrets.
pub const ENV: &str = ".env";

/// The secrets in a file; `None` if the file does not exist. Errors: `Malformed` with the line.
pub fn secrets_in(file: &Path) -> Result<Option<BTreeMap<String, String>>> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| unreadable(file, &error))?,
    };
    secrets::read(&text).map(Some).map_err(|problem| {
        let message = message!("'{file}', {problem.message}", file = file.display());
        Problem { message, ..problem }
    })
}
