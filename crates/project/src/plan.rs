//! What a deploy changes: worked out once, shown, and applied as it was shown.

use std::collections::BTreeMap;

use lyceum_core::Result;
use serde::{Deserialize, Serialize};

use crate::courses::{self, LmsChange};
use crate::database::{self, DatabaseChange};
use crate::state::{Artifact, Backend, Desired, SCALARS, State, Uses};

/// All that a deploy changes. A server applies a plan only while [`plan`] of its state and of
/// `desired` still answers this very plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The project.
    pub slug: String,
    /// The revision of the state that it starts from.
    pub base: i64,
    /// What it comes to.
    pub action: Action,
    /// Fields that people see.
    pub metadata: Vec<FieldChange>,
    /// The zip of the build.
    pub frontend: Option<Change<Artifact>>,
    /// The code that answers.
    pub backend: Option<Change<Backend>>,
    /// What the project uses.
    pub uses: Option<Change<Uses>>,
    /// Secrets by name.
    pub secrets: SecretChanges,
    /// The database's schema.
    pub database: Option<DatabaseChange>,
    /// The courses, with their records in the roster.
    #[serde(default)]
    pub lms: Option<LmsChange>,
    /// What is done, in this order.
    pub steps: Vec<Step>,
    /// What it leads to.
    pub desired: Desired,
}

/// What a plan comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// The project is new.
    Create,
    /// There is something to change.
    Update,
    /// All is as it shall be.
    Nothing,
}

/// One thing in place of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change<T> {
    /// What is there; none: nothing.
    pub old: Option<T>,
    /// What shall be there.
    pub new: T,
}

/// A field that people see, changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    /// Its name, one of [`SCALARS`].
    pub field: String,
    /// What is stored.
    pub old: Option<String>,
    /// What shall be.
    pub new: String,
}

/// Secrets that change, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretChanges {
    /// Not there yet.
    pub added: Vec<String>,
    /// There with another value.
    pub updated: Vec<String>,
    /// There, and wanted no more.
    pub removed: Vec<String>,
}

impl SecretChanges {
    /// How many change.
    pub fn count(&self) -> usize {
        self.added.len() + self.updated.len() + self.removed.len()
    }

    /// The names whose values are sent.
    pub fn pushed(&self) -> impl Iterator<Item = &String> {
        self.added.iter().chain(&self.updated)
    }
}

/// A step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// The project gets its row.
    CreateProject,
    /// What people see is written.
    WriteMetadata,
    /// Courses, components and resources are written into the roster.
    SetUpCourses,
    /// The zip is sent and unpacked.
    UploadFrontend,
    /// The modules are sent.
    UploadBackend,
    /// The database gets its file.
    ProvisionDatabase,
    /// The bucket is made.
    ProvisionBucket,
    /// Secrets are written and removed.
    PushSecrets,
    /// The schema is changed, on a copy that takes the database's place with the new version.
    ChangeSchema,
    /// The new code is started and probed.
    StartBackend,
    /// All of it is served from now on.
    Publish,
}

impl Plan {
    /// Whether the version that is served becomes another one.
    pub fn makes_version(&self) -> bool {
        self.action == Action::Create
            || self.frontend.is_some()
            || self.backend.is_some()
            || self.uses.is_some()
            || self.secrets.count() > 0
            || self.database.is_some()
    }

    /// The files that the server must have: hash and size.
    pub fn artifacts(&self) -> Vec<Artifact> {
        let frontend = self.frontend.iter().map(|change| change.new.clone());
        let modules = self.backend.iter().flat_map(|change| &change.new.modules);
        let modules =
            modules.map(|module| Artifact { sha256: module.sha256.clone(), size: module.size });
        frontend.chain(modules).collect()
    }
}

