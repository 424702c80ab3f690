//! Reads and changes parts, sections and references of stored tests at their own addresses.

use std::collections::{HashMap, HashSet};

use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_qti::model::{ItemRef, Section, SectionMember, Test};
use lyceum_qti::{edit, json, read_test};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::body::{Object, format};
use crate::document::metadata;
use crate::limits;
use crate::repository;
use crate::{CheckedDocument, ContentKind, DocumentChange, Reference, StoredDocument};

/// A change of a test at a path of identifiers (`[]`, `[part]`, `[part, section]`, `[part, section, item]`).
#[derive(Clone, Debug)]
pub enum TestEdit {
    /// Adds a part, section or reference to the member at the path.
    Add(Object),
    /// Replaces the member at the path. Missing members of the new value stay as they are.
    Replace(Object),
    /// Removes the member at the path.
    Remove,
    /// Sorts the references of the section at the path in the order of `items`.
    Order(Object),
}

/// Whether a body contains a whole document, rather than the JSON of a change.
pub fn is_document(body: &Object) -> bool {
    let carries = |name: &&str| body.get(*name).is_some_and(Value::is_string);
    let parts = body.get("qti-test-part").is_some_and(Value::is_array);
    carries(&"xml") || !parts && ["rawXml", "qtiXml"].iter().any(carries)
}

/// A changed test that is not stored yet.
#[derive(Clone, Debug)]
pub struct EditedTest {
    /// The change to store, relative to the version that was read.
    pub change: DocumentChange,
    test: lyceum_qti::model::Test,
}

impl EditedTest {
    /// The member at a path after the change, as clients read it.
    pub fn member(&self, path: &[&str]) -> Result<Value> {
        json::member_json(&self.test, path)
    }
}

/// Changes a test that was read. Errors: the path does not exist; an identifier is taken; the member is in use; the
/// test would become invalid.
pub fn edited(stored: &StoredDocument, path: &[&str], edit: &TestEdit) -> Result<EditedTest> {
    if let TestEdit::Replace(json) = edit {
        format(json)?;
    }
    let mut sent: Object = serde_json::from_str(&stored.json).map_err(Problem::internal)?;
    let edited = match edit {
        TestEdit::Add(json) => edit::add(&stored.xml, path, json)?,
        TestEdit::Replace(json) => edit::replace(&stored.xml, path, json)?,
        TestEdit::Remove => edit::remove(&stored.xml, path)?,
        TestEdit::Order(json) => edit::order(&stored.xml, path, json)?,
    };
    let document = match edit {
        // A JSON body for the whole test may have members that XML cannot express.
        TestEdit::Replace(json) if path.is_empty() => {
            sent.extend(json.clone());
            CheckedDocument {
                metadata: metadata(json)?,
                ..CheckedDocument::of(ContentKind::Test, edited.xml, &sent)?
            }
        }
        _ => CheckedDocument::of(ContentKind::Test, edited.xml, &sent)?,
    };
    Ok(EditedTest { change: DocumentChange::Content(Box::new(document)), test: edited.test })
}

/// The part or section at a path. Errors: it does not exist.
pub fn member(stored: &StoredDocument, path: &[&str]) -> Result<Value> {
    json::member_json(&read_test(&stored.xml)?, path)
}

/// The parts of a test, or the sections of a part. Errors: the part does not exist.
pub fn members(stored: &StoredDocument, path: &[&str]) -> Result<Vec<Value>> {
    json::members_json(&read_test(&stored.xml)?, path)
}

/// A question of a test.
struct Question {
    place: QuestionPlace,
    item: Reference,
}

/// The place of a question in its test.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct QuestionPlace {
    /// The identifier of the reference.
    identifier: String,
    /// The address of the item.
    href: String,
    /// The identifier of the test part.
    test_part: String,
    /// The identifier of the section.
    section: String,
}

