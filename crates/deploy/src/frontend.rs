//! The frontend: a zip of the build, used as it is or created from a folder.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_project::Artifact;
use tempfile::NamedTempFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::{digest_of, unreadable};

/// Bytes that are packed between two reports of the progress.
const PIECE_BYTES: u64 = 1 << 20;

/// A zip to upload.
#[derive(Debug)]
pub struct FrontendZip {
    /// Its hash and size.
    pub artifact: Artifact,
    path: PathBuf,
    /// The temporary file, if the zip was created from a folder.
    _packed: Option<NamedTempFile>,
}

impl FrontendZip {
    /// The zip at a path, or a zip of the folder there. Equal files make equal zips. While files are packed,
    /// `progress` is called with the bytes packed so far and the bytes of all files.
    ///
    /// Errors: `NotFound`; `Invalid` for a folder that is empty or has symbolic links, and for a file that is not a
    /// zip. The server checks everything else.
    pub fn of(path: &Path, progress: impl FnMut(u64, u64)) -> Result<Self> {
        let found = fs::metadata(path).map_err(|error| {
            let problem = unreadable(path, &error);
            let message = message!(
                "there is no build at '{path}'; build the project first, or set the zip or folder with \
                 --build",
                path = path.display()
            );
            match problem.kind {
                ProblemKind::NotFound => Problem::new(ProblemKind::NotFound, message),
                _ => problem,
            }
        })?;
        let packed = if found.is_dir() { Some(pack(path, progress)?) } else { None };
        if packed.is_none() {
            check(path)?;
        }
        let path = packed.as_ref().map_or(path, |packed| packed.path()).to_owned();
        let (sha256, size) = digest_of(&path)?;
        Ok(Self { artifact: Artifact { sha256, size }, path, _packed: packed })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Checks that a file is a zip, by the list of files at its end.
fn check(path: &Path) -> Result<()> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let refused = |error: zip::result::ZipError| {
        let message = message!(
            "'{path}' is not a zip ({error}); set the zip or folder of the build with --build \
             or buildPath",
            path = path.display()
        );
        Problem::new(ProblemKind::Invalid, message)
    };
    zip::ZipArchive::new(io::BufReader::new(file)).map(drop).map_err(refused)
}

fn pack(folder: &Path, mut progress: impl FnMut(u64, u64)) -> Result<NamedTempFile> {
    let mut files = Vec::new();
    collect(folder, "", &mut files)?;
    if files.is_empty() {
        let message = message!(
            "the folder '{folder}' is empty; build the project first",
            folder = folder.display()
        );
        return Err(Problem::new(ProblemKind::Invalid, message));
    }
    files.sort();
    let size_of = |path: &PathBuf| {
        fs::metadata(path).map(|found| found.len()).map_err(|error| unreadable(path, &error))
    };
    let total: u64 = files.iter().map(|(_, path)| size_of(path)).sum::<Result<_>>()?;
    let mut packed = 0;
    let failed = |error: io::Error| Problem::internal(format!("the zip: {error}"));
    let file = NamedTempFile::new().map_err(failed)?;
    let mut zip = ZipWriter::new(io::BufWriter::new(file.as_file()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for (name, path) in files {
        zip.start_file(name, options).map_err(Problem::internal)?;
        let mut file = File::open(&path).map_err(|error| unreadable(&path, &error))?;
        // In pieces, so that the progress of a large file is seen.
        loop {
            let piece = io::copy(&mut (&mut file).take(PIECE_BYTES), &mut zip);
            match piece.map_err(|error| unreadable(&path, &error))? {
                0 => break,
                count => packed += count,
            }
            progress(packed, total);
        }
    }
    let writer = zip.finish().map_err(Problem::internal)?;
    writer.into_inner().map_err(|error| failed(error.into_error()))?;
    Ok(file)
}

/// Collects the files of a folder with their names in the zip.
fn collect(folder: &Path, base: &str, files: &mut Vec<(String, PathBuf)>) -> Result<()> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    for entry in entries.map_err(|error| unreadable(folder, &error))? {
        let (path, name) = (entry.path(), entry.file_name());
        let Some(name) = name.to_str() else {
            let message =
                message!("the name of '{path}' is not UTF-8; rename it", path = path.display());
            return Err(Problem::new(ProblemKind::Invalid, message));
        };
        let kind = entry.file_type().map_err(|error| unreadable(&path, &error))?;
        let name = format!("{base}{name}");
        if kind.is_dir() {
            collect(&path, &format!("{name}/"), files)?;
        } else if kind.is_file() {
            files.push((name, path));
        } else {
            let message = message!(
                "'{path}' is not a regular file; replace it with the file itself",
                path = path.display()
            );
            return Err(Problem::new(ProblemKind::Invalid, message));
        }
    }
    Ok(())
}
