//! Changes of a test as text: parts, sections and references to items are added, replaced, moved and
//! removed, and everything else keeps its bytes: comments, rules, rubrics, white space.
//!
//! A place is a path of identifiers: `[]` the test, `[part]`, `[part, section]` with the section at
//! any depth of the part, `[part, section, item]` with the reference at any depth of the section. A
//! document of QTI 2 becomes one of QTI 3 first.

mod arrange;
mod revise;
mod splice;
mod uses;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use lyceum_core::problem::Detail;
use lyceum_core::{Problem, ProblemKind, Result, message};
use serde_json::{Map, Value as Json};

use crate::json::member::{item_ref_into, part_into, section_into, unknown};
use crate::json::write::{JsonObject, XmlWriter};
use crate::model::Test;
use crate::xml::{Document, Element, ElementNamespace, WriteMode, write};
use crate::{Faults, read_test, upgraded};
use splice::{Splices, fitting};

/// A test after a change.
#[derive(Clone, Debug)]
pub struct EditedTest {
    /// Its XML.
    pub xml: String,
    /// The test that the XML describes.
    pub test: Test,
}

/// The levels of a test, from the outside inwards.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TestLevel {
    Test,
    Part,
    Section,
    Item,
}

impl TestLevel {
    /// The level at a path with this number of identifiers.
    fn at(path: &[&str]) -> Self {
        match path {
            [] => Self::Test,
            [_] => Self::Part,
            [_, _] => Self::Section,
            _ => Self::Item,
        }
    }

    fn below(self) -> Self {
        match self {
            Self::Test => Self::Part,
            Self::Part => Self::Section,
            Self::Section | Self::Item => Self::Item,
        }
    }

    /// The element, and the key of a list of them in JSON.
    fn element(self) -> &'static str {
        match self {
            Self::Test => "qti-assessment-test",
            Self::Part => "qti-test-part",
            Self::Section => "qti-assessment-section",
            Self::Item => "qti-assessment-item-ref",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Part => "test part",
            Self::Section => "section",
            Self::Item => "item",
        }
    }

    /// The elements of this level inside an element of the level above: parts and sections directly, items at any
    /// depth.
    fn members(self, parent: Element<'_>) -> Vec<Element<'_>> {
        match self {
            Self::Item => parent.descendants().filter(|e| e.is(self.element())).collect(),
            _ => parent.all(self.element()).collect(),
        }
    }

    /// The XML of one; `attempts` are those of a part.
    fn piece(
        self,
        parent: Element<'_>,
        json: &JsonObject<'_>,
        attempts: Option<String>,
        faults: &mut Vec<Detail>,
    ) -> String {
        let mut writer = XmlWriter::default();
        match self {
            Self::Part | Self::Test => part_into(&mut writer, faults, json, attempts),
            Self::Section => section_into(&mut writer, faults, json),
            Self::Item => item_ref_into(&mut writer, faults, json),
        }
        fitting(parent, writer.xml)
    }
}

fn identifier(element: Element<'_>) -> &str {
    element.attribute("identifier").unwrap_or_default()
}

/// Adds the element in the JSON to the element at the path: a part to a test, a section to a part, a
/// reference to a section. It becomes the one of its `sequence`, from 1, else the last. What stands
/// there already, exactly as it is sent, is left as it is. Errors: nothing at the path, a taken
/// identifier, what the test would not be valid with.
pub fn add(xml: &str, path: &[&str], json: &Map<String, Json>) -> Result<EditedTest> {
    let source = current(xml)?;
    let document = Document::parse(&source).map_err(Faults::from)?;
    let parent = find(document.root(), path)?;
    let level = TestLevel::at(path).below();
    let (object, mut faults) = (JsonObject::new(json), Vec::new());
    let piece = level.piece(parent, &object, None, &mut faults);
    if !faults.is_empty() {
        return Err(Problem::invalid_all(faults));
    }
    if contains_member(&level.members(parent), &piece)? {
        // The same request came before.
        drop(document);
        return finish(source.into_owned());
    }
    free(document.root(), &piece)?;

    let mut splices = Splices::of(document.source());
    let members = level.members(parent);
    let sequence = json.get("sequence").and_then(Json::as_u64).filter(|at| *at > 0);
    let before = sequence.and_then(|at| members.get(usize::try_from(at).ok()? - 1));
    match before {
        Some(next) => splices.insert_before(child_of(parent, *next), &piece),
        None => append(&mut splices, level, parent, &[piece]),
    }
    finish(splices.applied())
}

/// Makes what stands at the path say what the JSON says, which names what it holds: that is kept,
/// added, removed and put in order. What the JSON leaves out, and what it cannot say, stays. Errors:
/// nothing at the path, another identifier, an item that would leave its inner section, something
/// that is in use, what the test would not be valid with.
pub fn replace(xml: &str, path: &[&str], json: &Map<String, Json>) -> Result<EditedTest> {
    let source = current(xml)?;
    let object = JsonObject::new(json);
    let revised = revise::revised(&source, path, &object)?;
    let arranged = arrange::arranged(&revised, path, &object)?;
    let sequence = json.get("sequence").and_then(Json::as_u64).filter(|at| *at > 0);
    finish(match (TestLevel::at(path), sequence) {
        (TestLevel::Section, Some(sequence)) => arrange::moved(&arranged, path, sequence)?,
        _ => arranged,
    })
}

