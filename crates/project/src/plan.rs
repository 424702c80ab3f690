//! The plan of a deploy: computed once, shown, and applied exactly as shown.

use std::collections::BTreeMap;

use lyceum_core::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Uses;
use crate::courses::{self, LmsChange};
use crate::database::{self, DatabaseChange};
use crate::state::{Artifact, Backend, Desired, SCALARS, State};

/// Everything that a deploy changes. A server applies a plan only while [`plan`] of its state and of
/// `desired` still returns the same plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeployPlan")]
pub struct Plan {
    /// The project's slug.
    pub slug: String,
    /// The revision of the state that the plan starts from.
    pub base: i64,
    /// Whether the plan creates, updates or changes nothing.
    pub action: Action,
    /// Changed display fields.
    pub metadata: Vec<FieldChange>,
    /// The change of the frontend's zip.
    pub frontend: Option<Replacement<Artifact>>,
    /// The change of the backend.
    pub backend: Option<Replacement<Backend>>,
    /// The integrations that the project uses.
    pub uses: Option<Replacement<Uses>>,
    /// Secrets by name.
    pub secrets: SecretChanges,
    /// The database's schema.
    pub database: Option<DatabaseChange>,
    /// The courses, with their records in the roster.
    #[serde(default)]
    pub lms: Option<LmsChange>,
    /// The steps, in the order in which they are carried out.
    pub steps: Vec<Step>,
    /// The desired state that the plan leads to.
    pub desired: Desired,
}

/// The kind of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PlanAction")]
pub enum Action {
    /// The project is new.
    Create,
    /// There is something to change.
    Update,
    /// Nothing changes.
    Nothing,
}

/// A replaced value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Replacement<T> {
    /// The current value; `None` if there is none.
    pub old: Option<T>,
    /// The desired value.
    pub new: T,
}

/// A changed display field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProjectFieldChange")]
pub struct FieldChange {
    /// The field's name.
    #[schemars(extend("enum" = SCALARS))]
    pub field: String,
    /// The stored value.
    pub old: Option<String>,
    /// The desired value.
    pub new: String,
}

/// Secrets that change, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretChanges {
    /// New secrets.
    pub added: Vec<String>,
    /// Secrets with a new value.
    pub updated: Vec<String>,
    /// Secrets to remove.
    pub removed: Vec<String>,
}

impl SecretChanges {
    /// Number of changed secrets.
    pub fn count(&self) -> usize {
        self.added.len() + self.updated.len() + self.removed.len()
    }

    /// Names of the secrets whose values are sent.
    pub fn pushed(&self) -> impl Iterator<Item = &String> {
        self.added.iter().chain(&self.updated)
    }
}

/// A step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PlanStep")]
pub enum Step {
    /// Create the project.
    CreateProject,
    /// Write the display fields.
    WriteMetadata,
    /// Write courses, components and resources to the roster.
    SetUpCourses,
    /// Upload and unpack the zip.
    UploadFrontend,
    /// Upload the modules.
    UploadBackend,
    /// Create the database file.
    ProvisionDatabase,
    /// Create the bucket.
    ProvisionBucket,
    /// Write and remove secrets.
    PushSecrets,
    /// Change the schema on a copy, which replaces the database together with the new version.
    ChangeSchema,
    /// Start and probe the new code.
    StartBackend,
    /// Serve the new version.
    Publish,
}

impl Plan {
    /// Whether the plan leads to a new version.
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

/// Computes what must change to get from a state to the desired one.
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
        Some(desired) => database::change(&state.database, desired)?,
        None => None,
    };
    let lms = match (&state.lms, &desired.lms) {
        (Some(state_of_lms), Some(desired)) => courses::change(state_of_lms, desired, &state.slug),
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
) -> Option<Replacement<T>> {
    let new = new?;
    let differs = old.is_none_or(|old| !same(old, new));
    differs.then(|| Replacement { old: old.cloned(), new: new.clone() })
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
    // The backend restarts for new code, and also for new secrets or bindings.
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
