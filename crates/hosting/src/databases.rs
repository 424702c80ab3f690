//! The database files of projects. A change never touches the file that is served: it makes another one,
//! which takes its place in the transaction that serves the change; the one before stays a while.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use lyceum_blob::Blob;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_project::schema::{self, Schema};
use lyceum_project::{DatabaseState, SchemaWish};
use lyceum_store::Tx;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::deployments::Deployment;
use crate::projects::{self, Project};
use crate::repository;

/// The file of a database that nothing changed yet.
pub(crate) const FIRST: &str = "d1.sqlite";
/// What the names of all begin with.
const PREFIX: &str = "d1";

/// The schema that a version came with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    /// As DDL.
    pub ddl: String,
    /// As the deploy said it.
    pub wish: SchemaWish,
}

/// A file that was a project's database.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestorePoint {
    /// Its name.
    #[serde(rename = "id")]
    pub file: String,
    /// Until when it was served.
    pub at: Timestamp,
    /// The version that was served with it.
    pub version: i64,
    /// What took its place: `deploy`, `restore`, `seed`, …
    pub what: String,
}

/// The file that is served, which is not there before somebody uses it.
pub fn file_of(folder: &Path, project: Option<&Project>) -> PathBuf {
    named(folder, project.and_then(|project| project.database.as_deref()))
}

/// The file of that name, else the first one.
pub(crate) fn named(folder: &Path, name: Option<&str>) -> PathBuf {
    folder.join(name.unwrap_or(FIRST))
}

/// A name for a file that nothing has yet.
pub fn new_name() -> String {
    format!("{PREFIX}-{}.sqlite", Uuid::now_v7())
}

/// What a deploy is planned from.
pub(crate) fn state(
    folder: &Path,
    project: Option<&Project>,
    served: Option<&Deployment>,
) -> Result<DatabaseState> {
    let file = file_of(folder, project);
    let declared = served.and_then(|served| served.declared.as_ref());
    Ok(DatabaseState {
        ddl: schema::read(&file)?.ddl(),
        applied: schema::applied(&file)?,
        declared: declared.map(|declared| declared.ddl.clone()),
    })
}

/// Serves another file from now on; the one of the project as it was becomes a restore point.
pub fn replace(
    tx: &mut Tx<'_>,
    now: Timestamp,
    before: Option<&Project>,
    (slug, file, what): (&str, &str, &str),
) -> Result<()> {
    if let Some(before) = before {
        let point = RestorePoint {
            file: before.database.as_deref().unwrap_or(FIRST).to_owned(),
            at: now,
            version: before.version,
            what: what.to_owned(),
        };
        repository::databases::note(tx, slug, &point)?;
    }
    repository::databases::serve(tx, slug, file)
}

/// The files that a project can be turned back to, newest first. Errors: `NotFound`.
pub fn points(tx: &mut Tx<'_>, slug: &str) -> Result<Vec<RestorePoint>> {
    projects::find(tx, slug)?;
    repository::databases::points(tx, slug)
}

/// The point of that id, else the newest of those that a version was served with.
///
/// Errors: `NotFound`.
pub fn point(
    tx: &mut Tx<'_>,
    slug: &str,
    id: Option<&str>,
    version: Option<i64>,
) -> Result<RestorePoint> {
    let mut all = points(tx, slug)?.into_iter();
    let found = all.find(|point| {
        id.is_none_or(|id| point.file == id)
            && version.is_none_or(|version| point.version == version)
    });
    found.ok_or_else(|| {
        let message = format!(
            "the database of '{slug}' has no such restore point; `lyceum db points --remote` lists \
             those that are kept"
        );
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// Whether a version came with another schema than the database has now.
pub fn differs(folder: &Path, project: &Project, version: &Deployment) -> Result<bool> {
    let Some(declared) = &version.declared else { return Ok(false) };
    Ok(Schema::of(&declared.ddl)? != schema::read(&file_of(folder, Some(project)))?)
}

/// Forgets the oldest points; answers the files that are still named.
pub fn forget(tx: &mut Tx<'_>, slug: &str) -> Result<BTreeSet<String>> {
    repository::databases::forget(tx, slug, limits::RESTORE_POINTS_MAX_COUNT)?;
    let mut named: BTreeSet<String> =
        points(tx, slug)?.into_iter().map(|point| point.file).collect();
    named.insert(projects::find(tx, slug)?.database.unwrap_or_else(|| FIRST.to_owned()));
    Ok(named)
}

/// Removes the database files of a folder that nothing names.
pub fn sweep(folder: &Path, named: &BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let main = name.trim_end_matches("-wal").trim_end_matches("-shm");
        if name.starts_with(PREFIX) && main.ends_with(".sqlite") && !named.contains(main) {
            // What cannot be removed now is tried again after the next change.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A copy of a database, which is gone when it was read; none: there is no such file.
pub fn snapshot(file: &Path) -> Result<Option<Blob>> {
    if !file.exists() {
        return Ok(None);
    }
    let folder = tempfile::tempdir_in(file.parent().unwrap_or(Path::new(".")));
    let folder = folder.map_err(Problem::internal)?;
    let copy = folder.path().join("copy.sqlite");
    schema::backup(file, &copy)?;
    let file = File::open(&copy).map_err(Problem::internal)?;
    let size = file.metadata().map_err(Problem::internal)?.len();
    Ok(Some(Blob { file, size }))
}

/// Removes a file that never came to be served.
pub fn discard(file: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", file.display()));
    }
}
