//! Finds and reads the files that the arguments name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lyceum_core::messages::io_reason;
use lyceum_qti::limits::QTI_DOCUMENT_MAX_BYTES;
use lyceum_qti::{DocumentFault, DocumentPlace, Severity};

use crate::failure::{Code, Failure, Result};

/// A file that may contain a document.
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// Whether an argument names the file itself, rather than a folder that contains it.
    pub(super) named: bool,
}

impl Source {
    /// Whether it is a zip, by its extension.
    pub(super) fn is_zip(&self) -> bool {
        has_extension(&self.path, "zip")
    }
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

/// The named files, and every `.xml` and `.zip` file in the named folders and their subfolders, sorted by
/// name. Links to folders are not followed.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for path in paths {
        let unread = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => {
                Failure::new(Code::NotFound, format!("there is no '{}'", path.display()))
                    .hint("give an XML file or a folder")
            }
            _ => Failure::failed(format!(
                "'{}' cannot be read: {}",
                path.display(),
                io_reason(&error)
            )),
        };
        match fs::metadata(path).map_err(unread)?.is_dir() {
            true => folder(path, &mut found)?,
            false => found.push(Source { path: path.clone(), named: true }),
        }
    }
    Ok(found)
}

fn folder(path: &Path, found: &mut Vec<Source>) -> Result {
    let unread = |error: io::Error| {
        Failure::failed(format!(
            "the folder '{}' cannot be read: {}",
            path.display(),
            io_reason(&error)
        ))
    };
    let entries: io::Result<Vec<_>> = fs::read_dir(path).map_err(unread)?.collect();
    let mut entries = entries.map_err(unread)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().map_err(unread)?.is_dir() {
            folder(&path, found)?;
        } else if (has_extension(&path, "xml") || has_extension(&path, "zip")) && path.is_file() {
            found.push(Source { path, named: false });
        }
    }
    Ok(())
}

/// The text of a file. Errors: why it cannot be a document.
pub(super) fn text(path: &Path) -> Result<String, DocumentFault> {
    let start = DocumentPlace { line: 1, column: 1 };
    let unread = |error: io::Error| {
        fault(start, format!("cannot be read: {error}"), "check its permissions, or leave it out")
    };
    let size = fs::metadata(path).map_err(unread)?.len();
    if size > QTI_DOCUMENT_MAX_BYTES as u64 {
        let remedy =
            format!("keep it below {QTI_DOCUMENT_MAX_BYTES} bytes; move media to separate files");
        return Err(fault(
            start,
            format!("the document is too large: it has {size} bytes"),
            remedy,
        ));
    }
    String::from_utf8(fs::read(path).map_err(unread)?).map_err(|error| {
        let good = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        let last = good.rsplit('\n').next().unwrap_or_default();
        let count = |n: usize| u32::try_from(n + 1).expect("the size limit is below 4 GiB");
        let place = DocumentPlace {
            line: count(good.matches('\n').count()),
            column: count(last.chars().count()),
        };
        fault(place, "the text is not UTF-8", "save the file as UTF-8")
    })
}

/// An error about the file, not about a passage in its text.
pub(super) fn fault(
    place: DocumentPlace,
    message: impl Into<String>,
    remedy: impl Into<String>,
) -> DocumentFault {
    DocumentFault {
        place,
        path: String::new(),
        message: message.into(),
        remedy: remedy.into(),
        severity: Severity::Error,
    }
}
