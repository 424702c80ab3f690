//! The store on disk: `blobs/ab/cd/abcd…` what is whole, `uploads/…` what is on its way.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};

use crate::{Digest, Writer, failed};

/// A store of blobs in a folder of its own. Cheap to clone; all clones are the same store.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
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
        let writing = Arc::new([const { Mutex::new(()) }; UPLOADS]);
        let blobs = Self { root: root.into(), writing };
        for folder in [blobs.root.join("blobs"), blobs.uploads()] {
            fs::create_dir_all(&folder)
                .map_err(|fault| failed(&format!("make {}", folder.display()), &fault))?;
        }
        Ok(blobs)
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
        let opened = File::open(self.path(sha256));
        let sized = opened.and_then(|file| Ok(Blob { size: file.metadata()?.len(), file }));
        match sized {
            Ok(blob) => Ok(Some(blob)),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(failed("open a blob", &fault)),
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
        for outer in entries(&self.root.join("blobs"))? {
            for path in entries(&outer)?
                .iter()
                .map(|inner| entries(inner))
                .collect::<Result<Vec<_>>>()?
                .concat()
            {
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

    pub(crate) fn uploads(&self) -> PathBuf {
        self.root.join("uploads")
    }

    fn path(&self, sha256: &Digest) -> PathBuf {
        let name = sha256.to_string();
        self.root.join("blobs").join(&name[..2]).join(&name[2..4]).join(name)
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
                sync_folder(&self.root.join("blobs"))?;
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
