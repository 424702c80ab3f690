//! Unpacks the zip of a build file by file, in bounded memory, and never outside its folder.
//!
//! The sizes and paths in a zip are not trusted: limits count the bytes that come out, and a name that is not
//! a plain path below the frontend's root is refused.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Write};

use lyceum_blob::{Blob, Blobs, Digest};
use lyceum_core::{Problem, ProblemKind, Result, message};
use zip::ZipArchive;
use zip::read::ZipFile;

use crate::deployments::{FrontendFile, FrontendFiles};
use crate::limits;

/// The file served if a path names no file.
pub const INDEX: &str = "index.html";

const FILE_KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const SYMLINK: u32 = 0o120_000;
const ENTRY: [u8; 4] = [b'P', b'K', 1, 2];
const END: [u8; 4] = [b'P', b'K', 5, 6];
const END_BYTES: usize = 22;

/// Unpacks an uploaded zip. Each of its files becomes a blob.
///
/// Errors: `NotFound` if the zip was not uploaded; `Invalid` if it is not a zip or has no
/// `index.html` at its root, and for symbolic links, encrypted files, duplicate names, and names that
/// are absolute, lead upwards or are not plain paths; `TooLarge` beyond the limits.
pub fn unpack(blobs: &Blobs, zip: &Digest) -> Result<FrontendFiles> {
    let Some(mut blob) = blobs.open(zip)? else {
        let message = message!("the zip {zip} was not uploaded; send it to /api/uploads first");
        return Err(Problem::new(ProblemKind::NotFound, message));
    };
    check_directory(&mut blob)?;
    let mut archive = ZipArchive::new(blob.file).map_err(|fault| no_zip(&fault.to_string()))?;
    if archive.len() > limits::FRONTEND_FILES_MAX_COUNT {
        return Err(too_many(archive.len()));
    }
    let mut files = BTreeMap::new();
    let mut left = limits::FRONTEND_MAX_BYTES;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|fault| no_zip(&fault.to_string()))?;
        let Some(path) = path_of(&entry)? else { continue };
        let mut writer = blobs.writer()?;
        let copied = copy(&mut entry, &mut writer, left).map_err(|fault| {
            let message = message!("the file '{path}' in the zip is damaged: {fault}");
            Problem::invalid("frontend", message)
        })?;
        let Some(size) = copied else {
            let message = message!(
                "the files of the zip have more than {most} bytes together, at '{path}'; leave out files that are \
                 not served, or store them in a bucket",
                most = limits::FRONTEND_MAX_BYTES
            );
            return Err(Problem::new(ProblemKind::TooLarge, message));
        };
        left -= size;
        let file = FrontendFile { sha256: writer.store()?, size, media: media(&path) };
        if files.insert(path.clone(), file).is_some() {
            return Err(refused(&path, "occurs twice"));
        }
    }
    if !files.contains_key(INDEX) {
        return Err(no_index(&files));
    }
    Ok(FrontendFiles(files))
}

/// Copies at most `most` bytes; `None` if there are more.
fn copy(from: &mut impl Read, to: &mut impl Write, most: u64) -> io::Result<Option<u64>> {
    let copied = io::copy(&mut from.take(most.saturating_add(1)), to)?;
    Ok((copied <= most).then_some(copied))
}

/// Where an entry is unpacked to; `None` for a folder. The name is checked as bytes, because operating
/// systems read it differently.
fn path_of(entry: &ZipFile<'_, impl Read>) -> Result<Option<String>> {
    let Ok(name) = std::str::from_utf8(entry.name_raw()) else {
        let shown = String::from_utf8_lossy(entry.name_raw()).into_owned();
        return Err(refused(&shown, "has a name that is not UTF-8"));
    };
    let plain = name.strip_suffix('/').unwrap_or(name);
    let fault = if plain.is_empty() || plain.len() > limits::FRONTEND_PATH_MAX_BYTES {
        Some("has an empty name, or one longer than 512 bytes")
    } else if plain.starts_with('/') || plain.as_bytes().get(1) == Some(&b':') {
        Some("has an absolute name")
    } else if plain.contains('\\') || plain.chars().any(char::is_control) {
        Some("has a name with a backslash or a control character")
    } else if plain.split('/').any(|segment| segment == "..") {
        Some("leads out of the zip")
    } else if plain.split('/').any(|segment| segment.is_empty() || segment == ".") {
        Some("has a name with an empty part")
    } else if entry.encrypted() {
        Some("is encrypted")
    } else {
        None
    };
    if let Some(fault) = fault {
        return Err(refused(name, fault));
    }
    if name.ends_with('/') {
        return Ok(None);
    }
    match entry.unix_mode().unwrap_or(REGULAR) & FILE_KIND {
        REGULAR | 0 => Ok(Some(name.to_owned())),
        SYMLINK => Err(refused(name, "is a symbolic link; replace it with the file itself")),
        _ => Err(refused(name, "is not a regular file")),
    }
}

