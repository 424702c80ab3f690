//! Deletes a project: its versions, secrets, database, keys and bucket. Its game, members and audit log stay.
//!
//! The folder with the files is first moved aside, then the rows are deleted, then the moved folder. So a new project
//! with the same slug never finds files of the deleted one. After a crash, [`FolderAside::recover`] finishes or undoes
//! the deletion.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lyceum_blob::{Blobs, failed};
use lyceum_core::config::S3Settings;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use serde_json::json;
use uuid::Uuid;

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
}

/// Moves the project's folder aside. Nothing may use its files.
pub fn move_aside(node: &Node, slug: &str) -> Result<FolderAside> {
    let original = node.folder_of(slug);
    let parent = node.deleted_folder().join(Uuid::now_v7().to_string());
    let moved = || -> io::Result<()> {
        fs::create_dir_all(&parent)?;
        match fs::rename(&original, parent.join(slug)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            moved => moved,
        }
    };
    moved().map_err(|error| failed("move a project's folder aside", &error))?;
    Ok(FolderAside { slug: slug.to_owned(), original, parent })
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
            fs::remove_dir(&self.parent)
        };
        moved().map_err(|error| failed("move a project's folder back", &error))
    }

    /// Deletes the folder, and the bytes of its bucket in S3. `now` is the time of the deletion: objects that a new
    /// project with the slug writes later stay.
    pub fn discard(self, s3: &S3Settings, now: Timestamp) -> Result<()> {
        let bucket = self.folder().join(homes::BUCKET);
        if !s3.bucket.is_empty() && bucket.exists() {
            let name = format!("projects/{}", self.slug);
            let blobs = Blobs::open_at(bucket.join("objects"), s3, &name)?;
            blobs.sweep(now, Duration::ZERO, |_| false)?;
        }
        self.remove()
    }

    fn remove(&self) -> Result<()> {
        fs::remove_dir_all(&self.parent)
            .map_err(|error| failed("delete a project's folder", &error))
    }

    /// Finishes what a crash interrupted. `exists` says whether the project has its rows.
    pub fn recover(self, exists: bool, s3: &S3Settings, now: Timestamp) -> Result<()> {
        match (exists, self.original.exists()) {
            (true, false) => self.put_back(),
            // A new project has the slug. Opening its bucket removes what the former one left in S3.
            (true, true) => self.remove(),
            (false, _) => self.discard(s3, now),
        }
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

/// The folders that a crash left aside.
pub fn left_aside(node: &Node) -> Result<Vec<FolderAside>> {
    let mut left = Vec::new();
    for parent in entries(&node.deleted_folder())? {
        let mut folders = entries(&parent)?.into_iter();
        match folders.next().and_then(|folder| Some(folder.file_name()?.to_str()?.to_owned())) {
            Some(slug) => {
                left.push(FolderAside { original: node.folder_of(&slug), slug, parent });
            }
            None => fs::remove_dir(&parent).map_err(Problem::internal)?,
        }
    }
    Ok(left)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed("list the folders of deleted projects", &error)),
    }
}
