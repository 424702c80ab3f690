//! The pictures, sound, films and stylesheets beside the documents of an import or export.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use lyceum_assessment::files::{self, NewFile};
use lyceum_assessment::{ContentKind, limits};
use lyceum_blob::Blobs;
use lyceum_core::config::Config;
use lyceum_core::messages::io_reason;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_qti::{FileReference, referenced_files};
use lyceum_store::{Db, Tx};

use super::library::flat;
use crate::settings;

/// An export writes a file to which its document refers over more `../` than this beside the document.
const FOLDERS_UP_MAX_COUNT: usize = 16;

/// Stores the files to which documents refer.
pub(super) struct DocumentFileImport {
    blobs: Blobs,
    /// The files whose bytes are stored, without links.
    stored: HashSet<PathBuf>,
    /// The folders that were named for the import, without links. A document does not make the import read other files.
    folders: Vec<PathBuf>,
}

/// The place of a file, from the folder of its document.
fn place(folder: &Path, reference: &FileReference) -> PathBuf {
    folder.join("../".repeat(reference.folders_up)).join(&reference.path)
}

fn folder_of(document: &Path) -> &Path {
    match document.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

impl DocumentFileImport {
    /// Errors: `Internal` if a folder cannot be read or the files cannot be stored.
    pub(super) fn new(paths: &[PathBuf], config: &Config, db: &Db) -> Result<Self> {
        let folder = |path: &PathBuf| {
            let folder = if path.is_dir() { path } else { folder_of(path) };
            fs::canonicalize(folder).map_err(|error| {
                let message = message!(
                    "'{folder}': {reason}",
                    folder = folder.display(),
                    reason = io_reason(&error)
                );
                Problem::new(ProblemKind::Invalid, message)
            })
        };
        let folders = paths.iter().map(folder).collect::<Result<_>>()?;
        let blobs = settings::blobs(config, db)?;
        Ok(Self { blobs, stored: HashSet::new(), folders })
    }

    /// Stores the bytes of the files to which the document in the file `path` refers. It runs before the transaction, so
    /// that a server which uses the same store does not wait for disks and buckets. Files that cannot be stored are left
    /// out with a warning.
    pub(super) fn store_bytes(
        &mut self,
        path: &Path,
        text: &str,
        warn: impl Fn(&str),
    ) -> Result<Vec<NewFile>> {
        let mut stored: Vec<NewFile> = Vec::new();
        for reference in referenced_files(text).map_err(lyceum_qti::Faults::from)? {
            let bytes = match stored.iter().any(|file| file.path == reference.path) {
                true => Err("another reference of the document, with more or fewer '../', has the same path".into()),
                false => self.read(path, &reference),
            };
            match bytes {
                Ok((file, place, bytes)) => {
                    self.stored.insert(place);
                    let mut writer = self.blobs.writer()?;
                    writer.write_all(&bytes).map_err(Problem::internal)?;
                    let (size, sha256) = (bytes.len() as u64, writer.store()?.to_string());
                    stored.push(NewFile { path: file, sha256, size });
                }
                Err(reason) => warn(&not_stored(path, &reference.path, &reason)),
            }
        }
        Ok(stored)
    }

    /// Whether the bytes of a file are stored.
    pub(super) fn has_stored(&self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|place| self.stored.contains(&place))
    }

    /// The path of a file in its document, its place and its bytes. Errors: why it cannot be stored.
    fn read(
        &self,
        document: &Path,
        reference: &FileReference,
    ) -> Result<(String, PathBuf, Vec<u8>), String> {
        let reason = |error: std::io::Error| io_reason(&error).to_string();
        let path =
            files::check_path(&reference.path).map_err(|problem| problem.message.to_string())?;
        // Without links, which may lead out of the folder.
        let place = fs::canonicalize(place(folder_of(document), reference)).map_err(reason)?;
        if !self.folders.iter().any(|folder| place.starts_with(folder)) {
            return Err("it is outside of the imported folder".into());
        }
        let found = fs::metadata(&place).map_err(reason)?;
        if !found.is_file() {
            return Err("it is not a file".into());
        }
        let (size, most) = (found.len(), limits::ITEM_FILE_MAX_BYTES);
        if size > most as u64 {
            return Err(format!("it has {size} bytes; the limit is {most} bytes"));
        }
        let bytes = fs::read(&place).map_err(reason)?;
        Ok((path, place, bytes))
    }
}

