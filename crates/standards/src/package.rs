//! Packages: a framework with all that is in it, read from JSON and checked before anything is stored.

use std::collections::{BTreeMap, HashSet};

use lyceum_core::{Problem, ProblemKind, Result, message, messages};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::class::{ASSOCIATION, CHILD_OF, Class, DEFINITIONS, DOCUMENT, ITEM, RUBRIC};
use crate::fault::{Faults, Path};
use crate::limits;
use crate::record::{Record, check};
use crate::{tree, words};

/// A framework, apart from what is in it.
#[derive(Clone, Debug)]
pub struct Document {
    /// The record.
    pub record: Record,
    /// Its title.
    pub title: String,
    /// Its own address.
    pub uri: String,
}

/// An item.
#[derive(Clone, Debug)]
pub struct Item {
    /// The record.
    pub record: Record,
    /// The words by which a search finds it.
    pub words: Vec<String>,
}

/// An association.
#[derive(Clone, Debug)]
pub struct Association {
    /// The record.
    pub record: Record,
    /// Its type, such as `isChildOf`.
    pub ty: String,
    /// The identifier of the node that it starts from.
    pub origin: String,
    /// The identifier of the node that it leads to.
    pub destination: String,
}

/// A definition or a rubric.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its class.
    pub class: &'static Class,
    /// The record.
    pub record: Record,
}

/// A package after all checks that do not need the store.
#[derive(Clone, Debug)]
pub struct Package {
    /// The framework.
    pub document: Document,
    /// Its items, in their order.
    pub items: Vec<Item>,
    /// Its associations, in their order.
    pub associations: Vec<Association>,
    /// Its definitions, then its rubrics.
    pub definitions: Vec<Definition>,
    /// The names of its lists, a JSON array; it includes empty lists.
    pub parts: String,
    /// Other members of its outer levels: `{"package": {…}, "definitions": {…}}`.
    pub rest: Option<String>,
}

/// The members of an object, each as its own text.
type Members<'a> = BTreeMap<String, &'a RawValue>;

impl Package {
    /// Reads a package, also one under the key `CFPackage`. Errors: `Malformed` if it is not a JSON object;
    /// `TooLarge`; `Invalid` with each fault and its path: what a class does not allow, repeated identifiers,
    /// cycles of children, or trees deeper than [`limits::CASE_TREE_MAX_LEVELS`].
    pub fn read(text: &str) -> Result<Self> {
        let mut members: Members<'_> = parse(text.trim_start_matches('\u{feff}'))?;
        if let Some(inner) = members.get("CFPackage").filter(|_| members.len() == 1) {
            members = parse(inner.get())?;
        }
        let mut faults = Faults::default();
        let document = document(members.remove(DOCUMENT.name), &mut faults)?;
        let mut read = PackageReader { faults, parts: Vec::new() };
        let items = read.items(&mut members)?;
        let associations = read.associations(&mut members)?;
        let (definitions, rest) = read.definitions(&mut members)?;
        read.unique(items.iter().map(|item| &item.record), ITEM.list);
        read.unique(associations.iter().map(|one| &one.record), ASSOCIATION.list);
        for class in DEFINITIONS.iter().chain([&&RUBRIC]) {
            let of_class = definitions.iter().filter(|one| std::ptr::eq(one.class, *class));
            read.unique(of_class.map(|one| &one.record), class.list);
        }
        let PackageReader { mut faults, parts } = read;
        let edges: Vec<(usize, &str, &str)> = children(&associations).collect();
        tree::check(&edges, &mut faults);
        faults.refuse()?;
        let document = document.expect("a package without a document has a fault");
        Ok(Self {
            document,
            items,
            associations,
            definitions,
            parts: json!(parts).to_string(),
            rest,
        })
    }
}

/// The associations that form the tree: index, child and parent.
pub(crate) fn children(of: &[Association]) -> impl Iterator<Item = (usize, &str, &str)> {
    let all = of.iter().enumerate().filter(|(_, one)| one.ty == CHILD_OF);
    all.map(|(index, one)| (index, one.origin.as_str(), one.destination.as_str()))
}

fn parse<'a, T: serde::Deserialize<'a>>(text: &'a str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        Problem::new(
            ProblemKind::Malformed,
            message!("the body must be a CFPackage in JSON: {error}"),
        )
    })
}

fn document(sent: Option<&RawValue>, faults: &mut Faults) -> Result<Option<Document>> {
    let path = Path::Record(DOCUMENT.name, None);
    let Some(sent) = sent else {
        faults.add(path, "is required in a package");
        return Ok(None);
    };
    let checked = check(&DOCUMENT, parse(sent.get())?, &path, faults);
    Ok(checked.map(|(record, known)| Document::of(record, &known)))
}