/// Checks the end of the zip before anything is read into memory: the number of entries and the size of
/// their list.
fn check_directory(blob: &mut Blob) -> Result<()> {
    let tail = blob.size.min(u64::from(u16::MAX) + END_BYTES as u64);
    let mut end = Vec::new();
    let read = blob
        .file
        .seek(SeekFrom::Start(blob.size - tail))
        .and_then(|_| blob.file.read_to_end(&mut end))
        .and_then(|_| blob.file.rewind());
    read.map_err(Problem::internal)?;
    let Some(at) = (0..end.len()).rev().find(|at| end[*at..].starts_with(&END)) else {
        return Err(no_zip("it has no list of files"));
    };
    let short = |from: usize| {
        let two = end.get(at + from..at + from + 2)?;
        Some(u16::from_le_bytes([two[0], two[1]]))
    };
    let long = |from: usize| Some(u32::from(short(from)?) | u32::from(short(from + 2)?) << 16);
    let fields =
        || Some((short(4)?, short(6)?, short(8)?, short(10)?, long(12)?, long(16)?, short(20)?));
    let Some((disk, first_disk, here, entries, bytes, start, comment)) = fields() else {
        return Err(no_zip("its end is cut off"));
    };
    let place = blob.size - (end.len() - at) as u64;
    // If one of these does not hold, zip readers search for another list, each in other places. So only a list
    // directly before this end is accepted.
    let is_only = (disk, first_disk, here) == (0, 0, entries)
        && entries < u16::MAX
        && at + END_BYTES + usize::from(comment) == end.len()
        && u64::from(start) + u64::from(bytes) == place
        && (entries == 0 || begins_list(blob, start)?);
    if !is_only {
        return Err(no_zip("the list of its files is misplaced, or the file is a Zip64 archive"));
    }
    let entries = usize::from(entries);
    if entries > limits::FRONTEND_FILES_MAX_COUNT {
        return Err(too_many(entries));
    }
    if u64::from(bytes) > limits::ZIP_DIRECTORY_MAX_BYTES {
        let message = message!(
            "the list of files in the zip has {bytes} bytes; at most {most} are read",
            most = limits::ZIP_DIRECTORY_MAX_BYTES
        );
        return Err(Problem::new(ProblemKind::TooLarge, message));
    }
    Ok(())
}

fn begins_list(blob: &mut Blob, start: u32) -> Result<bool> {
    let mut first = [0; ENTRY.len()];
    let read = blob
        .file
        .seek(SeekFrom::Start(u64::from(start)))
        .and_then(|_| blob.file.read_exact(&mut first))
        .and_then(|()| blob.file.rewind());
    read.map_err(|fault| no_zip(&fault.to_string()))?;
    Ok(first == ENTRY)
}

/// The media type of a file by its name.
fn media(path: &str) -> String {
    let media = mime_guess::from_path(path).first_or_octet_stream();
    let is_text = media.type_() == mime_guess::mime::TEXT
        || matches!(media.subtype().as_str(), "javascript" | "json" | "xml" | "manifest+json");
    if is_text { format!("{media}; charset=utf-8") } else { media.to_string() }
}

fn no_index(files: &BTreeMap<String, FrontendFile>) -> Problem {
    let below = files.keys().find(|path| path.ends_with("/index.html"));
    let hint = match below {
        Some(path) => format!("it is at '{path}'; zip the contents of that folder"),
        None => "zip the folder that the build writes".to_owned(),
    };
    Problem::invalid("frontend", message!("the zip has no 'index.html' at its root; {hint}"))
}

fn refused(name: &str, why: &str) -> Problem {
    Problem::invalid(
        "frontend",
        message!("the file '{name}' in the zip {why}", name = name.escape_default()),
    )
}

fn no_zip(why: &str) -> Problem {
    Problem::invalid("frontend", message!("the file cannot be read as a zip: {why}"))
}

fn too_many(count: usize) -> Problem {
    let most = limits::FRONTEND_FILES_MAX_COUNT;
    let message = message!("the zip has {count} files or more; the limit is {most}");
    Problem::new(ProblemKind::TooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_limit_counts_unpacked_bytes() {
        let endless = || io::repeat(0);
        let mut written = Vec::new();
        assert!(matches!(copy(&mut endless(), &mut written, 1000), Ok(None)));
        assert_eq!(written.len(), 1001, "no more than needed is taken");
        assert!(matches!(copy(&mut endless().take(1000), &mut written, 1000), Ok(Some(1000))));
    }
}
