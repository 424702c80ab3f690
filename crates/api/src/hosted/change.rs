//! Changes a project. A new version is prepared while the current one is served, and then replaces it at once.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use lyceum_cluster::leases;
use lyceum_core::{Problem, Result};
use lyceum_hosting::databases;
use lyceum_hosting::projects::{self, ProjectLocation};
use lyceum_project::{DatabaseWish, Plan, State, schema};
use lyceum_store::{Tx, run_blocking};

use super::backend::{self, engine, reinstall};
use crate::App;

/// A new database file, which is removed again unless it is served.
struct DatabaseDraft {
    name: String,
    file: PathBuf,
    is_kept: bool,
}

impl DatabaseDraft {
    fn in_folder(folder: &Path) -> Self {
        let name = databases::new_name();
        Self { file: folder.join(&name), name, is_kept: false }
    }
}

impl Drop for DatabaseDraft {
    fn drop(&mut self) {
        if !self.is_kept {
            databases::discard(&self.file);
        }
    }
}

/// The change to apply: a plan that was checked against the state, and the values of its secrets.
pub struct DeployChange {
    /// The steps that create, change and remove parts of the project.
    pub plan: Plan,
    /// The state from which the plan was made.
    pub state: State,
    /// Where the project is served.
    pub place: ProjectLocation,
    /// The values of pushed secrets by name.
    pub pushed: BTreeMap<String, String>,
}