impl Document {
    pub(crate) fn of(record: Record, known: &Map<String, Value>) -> Self {
        let text = |name: &str| known[name].as_str().unwrap_or_default().to_owned();
        Self { title: text("title"), uri: text("uri"), record }
    }
}

impl Item {
    pub(crate) fn of(record: Record, known: &Map<String, Value>) -> Self {
        Self { words: words::of_item(known), record }
    }
}

impl Association {
    pub(crate) fn of(record: Record, known: &Map<String, Value>) -> Self {
        let node = |name: &str| known[name]["identifier"].as_str().unwrap_or_default().to_owned();
        Self {
            ty: known["associationType"].as_str().unwrap_or_default().to_owned(),
            origin: node("originNodeURI"),
            destination: node("destinationNodeURI"),
            record,
        }
    }
}

/// A package that is being read.
struct PackageReader {
    faults: Faults,
    parts: Vec<&'static str>,
}

impl PackageReader {
    fn items(&mut self, members: &mut Members<'_>) -> Result<Vec<Item>> {
        let most = limits::CASE_ITEMS_MAX_RECORDS;
        self.list(&ITEM, ITEM.list, members.remove(ITEM.list), most, Item::of)
    }

    fn associations(&mut self, members: &mut Members<'_>) -> Result<Vec<Association>> {
        let most = limits::CASE_ASSOCIATIONS_MAX_RECORDS;
        let sent = members.remove(ASSOCIATION.list);
        self.list(&ASSOCIATION, ASSOCIATION.list, sent, most, Association::of)
    }

    /// Definitions and rubrics, and the members that are left.
    fn definitions(
        &mut self,
        members: &mut Members<'_>,
    ) -> Result<(Vec<Definition>, Option<String>)> {
        let most = limits::CASE_DEFINITIONS_MAX_RECORDS;
        let mut found = Vec::new();
        let mut rest = Map::new();
        if let Some(sent) = members.remove("CFDefinitions").filter(|sent| sent.get() != "null") {
            self.parts.push("CFDefinitions");
            let mut lists: Members<'_> = parse(sent.get())?;
            for class in DEFINITIONS {
                let sent = lists.remove(class.list);
                let place = format!("CFDefinitions.{}", class.list);
                let make = |record, _: &_| Definition { class, record };
                found.extend(self.list(class, &place, sent, most, make)?);
            }
            keep_other_members(&mut rest, "definitions", lists)?;
        }
        let sent = members.remove(RUBRIC.list);
        let class = &RUBRIC;
        let make = |record, _: &_| Definition { class, record };
        found.extend(self.list(class, class.list, sent, most, make)?);
        // A package that was read in the platform's dialect says its framework's identifier.
        members.remove("sourcedId");
        keep_other_members(&mut rest, "package", std::mem::take(members))?;
        Ok((found, (!rest.is_empty()).then(|| Value::Object(rest).to_string())))
    }

    fn list<T>(
        &mut self,
        class: &'static Class,
        place: &str,
        sent: Option<&RawValue>,
        most: usize,
        make: impl Fn(Record, &Map<String, Value>) -> T,
    ) -> Result<Vec<T>> {
        let Some(sent) = sent.filter(|sent| sent.get() != "null") else { return Ok(Vec::new()) };
        if !sent.get().starts_with('[') {
            self.faults.add(place, messages::MUST_BE_ARRAY);
            return Ok(Vec::new());
        }
        self.parts.push(class.list);
        let sent: Vec<&RawValue> = parse(sent.get())?;
        if sent.len() > most {
            let message = message!("a package has at most {most} {class.list}");
            return Err(Problem::new(ProblemKind::TooLarge, message));
        }
        let mut found = Vec::with_capacity(sent.len());
        for (index, one) in sent.into_iter().enumerate() {
            let path = Path::Record(place, Some(index));
            let checked = check(class, parse(one.get())?, &path, &mut self.faults);
            found.extend(checked.map(|(record, known)| make(record, &known)));
        }
        Ok(found)
    }

    fn unique<'r>(&mut self, records: impl Iterator<Item = &'r Record>, list: &str) {
        let mut seen = HashSet::new();
        for (index, record) in records.enumerate() {
            if !seen.insert(record.id.as_str()) {
                let path = Path::Record(list, Some(index));
                let message = message!("must be unique: '{record.id}' appears twice in the list");
                self.faults.add(Path::Member(&path, "identifier"), message);
            }
        }
    }
}

/// Adds the members that no field holds to `rest`, without null values.
fn keep_other_members(
    rest: &mut Map<String, Value>,
    level: &str,
    members: Members<'_>,
) -> Result<()> {
    let mut values = Map::new();
    for (name, text) in members {
        values.insert(name, parse(text.get())?);
    }
    values.retain(|_, value| !value.is_null());
    if !values.is_empty() {
        rest.insert(level.to_owned(), values.into());
    }
    Ok(())
}
