//! Reads a project's folder as the desired state of a server.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_project::courses::{App, LmsWish};
use lyceum_project::{
    Config, DatabaseWish, Desired, Lms, Metadata, SchemaWish, State, Uses, secrets, slug_of,
};

use crate::backend::{Bundle, COMPATIBILITY_DATE};
use crate::database::Sources;
use crate::evaluate::Evaluator;
use crate::frontend::Zip;
use crate::routes::{Route, routes_in};
use crate::unreadable;

/// Whether the backend is deployed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Where the project has routes or integrations, and its sources changed.
    #[default]
    Detect,
    /// Also where it has neither.
    Include,
    /// Also where nothing changed.
    Force,
    /// Not at all.
    Skip,
}

/// What a caller decides.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// In place of the config's name.
    pub name: Option<String>,
    /// In place of the config's description.
    pub description: Option<String>,
    /// In place of the config's emoji.
    pub emoji: Option<String>,
    /// In place of the config's build path.
    pub build: Option<PathBuf>,
    /// Whether the backend is deployed.
    pub backend: Choice,
    /// The day whose behaviour of the runtime the backend wants.
    pub compatibility_date: Option<String>,
    /// What of the schema was renamed, as `table.old=new` and `old=new`.
    pub renames: Vec<String>,
    /// Change the schema although that loses what the plan names.
    pub accept_data_loss: bool,
}

/// A project as its folder has it.
#[derive(Debug)]
pub struct Local {
    /// The folder.
    pub root: PathBuf,
    /// What people see of it.
    pub metadata: Metadata,
    /// Its name in addresses, from its name.
    pub slug: String,
    /// The zip of its build.
    pub frontend: Zip,
    /// What it uses.
    pub uses: Uses,
    /// The routes of its backend.
    pub routes: Vec<Route>,
    /// What `.env` holds; none: there is no such file.
    pub secrets: Option<BTreeMap<String, String>>,
    /// Secrets that its integrations cannot do without.
    pub required: Vec<String>,
    /// The schema of its database; none where it has no database.
    pub schema: Option<SchemaWish>,
    /// Whether the plan may lose what it names.
    pub accept_data_loss: bool,
    lms: Option<Lms>,
    backend: Choice,
    compatibility_date: Option<String>,
}

impl Local {
    /// The name that a project is deployed under: the flag's, else the config's.
    ///
    /// Errors: `Invalid` where there is none that a slug can be made of.
    pub fn slug_of(config: Option<&Config>, options: &Options) -> Result<String> {
        let named = options.name.as_deref().or_else(|| config?.name.as_deref());
        let slug = named.map(slug_of).unwrap_or_default();
        if !slug.is_empty() {
            return Ok(slug);
        }
        let message = match named {
            Some(name) => format!("cannot make a slug from the name '{name}'"),
            None => "the project has no name; set `name` in lyceum.config.json, or use --name"
                .to_owned(),
        };
        Err(Problem::new(ProblemKind::Invalid, message))
    }

    /// Reads a folder; `build` is the zip or folder of the build.
    ///
    /// Errors: a missing build; faults of routes and of `.env`; no name; a database without a schema.
    pub fn read(
        root: &Path,
        config: Option<&Config>,
        options: &Options,
        build: &Path,
        evaluator: &Evaluator,
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
        let uses = Uses::from(&integrations);
        let routes = match &integrations.routes {
            Some(folder) => routes_in(&root.join(folder))?,
            None => Vec::new(),
        };
        let schema = match uses.database {
            true => Some(Sources::of(root, config, evaluator).wish(options.renames.clone())?),
            false => None,
        };
        Ok(Self {
            root: root.to_owned(),
            metadata,
            slug,
            frontend: Zip::of(build)?,
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

    /// The backend, bundled; none: it is not deployed. Its compatibility date is the flag's, else the one
    /// that the server has, so that it changes only when somebody says so.
    ///
    /// Errors: those of [`Bundle::of`]; `Invalid` for a date that is none.
    pub fn bundle(&self, state: &State) -> Result<Option<Bundle>> {
        self.bundle_as(self.backend, state)
    }

    fn bundle_as(&self, choice: Choice, state: &State) -> Result<Option<Bundle>> {
        let has_any = !self.routes.is_empty() || self.uses != Uses::default();
        if choice == Choice::Skip || (choice == Choice::Detect && !has_any) {
            return Ok(None);
        }
        let stored = state.backend.as_ref().map(|backend| backend.compatibility_date.as_str());
        let asked = self.compatibility_date.as_deref();
        let date = asked.or(stored).unwrap_or(COMPATIBILITY_DATE);
        if lyceum_core::time::parse_date(date).is_none() {
            let message = format!("'{date}' is not a date; write it as 2026-01-31");
            return Err(Problem::new(ProblemKind::Invalid, message));
        }
        Bundle::of(&self.root, &self.routes, self.uses, date).map(Some)
    }

    /// Whether a backend that is left out is another one than the server has. None: it is not left out.
    pub fn skipped(&self, state: &State) -> Option<bool> {
        if self.backend != Choice::Skip {
            return None;
        }
        let detecting = Choice::Detect;
        let Ok(bundle) = self.bundle_as(detecting, state) else {
            // What cannot even be bundled is not what is deployed.
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

    /// What the server shall have, compared under the key of its state.
    ///
    /// Errors: the server's key is none; `Invalid` for courses whose XP are not known.
    pub fn desired(&self, state: &State, bundle: Option<&Bundle>) -> Result<Desired> {
        let key = BASE64_STANDARD.decode(&state.secrets.key).map_err(Problem::internal)?;
        let digest =
            |(name, value): (&String, &String)| (name.clone(), secrets::digest(&key, name, value));
        Ok(Desired {
            slug: self.slug.clone(),
            metadata: self.metadata.clone(),
            frontend: Some(self.frontend.artifact.clone()),
            backend: bundle.map(|bundle| bundle.backend.clone()),
            force_backend: self.backend == Choice::Force,
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

    /// The required secrets that neither `.env` nor the server has.
    pub fn missing(&self, state: &State) -> Vec<String> {
        let is_there = |name: &String| match &self.secrets {
            Some(known) => known.get(name).is_some_and(|value| !value.is_empty()),
            None => state.secrets.digests.contains_key(name),
        };
        self.required.iter().filter(|name| !is_there(name)).cloned().collect()
    }
}

/// The file of secrets.
pub const ENV: &str = ".env";

/// The secrets of a file; none: there is no such file. Errors: `Malformed` with the line.
pub fn secrets_in(file: &Path) -> Result<Option<BTreeMap<String, String>>> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| unreadable(file, &error))?,
    };
    secrets::read(&text).map(Some).map_err(|problem| {
        let message = format!("'{}', {}", file.display(), problem.message);
        Problem { message, ..problem }
    })
}