/// The items of a test with their places, as clients read them. Runs two queries for any number of items. Errors:
/// `NotFound`.
pub fn questions(tx: &mut Tx<'_>, identifier: &str) -> Result<String> {
    let stored = repository::require(tx, ContentKind::Test, identifier)?;
    let test: Value = serde_json::from_str(&stored.json).map_err(Problem::internal)?;
    let questions = places(&test);
    let items: Vec<Reference> = questions.iter().map(|question| question.item.clone()).collect();
    let targets = repository::resolved(tx, &items)?;
    let items: Vec<String> = targets.iter().map(|(_, item)| item.clone()).collect();
    let mut shown = HashMap::new();
    repository::json_of(tx, ContentKind::Item, &items, |item| {
        shown.insert(item.identifier.clone(), item.to_json_text()?);
        Ok(())
    })?;
    let (mut list, mut count) = (String::new(), 0);
    for (question, item) in questions.iter().zip(&items) {
        let Some(item) = shown.get(item) else { continue };
        let comma = if count > 0 { "," } else { "" };
        let place = serde_json::to_string(&question.place).map_err(Problem::internal)?;
        list.extend([comma, "{\"reference\":", &place, ",\"question\":", item, "}"]);
        count += 1;
        if list.len() > limits::QTI_PAGE_MAX_BYTES {
            let most = limits::QTI_PAGE_MAX_BYTES;
            let message = message!(
                "the questions of the test have more than {most} bytes; read its items one by one"
            );
            return Err(Problem::new(ProblemKind::TooLarge, message));
        }
    }
    let (name, title) = (Value::from(identifier), Value::from(stored.title));
    Ok(format!(
        "{{\"assessmentTest\":{name},\"title\":{title},\"totalQuestions\":{count},\"questions\":[{list}]}}"
    ))
}

/// A stored test. Errors: `NotFound`.
pub fn test(tx: &mut Tx<'_>, identifier: &str) -> Result<Test> {
    Ok(read_test(&repository::require(tx, ContentKind::Test, identifier)?.xml)?)
}

/// The references to the items of a test, in order.
pub fn references(test: &Test) -> Vec<Reference> {
    test.item_refs().into_iter().map(|(_, _, item)| to_item(item)).collect()
}

/// The references to the items that a learner meets, in that order. The seed determines selection and order in
/// sections ([`lyceum_qti::arranged`]).
pub fn arranged(test: &Test, seed: u64) -> Vec<Reference> {
    let references = references(test);
    lyceum_qti::arranged(test, seed).into_iter().map(|place| references[place].clone()).collect()
}

/// The references to those items of a test whose answers must follow the rules of their interactions
/// ([`crate::respond_validated`]).
pub fn validated(test: &Test) -> Vec<Reference> {
    let all = test.item_refs().into_iter().zip(test.validates());
    all.filter(|(_, validates)| *validates).map(|((_, _, item), _)| to_item(item)).collect()
}

fn to_item(item: &ItemRef) -> Reference {
    Reference {
        kind: ContentKind::Item,
        identifier: item.identifier.to_string(),
        href: item.href.to_string(),
    }
}

/// Whether learners may meet different items of a test, or in a different order.
pub fn varies(test: &Test) -> bool {
    fn section_varies(section: &Section) -> bool {
        let inner = section.members.iter().filter_map(|member| match member {
            SectionMember::Section(inner) => Some(&**inner),
            _ => None,
        });
        section.selection.is_some()
            || section.ordering.is_some_and(|ordering| ordering.shuffle)
            || inner.into_iter().any(section_varies)
    }
    test.parts.iter().flat_map(|part| &part.sections).any(|member| match member {
        SectionMember::Section(section) => section_varies(section),
        _ => false,
    })
}

/// The heads of the items with these names. Missing items are left out. Runs one query for any number of items.
pub fn heads(tx: &mut Tx<'_>, names: &[Reference]) -> Result<Vec<repository::ItemHead>> {
    let all: HashSet<&str> = names.iter().flat_map(Reference::names).collect();
    let heads = repository::heads(tx, &all)?;
    let head =
        |reference: &Reference| reference.names().into_iter().find_map(|name| heads.get(name));
    Ok(names.iter().filter_map(head).cloned().collect())
}

/// The questions in the JSON form of a test, in order.
fn places(test: &Value) -> Vec<Question> {
    let mut questions = Vec::new();
    for part in list(test, "qti-test-part") {
        for section in list(part, "qti-assessment-section") {
            for item in list(section, "qti-assessment-item-ref") {
                let place = QuestionPlace {
                    identifier: text(item, "identifier"),
                    href: text(item, "href"),
                    test_part: text(part, "identifier"),
                    section: text(section, "identifier"),
                };
                let (identifier, href) = (place.identifier.clone(), place.href.clone());
                let item = Reference { kind: ContentKind::Item, identifier, href };
                questions.push(Question { place, item });
            }
        }
    }
    questions
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}
