//! The pictures, sound, films and stylesheets beside the documents of an import or export.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use lyceum_assessment::files::{self, NewFile};
use lyceum_assessment::{Kind, limits};
use lyceum_core::config::Config;
use lyceum_core::messages::io_reason;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_qti::{FileReference, referenced_files};
use lyceum_store::Tx;

use super::library::flat;

/// Stores the files to which documents refer.
pub(super) struct FilesBeside<'c> {
    config: &'c Config,
    /// The folders that were named for the import. A document does not make the import read other files.
    folders: Vec<PathBuf>,
}

/// The place of a file, from the folder of its document.
fn place(folder: &Path, reference: &FileReference) -> PathBuf {
    let up = "../".repeat(reference.folders_up);
    flat(&folder.join(up).join(&reference.path))
}

fn folder_of(document: &Path) -> &Path {
    document.parent().unwrap_or(Path::new(""))
}

impl<'c> FilesBeside<'c> {
    pub(super) fn new(paths: &[PathBuf], config: &'c Config) -> Self {
        let folder = |path: &PathBuf| match path.is_dir() {
            true => flat(path),
            false => flat(folder_of(path)),
        };
        Self { config, folders: paths.iter().map(folder).collect() }
    }

    /// Stores the files to which a document in the file `path` refers, and returns their number. Files that cannot be
    /// stored are left out with a warning.
    pub(super) fn store(
        &self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        path: &Path,
        (kind, identifier, text): (Kind, &str, &str),
        warn: impl Fn(&str),
    ) -> Result<usize> {
        let mut stored = 0;
        if kind == Kind::Test {
            return Ok(stored);
        }
        for reference in referenced_files(text).map_err(lyceum_qti::Faults::from)? {
            match self.read(path, &reference) {
                Ok((file, bytes)) => {
                    let blobs = lyceum_hosting::blobs(&self.config.store.data, &self.config.s3)?;
                    let mut writer = blobs.writer()?;
                    writer.write_all(&bytes).map_err(Problem::internal)?;
                    let (size, sha256) = (bytes.len() as u64, writer.keep()?.to_string());
                    let file = NewFile { path: file, sha256, size };
                    files::put(tx, now, kind, identifier, &file)?;
                    stored += 1;
                }
                Err(reason) => {
                    let (path, file) = (path.display(), &reference.path);
                    warn(&format!("'{path}': its file '{file}' is not stored: {reason}"));
                }
            }
        }
        Ok(stored)
    }

    /// The path and the bytes of a file. Errors: why it cannot be stored.
    fn read(
        &self,
        document: &Path,
        reference: &FileReference,
    ) -> Result<(String, Vec<u8>), String> {
        let place = place(folder_of(document), reference);
        let path = files::check_path(&reference.path).map_err(|problem| problem.message)?;
        if !self.folders.iter().any(|folder| place.starts_with(folder)) {
            return Err("it is outside of the imported folder".into());
        }
        let size = fs::metadata(&place).map_err(|error| io_reason(&error).to_string())?.len();
        let most = limits::ITEM_FILE_MAX_BYTES;
        if size > most as u64 {
            return Err(format!("it has {size} bytes; the limit is {most} bytes"));
        }
        Ok((path, fs::read(&place).map_err(|error| io_reason(&error).to_string())?))
    }
}

/// A document to export, with its files.
pub(super) struct DocumentWithFiles {
    /// The path of each file below the document's own folder, and the SHA-256 of its bytes.
    files: Vec<(PathBuf, String)>,
    /// Where the document is below its own folder, so that its references lead to the files.
    folder: PathBuf,
}

impl DocumentWithFiles {
    /// Reads which files a document has.
    pub(super) fn of(
        tx: &mut Tx<'_>,
        (kind, identifier, text): (Kind, &str, &str),
    ) -> Result<Self> {
        let stored = files::list(tx, kind, identifier)?;
        let references = referenced_files(text).map_err(lyceum_qti::Faults::from)?;
        let depth = references.iter().map(|reference| reference.folders_up).max().unwrap_or(0);
        let folder: PathBuf = std::iter::repeat_n("document", depth).collect();
        let mut files = Vec::new();
        for file in stored {
            let named: Vec<_> = references.iter().filter(|one| one.path == file.path).collect();
            let places = named.iter().map(|reference| place(&folder, reference));
            let unnamed = named.is_empty().then(|| folder.join(&file.path));
            files.extend(places.chain(unnamed).map(|place| (place, file.sha256.clone())));
        }
        Ok(Self { files, folder })
    }

    /// Writes the files into the document's own folder, and returns the folder for the document itself.
    pub(super) fn write(&self, config: &Config, own: &Path) -> Result<PathBuf> {
        let failed = |place: &Path, error: &std::io::Error| {
            Problem::internal(format!("'{}' cannot be written: {error}", place.display()))
        };
        let folder = own.join(&self.folder);
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        let blobs = lyceum_hosting::blobs(&config.store.data, &config.s3)?;
        for (place, sha256) in &self.files {
            let bytes = blobs.read(&sha256.parse()?)?;
            let bytes = bytes
                .ok_or_else(|| Problem::internal(format!("the blob {sha256} does not exist")))?;
            let place = own.join(place);
            fs::create_dir_all(folder_of(&place)).map_err(|error| failed(&place, &error))?;
            fs::write(&place, bytes).map_err(|error| failed(&place, &error))?;
        }
        Ok(folder)
    }
}
