//! IMS Common Cartridge 1.3: a course, or one resource, as a zip that other systems import.
//!
//! The organization is the tree of components in order. A resource with an address becomes a web
//! link (`imswl_xmlv1p3`); any other becomes a file with its record as JSON.

use std::borrow::Cow;
use std::io::{Cursor, Write as _};

use lyceum_core::{Problem, Reach, Result};
use lyceum_store::Tx;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use serde_json::Value;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::course_tree::{self, CourseTree};
use crate::kinds::{COURSE, RESOURCE};
use crate::record::{Object, Status, members};
use crate::repository::{self, RecordTexts};

const MANIFEST: &str = "http://www.imsglobal.org/xsd/imsccv1p3/imscp_v1p1";
const LOM: &str = "http://ltsc.ieee.org/xsd/imsccv1p3/LOM/manifest";
const WEB_LINK: &str = "http://www.imsglobal.org/xsd/imsccv1p3/imswl_v1p3";

/// The content of a cartridge, read from the store. [`CartridgeContent::write`] needs no store.
#[derive(Debug)]
pub enum CartridgeContent {
    /// A course with its tree.
    Course(CourseTree),
    /// A resource.
    Resource(RecordTexts),
}

impl CartridgeContent {
    /// Reads the resource with that sourcedId, or else the course.
    ///
    /// Errors: `NotFound`; `TooLarge` for a course above the limit.
    pub fn read(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<Self> {
        if let Some(resource) = repository::find(tx, &RESOURCE, id)? {
            return Ok(Self::Resource((resource.body, resource.extra)));
        }
        if repository::find_within(tx, &COURSE, id, reach)?.is_none() {
            return Err(Problem::not_found("resource or course", id));
        }
        Ok(Self::Course(course_tree::read(tx, id, Status::Active)?))
    }

    /// The zip. The same content gives the same bytes.
    pub fn write(&self) -> Result<Vec<u8>> {
        let failed = |error: zip::result::ZipError| Problem::internal(error);
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default();
        let mut add = |name: &str, bytes: &[u8]| -> Result<()> {
            zip.start_file(name, options).map_err(failed)?;
            zip.write_all(bytes).map_err(Problem::internal)
        };
        let files = self.files()?;
        add("imsmanifest.xml", &self.manifest(&files)?)?;
        for file in &files {
            add(&file.name, &file.bytes)?;
        }
        Ok(zip.finish().map_err(failed)?.into_inner())
    }

    fn resources(&self) -> &[RecordTexts] {
        match self {
            Self::Course(tree) => &tree.resources,
            Self::Resource(resource) => std::slice::from_ref(resource),
        }
    }

    /// A file for each resource, in their order.
    fn files(&self) -> Result<Vec<CartridgeFile>> {
        self.resources()
            .iter()
            .enumerate()
            .map(|(number, r)| CartridgeFile::of(number, r))
            .collect()
    }

    fn manifest(&self, files: &[CartridgeFile]) -> Result<Vec<u8>> {
        let title = match self {
            Self::Course(tree) => title(&tree.course)?,
            Self::Resource(_) => files[0].title.clone(),
        };
        document(|xml| {
            let attributes =
                [("identifier", "manifest"), ("xmlns", MANIFEST), ("xmlns:lomimscc", LOM)];
            element(xml, "manifest", &attributes, |xml| {
                metadata(xml, &title)?;
                element(xml, "organizations", &[], |xml| {
                    let attributes =
                        [("identifier", "organization"), ("structure", "rooted-hierarchy")];
                    element(xml, "organization", &attributes, |xml| self.items(xml, files))
                })?;
                element(xml, "resources", &[], |xml| {
                    files.iter().try_for_each(|file| file.describe(xml))
                })
            })
        })
    }

    /// The items of the organization below its one root.
    fn items(&self, xml: &mut XmlWriter, files: &[CartridgeFile]) -> Result<()> {
        element(xml, "item", &[("identifier", "root")], |xml| match self {
            Self::Resource(_) => leaf(xml, "item-0", &files[0], &files[0].title),
            Self::Course(tree) => components(xml, tree, files),
        })
    }
}

/// Writes the components as nested items, without recursion because nesting is unlimited.
fn components(xml: &mut XmlWriter, tree: &CourseTree, files: &[CartridgeFile]) -> Result<()> {
    let mut open = 0;
    let mut links = 0;
    for (number, component) in tree.components.iter().enumerate() {
        while open > component.depth {
            end(xml, "item")?;
            open -= 1;
        }
        start(xml, "item", &[("identifier", &format!("component-{number}"))])?;
        open += 1;
        text_element(xml, "title", &title(&component.record)?)?;
        for link in &component.links {
            let identifier = format!("item-{links}");
            leaf(xml, &identifier, &files[link.resource], &title(&link.record)?)?;
            links += 1;
        }
    }
    (0..open).try_for_each(|_| end(xml, "item"))
}

/// An item that leads to a resource.
fn leaf(xml: &mut XmlWriter, identifier: &str, file: &CartridgeFile, title: &str) -> Result<()> {
    let attributes = [("identifier", identifier), ("identifierref", &file.identifier)];
    element(xml, "item", &attributes, |xml| text_element(xml, "title", title))
}

fn metadata(xml: &mut XmlWriter, title: &str) -> Result<()> {
    element(xml, "metadata", &[], |xml| {
        text_element(xml, "schema", "IMS Common Cartridge")?;
        text_element(xml, "schemaversion", "1.3.0")?;
        element(xml, "lomimscc:lom", &[], |xml| {
            element(xml, "lomimscc:general", &[], |xml| {
                element(xml, "lomimscc:title", &[], |xml| {
                    text_element(xml, "lomimscc:string", title)
                })
            })
        })
    })
}

/// A resource as a file of the cartridge.
struct CartridgeFile {
    identifier: String,
    name: String,
    title: String,
    is_link: bool,
    bytes: Vec<u8>,
}

impl CartridgeFile {
    fn of(number: usize, (body, extra): &RecordTexts) -> Result<Self> {
        let record = members(body, extra.as_deref())?;
        let identifier = format!("resource-{number}");
        let title = title_of(&record).to_owned();
        let file = match address(&record) {
            Some(address) => Self {
                name: format!("{identifier}/weblink.xml"),
                is_link: true,
                bytes: web_link(&title, address)?,
                title,
                identifier,
            },
            None => Self {
                name: format!("{identifier}/resource.json"),
                is_link: false,
                bytes: serde_json::to_vec_pretty(&record).map_err(Problem::internal)?,
                title,
                identifier,
            },
        };
        Ok(file)
    }

