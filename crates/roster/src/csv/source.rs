//! The source of an import's files: a zip or a folder, read with limits.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lyceum_core::messages::io_reason;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use zip::ZipArchive;

use super::files;
use crate::kind::RecordKind;
use crate::limits::{
    ZIP_MAX_FILES, ZIP_MAX_UNPACKED_BYTES, ZIP_RATIO_FREE_BYTES, ZIP_UNPACKED_MAX_RATIO,
};

/// A zip or a folder with CSV files, opened and checked.
pub struct CsvSource {
    location: SourceLocation,
    /// The names of the files, without folder (`users.csv`), and their sizes in bytes.
    files: Vec<(String, u64)>,
    /// The number of bytes that may still be unpacked, over all files.
    budget: Arc<AtomicU64>,
}

enum SourceLocation {
    Folder(PathBuf),
    /// The archive, and the folder inside it with the files: empty or such as `export/`.
    Zip(Box<ZipArchive<BufReader<File>>>, String),
}

impl CsvSource {
    /// Opens a zip or a folder. In a zip, the files may be in one folder.
    ///
    /// Errors: `Invalid` if it cannot be read, exceeds a limit, or contains what a roster never needs: links, names
    /// with `..`, encrypted files.
    pub fn open(path: &Path) -> Result<Self> {
        let meta = fs::metadata(path).map_err(|e| unreadable(path, &e))?;
        let (location, files) = if meta.is_dir() { folder(path)? } else { archive(path)? };
        let budget = Arc::new(AtomicU64::new(ZIP_MAX_UNPACKED_BYTES));
        Ok(Self { location, files, budget })
    }

    /// The names of its files, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(name, _)| name.as_str())
    }

    /// The kinds of records of which it has files, or files with parts of them, each with the name of a file.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static RecordKind, &'static str)> {
        let files = files::ALL.iter().filter(|file| self.has(&format!("{}.csv", file.name)));
        files.map(|file| (file.kind, file.name))
    }

    /// Whether the file exists.
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|one| one == name)
    }

    /// The unpacked size of the `wanted` files, according to the zip.
    pub fn bytes(&self, wanted: impl Fn(&str) -> bool) -> u64 {
        self.files.iter().filter(|(name, _)| wanted(name)).map(|(_, size)| size).sum()
    }

    /// Opens one of its files.
    ///
    /// Reading fails with a readable message if the file unpacks to more than a limit.
    pub fn read(&mut self, name: &str) -> Result<Box<dyn Read + '_>> {
        let budget = Arc::clone(&self.budget);
        match &mut self.location {
            SourceLocation::Folder(folder) => {
                let path = folder.join(name);
                let file = File::open(&path).map_err(|e| unreadable(&path, &e))?;
                Ok(Box::new(LimitedReader { inner: file, packed: u64::MAX, read: 0, budget }))
            }
            SourceLocation::Zip(archive, folder) => {
                let entry = archive
                    .by_name(&format!("{folder}{name}"))
                    .map_err(|e| refused(message!("'{name}' cannot be read from the zip: {e}")))?;
                let packed = entry.compressed_size();
                Ok(Box::new(LimitedReader { inner: entry, packed, read: 0, budget }))
            }
        }
    }
}

type OpenedArchive = (SourceLocation, Vec<(String, u64)>);

fn folder(path: &Path) -> Result<OpenedArchive> {
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(|e| unreadable(path, &e))? {
        let entry = entry.map_err(|e| unreadable(path, &e))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_none_or(|extension| extension != "csv") {
            continue;
        }
        let kind = entry.file_type().map_err(|e| unreadable(&entry.path(), &e))?;
        if kind.is_symlink() {
            return Err(refused(message!("'{name}' is a link; put the file itself there")));
        }
        if kind.is_file() {
            files.push((name, entry.metadata().map_or(0, |meta| meta.len())));
        }
        too_many(files.len())?;
    }
    files.sort();
    Ok((SourceLocation::Folder(path.to_owned()), files))
}

