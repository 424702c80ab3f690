//! The database files of projects. A change never modifies the file in use: it creates another file,
//! which replaces it in the transaction that serves the change. The previous file stays as a restore point.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use lyceum_blob::Blob;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_project::schema::{self, Schema};
use lyceum_project::{Binding, DatabaseState};
use lyceum_store::Tx;
use uuid::Uuid;

use crate::deployments::Deployment;
use crate::limits;
use crate::projects::{self, Project};
use crate::repository;

pub use crate::repository::databases::RestorePoint;
pub use crate::repository::deployments::DeclaredSchema;

/// Name of the first database file.
pub(crate) const FIRST: &str = Binding::Database.names().on_server;
/// Prefix of all database file names.
const PREFIX: &str = "d1";

/// Path of the current file, which does not exist until the database is first used.
pub fn file_of(folder: &Path, project: Option<&Project>) -> PathBuf {
    database_path(folder, project.and_then(|project| project.database.as_deref()))
}

/// Path of the file with that name, or of the first one.
pub(crate) fn database_path(folder: &Path, name: Option<&str>) -> PathBuf {
    folder.join(name.unwrap_or(FIRST))
}

/// An unused file name.
pub fn new_name() -> String {
    format!("{PREFIX}-{}.sqlite", Uuid::now_v7())
}

/// The database's state, from which a deploy is planned.
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

/// Switches to another file. The previous database becomes a restore point.
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

/// The restore points of a project, newest first. Errors: `NotFound`.
pub fn points(tx: &mut Tx<'_>, slug: &str) -> Result<Vec<RestorePoint>> {
    projects::find(tx, slug)?;
    repository::databases::points(tx, slug)
}

/// The restore point with that id, or the newest one with which a version was served.
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
        let message = message!(
            "the database of '{slug}' has no such restore point; run `lyceum db points --remote` to \
             list them"
        );
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// Whether a version had a different schema than the database has now.
pub fn differs(folder: &Path, project: &Project, version: &Deployment) -> Result<bool> {
    let Some(declared) = &version.declared else { return Ok(false) };
    Ok(Schema::of(&declared.ddl)? != schema::read(&file_of(folder, Some(project)))?)
}

/// Deletes the oldest restore points. Returns the files that are still in use.
pub fn forget(tx: &mut Tx<'_>, slug: &str) -> Result<BTreeSet<String>> {
    repository::databases::forget(tx, slug, limits::RESTORE_POINTS_MAX_COUNT)?;
    let mut named: BTreeSet<String> =
        points(tx, slug)?.into_iter().map(|point| point.file).collect();
    named.insert(projects::find(tx, slug)?.database.unwrap_or_else(|| FIRST.to_owned()));
    Ok(named)
}

/// Removes the database files of a folder that no project uses.
pub fn sweep(folder: &Path, named: &BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let main = name.trim_end_matches("-wal").trim_end_matches("-shm");
        if name.starts_with(PREFIX) && main.ends_with(".sqlite") && !named.contains(main) {
            // The next change tries again to remove what cannot be removed now.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A temporary copy of a database, deleted after reading; `None` if the file does not exist.
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

/// Removes a file that was never served.
pub fn discard(file: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", file.display()));
    }
}
