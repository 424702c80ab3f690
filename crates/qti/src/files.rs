//! The files beside a document that it refers to: pictures, sound, films and stylesheets.

use percent_encoding::percent_decode_str;

use crate::fault::DocumentFault;

/// A reference of a document to a file beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReference {
    /// The path of the file, as of [`file_path`].
    pub path: String,
    /// How many folders the reference leads up from the document before the path begins.
    pub folders_up: usize,
}

/// The path of the file that a reference in a document names: relative, decoded and without `.`, `..`, query and
/// fragment. A `..` that leads out of the document's folder is left out, so `../images/a.png` means `images/a.png`.
/// `None` for an address of another place and for a reference without a file.
pub fn file_path(reference: &str) -> Option<String> {
    parse(reference).map(|parsed| parsed.path)
}

pub(crate) fn parse(reference: &str) -> Option<FileReference> {
    let reference = reference.trim();
    let address = reference.split(['?', '#']).next()?;
    let address = percent_decode_str(address).decode_utf8().ok()?;
    let first = address.split('/').next()?;
    if address.starts_with('/') || first.contains(':') || address.contains(['\\', '\0']) {
        return None;
    }
    let (mut segments, mut folders_up) = (Vec::new(), 0);
    for segment in address.split('/') {
        match segment {
            "" | "." => {}
            ".." => folders_up += usize::from(segments.pop().is_none()),
            segment => segments.push(segment),
        }
    }
    (!segments.is_empty()).then(|| FileReference { path: segments.join("/"), folders_up })
}

/// The files beside a document that it refers to, in the order of the text, each once. Errors: as of [`crate::read`].
pub fn referenced_files(xml: &str) -> Result<Vec<FileReference>, DocumentFault> {
    let (document, _) = crate::parsed(xml)?;
    let mut found: Vec<FileReference> = Vec::new();
    for element in document.root().descendants() {
        let attributes: &[&str] = match element.name() {
            "img" | "audio" | "source" | "track" => &["src"],
            "video" => &["src", "poster"],
            "object" => &["data"],
            "qti-stylesheet" => &["href"],
            _ => &[],
        };
        let named = attributes.iter().filter_map(|name| parse(element.attribute(name)?));
        let text = element.is("qti-file-href").then(|| parse(&element.text())).flatten();
        for reference in named.chain(text) {
            if !found.contains(&reference) {
                found.push(reference);
            }
        }
    }
    Ok(found)
}
