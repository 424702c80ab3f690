//! The store on disk: `blobs/ab/cd/abcd…` are complete files, `uploads/…` are incomplete ones. With a bucket:
//! `copies/ab/cd/abcd…` were read recently, and `asked/abcd…` was written when somebody last needed or asked for a blob
//! that nothing needs any more.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use lyceum_core::config::S3Settings;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};

use crate::limits::BLOB_COPIES_MAX_BYTES;
use crate::remote::Remote;
use crate::{BucketInstallations, Digest, Writer, failed};

/// A store of blobs in its own folder. Cheap to clone; all clones are the same store.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
    remote: Option<Arc<Remote>>,
    /// Locks of uploads by id, so that only one thread writes to an upload.
    pub(crate) writing: Arc<[Mutex<()>; UPLOADS]>,
}

pub(crate) const UPLOADS: usize = 64;

/// An open blob. It stays readable even if it is removed meanwhile.
#[derive(Debug)]
pub struct Blob {
    /// The bytes, from the first on.
    pub file: File,
    /// The number of bytes.
    pub size: u64,
}

/// The result of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Blobs that nothing needs.
    pub blobs: u64,
    /// Abandoned uploads.
    pub uploads: u64,
}

impl Blobs {
    /// The store in this folder, which is created if it is missing.
    pub fn on_disk(root: impl Into<PathBuf>) -> Result<Self> {
        Self::with(root.into(), None)
    }

    /// The store `name` in a bucket, with copies and uploads in this folder.
    ///
    /// Errors: `Invalid` if the settings do not name a usable bucket.
    pub fn in_s3(
        root: impl Into<PathBuf>,
        s3: &S3Settings,
        name: &str,
        installations: BucketInstallations,
    ) -> Result<Self> {
        let remote = Some(Arc::new(Remote::open(s3, name, installations)?));
        Self::with(root.into(), remote)
    }

    /// The store that the settings select: in their bucket, or on disk.
    pub fn open_at(
        root: impl Into<PathBuf>,
        s3: &S3Settings,
        name: &str,
        installations: BucketInstallations,
    ) -> Result<Self> {
        match s3.bucket.as_str() {
            "" => Self::on_disk(root),
            _ => Self::in_s3(root, s3, name, installations),
        }
    }

    fn with(root: PathBuf, remote: Option<Arc<Remote>>) -> Result<Self> {
        let writing = Arc::new([const { Mutex::new(()) }; UPLOADS]);
        let blobs = Self { root, remote, writing };
        let asked = blobs.remote.as_ref().map(|_| blobs.root.join("asked"));
        for folder in [blobs.complete_blobs(), blobs.uploads()].into_iter().chain(asked) {
            fs::create_dir_all(&folder)
                .map_err(|fault| failed(&format!("make {}", folder.display()), &fault))?;
        }
        Ok(blobs)
    }

    /// Whether blobs that nothing needs can be removed now: on disk always, in a bucket if deletions are allowed.
    pub fn may_delete(&self) -> bool {
        self.remote.as_ref().is_none_or(|remote| !remote.deletable().is_empty())
    }

    /// The folder of complete blobs.
    fn complete_blobs(&self) -> PathBuf {
        self.root.join(if self.remote.is_some() { "copies" } else { "blobs" })
    }

    /// Stores what the reader returns, and returns its size. The blob is durable when this returns.
    ///
    /// Errors: `Invalid` if the bytes do not match the digest; nothing is stored then.
    pub fn put(&self, sha256: &Digest, mut reader: impl Read) -> Result<u64> {
        let mut writer = self.writer()?;
        let size = io::copy(&mut reader, &mut writer).map_err(|fault| failed("write", &fault))?;
        let found = writer.digest();
        if found != *sha256 {
            return Err(not_those(sha256, &found));
        }
        writer.store()?;
        Ok(size)
    }

    /// A writer for a blob whose digest is known only after its last byte.
    pub fn writer(&self) -> Result<Writer> {
        Writer::new(self.clone())
    }

