//! Assessment line items and results that the server itself writes.

use lyceum_core::time::Timestamp;
use lyceum_core::{Result, json};
use lyceum_store::Tx;
use serde_json::Value;

use crate::fields;
use crate::kind::RecordKind;
use crate::kinds::{ASSESSMENT_LINE_ITEM, ASSESSMENT_RESULT, COMPONENT_RESOURCE, COURSE, USER};
use crate::record::{Object, Record};
use crate::repository;

/// An assessment line item: what students are scored on.
#[derive(Clone, Debug)]
pub struct LineItem<'a> {
    /// Its sourcedId.
    pub sourced_id: &'a str,
    /// Its name for people.
    pub title: &'a str,
    /// The sourcedId of the line item that it is a part of.
    pub parent: Option<&'a str>,
    /// The sourcedId of its course.
    pub course: &'a str,
    /// The sourcedId of the component resource that it assesses.
    pub component_resource: Option<&'a str>,
    /// The highest score; the lowest is 0.
    pub score_max: u32,
    /// Its metadata.
    pub metadata: Vec<(&'a str, &'a str)>,
}

/// An assessment result: how a student did in a line item.
#[derive(Clone, Debug)]
pub struct AssessmentResult<'a> {
    /// Its sourcedId.
    pub sourced_id: String,
    /// The sourcedId of its line item.
    pub line_item: &'a str,
    /// The sourcedId of the student.
    pub student: &'a str,
    /// The score; `None` until there is one.
    pub score: Option<f64>,
    /// The state of grading, in the words of OneRoster.
    pub score_status: &'a str,
    /// Its metadata.
    pub metadata: Object,
}

/// The result that is likely stored under a sourcedId.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormerResult {
    /// Nothing.
    Missing,
    /// A result of the same student in the same line item.
    Present,
}

/// Creates those of the line items that are missing or deleted.
pub fn ensure_line_items(tx: &mut Tx<'_>, now: Timestamp, items: &[LineItem<'_>]) -> Result<()> {
    let kind = &ASSESSMENT_LINE_ITEM;
    if let [one, other] = items
        && repository::are_in_use(tx, kind, [one.sourced_id, other.sourced_id])?
    {
        return Ok(());
    }
    let ids: Vec<&str> = items.iter().map(|item| item.sourced_id).collect();
    let in_use = repository::in_use(tx, kind, &ids)?;
    let missing = items.iter().filter(|item| !in_use.contains(item.sourced_id));
    let missing = missing.map(|item| Record::from_server(kind, &item.members(), now));
    repository::put_all(tx, kind, &missing.collect::<Result<Vec<_>>>()?).map(drop)
}

/// Writes results, each over the one with its sourcedId. Their line items and students exist.
pub fn write(tx: &mut Tx<'_>, now: Timestamp, results: Vec<AssessmentResult<'_>>) -> Result<()> {
    let records = results.into_iter().map(|result| Ok(result.record(now)?.0));
    let records = records.collect::<Result<Vec<_>>>()?;
    repository::put_all(tx, &ASSESSMENT_RESULT, &records).map(drop)
}

/// As [`write`], of one result, and answers its members. One statement where `former` is right.
pub fn write_one(
    tx: &mut Tx<'_>,
    now: Timestamp,
    result: AssessmentResult<'_>,
    former: FormerResult,
) -> Result<Object> {
    let (record, members) = result.record(now)?;
    let is_written = match former {
        FormerResult::Missing => repository::add(tx, &record)?.is_some(),
        FormerResult::Present => repository::overwrite(tx, &record)?,
    };
    if !is_written {
        repository::put_all(tx, &ASSESSMENT_RESULT, &[record])?;
    }
    Ok(members)
}

/// The results with these sourcedIds, in the same order; none for one that is not stored.
pub fn read<const N: usize>(tx: &mut Tx<'_>, ids: [&str; N]) -> Result<[Option<Object>; N]> {
    let mut found = fields::of_all(tx, &ASSESSMENT_RESULT, ids.into_iter())?;
    Ok(ids.map(|id| found.remove(id)))
}

/// Marks results `tobedeleted`, and answers how many.
pub fn mark_deleted(
    tx: &mut Tx<'_>,
    now: Timestamp,
    results: impl IntoIterator<Item = Object>,
) -> Result<usize> {
    let marked = |mut result: Object| {
        result.insert("status".into(), "tobedeleted".into());
        Record::from_server(&ASSESSMENT_RESULT, &result, now)
    };
    let records = results.into_iter().map(marked).collect::<Result<Vec<_>>>()?;
    repository::put_all(tx, &ASSESSMENT_RESULT, &records)?;
    Ok(records.len())
}

impl LineItem<'_> {
    fn members(&self) -> Object {
        let mut item = object_of([
            ("sourcedId", self.sourced_id.into()),
            ("status", "active".into()),
            ("title", self.title.into()),
            ("course", reference(&COURSE, self.course)),
            ("resultValueMin", 0.into()),
            ("resultValueMax", self.score_max.into()),
        ]);
        if let Some(parent) = self.parent {
            let parent = reference(&ASSESSMENT_LINE_ITEM, parent);
            item.insert("parentAssessmentLineItem".into(), parent);
        }
        if let Some(id) = self.component_resource {
            item.insert("componentResource".into(), reference(&COMPONENT_RESOURCE, id));
        }
        if !self.metadata.is_empty() {
            let metadata = self.metadata.iter().map(|(name, text)| (*name, Value::from(*text)));
            item.insert("metadata".into(), metadata.collect());
        }
        item
    }
}

impl AssessmentResult<'_> {
    /// The record, and its members as they are read back.
    fn record(self, now: Timestamp) -> Result<(Record, Object)> {
        let mut result = object_of([
            ("sourcedId", self.sourced_id.into()),
            ("status", "active".into()),
            ("dateLastModified", now.to_string().into()),
            ("assessmentLineItem", reference(&ASSESSMENT_LINE_ITEM, self.line_item)),
            ("student", reference(&USER, self.student)),
        ]);
        result.extend(self.score.map(|score| ("score".to_owned(), json::number(score))));
        result.extend(object_of([
            ("scoreDate", now.date().to_string().into()),
            ("scoreStatus", self.score_status.into()),
            ("metadata", self.metadata.into()),
        ]));
        Ok((Record::from_server(&ASSESSMENT_RESULT, &result, now)?, result))
    }
}

fn reference(kind: &RecordKind, id: &str) -> Value {
    Value::Object(object_of([("sourcedId", id.into()), ("type", kind.one.into())]))
}

/// An object of known size: each answer writes several, and one that grows member by member costs double.
fn object_of<const N: usize>(all: [(&str, Value); N]) -> Object {
    let mut object = Object::with_capacity(N);
    object.extend(all.map(|(name, value)| (name.to_owned(), value)));
    object
}
