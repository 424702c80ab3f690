//! Makes a backup.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use lyceum_blob::{Blobs, BucketInstallations, Digest, Hasher, failed};
use lyceum_core::config::S3Settings;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_project::schema;
use tempfile::TempDir;

use super::file::BackupWriter;
use super::{
    BackupCover, BackupEntry, BackupFile, BackupManifest, FileChecksum, NamedFiles, PREFIX,
};
use crate::bindings::copies;
use crate::homes;
use crate::limits;

/// A backup in progress: a folder next to the files of projects, with copies of databases and links to
/// blobs. Dropping it deletes the folder.
pub struct Backup {
    folder: PathBuf,
    blobs: Blobs,
    /// `None` if blobs are in S3 and not part of a backup.
    has_blobs: bool,
    staging: TempDir,
    now: Timestamp,
    /// Locked while the backup is made.
    _alone: File,
}

/// A finished backup.
#[derive(Clone, Debug)]
pub struct WrittenBackup {
    /// Its content.
    pub cover: BackupCover,
    /// Its size in bytes.
    pub bytes: u64,
    /// Number of files in it.
    pub files: u64,
    /// Files that the database names but the server does not have.
    pub missing: Vec<String>,
}

impl Backup {
    /// Begins a backup of the data folder. Errors: `Conflict` while another one is in progress.
    pub fn begin(data: &Path, s3: &S3Settings, now: Timestamp) -> Result<Self> {
        let folder = data.join(crate::FOLDER);
        // Blobs in a bucket are not part of it.
        let blobs = crate::blobs(data, s3, &BucketInstallations::default())?;
        let begun = || -> io::Result<Option<(File, TempDir)>> {
            // Locks the folder instead of a file in it, which would belong to the user who runs the first backup.
            let lock = File::open(&folder)?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(fault)) => return Err(fault),
            }
            // Removes what an interrupted backup left.
            for entry in fs::read_dir(&folder)?.flatten() {
                if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                    fs::remove_dir_all(entry.path())?;
                }
            }
            let staging = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&folder)?;
            Ok(Some((lock, staging)))
        };
        match begun().map_err(|fault| failed("begin a backup", &fault))? {
            Some((alone, staging)) => Ok(Self {
                folder,
                blobs,
                has_blobs: s3.bucket.is_empty(),
                staging,
                now,
                _alone: alone,
            }),
            None => {
                let message =
                    "another backup of this data folder is in progress; wait until it ends";
                Err(Problem::new(ProblemKind::Conflict, message))
            }
        }
    }

    /// Path for the copy of the database.
    pub fn database(&self) -> PathBuf {
        self.staging.path().join("database")
    }

    /// Stages the files that the database copy names: links to blobs and objects, copies of databases. Returns the
    /// missing entries, such as a file that was deleted after the copy was made. A new copy no longer names it.
    /// Files staged earlier are removed.
    pub fn stage(&self, named: &NamedFiles) -> Result<Vec<String>> {
        let links = self.blob_links();
        let staged = self.staged();
        let emptied = match fs::remove_dir_all(&staged) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(fault),
            _ => fs::create_dir_all(&links),
        };
        emptied.map_err(|fault| failed("begin a backup", &fault))?;
        let mut missing = Vec::new();
        for (slug, files) in &named.projects {
            self.stage_project(slug, files, &mut missing)?;
        }
        for (digest, is_needed) in all(named).filter(|_| self.has_blobs) {
            if !self.blobs.link(&digest, &links.join(digest.to_string()))? && is_needed {
                missing.push(BackupEntry::Blob(digest).path());
            }
        }
        Ok(missing)
    }

    /// Copies the files of a project. Each database is copied as of one instant.
    fn stage_project(&self, slug: &str, files: &[String], missing: &mut Vec<String>) -> Result<()> {
        let folder = self.folder.join("projects").join(slug);
        for file in files {
            let (from, copy) = (folder.join(file), self.copy_of(slug, file));
            if !from.exists() {
                missing.push(BackupEntry::File(slug.to_owned(), file.clone()).path());
                continue;
            }
            let made = fs::create_dir_all(copy.parent().unwrap_or(&copy));
            made.map_err(|fault| failed("copy a database", &fault))?;
            if *file == homes::index() {
                self.stage_bucket((slug, &folder), &copy, missing)?;
            } else {
                copied(&from, &copy)?;
            }
        }
        Ok(())
    }

    /// Copies the index of a bucket, and links the bytes of the objects in that copy.
    fn stage_bucket(
        &self,
        (slug, folder): (&str, &Path),
        copy: &Path,
        missing: &mut Vec<String>,
    ) -> Result<()> {
        let index = folder.join(homes::index());
        if !self.has_blobs {
            return copied(&index, copy);
        }
        let links = self.object_links(slug);
        fs::create_dir_all(&links).map_err(|fault| failed("copy a bucket", &fault))?;
        let blobs = Blobs::on_disk(folder.join(homes::BUCKET).join("objects"))?;
        let link = |digest: &Digest| blobs.link(digest, &links.join(digest.to_string())).map(drop);
        // Most links are made while the bucket is in use, and the rest while writers wait briefly.
        copies::pieces(&index)?.iter().try_for_each(link)?;
        copies::while_nobody_writes(&index, || {
            copied(&index, copy)?;
            for digest in copies::pieces(copy)? {
                link(&digest)?;
                if !links.join(digest.to_string()).exists() {
                    missing.push(BackupEntry::Object(slug.to_owned(), digest).path());
                }
            }
            Ok(())
        })
    }

    fn staged(&self) -> PathBuf {
        self.staging.path().join("staged")
    }

    fn blob_links(&self) -> PathBuf {
        self.staged().join("blobs")
    }

    fn object_links(&self, slug: &str) -> PathBuf {
        self.staged().join("objects").join(slug)
    }

    fn copy_of(&self, slug: &str, file: &str) -> PathBuf {
        self.staged().join("projects").join(slug).join(file)
    }

    /// Writes the backup from the database copy and the staged files. It gets its name when it is complete
    /// and synced. `missing` are entries that could not be staged; `on_read` is called with the number of bytes read.
    pub fn write(
        self,
        to: &BackupFile,
        cover: BackupCover,
        (named, missing): (&NamedFiles, Vec<String>),
        on_read: impl FnMut(u64),
    ) -> Result<WrittenBackup> {
        let (files, bytes) = self.archive(to, &cover, (named, &missing), on_read)?;
        Ok(WrittenBackup { cover, bytes, files, missing })
    }

    fn archive(
        &self,
        to: &BackupFile,
        cover: &BackupCover,
        (named, missing): (&NamedFiles, &[String]),
        on_read: impl FnMut(u64),
    ) -> Result<(u64, u64)> {
        let mut archive = Archive::create(to, self.now.seconds(), on_read)?;
        let text = serde_json::to_vec_pretty(cover).map_err(Problem::internal)?;
        archive.add(&BackupEntry::Cover, text.len() as u64, &text[..])?;
        if cover.has_database {
            archive.add_file(&BackupEntry::Database, &self.database())?;
        }
        for (slug, files) in &named.projects {
            for file in files {
                let copy = self.copy_of(slug, file);
                if !copy.exists() {
                    continue;
                }
                archive.add_file(&BackupEntry::File(slug.clone(), file.clone()), &copy)?;
                if *file == homes::index() && self.has_blobs {
                    self.objects(&mut archive, slug, &copy)?;
                }
            }
        }
        for (digest, _) in all(named).filter(|_| self.has_blobs) {
            let link = self.blob_links().join(digest.to_string());
            if link.exists() {
                archive.add_file(&BackupEntry::Blob(digest), &link)?;
            }
        }
        archive.end(missing)
    }

    /// The objects in the copy of a bucket's index.
    fn objects(
        &self,
        archive: &mut Archive<impl FnMut(u64)>,
        slug: &str,
        index: &Path,
    ) -> Result<()> {
        let links = self.object_links(slug);
        for digest in copies::pieces(index)? {
            let link = links.join(digest.to_string());
            if link.exists() {
                archive.add_file(&BackupEntry::Object(slug.to_owned(), digest), &link)?;
            }
        }
        Ok(())
    }
}

