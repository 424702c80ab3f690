//! The documents of a check or import: their identifiers, and whether their references lead anywhere.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use lyceum_qti::{DocumentFault, DocumentKind, DocumentLink, Summary};
use percent_encoding::percent_decode_str;

use super::files::fault;

/// The documents read so far.
#[derive(Default)]
pub(super) struct Library {
    documents: Vec<(PathBuf, Vec<DocumentLink>)>,
    by_name: HashMap<(DocumentKind, Box<str>), usize>,
    by_path: HashMap<PathBuf, (DocumentKind, Box<str>)>,
}

impl Library {
    /// Adds a document. Returns an error if another document has the same identifier.
    pub(super) fn add(&mut self, path: &Path, summary: Summary) -> Option<DocumentFault> {
        let Summary { kind, identifier, place, links } = summary;
        let at = self.documents.len();
        self.by_path.insert(flat(path), (kind, identifier.clone()));
        self.documents.push((path.to_owned(), links));
        let first = *self.by_name.entry((kind, identifier.clone())).or_insert(at);
        (first != at && !identifier.is_empty()).then(|| {
            let (name, first) = (kind.name(), self.documents[first].0.display());
            let message = format!("'{first}' has the same {name} identifier '{identifier}'");
            fault(place, message, format!("give each {name} a unique identifier"))
        })
    }

    /// The references that lead nowhere, each with its file.
    pub(super) fn dangling(&self) -> Vec<(PathBuf, DocumentLink, DocumentFault)> {
        let all = self.documents.iter().flat_map(|(path, links)| {
            links
                .iter()
                .filter_map(move |link| Some((path.clone(), link.clone(), self.fault(path, link)?)))
        });
        all.collect()
    }

    fn fault(&self, from: &Path, link: &DocumentLink) -> Option<DocumentFault> {
        let DocumentLink { kind, identifier, href, place } = link;
        let name = kind.name();
        let address = address(link);
        let is_known = |name: &String| self.by_name.contains_key(&(*kind, name.as_str().into()));
        if names(link).iter().any(is_known) || leads_out(&address) {
            return None;
        }
        let target = target(from, &address);
        match self.by_path.get(&target) {
            Some((is, _)) if is == kind => None,
            Some((is, _)) => Some(fault(
                *place,
                format!("'{href}' is another kind of document than {name}: {}", is.name()),
                format!("write the address of the {name} '{identifier}'"),
            )),
            None if target.is_file() => None,
            None => Some(fault(
                *place,
                format!("there is no {name} '{identifier}' at '{href}'"),
                "add its file, or correct the address",
            )),
        }
    }

    /// The identifier that replaces a reference's address: that of the document in the file at this
    /// address, because the store knows documents only by identifier. `None` if the store finds the
    /// document by the address itself, and if the address names no file that was read.
    pub(super) fn address(&self, from: &Path, link: &DocumentLink) -> Option<String> {
        let document = self.by_path.get(&target(from, &address(link)));
        let (_, name) = document.filter(|(kind, _)| *kind == link.kind)?;
        let [last, bare, own] = names(link);
        let is_known = |name: &str| self.by_name.contains_key(&(link.kind, name.into()));
        let is_found = **name == *last
            || **name == *bare
            || **name == *own && !is_known(&last) && !is_known(&bare);
        (!is_found).then(|| name.to_string())
    }
}

/// The file at an address.
fn target(from: &Path, address: &str) -> PathBuf {
    flat(&from.parent().unwrap_or(Path::new("")).join(address))
}

/// The identifiers that a reference may mean: the end of its address, the same without `.xml`, and the address itself.
pub(super) fn names(link: &DocumentLink) -> [String; 3] {
    let address = address(link);
    let last = address.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let bare = last.strip_suffix(".xml").unwrap_or(last);
    [last.to_owned(), bare.to_owned(), link.identifier.to_string()]
}

fn address(link: &DocumentLink) -> String {
    let address = link.href.split(['?', '#']).next().unwrap_or_default();
    percent_decode_str(address).decode_utf8_lossy().into_owned()
}

/// Whether an address is a URL. URLs are not followed.
fn leads_out(address: &str) -> bool {
    let scheme = address.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

/// A path without `.` and `..`, resolved without reading the file system.
pub(super) fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(flat.components().next_back(), Some(Component::Normal(_))) =>
            {
                flat.pop();
            }
            other => flat.push(other),
        }
    }
    flat
}
