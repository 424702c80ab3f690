//! Versions of projects: what each one contains, and which one is served.

use std::collections::{BTreeMap, HashMap};

use lyceum_access::MasterKey;
use lyceum_blob::Digest;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_games::games::{self, GameChange, NewGame};
use lyceum_games::lms::WritableRecords;
use lyceum_project::limits::{MIGRATIONS_MAX_FILES, SECRETS_MAX_COUNT};
use lyceum_project::{Action, Artifact, DatabaseState, Desired, Metadata, Plan, SchemaWish, State};
use lyceum_store::{Tx, outbox};
use serde_json::json;
use uuid::Uuid;

use crate::audit::CallerNames;
use crate::databases::{self, DeclaredSchema};
use crate::limits;
use crate::projects::{self, ProjectLocation};
use crate::{audit, courses, homes, repository, secrets};

pub use crate::repository::deployments::{Deployment, FrontendFile, FrontendFiles};

/// The version that is served; `None` if the project is not deployed here.
pub fn active(tx: &mut Tx<'_>, slug: &str) -> Result<Option<Deployment>> {
    match repository::projects::find(tx, slug)? {
        Some(project) => repository::deployments::find(tx, slug, project.version),
        None => Ok(None),
    }
}

/// The files of a frontend, by the SHA-256 of its zip; `None` if the zip was never unpacked here.
pub fn manifest(tx: &mut Tx<'_>, zip: &str) -> Result<Option<FrontendFiles>> {
    repository::deployments::manifest(tx, zip)
}

/// Stores the list of files of an unpacked frontend.
pub fn keep_manifest(
    tx: &mut Tx<'_>,
    now: Timestamp,
    zip: &Artifact,
    manifest: &FrontendFiles,
) -> Result<()> {
    repository::deployments::put_manifest(tx, now, zip, manifest)
}

/// Whether a frontend was unpacked here. If so, [`crate::sweep`] spares it for a while.
pub fn is_unpacked(tx: &mut Tx<'_>, now: Timestamp, zip: &str) -> Result<bool> {
    repository::deployments::touch_manifest(tx, now, zip)
}

