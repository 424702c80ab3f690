//! The store on disk: `blobs/ab/cd/abcd…` what is whole, `uploads/…` what is on its way. Before a bucket:
//! `copies/ab/cd/abcd…` what was read lately, `asked/abcd…` when somebody asked for what is not copied.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use lyceum_core::config::S3;
use lyceum_core::limits::BLOB_COPIES_MAX_BYTES;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};

use crate::remote::Remote;
use crate::{Digest, Writer, failed};

/// A store of blobs in a folder of its own. Cheap to clone; all clones are the same store.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
    remote: Option<Arc<Remote>>,
    /// Uploads share these by their ids, so that one is written by one at a time.
    pub(crate) writing: Arc<[Mutex<()>; UPLOADS]>,
}

pub(crate) const UPLOADS: usize = 64;

/// A blob that is open: it stays readable though it be removed meanwhile.
#[derive(Debug)]
pub struct Blob {
    /// The bytes, from the first on.
    pub file: File,
    /// How many there are.
    pub size: u64,
}

/// What a sweep removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Blobs that nobody wanted.
    pub blobs: u64,
    /// Uploads that nobody went on with.
    pub uploads: u64,
}

impl Blobs {
    /// The store in this folder, which is made where it is missing.
    pub fn on_disk(root: impl Into<PathBuf>) -> Result<Self> {
        Self::with(root.into(), None)
    }

    /// The store below `name` in a bucket, with copies and uploads in this folder.
    ///
    /// Errors: `Invalid` for settings that name no bucket.
    pub fn in_s3(root: impl Into<PathBuf>, s3: &S3, name: &str) -> Result<Self> {
        let remote = Some(Arc::new(Remote::open(s3, name)?));
        Self::with(root.into(), remote)
    }

    /// Where the settings say: in their bucket, else on disk.
    pub fn open_at(root: impl Into<PathBuf>, s3: &S3, name: &str) -> Result<Self> {
        if s3.bucket.is_empty() { Self::on_disk(root) } else { Self::in_s3(root, s3, name) }
    }

    fn with(root: PathBuf, remote: Option<Arc<Remote>>) -> Result<Self> {
        let writing = Arc::new([const { Mutex::new(()) }; UPLOADS]);
        let blobs = Self { root, remote, writing };
        let asked = blobs.remote.as_ref().map(|_| blobs.root.join("asked"));
        for folder in [blobs.whole(), blobs.uploads()].into_iter().chain(asked) {
            fs::create_dir_all(&folder)
                .map_err(|fault| failed(&format!("make {}", folder.display()), &fault))?;
        }
        Ok(blobs)
    }

    /// The folder of what is whole.
    fn whole(&self) -> PathBuf {
        self.root.join(if self.remote.is_some() { "copies" } else { "blobs" })
    }

    /// Keeps what the reader gives and answers its size. Once this returns, the blob is durable.
    ///
    /// Errors: `Invalid` where the bytes are not those of the digest; nothing is kept then.
    pub fn put(&self, sha256: &Digest, mut reader: impl Read) -> Result<u64> {
        let mut writer = self.writer()?;
        let size = io::copy(&mut reader, &mut writer).map_err(|fault| failed("write", &fault))?;
        let found = writer.digest();
        if found != *sha256 {
            return Err(not_those(sha256, &found));
        }
        writer.keep()?;
        Ok(size)
    }

    /// A blob whose digest is known when its last byte is written.
    pub fn writer(&self) -> Result<Writer> {
        Writer::new(self.clone())
    }

    /// Whether the blob is here. One that is will not be swept for a while, see [`Blobs::sweep`].
    pub fn has(&self, sha256: &Digest) -> Result<bool> {
        if let Some(remote) = &self.remote {
            let asked = self.root.join("asked").join(sha256.to_string());
            // Before the look, so that no sweep comes between.
            fs::write(&asked, "").map_err(|fault| failed("note a blob", &fault))?;
            return Ok(remote.size(sha256)?.is_some());
        }
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let now = Timestamps { last_access: now, last_modification: now };
        match utimensat(CWD, self.path(sha256), &now, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(fault) => Err(failed("touch a blob", &fault.into())),
        }
    }

    /// Opens the blob; none: it is not here.
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

    /// Gives the file of a blob on disk another name, which keeps the bytes though the blob be removed. Answers
    /// whether the blob is here.
    pub fn link(&self, sha256: &Digest, to: &Path) -> Result<bool> {
        let from = self.path(sha256);
        let linked = match fs::hard_link(&from, to) {
            Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            // Not every file system has links.
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => fs::copy(&from, to).map(drop),
            linked => linked,
        };
        match linked {
            Ok(()) => Ok(true),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(fault) => Err(failed("link a blob", &fault)),
        }
    }