    /// Whether the blob exists. This also protects it from sweeps, see [`Blobs::spare`], and copies one that only another
    /// installation has in the bucket.
    pub fn has(&self, sha256: &Digest) -> Result<bool> {
        // First, so that no sweep removes the blob in between.
        let is_here = self.spare(sha256)?;
        match &self.remote {
            Some(remote) => remote.copy_to_own(sha256),
            None => Ok(is_here),
        }
    }

    /// Protects the blob from [`Blobs::sweep`] for as long as a blob that is stored now. Returns whether this folder has
    /// it. Asks no bucket.
    pub fn spare(&self, sha256: &Digest) -> Result<bool> {
        if self.remote.is_some() {
            fs::write(self.asked(sha256), "").map_err(|fault| failed("note a blob", &fault))?;
        }
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let now = Timestamps { last_access: now, last_modification: now };
        match utimensat(CWD, self.path(sha256), &now, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(fault) => Err(failed("touch a blob", &fault.into())),
        }
    }

    /// Opens the blob; `None` if it does not exist.
    pub fn open(&self, sha256: &Digest) -> Result<Option<Blob>> {
        if let Some(blob) = self.open_here(sha256)? {
            return Ok(Some(blob));
        }
        let Some(remote) = &self.remote else { return Ok(None) };
        let mut writer = self.writer()?;
        if !remote.read(sha256, &mut writer)? {
            return Ok(None);
        }
        let found = writer.digest();
        if found != *sha256 {
            return Err(Problem::internal(format!("the bucket has {found} under {sha256}")));
        }
        writer.copy()?;
        self.forget_copies()?;
        self.open_here(sha256)
    }

    fn open_here(&self, sha256: &Digest) -> Result<Option<Blob>> {
        let opened = File::open(self.path(sha256));
        let sized = opened.and_then(|file| Ok(Blob { size: file.metadata()?.len(), file }));
        match sized {
            Ok(blob) => Ok(Some(blob)),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(failed("open a blob", &fault)),
        }
    }

    /// Links the file of a blob on disk to another name, which keeps the bytes even if the blob is removed. Returns
    /// whether the blob exists.
    pub fn link(&self, sha256: &Digest, to: &Path) -> Result<bool> {
        let from = self.path(sha256);
        let linked = match fs::hard_link(&from, to) {
            Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            // Some file systems have no links.
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => fs::copy(&from, to).map(drop),
            linked => linked,
        };
        match linked {
            Ok(()) => Ok(true),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(fault) => Err(failed("link a blob", &fault)),
        }
    }

    /// Reads a whole, small blob; `None` if it does not exist. Replaces a damaged copy of a blob that is in the bucket.
    ///
    /// Errors: `Internal` if the stored bytes do not match the digest.
    pub fn read(&self, sha256: &Digest) -> Result<Option<Vec<u8>>> {
        let Some(bytes) = self.read_unchecked(sha256)? else { return Ok(None) };
        let found = Digest::of(&bytes);
        if found == *sha256 {
            return Ok(Some(bytes));
        }
        if self.remote.is_none() {
            return Err(Problem::internal(format!(
                "the file of the blob {sha256} has the SHA-256 {found}"
            )));
        }
        tracing::warn!(%sha256, "the copy of a blob on disk was damaged; reading the blob from the bucket again");
        ignore_missing(fs::remove_file(self.path(sha256)))?;
        self.read_unchecked(sha256)
    }

    fn read_unchecked(&self, sha256: &Digest) -> Result<Option<Vec<u8>>> {
        let Some(mut blob) = self.open(sha256)? else { return Ok(None) };
        let mut bytes = Vec::with_capacity(usize::try_from(blob.size).unwrap_or_default());
        blob.file.read_to_end(&mut bytes).map_err(|fault| failed("read a blob", &fault))?;
        Ok(Some(bytes))
    }

    /// Removes the blob. A missing blob is ignored. In a bucket, a later sweep removes it, as long after this as `spared` says.
    pub fn remove(&self, sha256: &Digest) -> Result<()> {
        ignore_missing(fs::remove_file(self.path(sha256)))?;
        if self.remote.is_some() { self.spare(sha256).map(drop) } else { Ok(()) }
    }

