//! Deletes a project: its versions, secrets, database, keys and bucket. Its game, members and audit log stay.
//!
//! The folder with the files is first moved aside, then the rows are deleted, then the moved folder. So a new project
//! with the same slug never finds files of the deleted one. After a crash, [`FolderAside::recover`] finishes or undoes
//! the deletion.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lyceum_blob::{Blobs, BucketInstallations, failed};
use lyceum_core::config::S3Settings;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use serde_json::json;
use uuid::Uuid;

use crate::limits::BUCKET_SPARED_S;
use crate::nodes::Node;
use crate::projects::{self, Project};
use crate::{audit, homes, repository};

/// A project's folder that was moved aside.
pub struct FolderAside {
    slug: String,
    /// Where the folder was; it is missing if the project has no files.
    original: PathBuf,
    /// Contains the folder under its name.
    parent: PathBuf,
    /// When it was moved. Objects that were written later belong to a new project with the slug.
    moved: Timestamp,
}

/// Moves the project's folder aside. Nothing may use its files.
pub fn move_aside(node: &Node, slug: &str) -> Result<FolderAside> {
    let original = node.folder_of(slug);
    let parent = node.deleted_folder().join(Uuid::now_v7().to_string());
    let moved = || -> io::Result<()> {
        fs::create_dir_all(&parent)?;
        match fs::rename(&original, parent.join(slug)) {
            // The project has no files.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !original.exists() => Ok(()),
            moved => moved,
        }
    };
    moved().map_err(|error| failed("move a project's folder aside", &error))?;
    let moved = moved_at(&parent).expect("its name has the time");
    Ok(FolderAside { slug: slug.to_owned(), original, parent, moved })
}

/// The time in the name of a folder in which a project's folder is aside; `None` for other folders.
fn moved_at(parent: &Path) -> Option<Timestamp> {
    let id = Uuid::parse_str(parent.file_name()?.to_str()?).ok()?;
    let (seconds, nanoseconds) = id.get_timestamp()?.to_unix();
    let milliseconds = i64::try_from(seconds).ok()?.checked_mul(1000)?;
    Some(Timestamp::from_milliseconds(milliseconds + i64::from(nanoseconds / 1_000_000)))
}

impl FolderAside {
    /// The project.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    fn folder(&self) -> PathBuf {
        self.parent.join(&self.slug)
    }

    /// Moves the folder back, because the project was not deleted.
    pub fn put_back(self) -> Result<()> {
        let moved = || -> io::Result<()> {
            if self.folder().exists() {
                fs::rename(self.folder(), &self.original)?;
            }
            ignore_missing(fs::remove_dir(&self.parent))
        };
        moved().map_err(|error| failed("move a project's folder back", &error))
    }

    /// Deletes the files. If the project had a bucket in S3, an emptied folder stays until [`FolderAside::resume`] deletes the
    /// objects.
    pub fn discard(self, s3: &S3Settings) -> Result<()> {
        if s3.bucket.is_empty() || !self.folder().join(homes::BUCKET).exists() {
            return self.remove();
        }
        self.empty()
    }

    /// Deletes the objects in S3, except for those that a new project with the slug wrote, once they have been unneeded as
    /// long as others are before they are deleted.
    fn discard_objects(
        self,
        now: Timestamp,
        s3: &S3Settings,
        installations: &BucketInstallations,
    ) -> Result<()> {
        self.empty()?;
        if now < self.moved.plus_seconds(BUCKET_SPARED_S) {
            return Ok(());
        }
        let objects = self.folder().join(homes::BUCKET).join("objects");
        let name = format!("projects/{}", self.slug);
        let blobs = Blobs::open_at(objects, s3, &name, installations.clone())?;
        match blobs.may_delete() && blobs.remove_written_before(self.moved)? {
            true => self.remove(),
            false => self.empty(),
        }
    }

    /// Deletes the files. What stays remembers that there are objects in S3.
    fn empty(&self) -> Result<()> {
        empty(&self.folder(), Some(homes::BUCKET))?;
        empty(&self.folder().join(homes::BUCKET), None)
    }

    /// Whether it only remembers that there are objects in S3.
    fn is_emptied(&self) -> Result<bool> {
        Ok(self.folder().join(homes::BUCKET).exists() && !has_files(&self.folder())?)
    }

    fn remove(&self) -> Result<()> {
        ignore_missing(fs::remove_dir_all(&self.parent))
            .map_err(|error| failed("delete a project's folder", &error))
    }

    /// Finishes what a crash interrupted. `exists` says whether the project has its rows.
    pub fn recover(self, exists: bool, s3: &S3Settings) -> Result<()> {
        match (exists, self.original.exists()) {
            // An emptied folder is of a former project with the slug.
            (true, false) if !self.is_emptied()? => self.put_back(),
            (true, false) => Ok(()),
            (true, true) => self.remove(),
            (false, _) => self.discard(s3),
        }
    }

    /// Finishes a deletion that waited until objects in S3 may be deleted. Leaves one alone that runs at this moment.
    pub fn resume(
        self,
        now: Timestamp,
        exists: bool,
        s3: &S3Settings,
        installations: &BucketInstallations,
    ) -> Result<()> {
        match (exists, self.original.exists()) {
            (true, false) => Ok(()),
            // A new project has the slug. Opening its bucket removes what the former one left in S3.
            (true, true) => self.remove(),
            (false, _) if s3.bucket.is_empty() => self.remove(),
            (false, _) => self.discard_objects(now, s3, installations),
        }
    }
}

/// Removes everything in a folder, except for the entry with that name.
fn empty(folder: &Path, kept: Option<&str>) -> Result<()> {
    let is_kept = |path: &Path| kept.is_some_and(|kept| path.ends_with(kept));
    for path in entries(folder)?.iter().filter(|path| !is_kept(path)) {
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        ignore_missing(removed).map_err(|error| failed("delete a file of a project", &error))?;
    }
    Ok(())
}

fn has_files(folder: &Path) -> Result<bool> {
    for path in entries(folder)? {
        if !path.is_dir() || has_files(&path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn ignore_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Deletes the project's rows. Errors: `NotFound`.
pub fn delete(tx: &mut Tx<'_>, now: Timestamp, who: &str, slug: &str) -> Result<Project> {
    let project = projects::find(tx, slug)?;
    repository::projects::delete(tx, &project)?;
    let details = json!({ "version": project.version });
    audit::note(tx, now, (slug, who), "delete", &details)?;
    Ok(project)
}

/// The folders that a crash left aside, or that wait until objects in S3 may be deleted, the last one first.
pub fn left_aside(node: &Node) -> Result<Vec<FolderAside>> {
    let mut parents = entries(&node.deleted_folder())?;
    parents.sort_unstable();
    let mut left = Vec::new();
    for parent in parents.into_iter().rev() {
        let folder = entries(&parent)?.into_iter().next();
        let slug = folder.and_then(|folder| Some(folder.file_name()?.to_str()?.to_owned()));
        if let (Some(slug), Some(moved)) = (slug, moved_at(&parent)) {
            left.push(FolderAside { original: node.folder_of(&slug), slug, parent, moved });
        }
    }
    Ok(left)
}

/// Removes the empty folders that a crash left. Nothing may delete projects meanwhile.
pub fn remove_empty(node: &Node) -> Result<()> {
    for parent in entries(&node.deleted_folder())? {
        if entries(&parent)?.is_empty() {
            ignore_missing(fs::remove_dir(&parent)).map_err(Problem::internal)?;
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed("list the folders of deleted projects", &error)),
    }
}
