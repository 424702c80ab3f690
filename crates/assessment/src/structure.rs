//! Parts, sections and references of stored tests: read and changed at their own addresses.

use std::collections::{HashMap, HashSet};

use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_qti::model::{ItemRef, Member, Section, Test};
use lyceum_qti::{edit, json, read_test};
use lyceum_store::Tx;
use serde_json::{Value, json};

use crate::body::{Object, format};
use crate::draft::metadata;
use crate::repository;
use crate::{Change, Draft, Kind, Reference, Stored};

/// What is done to a test at a path of identifiers (`[]`, `[part]`, `[part, section]`,
/// `[part, section, item]`).
#[derive(Clone, Debug)]
pub enum Edit {
    /// A part, section or reference is added to what stands at the path.
    Add(Object),
    /// What stands at the path becomes what is sent; what that leaves out stays.
    Replace(Object),
    /// What stands at the path is removed.
    Remove,
    /// The references of the section at the path take the order of `items`.
    Order(Object),
}

/// Whether a body carries a document rather than what JSON says of the one that is there.
pub fn is_document(body: &Object) -> bool {
    let carries = |name: &&str| body.get(*name).is_some_and(Value::is_string);
    let parts = body.get("qti-test-part").is_some_and(Value::is_array);
    carries(&"xml") || !parts && ["rawXml", "qtiXml"].iter().any(carries)
}

/// A test with a change that is not stored yet.
#[derive(Clone, Debug)]
pub struct Edited {
    /// What to store, in place of the version that was read.
    pub change: Change,
    test: lyceum_qti::model::Test,
}

impl Edited {
    /// What stands at a path after the change, as clients read it.
    pub fn member(&self, path: &[&str]) -> Result<Value> {
        json::member_json(&self.test, path)
    }
}

/// Changes a test that was read. Errors: nothing at the path, a taken identifier, something that is
/// in use, what the test would not be valid with.
pub fn edited(stored: &Stored, path: &[&str], edit: &Edit) -> Result<Edited> {
    if let Edit::Replace(json) = edit {
        format(json)?;
    }
    let mut sent: Object = serde_json::from_str(&stored.json).map_err(Problem::internal)?;
    let done = match edit {
        Edit::Add(json) => edit::add(&stored.xml, path, json)?,
        Edit::Replace(json) => edit::replace(&stored.xml, path, json)?,
        Edit::Remove => edit::remove(&stored.xml, path)?,
        Edit::Order(json) => edit::order(&stored.xml, path, json)?,
    };
    let draft = match edit {
        // A body for the whole test also says what XML cannot hold.
        Edit::Replace(json) if path.is_empty() => {
            sent.extend(json.clone());
            Draft { metadata: metadata(json)?, ..Draft::of(Kind::Test, done.xml, &sent)? }
        }
        _ => Draft::of(Kind::Test, done.xml, &sent)?,
    };
    Ok(Edited { change: Change::Whole(Box::new(draft)), test: done.test })
}

/// The part or section at a path. Errors: there is none.
pub fn member(stored: &Stored, path: &[&str]) -> Result<Value> {
    json::member_json(&read_test(&stored.xml)?, path)
}

/// The parts of a test or the sections of a part. Errors: there is no such part.
pub fn members(stored: &Stored, path: &[&str]) -> Result<Vec<Value>> {
    json::members_json(&read_test(&stored.xml)?, path)
}

/// A question of a test, in its order.
struct Question {
    reference: Value,
    names: Reference,
}