    /// The keys of the blob in the bucket that no sweep removes, because another installation wrote them.
    pub fn read_only_keys(&self, sha256: &Digest) -> Result<Vec<String>> {
        self.remote.as_ref().map_or_else(|| Ok(Vec::new()), |remote| remote.read_only_keys(sha256))
    }

    /// Removes unneeded blobs and abandoned uploads, except those that were written, requested or continued
    /// in the time `spared` before `now`. In a bucket, a blob stays for as long after a sweep first found that nothing needs
    /// it, and while deletions are not allowed.
    pub fn sweep(
        &self,
        now: Timestamp,
        spared: Duration,
        is_wanted: impl Fn(&Digest) -> bool,
    ) -> Result<SweepReport> {
        let is_old = |path: &Path| is_unchanged(path, now, spared);
        let mut swept = SweepReport::default();
        if let Some(remote) = &self.remote {
            swept.blobs = self.sweep_bucket(remote, now, spared, is_wanted)?;
        } else {
            for path in self.files()? {
                let digest = path.file_name().and_then(|name| name.to_str()?.parse().ok());
                if digest.is_some_and(|digest| !is_wanted(&digest)) && is_old(&path) {
                    ignore_missing(fs::remove_file(&path))?;
                    swept.blobs += 1;
                }
            }
        }
        for path in entries(&self.uploads())? {
            if is_old(&path) {
                ignore_missing(fs::remove_file(&path))?;
                swept.uploads += 1;
            }
        }
        Ok(swept)
    }

    fn sweep_bucket(
        &self,
        remote: &Remote,
        now: Timestamp,
        spared: Duration,
        is_wanted: impl Fn(&Digest) -> bool,
    ) -> Result<u64> {
        let installations = remote.deletable();
        if installations.is_empty() {
            return Ok(0);
        }
        let (mut removed, mut unneeded) = (0, HashSet::new());
        for installation in installations {
            for (digest, written) in remote.list(&installation)? {
                if is_wanted(&digest) {
                    continue;
                }
                unneeded.insert(digest);
                let asked = self.asked(&digest);
                if !asked.exists() {
                    write_at(&asked, now)?;
                } else if is_older(written, now, spared)
                    && is_unchanged(&asked, now, spared)
                    && removed_if_old(remote, &installation, &digest, now, spared)?
                {
                    ignore_missing(fs::remove_file(self.path(&digest)))?;
                    removed += 1;
                }
            }
        }
        for asked in entries(&self.root.join("asked"))? {
            let digest = asked.file_name().and_then(|name| name.to_str()?.parse().ok());
            // The time begins again once nothing needs the blob.
            let is_needed = digest.is_some_and(|digest| is_wanted(&digest));
            let is_counted = digest.is_some_and(|digest| unneeded.contains(&digest));
            if is_needed || (!is_counted && is_unchanged(&asked, now, spared)) {
                ignore_missing(fs::remove_file(asked))?;
            }
        }
        Ok(removed)
    }

    /// Removes the blobs in the bucket that were written before a time, all of which nothing needs. Returns whether
    /// deletions were allowed all the time.
    pub fn remove_written_before(&self, time: Timestamp) -> Result<bool> {
        let Some(remote) = &self.remote else { return Ok(true) };
        for installation in remote.deletable() {
            for (digest, _) in remote.list(&installation)? {
                removed_if_old(remote, &installation, &digest, time, Duration::ZERO)?;
            }
        }
        Ok(self.may_delete())
    }

    fn asked(&self, sha256: &Digest) -> PathBuf {
        self.root.join("asked").join(sha256.to_string())
    }

    /// Removes the oldest copies until all copies together are below the limit.
    fn forget_copies(&self) -> Result<()> {
        let look = |path: PathBuf| {
            let data = fs::metadata(&path).ok()?;
            Some((data.modified().ok()?, data.len(), path))
        };
        let mut copies: Vec<_> = self.files()?.into_iter().filter_map(look).collect();
        let mut total: u64 = copies.iter().map(|(_, size, _)| size).sum();
        if total <= BLOB_COPIES_MAX_BYTES {
            return Ok(());
        }
        copies.sort();
        // Keeps the newest copy, because a request is waiting for it.
        copies.pop();
        for (_, size, path) in copies {
            if total <= BLOB_COPIES_MAX_BYTES / 4 * 3 {
                break;
            }
            ignore_missing(fs::remove_file(path))?;
            total -= size;
        }
        Ok(())
    }