    /// The whole blob; none: it is not here. For small ones.
    pub fn read(&self, sha256: &Digest) -> Result<Option<Vec<u8>>> {
        let Some(mut blob) = self.open(sha256)? else { return Ok(None) };
        let mut bytes = Vec::with_capacity(usize::try_from(blob.size).unwrap_or_default());
        blob.file.read_to_end(&mut bytes).map_err(|fault| failed("read a blob", &fault))?;
        Ok(Some(bytes))
    }

    /// Removes the blob. It is no fault that it is not here.
    pub fn remove(&self, sha256: &Digest) -> Result<()> {
        if let Some(remote) = &self.remote {
            remote.remove(sha256)?;
        }
        gone(fs::remove_file(self.path(sha256)))
    }

    /// Removes blobs that are not wanted and uploads that nobody goes on with, where they were not
    /// written, asked for or gone on with in the time `spared` before `now`.
    pub fn sweep(
        &self,
        now: Timestamp,
        spared: Duration,
        is_wanted: impl Fn(&Digest) -> bool,
    ) -> Result<Swept> {
        let is_old = |path: &Path| {
            let changed = fs::metadata(path).and_then(|data| data.modified());
            let changed = changed.unwrap_or(UNIX_EPOCH).duration_since(UNIX_EPOCH);
            let now = Duration::from_millis(u64::try_from(now.milliseconds()).unwrap_or_default());
            now.saturating_sub(changed.unwrap_or_default()) >= spared
        };
        let mut swept = Swept::default();
        if let Some(remote) = &self.remote {
            let spared = i64::try_from(spared.as_millis()).unwrap_or(i64::MAX);
            for (digest, written) in remote.list()? {
                let asked = self.root.join("asked").join(digest.to_string());
                let is_old_there = now.milliseconds().saturating_sub(written) >= spared;
                if is_old_there && is_old(&asked) && !is_wanted(&digest) {
                    self.remove(&digest)?;
                    swept.blobs += 1;
                }
            }
            for asked in entries(&self.root.join("asked"))?.iter().filter(|path| is_old(path)) {
                gone(fs::remove_file(asked))?;
            }
        } else {
            for path in self.files()? {
                let digest = path.file_name().and_then(|name| name.to_str()?.parse().ok());
                if digest.is_some_and(|digest| !is_wanted(&digest)) && is_old(&path) {
                    gone(fs::remove_file(&path))?;
                    swept.blobs += 1;
                }
            }
        }
        for path in entries(&self.uploads())? {
            if is_old(&path) {
                gone(fs::remove_file(&path))?;
                swept.uploads += 1;
            }
        }
        Ok(swept)
    }

    /// Makes room: copies that were made first go first, once all are larger than the limit.
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
        // The last one is what somebody waits for.
        copies.pop();
        for (_, size, path) in copies {
            if total <= BLOB_COPIES_MAX_BYTES / 4 * 3 {
                break;
            }
            gone(fs::remove_file(path))?;
            total -= size;
        }
        Ok(())
    }

    /// The files of what is whole.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for outer in entries(&self.whole())? {
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
        self.whole().join(&name[..2]).join(&name[2..4]).join(name)
    }

    /// Sends a file to the bucket, where there is one.
    pub(crate) fn send(&self, file: &Path, sha256: &Digest) -> Result<()> {
        self.remote.as_ref().map_or(Ok(()), |remote| remote.put(sha256, file))
    }

    /// Sends a file to the bucket, unless it is there.
    pub(crate) fn send_missing(&self, file: &Path, sha256: &Digest) -> Result<()> {
        match &self.remote {
            Some(remote) if remote.size(sha256)?.is_none() => remote.put(sha256, file),
            _ => Ok(()),
        }
    }

    /// Moves a file that is synced to where the blob belongs, and syncs the folders.
    pub(crate) fn adopt(&self, file: &Path, sha256: &Digest) -> Result<()> {
        let path = self.path(sha256);
        let moved = || -> io::Result<()> {
            let inner = path.parent().expect("a blob is in a folder");
            if !inner.is_dir() {
                fs::create_dir_all(inner)?;
                let outer = inner.parent().expect("of two levels");
                sync_folder(outer)?;
                sync_folder(&self.whole())?;
            }
            fs::rename(file, &path)?;
            sync_folder(inner)
        };
        moved().map_err(|fault| failed("keep a blob", &fault))
    }
}

pub(crate) fn not_those(wanted: &Digest, found: &Digest) -> Problem {
    let message = format!("the bytes have the SHA-256 {found} and not {wanted}; send them again");
    Problem::new(ProblemKind::Invalid, message)
}

/// Names within a folder are durable once the folder itself is synced.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

pub(crate) fn gone(removed: io::Result<()>) -> Result<()> {
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
