//! The database file of a sandbox. Only one sandbox may use a file.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use lyceum_access::MasterKey;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::StoreLocation;
use tempfile::TempDir;

/// Prefix of the names of folders in memory.
const MEMORY: &str = "lyceum-sandbox-";
/// A folder that Linux keeps in memory.
const SHARED_MEMORY: &str = "/dev/shm";
/// Suffixes of the files that SQLite creates for a database.
const BESIDE: [&str; 3] = ["", "-wal", "-shm"];

/// A database file that is locked for this process.
#[derive(Debug)]
pub struct DatabaseFile {
    file: PathBuf,
    /// Names the process that has the file, and is locked while it does.
    lock: File,
    /// Deleted when this is dropped.
    memory: Option<TempDir>,
}

impl DatabaseFile {
    /// Locks a file. Creates it with its folder if it is missing. With `is_reset`, its content is deleted.
    ///
    /// Errors: `Conflict` if another sandbox uses it; errors when creating files.
    pub fn on_disk(file: &Path, is_reset: bool) -> Result<Self> {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        if !folder.exists() {
            fs::create_dir_all(folder).map_err(|error| failed(folder, "created", &error))?;
            if folder.ends_with(".lyceum") {
                // The folder's content must not be committed.
                let ignore = folder.join(".gitignore");
                fs::write(&ignore, "*\n").map_err(|error| failed(&ignore, "written", &error))?;
            }
        }
        let lock = lock(file)?;
        if is_reset {
            for beside in BESIDE {
                let old = with(file, beside);
                match fs::remove_file(&old) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(failed(&old, "removed", &error));
                    }
                    _ => {}
                }
            }
            let deployed = with(file, ".data");
            if deployed.exists() {
                fs::remove_dir_all(&deployed)
                    .map_err(|error| failed(&deployed, "removed", &error))?;
            }
        }
        Ok(Self { file: file.to_owned(), lock, memory: None })
    }

    /// A temporary file, in memory if the system has a folder for that.
    pub fn in_memory() -> Result<Self> {
        let shared = Path::new(SHARED_MEMORY);
        let parent = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
        sweep(&parent);
        let folder = tempfile::Builder::new().prefix(MEMORY).tempdir_in(&parent);
        let folder = folder.map_err(|error| failed(&parent, "written to", &error))?;
        let file = folder.path().join("sandbox.db");
        let lock = lock(&file)?;
        Ok(Self { file, lock, memory: Some(folder) })
    }

    /// The database file; `None` if it is temporary.
    pub fn file(&self) -> Option<&Path> {
        self.memory.is_none().then_some(self.file.as_path())
    }

    /// The folder for deployed projects, next to the database.
    pub fn data(&self) -> PathBuf {
        with(&self.file, ".data")
    }

    /// Writes this process and its address to the lock file, for others that find it locked.
    pub fn publish_address(&mut self, url: &str) {
        // The sandbox also works if others cannot see its address.
        let _ = self.lock.set_len(0);
        let _ = writeln!(self.lock, "{} {url}", std::process::id());
    }

    pub(crate) fn target(&self) -> StoreLocation {
        StoreLocation::Sqlite(self.file.clone())
    }

    /// The master key that seals signing keys: stored in the file's folder, or random if the file is temporary.
    pub(crate) fn master(&self) -> Result<MasterKey> {
        match self.file().and_then(Path::parent) {
            None => Ok(MasterKey::random()),
            Some(folder) if folder.as_os_str().is_empty() => MasterKey::of_folder(Path::new(".")),
            Some(folder) => MasterKey::of_folder(folder),
        }
    }
}

fn with(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn lock(file: &Path) -> Result<File> {
    let path = with(file, ".lock");
    let opened = File::options().create(true).read(true).write(true).truncate(false).open(&path);
    let mut lock = opened.map_err(|error| failed(&path, "opened", &error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::Error(error)) => Err(failed(&path, "locked", &error)),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let _ = lock.read_to_string(&mut text);
            let owner = match text.trim().split_once(' ') {
                Some((pid, url)) => format!("the sandbox of process {pid} at {url}"),
                None => "a sandbox that is starting".to_owned(),
            };
            let message = message!(
                "the database '{file}' is used by {owner}; use that sandbox, stop it, or choose another file \
                 with --db-path",
                file = file.display()
            );
            Err(Problem::new(ProblemKind::Conflict, message))
        }
    }
}

/// Deletes folders in memory whose process was killed.
fn sweep(parent: &Path) {
    let folders = fs::read_dir(parent).into_iter().flatten().flatten();
    let ours = |name: &str| name.starts_with(MEMORY);
    for folder in folders.filter(|folder| folder.file_name().to_str().is_some_and(ours)) {
        let left = File::open(folder.path().join("sandbox.db.lock"));
        // A folder that is just being created has no lock file yet.
        if left.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}

fn failed(path: &Path, action: &str, error: &std::io::Error) -> Problem {
    let message = message!("'{path}' cannot be {action}: {error}", path = path.display());
    Problem::new(ProblemKind::Unavailable, message)
}
