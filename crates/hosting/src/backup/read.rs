//! Reads a backup and checks every entry against its checksum.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use lyceum_blob::{Digest, Hasher, failed};
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_project::schema;
use tempfile::TempDir;

use super::write::HashingReader;
use super::{BackupCover, BackupEntry, BackupManifest, CHECK, FORMAT, FileChecksum, OpenBackup};
use crate::limits;

/// The result of checking a backup.
#[derive(Debug)]
pub struct BackupReport {
    /// Its content; `None` if it is too damaged to tell.
    pub cover: Option<BackupCover>,
    /// Number of entries read.
    pub files: u64,
    /// The errors, with the entry of each.
    pub faults: Vec<String>,
    /// The database, in a temporary folder owned by this value.
    pub database: Option<PathBuf>,
    /// Entries that were missing on the server when the backup was made.
    pub missing: Vec<String>,
    blobs: HashSet<Digest>,
    _folder: TempDir,
}

impl BackupReport {
    /// Whether the backup contains a blob.
    pub fn has(&self, digest: &Digest) -> bool {
        self.blobs.contains(digest)
    }
}

/// Reads a whole backup: the checksum of each entry, and the pages of each project database. `beside` is a folder in
/// which databases are unpacked, because the folder for temporary files may be in memory. `on_read` is called with the
/// number of bytes read.
pub fn check(backup: OpenBackup, beside: &Path, on_read: impl FnMut(u64)) -> Result<BackupReport> {
    let folder = tempfile::Builder::new()
        .prefix(CHECK)
        .tempdir_in(beside)
        .map_err(|fault| failed("unpack the backup", &fault))?;
    let (database, scratch) =
        (folder.path().join("database"), folder.path().join("project.sqlite"));
    let (mut blobs, mut damaged) = (HashSet::new(), Vec::new());
    let walked = walk(backup, on_read, |entry, reader| {
        match entry {
            BackupEntry::Database => write(&database, reader)?,
            BackupEntry::File(..) => {
                write(&scratch, reader)?;
                if let Err(problem) = schema::check(&scratch) {
                    damaged.push(format!("{}: {}", entry.path(), problem.message));
                }
                remove(&scratch);
            }
            BackupEntry::Blob(digest) => drop(blobs.insert(*digest)),
            _ => {}
        }
        Ok(())
    })?;
    let ArchiveContent { cover, files, mut faults, missing } = walked;
    faults.extend(damaged);
    let database = Some(database).filter(|file| file.exists());
    Ok(BackupReport { cover, files, faults, database, missing, blobs, _folder: folder })
}

/// Removes what checks left in a folder when their process was ended. No check may run there.
pub fn remove_unfinished_checks(folder: &Path) -> Result<()> {
    let removed = fs::read_dir(folder).and_then(|mut entries| {
        entries.try_for_each(|entry| {
            let entry = entry?;
            let is_check = entry.file_name().to_string_lossy().starts_with(CHECK);
            if is_check { fs::remove_dir_all(entry.path()) } else { Ok(()) }
        })
    });
    removed.map_err(|fault| failed("remove what a check of a backup left", &fault))
}

/// Removes the files that SQLite leaves next to a checked database.
fn remove(file: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", file.display()));
    }
}

pub(super) fn write(file: &Path, mut reader: impl Read) -> Result<()> {
    let written = File::create(file).and_then(|mut file| {
        io::copy(&mut reader, &mut file)?;
        file.sync_all()
    });
    written.map_err(|fault| failed("write what a backup holds", &fault))
}

/// The content of an archive.
#[derive(Debug, Default)]
pub(super) struct ArchiveContent {
    pub(super) cover: Option<BackupCover>,
    pub(super) files: u64,
    pub(super) faults: Vec<String>,
    pub(super) missing: Vec<String>,
}

