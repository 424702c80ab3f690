//! What changes of a project, made ready beside what is served and put in its place at once.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use lyceum_core::{Problem, Result};
use lyceum_hosting::databases;
use lyceum_hosting::projects::{self, ProjectLocation};
use lyceum_project::{DatabaseWish, Plan, State, schema};
use lyceum_store::Tx;

use super::backend::{self, engine, reinstall};
use crate::apart::apart;
use crate::state::App;

/// A database file that is to be served; removed again where it is not.
struct Draft {
    name: String,
    file: PathBuf,
    is_kept: bool,
}

impl Draft {
    fn in_folder(folder: &Path) -> Self {
        let name = databases::new_name();
        Self { file: folder.join(&name), name, is_kept: false }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_kept {
            databases::discard(&self.file);
        }
    }
}

/// What is applied: a plan that was checked against the state, and the values of its secrets.
pub(crate) struct Change {
    pub(crate) plan: Plan,
    pub(crate) state: State,
    pub(crate) place: ProjectLocation,
    pub(crate) pushed: BTreeMap<String, String>,
}

/// Applies a plan: all of it, or nothing, whether its caller waits for it or not. `apply` is told the
/// name of the database file that takes the place of the one before.
///
/// Where the schema changes, that is done on a copy, with which the new version is started and asked.
/// Then calls wait, the copy is made once more of what is in the database now, and both are served.
pub(crate) async fn deploy(
    app: &App,
    change: Change,
    apply: impl FnMut(&mut Tx<'_>, Option<&str>) -> Result<State> + Send + 'static,
) -> Result<State> {
    let app = App::clone(app);
    let deployed = tokio::spawn(async move {
        match &change.plan.database {
            Some(_) => deploy_schema(&app, &change, apply).await,
            None => deploy_code(&app, &change, apply).await,
        }
    });
    deployed.await.map_err(Problem::internal)?
}

async fn deploy_code(
    app: &App,
    Change { plan, pushed, .. }: &Change,
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
    Change { plan, state, place, pushed }: &Change,
    mut apply: impl FnMut(&mut Tx<'_>, Option<&str>) -> Result<State> + Send + 'static,
) -> Result<State> {
    let wish = plan.desired.database.clone();
    let wish = wish.ok_or_else(|| {
        Problem::invalid("plan", "must contain desired.database, because it changes the schema")
    })?;
    let slug = plan.slug.as_str();
    let mut draft = Draft::in_folder(&place.folder);
    let live = live(app, slug, place).await?;
    let make = making(app, &live, &draft, (state, &wish));
    apart(make.clone()).await?;
    let rehearsed = backend::rehearse(app, plan, pushed, Some(&draft.file)).await?;
    let engine = engine(app)?;
    let held = engine.hold(slug, &live).await?;
    apart(make).await?;
    let name = draft.name.clone();
    // From here on the database knows whether the file is needed; what is not is swept.
    draft.is_kept = true;
    let applied = app.db.write(move |tx| apply(tx, Some(&name))).await?;
    if let (Some(rehearsed), Some(version)) = (rehearsed, applied.version) {
        rehearsed.serve(slug, version);
    }
    sweep(app, slug, place).await;
    drop(held);
    Ok(applied)
}

/// What makes the draft of a schema's change, from what is in the live file when it runs.
fn making(
    app: &App,
    live: &Path,
    draft: &Draft,
    (state, wish): (&State, &DatabaseWish),
) -> impl FnOnce() -> Result<()> + Clone + Send + 'static {
    let (live, copy, wish) = (live.to_owned(), draft.file.clone(), wish.clone());
    let (before, now) = (state.database.clone(), app.clock.now());
    move || {
        schema::make(&live, &copy, (&before, &wish), now)?;
        settle(&copy)
    }
}

/// Does all that applying a plan needs but serving it, and leaves nothing of it but the uploaded files: the
/// schema is changed on a copy, the new version is started and asked, the transaction is taken back. It goes on
/// to its end whether its caller waits for it or not, since a copy that is half made could not be removed.
///
/// Errors: those of [`deploy`].
pub(crate) async fn rehearse(
    app: &App,
    change: Change,
    apply: impl FnMut(&mut Tx<'_>, Option<&str>) -> Result<State> + Send + 'static,
) -> Result<()> {
    let app = App::clone(app);
    let rehearsed = tokio::spawn(async move { rehearse_all(&app, &change, apply).await });
    rehearsed.await.map_err(Problem::internal)?
}

async fn rehearse_all(
    app: &App,
    Change { plan, state, place, pushed }: &Change,
    mut apply: impl FnMut(&mut Tx<'_>, Option<&str>) -> Result<State> + Send + 'static,
) -> Result<()> {
    let draft = Draft::in_folder(&place.folder);
    let database = match (&plan.database, &plan.desired.database) {
        (Some(_), Some(wish)) => {
            let live = live(app, &plan.slug, place).await?;
            apart(making(app, &live, &draft, (state, wish))).await?;
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
        // What fails is taken back.
        Err(Problem::internal("a rehearsal is rolled back"))
    });
    match tried.await {
        Err(_) if kept.load(Relaxed) => Ok(()),
        tried => tried,
    }
}

/// Puts another database in the place of the one that is served, while calls wait, whether its caller
/// waits for it or not. `make` makes it from the file that is served; `commit` is told its name.
pub(crate) async fn replace_database<T: Send + 'static>(
    app: &App,
    (slug, place): (String, ProjectLocation),
    make: impl FnOnce(&Path, &Path) -> Result<()> + Send + 'static,
    mut commit: impl FnMut(&mut Tx<'_>, &str) -> Result<T> + Send + 'static,
) -> Result<T> {
    let app = App::clone(app);
    let replaced = tokio::spawn(async move {
        let mut draft = Draft::in_folder(&place.folder);
        let live = live(&app, &slug, &place).await?;
        let engine = engine(&app)?;
        let held = engine.hold(&slug, &live).await?;
        let copy = draft.file.clone();
        apart(move || {
            make(&live, &copy)?;
            settle(&copy)
        })
        .await?;
        let name = draft.name.clone();
        draft.is_kept = true;
        let done = app.db.write(move |tx| commit(tx, &name)).await?;
        reinstall(&app, &engine, &slug).await?;
        sweep(&app, &slug, &place).await;
        drop(held);
        Ok(done)
    });
    replaced.await.map_err(Problem::internal)?
}

/// The file that is served.
async fn live(app: &App, slug: &str, place: &ProjectLocation) -> Result<PathBuf> {
    let (slug, folder) = (slug.to_owned(), place.folder.clone());
    std::fs::create_dir_all(&folder).map_err(Problem::internal)?;
    app.db
        .read(move |tx| Ok(databases::file_of(&folder, projects::lookup(tx, &slug)?.as_ref())))
        .await
}

/// Makes the name of a file durable; SQLite did so with its content.
fn settle(file: &Path) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(Problem::internal)
}

/// Removes files that nobody needs. What fails here is done again after the next change.
async fn sweep(app: &App, slug: &str, place: &ProjectLocation) {
    let (sought, folder) = (slug.to_owned(), place.folder.clone());
    match app.db.write(move |tx| databases::forget(tx, &sought)).await {
        Ok(named) => databases::sweep(&folder, &named),
        Err(problem) => tracing::warn!(slug, "cannot remove previous databases: {problem}"),
    }
}