    fn describe(&self, xml: &mut XmlWriter) -> Result<()> {
        let mut attributes = vec![("identifier", self.identifier.as_str())];
        if self.is_link {
            attributes.push(("type", "imswl_xmlv1p3"));
        } else {
            attributes.extend([("type", "webcontent"), ("href", self.name.as_str())]);
        }
        element(xml, "resource", &attributes, |xml| {
            element(xml, "file", &[("href", &self.name)], |_| Ok(()))
        })
    }
}

/// Where the resource is on the web.
fn address(record: &Object) -> Option<&str> {
    let metadata = record.get("metadata")?;
    let text_in = |name| metadata.get(name).and_then(Value::as_str).filter(|url| !url.is_empty());
    text_in("url").or_else(|| text_in("launchUrl"))
}

fn title((body, extra): &RecordTexts) -> Result<String> {
    Ok(title_of(&members(body, extra.as_deref())?).to_owned())
}

/// A resource may lack a title; its id is used instead.
fn title_of(record: &Object) -> &str {
    let text_in = |name| record.get(name).and_then(Value::as_str);
    text_in("title").or_else(|| text_in("sourcedId")).unwrap_or_default()
}

fn web_link(title: &str, address: &str) -> Result<Vec<u8>> {
    document(|xml| {
        element(xml, "webLink", &[("xmlns", WEB_LINK)], |xml| {
            text_element(xml, "title", title)?;
            element(xml, "url", &[("href", address), ("target", "_blank")], |_| Ok(()))
        })
    })
}

type XmlWriter = Writer<Vec<u8>>;

fn document(body: impl FnOnce(&mut XmlWriter) -> Result<()>) -> Result<Vec<u8>> {
    let mut xml = Writer::new(Vec::new());
    write(&mut xml, Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    body(&mut xml)?;
    Ok(xml.into_inner())
}

fn element(
    xml: &mut XmlWriter,
    name: &str,
    attributes: &[(&str, &str)],
    body: impl FnOnce(&mut XmlWriter) -> Result<()>,
) -> Result<()> {
    start(xml, name, attributes)?;
    body(xml)?;
    end(xml, name)
}

fn text_element(xml: &mut XmlWriter, name: &str, text: &str) -> Result<()> {
    element(xml, name, &[], |xml| write(xml, Event::Text(BytesText::new(&allowed(text)))))
}

fn start(xml: &mut XmlWriter, name: &str, attributes: &[(&str, &str)]) -> Result<()> {
    let mut start = BytesStart::new(name);
    for (name, value) in attributes {
        start.push_attribute((*name, allowed(value).as_ref()));
    }
    write(xml, Event::Start(start))
}

fn end(xml: &mut XmlWriter, name: &str) -> Result<()> {
    write(xml, Event::End(BytesEnd::new(name)))
}

fn write(xml: &mut XmlWriter, event: Event<'_>) -> Result<()> {
    xml.write_event(event).map_err(Problem::internal)
}

/// The text without the characters that XML 1.0 cannot hold, even escaped.
fn allowed(text: &str) -> Cow<'_, str> {
    let fits = |c: char| !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    if text.chars().all(fits) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().filter(|c| fits(*c)).collect())
    }
}