/// Calls `visit` for each entry, which need not read it. Faults of the archive are listed with the entry; errors of
/// `visit` end the walk.
pub(super) fn walk(
    backup: OpenBackup,
    on_read: impl FnMut(u64),
    mut visit: impl FnMut(&BackupEntry, &mut dyn Read) -> Result<()>,
) -> Result<ArchiveContent> {
    let packed = HashingReader::new(backup.reader, on_read);
    let buffered = BufReader::with_capacity(limits::BACKUP_BUFFER_BYTES, packed);
    let opened = zstd::Decoder::with_buffer(buffered);
    let mut tar = tar::Archive::new(opened.map_err(|fault| failed("read the backup", &fault))?);
    let (mut walked, mut found) = (ArchiveContent::default(), FoundEntries::default());
    let mut last = "its beginning".to_owned();
    // Raw entries: otherwise the library reads long names into memory, whatever their size.
    let entries = tar.entries().map_err(|fault| failed("read the backup", &fault))?.raw(true);
    let mut long_name = None;
    for entry in entries {
        let read = entry.and_then(|mut entry| {
            if entry.header().entry_type().is_gnu_longname() {
                long_name = Some(name_in(&mut entry)?);
                return Ok(None);
            }
            let path = match long_name.take() {
                Some(name) => name,
                None => entry.path()?.to_string_lossy().into_owned(),
            };
            Ok(Some((path, entry)))
        });
        let (path, entry) = match read {
            Ok(Some(read)) => read,
            Ok(None) => continue,
            Err(fault) => {
                walked.faults.push(format!("after {last}: the archive is damaged: {fault}"));
                return Ok(walked);
            }
        };
        last = format!("the entry '{path}'");
        let Some(what) = BackupEntry::of(&path).filter(|_| entry.header().entry_type().is_file())
        else {
            walked.faults.push(format!("{path}: a backup cannot have such an entry"));
            continue;
        };
        let mut reader = HashingReader::new(entry, |_| ());
        let seen = match what {
            BackupEntry::Cover | BackupEntry::Manifest => found.add_entry(&what, &mut reader),
            _ => visit(&what, &mut reader),
        };
        // The reader knows what could not be read, so no second error is added.
        let _ = io::copy(&mut reader, &mut io::sink());
        if let Some(fault) = reader.failed {
            walked.faults.push(format!("{path}: the archive is damaged here: {fault}"));
            return Ok(walked);
        }
        seen?;
        walked.files += 1;
        found.note(
            &what,
            path,
            &FileChecksum { size: reader.bytes, sha256: reader.hash.digest() },
            &mut walked.faults,
        );
    }
    found.compare(&mut walked);
    Ok(walked)
}

/// The long name that a name entry gives to the next entry.
fn name_in(entry: &mut tar::Entry<'_, impl Read>) -> io::Result<String> {
    if entry.size() > limits::BACKUP_NAME_MAX_BYTES {
        let message = message!("the name of an entry has {size} bytes", size = entry.size());
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let mut name = Vec::new();
    entry.read_to_end(&mut name)?;
    Ok(String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned())
}

/// Checksums of the entries, to be compared with the manifest.
#[derive(Default)]
struct FoundEntries {
    cover: Option<BackupCover>,
    manifest: Option<BackupManifest>,
    files: BTreeMap<String, FileChecksum>,
    blobs: u64,
    names: Hasher,
}

impl FoundEntries {
    fn add_entry(&mut self, what: &BackupEntry, reader: &mut dyn Read) -> Result<()> {
        let mut text = Vec::new();
        let most = limits::BACKUP_MANIFEST_MAX_BYTES;
        let read = reader.take(most).read_to_end(&mut text);
        read.map_err(|fault| failed("read the backup", &fault))?;
        match what {
            BackupEntry::Cover => self.cover = serde_json::from_slice(&text).ok(),
            _ => self.manifest = serde_json::from_slice(&text).ok(),
        }
        match &self.cover {
            Some(cover) if cover.format != FORMAT => {
                let message = message!(
                    "the backup has format {cover.format}, but this release reads format {FORMAT}; restore it with \
                     release {cover.release}"
                );
                Err(Problem::new(ProblemKind::Invalid, message))
            }
            _ => Ok(()),
        }
    }

    fn note(
        &mut self,
        what: &BackupEntry,
        path: String,
        sum: &FileChecksum,
        faults: &mut Vec<String>,
    ) {
        match what.digest() {
            Some(digest) => {
                if digest != sum.sha256 {
                    faults.push(format!("{path}: its bytes have the SHA-256 {}", sum.sha256));
                }
                self.blobs += 1;
                let _ = writeln!(self.names, "{path}");
            }
            None if *what != BackupEntry::Manifest => drop(self.files.insert(path, sum.clone())),
            None => {}
        }
    }

    fn compare(self, walked: &mut ArchiveContent) {
        walked.cover = self.cover;
        let Some(manifest) = self.manifest else {
            walked.faults.push(
                "manifest.json: the file is missing or damaged, so the backup is incomplete".into(),
            );
            return;
        };
        if walked.cover.is_none() {
            walked.faults.push("backup.json: the file is missing or damaged".to_owned());
        }
        for (path, sum) in &manifest.files {
            match self.files.get(path) {
                None => walked.faults.push(format!("{path}: the file is missing")),
                Some(found) if found != sum => walked.faults.push(format!(
                    "{path}: it has {} bytes with the SHA-256 {}, but the manifest says {} bytes with {}",
                    found.size, found.sha256, sum.size, sum.sha256
                )),
                Some(_) => {}
            }
        }
        for path in self.files.keys().filter(|path| !manifest.files.contains_key(*path)) {
            walked.faults.push(format!("{path}: it is not in the manifest"));
        }
        if (manifest.blobs, manifest.blobs_sha256) != (self.blobs, Some(self.names.digest())) {
            walked.faults.push(format!(
                "manifest.json: it lists {} files by content, but the archive has {} or different ones",
                manifest.blobs, self.blobs
            ));
        }
        walked.missing = manifest.missing;
    }
}
