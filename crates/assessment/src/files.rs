//! The files of items and stimuli: pictures, sound, films and stylesheets. Their bytes are blobs. A file belongs to all
//! versions of its document and is deleted with it. An import keeps stored files that the document no longer names,
//! because running attempts show former versions.

use std::collections::HashMap;

use lyceum_core::messages::{must_be_one_of, too_long};
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_store::Tx;

use crate::repository::{self, files as sql};
use crate::{ContentKind, limits};

pub use crate::repository::files::{DocumentFile, NewFile};

/// The media types of files, by the end of their paths.
const MEDIA_TYPES: [(&str, &str); 19] = [
    ("avif", "image/avif"),
    ("css", "text/css"),
    ("gif", "image/gif"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("m4a", "audio/mp4"),
    ("m4v", "video/mp4"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("oga", "audio/ogg"),
    ("ogg", "audio/ogg"),
    ("ogv", "video/ogg"),
    ("opus", "audio/ogg"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("vtt", "text/vtt"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
];

/// The media type of a file with that path, and the end of the path that says so. `None` for files that are not stored.
fn media_of(path: &str) -> Option<(&'static str, &'static str)> {
    let (_, end) = path.rsplit_once('.')?;
    MEDIA_TYPES.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(end))
}

impl DocumentFile {
    pub(crate) fn of(path: String, sha256: String, size: i64, updated_at: String) -> Result<Self> {
        let (_, media_type) = media_of(&path).ok_or_else(|| {
            Problem::internal(format!("the stored file '{path}' has no known media type"))
        })?;
        let size = u64::try_from(size).map_err(Problem::internal)?;
        Ok(Self { path, media_type, size, sha256, updated_at })
    }

    /// The name of its content, which other content never has: the SHA-256 and the end of the path.
    pub fn content_name(&self) -> String {
        let end = media_of(&self.path).map_or("", |(end, _)| end);
        format!("{}.{end}", self.sha256)
    }
}

/// The path of a file, without `.` and `..`. Errors: `Invalid` for a path that is not relative or is too long, and for
/// files of other types than pictures, sound, films and stylesheets.
pub fn check_path(path: &str) -> Result<String> {
    let refuse = |message: Message| Problem::invalid("path", message);
    let is_refused = |c: char| c.is_control() || "?#%\\".contains(c);
    if let Some(refused) = path.chars().find(|c| is_refused(*c)) {
        let message = "must not contain ?, #, %, \\ or control characters";
        return Err(refuse(message!(
            "{message} (got {character} in '{path}')",
            character = format!("{refused:?}"),
            path = path.escape_debug()
        )));
    }
    let checked = lyceum_qti::file_path(path).ok_or_else(|| {
        refuse(message!("must be a relative path such as images/map.png (got '{path}')"))
    })?;
    if checked.len() > limits::ITEM_FILE_PATH_MAX_BYTES {
        return Err(refuse(too_long(limits::ITEM_FILE_PATH_MAX_BYTES)));
    }
    if media_of(&checked).is_none() {
        let ends = MEDIA_TYPES.map(|(end, _)| end);
        let end = checked.rsplit(['/', '.']).next().unwrap_or_default();
        return Err(refuse(message!(
            "the end of the path {rule}",
            rule = must_be_one_of(&ends, end)
        )));
    }
    Ok(checked)
}

/// Stores a file of a document; it replaces a file with the same path.
///
/// Errors: `NotFound` for an unknown document; `Conflict` if the document has
/// [`limits::ITEM_FILES_MAX_COUNT`] other files, and if the path of another file is a folder of this path or below it.
pub fn put(
    tx: &mut Tx<'_>,
    now: Timestamp,
    kind: ContentKind,
    identifier: &str,
    file: &NewFile,
) -> Result<DocumentFile> {
    repository::require(tx, kind, identifier)?;
    repository::depend_on(tx, kind, identifier)?;
    let mut others = list_stored(tx, kind, identifier)?;
    others.retain(|other| other.path != file.path);
    let conflict = |message: Message| Err(Problem::new(ProblemKind::Conflict, message));
    if others.len() >= limits::ITEM_FILES_MAX_COUNT {
        let most = limits::ITEM_FILES_MAX_COUNT;
        return conflict(message!(
            "the limit for files of a document is {most}; delete another file first"
        ));
    }
    // An export could not write both.
    let is_below = |path: &str, folder: &str| {
        path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    let is_taken = |other: &&DocumentFile| {
        is_below(&other.path, &file.path) || is_below(&file.path, &other.path)
    };
    if let Some(other) = others.iter().find(is_taken) {
        let (path, other) = (&file.path, &other.path);
        return conflict(message!(
            "'{path}' and the file '{other}' cannot both exist, because one is a folder of the other; choose another path"
        ));
    }
    sql::put(tx, now, kind, identifier, file)?;
    find(tx, kind, identifier, &file.path)
}

/// The files of a document, by path. Errors: `NotFound` for an unknown document.
pub fn list(tx: &mut Tx<'_>, kind: ContentKind, identifier: &str) -> Result<Vec<DocumentFile>> {
    repository::require(tx, kind, identifier)?;
    list_stored(tx, kind, identifier)
}

/// The files stored for a document, by path; none for an unknown document.
pub fn list_stored(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    identifier: &str,
) -> Result<Vec<DocumentFile>> {
    let found = sql::of(tx, kind, &[identifier])?;
    Ok(found.into_iter().map(|(_, file)| file).collect())
}

/// The file of a document with that path. Errors: `NotFound`.
pub fn find(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    identifier: &str,
    path: &str,
) -> Result<DocumentFile> {
    let found = list_stored(tx, kind, identifier)?.into_iter().find(|file| file.path == path);
    found.ok_or_else(|| {
        let message = message!("the {kind} '{identifier}' has no file '{path}'");
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// Deletes a file of a document. Errors: `NotFound`.
pub fn delete(tx: &mut Tx<'_>, kind: ContentKind, identifier: &str, path: &str) -> Result<()> {
    find(tx, kind, identifier, path)?;
    sql::delete(tx, kind, identifier, path)
}

/// The SHA-256 of all files, which sweeps and backups of blobs keep.
pub fn digests(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    sql::digests(tx)
}

/// The names of the files of one document, by path, from which addresses are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentNames(HashMap<String, String>);

impl ContentNames {
    /// The address of the file that a reference in the document names, below `base`; `None` if it is not stored.
    pub fn address(&self, base: &str, reference: &str) -> Option<String> {
        let name = self.0.get(&lyceum_qti::file_path(reference)?)?;
        Some(format!("{base}/{name}"))
    }
}

/// The names of the files of documents, by identifier. Runs one statement. Documents without files are left out.
pub fn names(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    identifiers: &[&str],
) -> Result<HashMap<String, ContentNames>> {
    let mut names: HashMap<String, ContentNames> = HashMap::new();
    if identifiers.is_empty() {
        return Ok(names);
    }
    for (identifier, file) in sql::of(tx, kind, identifiers)? {
        let name = file.content_name();
        names.entry(identifier).or_default().0.insert(file.path, name);
    }
    Ok(names)
}

/// The file with this [content name](DocumentFile::content_name) that one of the items has, or a stimulus to which the
/// current version of such an item refers.
pub fn find_by_content(
    tx: &mut Tx<'_>,
    content_name: &str,
    items: &[&str],
) -> Result<Option<DocumentFile>> {
    let Some((sha256, _)) = content_name.split_once('.') else { return Ok(None) };
    let files = sql::with_content(tx, sha256, items)?;
    Ok(files.into_iter().find(|file| file.content_name() == content_name))
}

/// The files with this [content name](DocumentFile::content_name) that stimuli have, each with the identifier of its
/// stimulus.
pub fn find_in_stimuli(tx: &mut Tx<'_>, content_name: &str) -> Result<Vec<(String, DocumentFile)>> {
    let Some((sha256, _)) = content_name.split_once('.') else { return Ok(Vec::new()) };
    let mut files = sql::of_stimuli(tx, sha256)?;
    files.retain(|(_, file)| file.content_name() == content_name);
    Ok(files)
}