    /// The complete files.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for outer in entries(&self.complete_blobs())? {
            for inner in entries(&outer)? {
                files.extend(entries(&inner)?);
            }
        }
        Ok(files)
    }

    pub(crate) fn uploads(&self) -> PathBuf {
        self.root.join("uploads")
    }

    fn path(&self, sha256: &Digest) -> PathBuf {
        let name = sha256.to_string();
        self.complete_blobs().join(&name[..2]).join(&name[2..4]).join(name)
    }

    /// Uploads a file to the bucket, if there is one.
    pub(crate) fn send(&self, file: &Path, sha256: &Digest) -> Result<()> {
        self.remote.as_ref().map_or(Ok(()), |remote| remote.put(sha256, file))
    }

    /// Uploads a file to the bucket, unless it is there.
    pub(crate) fn send_missing(&self, file: &Path, sha256: &Digest) -> Result<()> {
        match &self.remote {
            Some(remote) if !remote.has_own(sha256)? => remote.put(sha256, file),
            _ => Ok(()),
        }
    }

    /// Moves a synced file to the blob's place, and syncs the folders.
    pub(crate) fn adopt(&self, file: &Path, sha256: &Digest) -> Result<()> {
        let path = self.path(sha256);
        let moved = || -> io::Result<()> {
            let inner = path.parent().expect("a blob is in a folder");
            if !inner.is_dir() {
                fs::create_dir_all(inner)?;
                let outer = inner.parent().expect("of two levels");
                sync_folder(outer)?;
                sync_folder(&self.complete_blobs())?;
            }
            fs::rename(file, &path)?;
            sync_folder(inner)
        };
        moved().map_err(|fault| failed("keep a blob", &fault))
    }
}

/// Removes a blob from the bucket, unless it was stored again in the time `spared` before `now` or deletions are no longer
/// allowed.
fn removed_if_old(
    remote: &Remote,
    installation: &str,
    digest: &Digest,
    now: Timestamp,
    spared: Duration,
) -> Result<bool> {
    let written = remote.written(installation, digest)?;
    let is_removed = written.is_some_and(|written| is_older(written, now, spared))
        && remote.deletable().iter().any(|id| id == installation);
    if is_removed {
        remote.remove(installation, digest)?;
    }
    Ok(is_removed)
}

fn is_older(changed_ms: i64, now: Timestamp, spared: Duration) -> bool {
    let spared = i64::try_from(spared.as_millis()).unwrap_or(i64::MAX);
    now.milliseconds().saturating_sub(changed_ms) >= spared
}

/// Whether a file was not written in the time `spared` before `now`.
fn is_unchanged(path: &Path, now: Timestamp, spared: Duration) -> bool {
    let changed = fs::metadata(path).and_then(|data| data.modified());
    let changed = changed.unwrap_or(UNIX_EPOCH).duration_since(UNIX_EPOCH).unwrap_or_default();
    is_older(i64::try_from(changed.as_millis()).unwrap_or(i64::MAX), now, spared)
}

/// Creates an empty file as if it was written at a time.
fn write_at(path: &Path, time: Timestamp) -> Result<()> {
    let since = Duration::from_millis(u64::try_from(time.milliseconds()).unwrap_or_default());
    let written = File::create(path).and_then(|file| file.set_modified(UNIX_EPOCH + since));
    written.map_err(|fault| failed("note a blob", &fault))
}

pub(crate) fn not_those(wanted: &Digest, found: &Digest) -> Problem {
    let message = message!("the bytes have the SHA-256 {found} and not {wanted}; send them again");
    Problem::new(ProblemKind::Invalid, message)
}

/// Syncs a folder: only then are names in it durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

pub(crate) fn ignore_missing(removed: io::Result<()>) -> Result<()> {
    match removed {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => {
            Err(failed("remove a file", &fault))
        }
        _ => Ok(()),
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect());
    listed.map_err(|fault| failed(&format!("list {}", folder.display()), &fault))
}