fn not_stored(document: &Path, file: &str, reason: &str) -> String {
    format!("'{}': its file '{file}' is not stored: {reason}", document.display())
}

/// Adds files whose bytes are stored to a document that was read from the file `path`, and returns their number. Files
/// that the document cannot have are left out with a warning.
pub(super) fn add_files(
    tx: &mut Tx<'_>,
    now: Timestamp,
    path: &Path,
    (kind, identifier): (ContentKind, &str),
    stored: &[NewFile],
    warn: impl Fn(&str),
) -> Result<usize> {
    let mut count = 0;
    for file in stored {
        match files::put(tx, now, kind, identifier, file) {
            Err(problem) if problem.kind == ProblemKind::Conflict => {
                warn(&not_stored(path, &file.path, &problem.message.to_string()));
            }
            added => {
                added?;
                count += 1;
            }
        }
    }
    Ok(count)
}

/// A document to export, with its files.
pub(super) struct DocumentWithFiles {
    /// The path of each file below the document's own folder, and the SHA-256 of its bytes.
    files: Vec<(PathBuf, String)>,
    /// Where the document is below its own folder, so that its references lead to the files.
    folder: PathBuf,
}

impl DocumentWithFiles {
    /// Reads which files a document has; `None` if it has no files.
    pub(super) fn find(
        tx: &mut Tx<'_>,
        (kind, identifier): (ContentKind, &str),
        text: impl FnOnce() -> Result<String>,
    ) -> Result<Option<Self>> {
        let stored = files::list_stored(tx, kind, identifier)?;
        if stored.is_empty() {
            return Ok(None);
        }
        let mut references = referenced_files(&text()?).map_err(lyceum_qti::Faults::from)?;
        references.retain(|reference| reference.folders_up <= FOLDERS_UP_MAX_COUNT);
        let depth = references.iter().map(|reference| reference.folders_up).max().unwrap_or(0);
        let folder: PathBuf = std::iter::repeat_n("document", depth).collect();
        let mut files = Vec::new();
        for file in stored {
            let named: Vec<_> = references.iter().filter(|one| one.path == file.path).collect();
            let places = named.iter().map(|reference| flat(&place(&folder, reference)));
            let unnamed = named.is_empty().then(|| folder.join(&file.path));
            files.extend(places.chain(unnamed).map(|place| (place, file.sha256.clone())));
        }
        Ok(Some(Self { files, folder }))
    }

    /// Writes the files into the document's own folder, and returns the folder for the document itself. Files without
    /// bytes, and files whose names are folders of others, are left out with a warning.
    pub(super) fn write(&self, blobs: &Blobs, own: &Path, warn: impl Fn(&str)) -> Result<PathBuf> {
        let failed = |place: &Path, error: &std::io::Error| {
            Problem::internal(format!("'{}' cannot be written: {error}", place.display()))
        };
        let folder = own.join(&self.folder);
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        let above =
            |place: &Path| place.ancestors().skip(1).map(Path::to_owned).collect::<Vec<_>>();
        let folders: HashSet<PathBuf> =
            self.files.iter().flat_map(|(place, _)| above(place)).collect();
        for (place, sha256) in &self.files {
            let left_out = |reason: &str| {
                warn(&format!("'{}' is not exported: {reason}", own.join(place).display()));
            };
            if folders.contains(place) {
                left_out("other files of the document are in a folder with its name");
                continue;
            }
            let Some(bytes) = blobs.read(&sha256.parse()?)? else {
                left_out("its bytes are missing; `lyceum admin check` lists missing files");
                continue;
            };
            let place = own.join(place);
            fs::create_dir_all(folder_of(&place)).map_err(|error| failed(&place, &error))?;
            fs::write(&place, bytes).map_err(|error| failed(&place, &error))?;
        }
        Ok(folder)
    }
}
