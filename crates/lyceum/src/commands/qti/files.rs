//! Which files are meant, and what stands in them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lyceum_core::limits::QTI_DOCUMENT_MAX_BYTES;
use lyceum_qti::{Fault, Place, Severity};

use crate::failure::{Code, Failure, Result};

/// A file that may hold a document.
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// Whether it was named itself, and not found in a folder.
    pub(super) named: bool,
}

/// The files that are named, and every `.xml` in the folders that are, nested ones among them, in
/// the order of their names. Links to folders are not followed.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for path in paths {
        let unread = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => {
                Failure::new(Code::NotFound, format!("there is no '{}'", path.display()))
                    .hint("name an XML file or a folder")
            }
            _ => Failure::failed(format!("'{}' cannot be read: {error}", path.display())),
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
        Failure::failed(format!("the folder '{}' cannot be read: {error}", path.display()))
    };
    let entries: io::Result<Vec<_>> = fs::read_dir(path).map_err(unread)?.collect();
    let mut entries = entries.map_err(unread)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().map_err(unread)?.is_dir() {
            folder(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"))
            && path.is_file()
        {
            found.push(Source { path, named: false });
        }
    }
    Ok(())
}

/// The text of a file. Errors: what keeps it from being a document, as a fault of it.
pub(super) fn text(path: &Path) -> Result<String, Fault> {
    let start = Place { line: 1, column: 1 };
    let unread = |error: io::Error| {
        fault(start, format!("cannot be read: {error}"), "see who may read it, or leave it out")
    };
    let size = fs::metadata(path).map_err(unread)?.len();
    if size > QTI_DOCUMENT_MAX_BYTES as u64 {
        let mend = format!("keep it below {QTI_DOCUMENT_MAX_BYTES} bytes; move media into files");
        return Err(fault(start, format!("the document has {size} bytes"), mend));
    }
    String::from_utf8(fs::read(path).map_err(unread)?).map_err(|error| {
        let good = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        let last = good.rsplit('\n').next().unwrap_or_default();
        let count = |n: usize| u32::try_from(n + 1).expect("the size limit is below 4 GiB");
        let place =
            Place { line: count(good.matches('\n').count()), column: count(last.chars().count()) };
        fault(place, "the text is not in UTF-8", "save it as UTF-8")
    })
}

/// A fault that is none of the document's own words.
pub(super) fn fault(place: Place, message: impl Into<String>, mend: impl Into<String>) -> Fault {
    Fault {
        place,
        path: String::new(),
        message: message.into(),
        mend: mend.into(),
        severity: Severity::Error,
    }
}