/// Applies a plan completely, or changes nothing. It completes even if its caller disconnects. `apply` gets the name of
/// the new database file, if there is one.
///
/// If the schema changes, it is first changed on a copy, and the new version is started and tested with it. Then calls
/// wait while a new copy is made from the current data, and the new version and the copy are served.
pub async fn deploy(
    app: &App,
    change: DeployChange,
    apply: impl FnMut(&mut Tx<'_>, Option<&str>) -> Result<State> + Send + 'static,
) -> Result<State> {
    let app = App::clone(app);
    let deployed = tokio::spawn(async move {
        let deployed = match &change.plan.database {
            Some(_) => deploy_schema(&app, &change, apply).await,
            None => deploy_code(&app, &change, apply).await,
        }?;
        // The replicas of a new project need its token.
        if let Err(problem) = leases::renew(&app.cluster).await {
            tracing::warn!(%problem, "the lease was not renewed after a deploy; trying again");
        }
        leases::follow(&app.cluster, vec![change.plan.slug]).await;
        Ok(deployed)
    });
    deployed.await.map_err(Problem::internal)?
}

async fn deploy_code(
    app: &App,
    DeployChange { plan, pushed, .. }: &DeployChange,
    mut apply: impl FnMut(&mut Tx<'_>, Option<&str>) -> Result<State> + Send + 'static,
) -> Result<State> {
    let rehearsed = backend::rehearse(app, plan, pushed, None).await?;
    let applied = app.db.write(move |tx| apply(tx, None)).await?;
    if let (Some(rehearsed), Some(version)) = (rehearsed, applied.version) {
        rehearsed.serve(&plan.slug, version);
    }
    Ok(applied)
}

async fn deploy_schema(
    app: &App,
    DeployChange { plan, state, place, pushed }: &DeployChange,
    mut apply: impl FnMut(&mut Tx<'_>, Option<&str>) -> Result<State> + Send + 'static,
) -> Result<State> {
    let database = plan.desired.database.clone();
    let database = database.ok_or_else(|| {
        Problem::invalid("plan", "must contain desired.database, because it changes the schema")
    })?;
    let slug = plan.slug.as_str();
    let mut draft = DatabaseDraft::in_folder(&place.folder);
    let live = live(app, slug, place).await?;
    let make = making(app, &live, &draft, (state, &database));
    run_blocking(make.clone()).await?;
    let rehearsed = backend::rehearse(app, plan, pushed, Some(&draft.file)).await?;
    let engine = engine(app)?;
    let paused = engine.pause_calls(slug, &live).await?;
    run_blocking(make).await?;
    let name = draft.name.clone();
    // From here on, the database says whether the file is needed. The sweep removes unneeded files.
    draft.is_kept = true;
    let applied = app.db.write(move |tx| apply(tx, Some(&name))).await?;
    if let (Some(rehearsed), Some(version)) = (rehearsed, applied.version) {
        rehearsed.serve(slug, version);
    }
    sweep(app, slug, place).await;
    drop(paused);
    Ok(applied)
}

/// A function that makes the draft of a schema change from the live file at the time it runs.
fn making(
    app: &App,
    live: &Path,
    draft: &DatabaseDraft,
    (state, database): (&State, &DatabaseWish),
) -> impl FnOnce() -> Result<()> + Clone + Send + 'static {
    let (live, copy, database) = (live.to_owned(), draft.file.clone(), database.clone());
    let (before, now) = (state.database.clone(), app.clock.now());
    move || {
        schema::apply_to_copy(&live, &copy, (&before, &database), now)?;
        settle(&copy)
    }
}

/// Rehearses a plan: it does everything except serving the result, and keeps only the uploaded files. The schema is
/// changed on a copy, the new version is started and tested, and the transaction is rolled back. It completes even if
/// its caller disconnects, because a half-made copy could not be removed.
///
/// Errors: those of [`deploy`].
pub async fn rehearse(
    app: &App,
    change: DeployChange,
    apply: impl FnMut(&mut Tx<'_>, Option<&str>) -> Result<State> + Send + 'static,
) -> Result<()> {
    let app = App::clone(app);
    let rehearsed = tokio::spawn(async move { rehearse_all(&app, &change, apply).await });
    rehearsed.await.map_err(Problem::internal)?
}

async fn rehearse_all(
    app: &App,
    DeployChange { plan, state, place, pushed }: &DeployChange,
    mut apply: impl FnMut(&mut Tx<'_>, Option<&str>) -> Result<State> + Send + 'static,
) -> Result<()> {
    let draft = DatabaseDraft::in_folder(&place.folder);
    let database = match (&plan.database, &plan.desired.database) {
        (Some(_), Some(database)) => {
            let live = live(app, &plan.slug, place).await?;
            run_blocking(making(app, &live, &draft, (state, database))).await?;
            Some(draft.file.as_path())
        }
        _ => None,
    };
    drop(backend::rehearse(app, plan, pushed, database).await?);
    let name = database.map(|_| draft.name.clone());
    let kept = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&kept);
    let tried = app.db.write(move |tx| -> Result<()> {
        seen.store(false, Relaxed);
        apply(tx, name.as_deref())?;
        seen.store(true, Relaxed);
        // An error rolls the transaction back.
        Err(Problem::internal("a rehearsal is rolled back"))
    });
    match tried.await {
        Err(_) if kept.load(Relaxed) => Ok(()),
        tried => tried,
    }
}

/// Replaces the served database while calls wait. It completes even if its caller disconnects. `make` creates the new
/// file from the served one, and `commit` gets its name.
pub async fn replace_database<T: Send + 'static>(
    app: &App,
    (slug, place): (String, ProjectLocation),
    make: impl FnOnce(&Path, &Path) -> Result<()> + Send + 'static,
    mut commit: impl FnMut(&mut Tx<'_>, &str) -> Result<T> + Send + 'static,
) -> Result<T> {
    let app = App::clone(app);
    let replaced = tokio::spawn(async move {
        let mut draft = DatabaseDraft::in_folder(&place.folder);
        let live = live(&app, &slug, &place).await?;
        let engine = engine(&app)?;
        let paused = engine.pause_calls(&slug, &live).await?;
        let copy = draft.file.clone();
        run_blocking(move || {
            make(&live, &copy)?;
            settle(&copy)
        })
        .await?;
        let name = draft.name.clone();
        draft.is_kept = true;
        let done = app.db.write(move |tx| commit(tx, &name)).await?;
        reinstall(&app, &engine, &slug).await?;
        sweep(&app, &slug, &place).await;
        drop(paused);
        leases::follow(&app.cluster, vec![slug]).await;
        Ok(done)
    });
    replaced.await.map_err(Problem::internal)?
}

/// The served database file.
async fn live(app: &App, slug: &str, place: &ProjectLocation) -> Result<PathBuf> {
    let (slug, folder) = (slug.to_owned(), place.folder.clone());
    std::fs::create_dir_all(&folder).map_err(Problem::internal)?;
    app.db
        .read(move |tx| Ok(databases::file_of(&folder, projects::lookup(tx, &slug)?.as_ref())))
        .await
}

/// Makes the name of a file durable. SQLite has already made its content durable.
fn settle(file: &Path) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(Problem::internal)
}

/// Removes unused files. If that fails, it is tried again after the next change.
async fn sweep(app: &App, slug: &str, place: &ProjectLocation) {
    let (sought, folder) = (slug.to_owned(), place.folder.clone());
    match app.db.write(move |tx| databases::forget(tx, &sought)).await {
        Ok(named) => databases::sweep(&folder, &named),
        Err(problem) => tracing::warn!(slug, "cannot remove previous databases: {problem}"),
    }
}