/// The files to stage, and whether the server must have them.
fn all(named: &NamedFiles) -> impl Iterator<Item = (Digest, bool)> {
    let others = named.others.difference(&named.blobs);
    let needed = named.blobs.iter().map(|digest| (*digest, true));
    needed.chain(others.map(|digest| (*digest, false)))
}

/// Copies a database. An empty file is an empty database.
fn copied(from: &Path, to: &Path) -> Result<()> {
    let size = fs::metadata(from).map_err(|fault| failed("copy a database", &fault))?.len();
    if size == 0 {
        return File::create(to).map(drop).map_err(|fault| failed("copy a database", &fault));
    }
    schema::backup(from, to)
}

/// The archive being written.
struct Archive<F> {
    tar: tar::Builder<zstd::Encoder<'static, BufWriter<BackupWriter>>>,
    seconds: u64,
    manifest: BackupManifest,
    names: Hasher,
    files: u64,
    bytes: u64,
    on_read: F,
}

impl<F: FnMut(u64)> Archive<F> {
    fn create(to: &BackupFile, seconds: i64, on_read: F) -> Result<Self> {
        let file = to.create()?;
        let made = || -> io::Result<_> {
            let buffered = BufWriter::with_capacity(limits::BACKUP_BUFFER_BYTES, file);
            let mut packed = zstd::Encoder::new(buffered, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            packed.include_checksum(true)?;
            Ok(tar::Builder::new(packed))
        };
        let tar = made().map_err(|fault| failed("write the backup", &fault))?;
        let seconds = u64::try_from(seconds).unwrap_or_default();
        let (manifest, names) = (BackupManifest::default(), Hasher::default());
        Ok(Self { tar, seconds, manifest, names, files: 0, bytes: 0, on_read })
    }

    fn add_file(&mut self, entry: &BackupEntry, file: &Path) -> Result<()> {
        let opened = File::open(file).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (size, file) = opened.map_err(|fault| failed("read what is backed up", &fault))?;
        self.add(entry, size, file)
    }

    fn add(&mut self, entry: &BackupEntry, size: u64, reader: impl Read) -> Result<()> {
        let path = entry.path();
        let mut header = tar::Header::new_gnu();
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(self.seconds);
        let before = self.bytes;
        let mut hashed = HashingReader::new(reader, |bytes| (self.on_read)(before + bytes));
        let added = self.tar.append_data(&mut header, &path, &mut hashed);
        let (digest, bytes) = (hashed.hash.digest(), hashed.bytes);
        added.map_err(|fault| failed("write the backup", &fault))?;
        self.bytes += bytes;
        self.files += 1;
        match entry.digest() {
            None => drop(self.manifest.files.insert(path, FileChecksum { size, sha256: digest })),
            Some(named) if named == digest => {
                self.manifest.blobs += 1;
                let _ = writeln!(self.names, "{path}");
            }
            Some(named) => {
                let message = message!(
                    "the file {named} on the server's disk is damaged: its bytes have the SHA-256 {digest}; \
                     `lyceum admin check` says where it belongs"
                );
                return Err(Problem::new(ProblemKind::Conflict, message));
            }
        }
        Ok(())
    }

    /// Ends the archive; returns the number of its entries and its size in bytes.
    fn end(mut self, missing: &[String]) -> Result<(u64, u64)> {
        self.manifest.blobs_sha256 = Some(self.names.digest());
        self.manifest.missing = missing.to_vec();
        let text = serde_json::to_vec_pretty(&self.manifest).map_err(Problem::internal)?;
        self.add(&BackupEntry::Manifest, text.len() as u64, &text[..])?;
        let files = self.files;
        let ended = || -> io::Result<BackupWriter> {
            let buffered = self.tar.into_inner()?.finish()?;
            buffered.into_inner().map_err(io::IntoInnerError::into_error)
        };
        let written = ended().map_err(|fault| failed("write the backup", &fault))?;
        Ok((files, written.finish()?))
    }
}

/// Hashes what is read through it.
pub(super) struct HashingReader<R, F> {
    reader: R,
    pub(super) hash: Hasher,
    pub(super) bytes: u64,
    /// The first read error.
    pub(super) failed: Option<String>,
    on_read: F,
}

impl<R, F> HashingReader<R, F> {
    pub(super) fn new(reader: R, on_read: F) -> Self {
        Self { reader, hash: Hasher::default(), bytes: 0, failed: None, on_read }
    }
}

impl<R: Read, F: FnMut(u64)> Read for HashingReader<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer);
        let count = read.inspect_err(|fault| self.failed = Some(fault.to_string()))?;
        self.hash.write_all(&buffer[..count])?;
        self.bytes += count as u64;
        (self.on_read)(self.bytes);
        Ok(count)
    }
}