/// Removes what stands at the path. Errors: nothing there, the last part of a test, the last section
/// of a part, something that rules of the test refer to.
pub fn remove(xml: &str, path: &[&str]) -> Result<EditedTest> {
    let source = current(xml)?;
    let document = Document::parse(&source).map_err(Faults::from)?;
    let element = find(document.root(), path)?;
    let level = TestLevel::at(path);
    let alike = |e: &Element<'_>| e.is(level.element()) || e.is("qti-assessment-section-ref");
    let parent = element.parent().filter(|_| level != TestLevel::Test);
    let has_to_have = parent.is_some_and(|parent| !parent.is("qti-assessment-section"));
    if let Some(parent) = parent.filter(|_| has_to_have)
        && parent.elements().filter(alike).count() < 2
    {
        let (name, container) =
            (level.name(), if level == TestLevel::Part { "test" } else { "part" });
        let message = message!(
            "the {name} '{identifier}' is the only one in the {container} '{parent}', which needs at least one; add \
             another first, or delete the {container}",
            identifier = identifier(element),
            parent = identifier(parent)
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    uses::unused(document.root(), &[element])?;
    let mut splices = Splices::of(document.source());
    splices.remove(element);
    finish(splices.applied())
}

/// Puts the references of the section at the path into the order of `items`, by `sequence` where
/// they have one. Errors: nothing at the path, references that are missing, unknown or named twice,
/// one that would leave its inner section.
pub fn order(xml: &str, path: &[&str], json: &Map<String, Json>) -> Result<EditedTest> {
    let source = current(xml)?;
    let object = JsonObject::new(json);
    finish(arrange::ordered(&source, path, &object)?)
}

/// The text as QTI 3; unchanged if it is QTI 3 already.
fn current(xml: &str) -> Result<Cow<'_, str>> {
    let document = Document::parse(xml).map_err(Faults::from)?;
    Ok(match document.root().space() {
        ElementNamespace::Qti2(_) => Cow::Owned(upgraded(xml).map_err(Faults::from)?),
        _ => Cow::Borrowed(xml),
    })
}

fn finish(xml: String) -> Result<EditedTest> {
    let test = read_test(&xml)?;
    Ok(EditedTest { xml, test })
}

/// The element at a path.
fn find<'d>(root: Element<'d>, path: &[&str]) -> Result<Element<'d>> {
    let mut element = root;
    for (depth, name) in path.iter().enumerate() {
        let level = TestLevel::at(&path[..=depth]);
        let mut all = element.descendants().filter(|e| e.is(level.element()));
        element = all.find(|e| identifier(*e) == *name).ok_or_else(|| {
            let inside =
                format!("the {} '{}'", TestLevel::at(&path[..depth]).name(), identifier(element));
            unknown(level.name(), name, &inside)
        })?;
    }
    Ok(element)
}

/// Whether one of the members is the new element.
fn contains_member(members: &[Element<'_>], new: &str) -> Result<bool> {
    let new = Document::parse(new).map_err(Faults::from)?;
    let text = |element| write(element, &mut |_| WriteMode::Whole);
    let name = identifier(new.root());
    let same = members.iter().find(|member| identifier(**member) == name);
    Ok(same.is_some_and(|member| text(*member) == text(new.root())))
}

/// Checks that the test has no identifier of a new element.
fn free(root: Element<'_>, new: &str) -> Result<()> {
    let members = |within| Element::descendants(within).filter(|e| uses::is_member(*e));
    let used: HashSet<&str> = members(root).map(identifier).collect();
    let new = Document::parse(new).map_err(Faults::from)?;
    match members(new.root()).map(identifier).find(|name| used.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Problem::new(
            ProblemKind::Conflict,
            message!(
                "the test '{identifier}' has a part, section or item with the identifier '{name}'; choose another",
                identifier = identifier(root)
            ),
        )),
    }
}

/// The child of `parent` that `inner` stands in.
fn child_of<'d>(parent: Element<'d>, inner: Element<'d>) -> Element<'d> {
    let mut child = inner;
    while let Some(above) = child.parent().filter(|above| above.start() != parent.start()) {
        child = above;
    }
    child
}

/// Puts pieces behind the last of their like.
fn append(splices: &mut Splices<'_>, level: TestLevel, parent: Element<'_>, pieces: &[String]) {
    let alike = |e: &Element<'_>| uses::is_member(*e) || level == TestLevel::Item;
    match parent.elements().filter(alike).last() {
        _ if pieces.is_empty() => {}
        Some(last) => splices.insert_after(last, pieces),
        None => splices.insert_first(parent, &pieces.concat()),
    }
}

/// The index of each identifier in a list; the last one if it occurs twice.
fn by_name(objects: &[JsonObject<'_>]) -> HashMap<String, usize> {
    let name =
        |(at, one): (usize, &JsonObject<'_>)| (one.text("identifier").unwrap_or_default(), at);
    objects.iter().enumerate().map(name).collect()
}