/// Finds a version. Errors: `NotFound`.
pub fn find(tx: &mut Tx<'_>, slug: &str, version: i64) -> Result<Deployment> {
    let found = repository::deployments::find(tx, slug, version)?;
    found.ok_or_else(|| {
        let message = message!(
            "the project '{slug}' has no version {version}; `lyceum deployments list` shows those \
             that are kept"
        );
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// The versions that are still stored, newest first. Errors: `NotFound`.
pub fn list(tx: &mut Tx<'_>, slug: &str) -> Result<Vec<Deployment>> {
    projects::find(tx, slug)?;
    let listed = repository::deployments::list(tx, slug)?;
    with_names(tx, listed)
}

/// The version that is served of each of the projects that serve one, by slug.
pub fn served_versions(tx: &mut Tx<'_>, slugs: &[&str]) -> Result<HashMap<String, Deployment>> {
    let served = repository::deployments::served_versions(tx, slugs)?;
    let named = with_names(tx, served)?.into_iter();
    Ok(named.map(|version| (version.slug.clone(), version)).collect())
}

/// The versions as lists show them.
fn with_names(tx: &mut Tx<'_>, mut listed: Vec<Deployment>) -> Result<Vec<Deployment>> {
    let names = CallerNames::load(tx)?;
    for version in &mut listed {
        version.declared = None;
        version.made_by_name = Some(names.of(&version.made_by));
    }
    Ok(listed)
}

/// Refuses a plan that does not start from the current state.
///
/// Errors: `Conflict` if the state changed since the plan was made; `Invalid` if the desired state breaks a rule.
pub fn check(
    tx: &mut Tx<'_>,
    master: &MasterKey,
    place: &ProjectLocation,
    plan: &Plan,
) -> Result<State> {
    let state = projects::state(tx, master, &plan.slug, place)?;
    if state.revision != plan.base {
        return Err(moved(&state, plan));
    }
    check_desired(&plan.desired, &state)?;
    // A field of the game can change without a change of the project's revision. The plan differs then.
    if lyceum_project::plan(&state, &plan.desired)? != *plan {
        return Err(moved(&state, plan));
    }
    if let (Some(change), Some(database)) = (&plan.database, &plan.desired.database) {
        change.check(database)?;
    }
    Ok(state)
}

/// Applies a plan completely, or changes nothing, and returns the resulting state. `values` are the values of the
/// secrets that the plan pushes. `database` is the file in the project's folder that has the new schema, if the
/// schema changes. The frontend must have been unpacked before, see [`keep_manifest`].
///
/// Errors: those of [`check`]; `Invalid` if the values differ from the plan's; `Conflict` if the server has reached
/// its limit of projects; `Forbidden` for courses that the caller may not write.
pub fn apply(
    tx: &mut Tx<'_>,
    (master, now, who, may_write): (&MasterKey, Timestamp, &str, WritableRecords),
    place: &ProjectLocation,
    plan: &Plan,
    values: &BTreeMap<String, String>,
    database: Option<&str>,
) -> Result<State> {
    let state = check(tx, master, place, plan)?;
    let slug = plan.slug.as_str();
    if plan.action == Action::Nothing {
        return Ok(state);
    }
    if plan.action == Action::Create {
        projects::check_room(tx)?;
    }
    if !plan.metadata.is_empty() {
        write_metadata(tx, now, slug, &plan.desired.metadata)?;
    }
    if let Some(change) = &plan.lms {
        courses::set_up(tx, now, slug, change, may_write)?;
    }
    let known = repository::projects::find(tx, slug)?;
    let sealed = secrets::after(tx, master, plan, state.version, values)?;
    let latest = match &known {
        Some(project) => project.latest,
        None => repository::projects::last_deleted(tx, slug)?,
    };
    let version = if plan.makes_version() { latest + 1 } else { state.version.unwrap_or(latest) };
    let moved_on =
        repository::projects::move_on(tx, now, slug, plan.base, version, latest.max(version))?;
    if !moved_on {
        return Err(moved(&state, plan));
    }
    if let Some(file) = database {
        // A database that was never used does not need a restore point.
        let before = known.as_ref().filter(|_| state.database != DatabaseState::default());
        databases::replace(tx, now, before, (slug, file, "deploy"))?;
    }
    homes::hold(tx, &place.node, slug, plan.desired.uses)?;
    if plan.makes_version() {
        let declared = declared(tx, slug, &state, plan)?;
        let deployment = Deployment {
            id: Uuid::now_v7().to_string(),
            slug: slug.to_owned(),
            version,
            frontend: plan.desired.frontend.clone().or(state.frontend),
            backend: plan.desired.backend.clone().or(state.backend),
            uses: plan.desired.uses,
            made_by: who.to_owned(),
            made_by_name: None,
            made_at: now,
            declared,
        };
        repository::deployments::insert(tx, &deployment)?;
        repository::secrets::insert(tx, slug, version, &sealed)?;
        repository::deployments::forget(tx, slug, version)?;
    }
    let details = json!({
        "version": version, "metadata": plan.metadata, "frontend": plan.frontend,
        "backend": plan.backend.as_ref().map(|change| &change.new.source_hash),
        "uses": plan.uses, "secrets": plan.secrets, "courses": plan.lms.as_ref().map(|change| &change.records),
        "database": plan.database.as_ref().map(|change| json!({
            "strategy": change.strategy, "statements": change.statements,
            "migrations": change.migrations, "losses": change.losses,
        })),
    });
    audit::note(tx, now, (slug, who), "deploy", &details)?;
    announce(tx, now, "deployment.created", (slug, version, who))?;
    projects::state(tx, master, slug, place)
}

/// The schema of a plan's version: the one that the plan names, otherwise the previous one.
fn declared(
    tx: &mut Tx<'_>,
    slug: &str,
    state: &State,
    plan: &Plan,
) -> Result<Option<DeclaredSchema>> {
    if let Some(database) = &plan.desired.database {
        let ddl = plan.database.as_ref().map_or(&state.database.ddl, |change| &change.ddl);
        return Ok(Some(DeclaredSchema { ddl: ddl.clone(), wish: database.schema.clone() }));
    }
    let Some(served) = state.version else { return Ok(None) };
    Ok(repository::deployments::find(tx, slug, served)?.and_then(|served| served.declared))
}

/// Serves a stored version again, with the code, frontend and secrets that it had. The project's metadata and files
/// stay as they are, and so does its data, unless `database` names another file. Without a number, it serves the
/// version before the current one.
///
/// Errors: `NotFound`; `Conflict` if there is no other version, or the project was changed since `base`.
pub fn roll_back(
    tx: &mut Tx<'_>,
    (now, who): (Timestamp, &str),
    slug: &str,
    version: Option<i64>,
    base: Option<i64>,
    database: Option<&str>,
) -> Result<Deployment> {
    let project = projects::find(tx, slug)?;
    let target = earlier(tx, slug, version)?;
    let base = base.unwrap_or(project.revision);
    if let Some(file) = database {
        databases::replace(tx, now, Some(&project), (slug, file, "rollback"))?;
    }
    if !repository::projects::move_on(tx, now, slug, base, target.version, project.latest)? {
        let message = message!(
            "the project '{slug}' was changed meanwhile; check its state and repeat the \
            rollback"
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let details = json!({
        "from": project.version, "version": target.version, "database": database.is_some(),
    });
    audit::note(tx, now, (slug, who), "rollback", &details)?;
    announce(tx, now, "deployment.rolledBack", (slug, target.version, who))?;
    Ok(target)
}

/// Announces the version that is served now to webhooks.
fn announce(
    tx: &mut Tx<'_>,
    now: Timestamp,
    topic: &str,
    (slug, version, who): (&str, i64, &str),
) -> Result<()> {
    outbox::announce(tx, topic, slug, now, || {
        Ok(json!({ "project": slug, "version": version, "madeBy": who }).to_string().into())
    })
}

/// The version that a rollback leads to. Errors: `NotFound`; `Conflict` if there is no earlier version.
pub fn earlier(tx: &mut Tx<'_>, slug: &str, version: Option<i64>) -> Result<Deployment> {
    let project = projects::find(tx, slug)?;
    if let Some(version) = version {
        return find(tx, slug, version);
    }
    let kept = repository::deployments::list(tx, slug)?;
    kept.into_iter().find(|kept| kept.version < project.version).ok_or_else(|| {
        let message = message!(
            "the project '{slug}' has no version before {project.version}, the one that is served"
        );
        Problem::new(ProblemKind::Conflict, message)
    })
}

fn moved(state: &State, plan: &Plan) -> Problem {
    let message = message!(
        "the project '{plan.slug}' was changed since the plan was made (it had revision {plan.base} then and has \
         {state.revision} now); deploy again to make a new plan"
    );
    Problem::new(ProblemKind::Conflict, message)
}

/// Writes the metadata that people see, which belongs to the project's game.
fn write_metadata(tx: &mut Tx<'_>, now: Timestamp, slug: &str, wanted: &Metadata) -> Result<()> {
    let Metadata { name, description, emoji, platform } = wanted.clone();
    if games::lookup(tx, slug)?.is_none() {
        let new = NewGame {
            slug: slug.to_owned(),
            display_name: name,
            description,
            emoji,
            platform,
            metadata: serde_json::Map::new(),
        };
        return games::create(tx, now, new).map(drop);
    }
    let change =
        GameChange { display_name: Some(name), description, emoji, platform, metadata: None };
    games::change(tx, now, slug, change).map(drop)
}

/// Checks a desired state against the rules and limits.
fn check_desired(desired: &Desired, state: &State) -> Result<()> {
    let refuse = |path: &str, message: Message| Err(Problem::invalid(path, message));
    if desired.slug != state.slug {
        return refuse("plan.desired.slug", message!("must be '{state.slug}', as in the path"));
    }
    let hashes = desired.frontend.iter().map(|frontend| &frontend.sha256);
    let modules = desired.backend.iter().flat_map(|backend| &backend.modules);
    for hash in hashes.chain(modules.clone().map(|module| &module.sha256)) {
        hash.parse::<Digest>()?;
    }
    if let Some(backend) = &desired.backend {
        let bytes: u64 = modules.clone().fold(0, |sum, module| sum.saturating_add(module.size));
        let main = modules.clone().any(|module| module.name == backend.main);
        let path = "plan.desired.backend";
        if !main || backend.modules.len() > limits::BACKEND_MODULES_MAX_COUNT {
            let most = limits::BACKEND_MODULES_MAX_COUNT;
            return refuse(path, message!("must have 1 to {most} modules, including the main one"));
        }
        if bytes > limits::BACKEND_MAX_BYTES {
            return refuse(
                path,
                message!(
                    "has {bytes} bytes; the limit is {most}",
                    most = limits::BACKEND_MAX_BYTES
                ),
            );
        }
        if backend.routes.len() > limits::BACKEND_ROUTES_MAX_COUNT {
            let most = limits::BACKEND_ROUTES_MAX_COUNT;
            return refuse(path, message!("must have at most {most} routes"));
        }
        if lyceum_core::time::parse_date(&backend.compatibility_date).is_none() {
            return refuse(
                &format!("{path}.compatibilityDate"),
                "must be a date such as 2026-01-31".into(),
            );
        }
    }
    if let Some(database) = &desired.database {
        let path = "plan.desired.database";
        if !desired.uses.database {
            return refuse(
                path,
                "must be left out, because the project does not use a database".into(),
            );
        }
        if let SchemaWish::Migrate { files } = &database.schema
            && files.len() > MIGRATIONS_MAX_FILES
        {
            let most = MIGRATIONS_MAX_FILES;
            return refuse(path, message!("must have at most {most} migrations"));
        }
    }
    let secrets = desired.secrets.iter().flatten();
    if secrets.clone().count() > SECRETS_MAX_COUNT {
        return refuse(
            "plan.desired.secrets",
            message!("must have at most {SECRETS_MAX_COUNT} names"),
        );
    }
    match secrets.map(|(name, _)| name).find(|name| !lyceum_project::secrets::is_name(name)) {
        Some(name) => refuse(
            "plan.desired.secrets",
            message!(
                "has '{name}', which is not a valid name of a \
            secret"
            ),
        ),
        None => Ok(()),
    }
}
