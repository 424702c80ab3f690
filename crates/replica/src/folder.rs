//! Replicas in a folder. An object exists completely or not at all, and survives a crash of the machine.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use lyceum_core::time::Timestamp;
use tempfile::NamedTempFile;

/// The folder of objects that are being written.
const UNFINISHED: &str = "unfinished";

#[derive(Debug)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// A draft of an object, which exists once [`Folder::keep`] returns.
    pub(crate) fn draft(&self, key: &str) -> io::Result<NamedTempFile> {
        let folder = self.folder_of(key);
        let missing: Vec<&Path> = folder.ancestors().take_while(|one| !one.exists()).collect();
        fs::create_dir_all(&folder)?;
        for made in missing {
            sync(made.parent().unwrap_or(&self.0))?;
        }
        let unfinished = self.0.join(UNFINISHED);
        fs::create_dir_all(&unfinished)?;
        NamedTempFile::new_in(unfinished)
    }

    /// Deletes drafts that nobody has written to since `until`: a kill left them.
    pub(crate) fn delete_unfinished(&self, until: Timestamp) -> io::Result<()> {
        let until = Duration::from_millis(u64::try_from(until.milliseconds()).unwrap_or(0));
        for draft in ignore_missing(fs::read_dir(self.0.join(UNFINISHED)))?.into_iter().flatten() {
            let draft = draft?;
            let Some(data) = ignore_missing(draft.metadata())? else { continue };
            if data.modified()? < UNIX_EPOCH + until {
                ignore_missing(fs::remove_file(draft.path()))?;
            }
        }
        Ok(())
    }

    pub(crate) fn keep(&self, key: &str, draft: NamedTempFile) -> io::Result<()> {
        draft.as_file().sync_all()?;
        draft.persist(self.0.join(key))?;
        sync(&self.folder_of(key))
    }

    pub(crate) fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        let mut draft = self.draft(key)?;
        draft.write_all(bytes)?;
        self.keep(key, draft)
    }

    /// `None` if the object does not exist.
    pub(crate) fn open(&self, key: &str) -> io::Result<Option<File>> {
        ignore_missing(File::open(self.0.join(key)))
    }

    pub(crate) fn delete(&self, key: &str) -> io::Result<()> {
        ignore_missing(fs::remove_file(self.0.join(key))).map(drop)
    }

    /// The keys of all objects below a prefix, with their sizes in bytes.
    pub(crate) fn list(&self, below: &str) -> io::Result<Vec<(String, u64)>> {
        let (mut folders, mut objects) = (vec![self.0.join(below)], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in ignore_missing(fs::read_dir(folder))?.into_iter().flatten() {
                let entry = entry?;
                let (path, data) = (entry.path(), ignore_missing(entry.metadata())?);
                let key = path.strip_prefix(&self.0).ok().and_then(Path::to_str);
                match (data, key) {
                    (Some(data), _) if data.is_dir() => folders.push(path),
                    (Some(data), Some(key)) => objects.push((key.to_owned(), data.len())),
                    _ => {}
                }
            }
        }
        Ok(objects)
    }

    /// The names of the folders in a folder.
    pub(crate) fn folders(&self, below: &str) -> io::Result<Vec<String>> {
        let entries = ignore_missing(fs::read_dir(self.0.join(below)))?;
        let folders = entries.into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
        Ok(folders.filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    fn folder_of(&self, key: &str) -> PathBuf {
        self.0.join(key).parent().unwrap_or(&self.0).to_owned()
    }
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn ignore_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(fault) => Err(fault),
    }
}