/// What must change so that a state becomes what is desired.
///
/// Errors: those of [`database::change`].
pub fn plan(state: &State, desired: &Desired) -> Result<Plan> {
    let stored = state.metadata.as_ref();
    let metadata = SCALARS.iter().filter_map(|field| {
        let new = desired.metadata.field(field)?.to_owned();
        let old = stored.and_then(|stored| stored.field(field)).map(str::to_owned);
        (old.as_ref() != Some(&new)).then(|| FieldChange { field: (*field).to_owned(), old, new })
    });
    let metadata: Vec<_> = metadata.collect();
    let frontend = change(state.frontend.as_ref(), desired.frontend.as_ref(), |old, new| {
        old.sha256 == new.sha256
    });
    let backend = change(state.backend.as_ref(), desired.backend.as_ref(), |old, new| {
        !desired.force_backend
            && old.source_hash == new.source_hash
            && old.compatibility_date == new.compatibility_date
    });
    let uses = change(Some(&state.uses), Some(&desired.uses), |old, new| old == new);
    let secrets = match &desired.secrets {
        Some(wanted) => secret_changes(&state.secrets.digests, wanted),
        None => SecretChanges::default(),
    };
    let database = match &desired.database {
        Some(wish) => database::change(&state.database, wish)?,
        None => None,
    };
    let lms = match (&state.lms, &desired.lms) {
        (Some(taught), Some(wish)) => courses::change(taught, wish, &state.slug),
        _ => None,
    };
    let mut plan = Plan {
        slug: state.slug.clone(),
        base: state.revision,
        action: Action::Nothing,
        metadata,
        frontend,
        backend,
        uses,
        secrets,
        database,
        lms,
        steps: Vec::new(),
        desired: desired.clone(),
    };
    plan.action = match state.revision {
        0 => Action::Create,
        _ if plan.makes_version() || !plan.metadata.is_empty() || plan.lms.is_some() => {
            Action::Update
        }
        _ => Action::Nothing,
    };
    plan.steps = steps(state, &plan);
    Ok(plan)
}

fn change<T: Clone>(
    old: Option<&T>,
    new: Option<&T>,
    same: impl Fn(&T, &T) -> bool,
) -> Option<Change<T>> {
    let new = new?;
    let differs = old.is_none_or(|old| !same(old, new));
    differs.then(|| Change { old: old.cloned(), new: new.clone() })
}

fn secret_changes(
    stored: &BTreeMap<String, String>,
    wanted: &BTreeMap<String, String>,
) -> SecretChanges {
    let mut changes = SecretChanges::default();
    for (name, digest) in wanted {
        match stored.get(name) {
            None => changes.added.push(name.clone()),
            Some(known) if known != digest => changes.updated.push(name.clone()),
            Some(_) => {}
        }
    }
    let unwanted = stored.keys().filter(|name| !wanted.contains_key(*name));
    changes.removed = unwanted.cloned().collect();
    changes
}

fn steps(state: &State, plan: &Plan) -> Vec<Step> {
    let uses = plan.desired.uses;
    // What answers is started anew by new code, and by new secrets and bindings of the old one.
    let has_backend = state.backend.is_some() || plan.backend.is_some();
    let restarts = plan.backend.is_some()
        || (has_backend
            && (plan.secrets.count() > 0 || plan.uses.is_some() || plan.database.is_some()));
    let all = [
        (Step::CreateProject, plan.action == Action::Create),
        (Step::WriteMetadata, !plan.metadata.is_empty()),
        (Step::SetUpCourses, plan.lms.is_some()),
        (Step::UploadFrontend, plan.frontend.is_some()),
        (Step::UploadBackend, plan.backend.is_some()),
        (Step::ProvisionDatabase, uses.database && !state.uses.database),
        (Step::ProvisionBucket, uses.bucket && !state.uses.bucket),
        (Step::PushSecrets, plan.secrets.count() > 0),
        (Step::ChangeSchema, plan.database.is_some()),
        (Step::StartBackend, restarts),
        (Step::Publish, plan.makes_version()),
    ];
    all.into_iter().filter(|(_, is_due)| *is_due).map(|(step, _)| step).collect()
}