fn archive(path: &Path) -> Result<OpenedArchive> {
    let file = File::open(path).map_err(|e| unreadable(path, &e))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|_| {
        let path = path.display();
        refused(message!(
            "'{path}' is not a zip file; give a OneRoster zip, or the folder with its files"
        ))
    })?;
    too_many(archive.len())?;
    if archive.has_duplicate_names() {
        return Err(refused("two files in the zip have the same name; remove one of them".into()));
    }
    let mut paths = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|e| {
            refused(message!("entry {n} of the zip cannot be read: {e}", n = index + 1))
        })?;
        let name =
            entry.name().map_err(|e| refused(message!("a name in the zip is unreadable: {e}")))?;
        check_name(&name)?;
        if entry.is_symlink() {
            return Err(refused(message!(
                "'{name}' in the zip is a link; put the file itself there"
            )));
        }
        if entry.encrypted() {
            return Err(refused(message!(
                "'{name}' in the zip is encrypted; zip it without a password"
            )));
        }
        if entry.is_file() && !name.starts_with("__MACOSX/") && name.ends_with(".csv") {
            paths.push((name.to_string(), entry.size()));
        }
    }
    let folder = common_folder(&paths)?;
    let mut files: Vec<_> =
        paths.iter().map(|(path, size)| (path[folder.len()..].to_owned(), *size)).collect();
    files.sort();
    Ok((SourceLocation::Zip(Box::new(archive), folder), files))
}

/// The folder with all files; empty if they are at the top level.
fn common_folder(paths: &[(String, u64)]) -> Result<String> {
    let folder_of = |path: &str| path.rsplit_once('/').map_or(0, |(folder, _)| folder.len() + 1);
    let Some((first, _)) = paths.first() else { return Ok(String::new()) };
    let folder = &first[..folder_of(first)];
    match paths.iter().find(|(path, _)| path[..folder_of(path)] != *folder) {
        None => Ok(folder.to_owned()),
        Some((other, _)) => Err(refused(message!(
            "the zip has CSV files in several folders ('{first}', '{other}'); put all of them at \
             the top level"
        ))),
    }
}

fn check_name(name: &str) -> Result<()> {
    let escapes = name.starts_with('/')
        || name.contains(['\\', '\0'])
        || name.get(1..2) == Some(":")
        || name.split('/').any(|part| part == "..");
    if escapes {
        return Err(refused(message!(
            "'{name}' in the zip points outside the zip; zip the plain files"
        )));
    }
    Ok(())
}

fn too_many(files: usize) -> Result<()> {
    if files > ZIP_MAX_FILES {
        return Err(refused(message!(
            "the package has more than {ZIP_MAX_FILES} files; import the CSV files of one roster at a time"
        )));
    }
    Ok(())
}

fn refused(message: Message) -> Problem {
    Problem::new(ProblemKind::Invalid, message)
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    let (shown, reason) = (path.display(), io_reason(error));
    refused(message!("'{shown}' cannot be read: {reason}"))
}

/// Counts the unpacked bytes of a file and stops a zip bomb, whatever sizes the zip claims.
struct LimitedReader<R> {
    inner: R,
    packed: u64,
    read: u64,
    budget: Arc<AtomicU64>,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let bytes = count as u64;
        self.read += bytes;
        if self.read > ZIP_RATIO_FREE_BYTES && self.read / ZIP_UNPACKED_MAX_RATIO > self.packed {
            return Err(io::Error::other(message!(
                "the file unpacks to more than {ZIP_UNPACKED_MAX_RATIO} times its size, which is \
                 not plausible for a roster"
            )));
        }
        let left = self.budget.load(Ordering::Relaxed);
        let left = left.checked_sub(bytes).ok_or_else(|| {
            io::Error::other(message!(
                "the files unpack to more than {ZIP_MAX_UNPACKED_BYTES} bytes"
            ))
        })?;
        self.budget.store(left, Ordering::Relaxed);
        Ok(count)
    }
}