/// The items of a test with their places, as clients read them. Two look-ups, however many items
/// there are. Errors: `NotFound`.
pub fn questions(tx: &mut Tx<'_>, identifier: &str) -> Result<String> {
    let stored = repository::found(tx, Kind::Test, identifier)?;
    let test: Value = serde_json::from_str(&stored.json).map_err(Problem::internal)?;
    let questions = places(&test);
    let names: Vec<Reference> = questions.iter().map(|question| question.names.clone()).collect();
    let targets = repository::resolved(tx, &names)?;
    let items: Vec<String> = targets.iter().map(|(_, item)| item.clone()).collect();
    let mut shown = HashMap::new();
    repository::json_of(tx, Kind::Item, &items, |item| {
        shown.insert(item.identifier.clone(), item.shown()?);
        Ok(())
    })?;
    let (mut list, mut count) = (String::new(), 0);
    for (question, item) in questions.iter().zip(&items) {
        let Some(item) = shown.get(item) else { continue };
        let comma = if count > 0 { "," } else { "" };
        let reference = question.reference.to_string();
        list.extend([comma, "{\"reference\":", &reference, ",\"question\":", item, "}"]);
        count += 1;
        if list.len() > limits::QTI_PAGE_MAX_BYTES {
            let most = limits::QTI_PAGE_MAX_BYTES;
            let message = format!(
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

/// The test as it is stored. Errors: `NotFound`.
pub fn test(tx: &mut Tx<'_>, identifier: &str) -> Result<Test> {
    Ok(read_test(&repository::found(tx, Kind::Test, identifier)?.xml)?)
}

/// The references to the items of a test, in its order.
pub fn references(test: &Test) -> Vec<Reference> {
    test.item_refs().into_iter().map(|(_, _, item)| to_item(item)).collect()
}

/// The references to the items that one candidate meets, in the order of meeting them: selection and
/// ordering of the sections follow the seed ([`lyceum_qti::arranged`]).
pub fn arranged(test: &Test, seed: u64) -> Vec<Reference> {
    let references = references(test);
    lyceum_qti::arranged(test, seed).into_iter().map(|place| references[place].clone()).collect()
}

/// The references to those items of a test whose answers are refused where they break the rules of an
/// interaction ([`crate::respond_validated`]).
pub fn validated(test: &Test) -> Vec<Reference> {
    let all = test.item_refs().into_iter().zip(test.validates());
    all.filter(|(_, validates)| *validates).map(|((_, _, item), _)| to_item(item)).collect()
}

fn to_item(item: &ItemRef) -> Reference {
    Reference {
        kind: Kind::Item,
        identifier: item.identifier.to_string(),
        href: item.href.to_string(),
    }
}

/// Whether candidates may meet different items of a test, or in another order.
pub fn varies(test: &Test) -> bool {
    fn section_varies(section: &Section) -> bool {
        let inner = section.members.iter().filter_map(|member| match member {
            Member::Section(inner) => Some(&**inner),
            _ => None,
        });
        section.selection.is_some()
            || section.ordering.is_some_and(|ordering| ordering.shuffle)
            || inner.into_iter().any(section_varies)
    }
    test.parts.iter().flat_map(|part| &part.sections).any(|member| match member {
        Member::Section(section) => section_varies(section),
        _ => false,
    })
}

/// The items that are called so, without their texts; those that are missing are left out. One
/// look-up, however many items there are.
pub fn heads(tx: &mut Tx<'_>, names: &[Reference]) -> Result<Vec<repository::Head>> {
    let all: HashSet<&str> = names.iter().flat_map(Reference::names).collect();
    let heads = repository::heads(tx, &all)?;
    let head =
        |reference: &Reference| reference.names().into_iter().find_map(|name| heads.get(name));
    Ok(names.iter().filter_map(head).cloned().collect())
}

/// The references of the JSON form of a test.
fn places(test: &Value) -> Vec<Question> {
    let mut questions = Vec::new();
    for part in list(test, "qti-test-part") {
        for section in list(part, "qti-assessment-section") {
            for item in list(section, "qti-assessment-item-ref") {
                let said = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
                questions.push(Question {
                    reference: json!({
                        "identifier": item["identifier"],
                        "href": item["href"],
                        "testPart": part["identifier"],
                        "section": section["identifier"],
                    }),
                    names: Reference {
                        kind: Kind::Item,
                        identifier: said("identifier"),
                        href: said("href"),
                    },
                });
            }
        }
    }
    questions
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}
