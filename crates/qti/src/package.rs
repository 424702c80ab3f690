//! Packages of documents (IMS Content Packaging 1.2): what an XML file is, and the files that a manifest names.

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::fault::DocumentFault;
use crate::files::parse;
use crate::summary::is_root;
use crate::xml::Document;

/// The sort of an XML file in a package, by the name of its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlFileKind {
    /// A document of QTI 3.0, 2.2 or 2.1, well-formed or not.
    Document,
    /// A document of QTI 1.2, which cannot be read.
    Qti1,
    /// The manifest of a package.
    Manifest,
    /// Something else.
    Other,
}

/// The sort of a text.
pub fn xml_file_kind(xml: &str) -> XmlFileKind {
    let mut reader = Reader::from_str(xml.trim_start_matches('\u{feff}'));
    loop {
        match reader.read_event() {
            Ok(Event::Start(root) | Event::Empty(root)) => {
                return match root.local_name().as_ref() {
                    name if is_root(name) => XmlFileKind::Document,
                    "questestinterop" => XmlFileKind::Qti1,
                    "manifest" => XmlFileKind::Manifest,
                    _ => XmlFileKind::Other,
                };
            }
            Ok(Event::Eof) | Err(_) => return XmlFileKind::Document,
            Ok(_) => {}
        }
    }
}

/// A file that the manifest of a package names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestFile {
    /// Its path from the folder of the manifest, decoded and without `.` and `..`.
    pub path: String,
    /// The type of its resource, such as `imsqti_item_xmlv3p0`.
    pub resource_type: String,
}

/// The files that a manifest names, in its order, each once. Addresses of other places are left out. Errors: the manifest
/// is not well-formed, or exceeds a limit of documents.
pub fn manifest_files(xml: &str) -> Result<Vec<ManifestFile>, DocumentFault> {
    let document = Document::parse(xml)?;
    let mut files: Vec<ManifestFile> = Vec::new();
    for resource in document.root().descendants().filter(|one| one.name() == "resource") {
        let resource_type = resource.attribute("type").unwrap_or_default();
        let named = resource.elements().filter(|one| one.name() == "file");
        for element in std::iter::once(resource).chain(named) {
            let Some(reference) = element.attribute("href").and_then(parse) else { continue };
            if !files.iter().any(|file| file.path == reference.path) {
                let (path, resource_type) = (reference.path, resource_type.to_owned());
                files.push(ManifestFile { path, resource_type });
            }
        }
    }
    Ok(files)
}
