//! Alignment: which records cover which items. Some records are aligned here. Others name the items themselves: line
//! items and results in their `learningObjectiveSet`; resources, questions and tests in their metadata.

mod documents;

use std::collections::{BTreeSet, HashMap, HashSet};

use lyceum_assessment as assessment;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::repository::{self as roster, RecordUse};
use lyceum_roster::{kinds as roster_kinds, reach};
use lyceum_store::Tx;
use serde_json::Value;

use crate::fault::{Faults, Path};
use crate::limits;
use crate::record::is_uuid;
use crate::repository::{self, Alignment};

pub use crate::aligned_kind::{AlignedKind, kinds};
pub use documents::{
    AddedAlignments, AlignmentList, AlignmentSource, Coverage, CoveredItem, CoveredItems,
    CoveringRecord, ItemList,
};

/// The kinds whose records cannot be aligned, but name items themselves.
fn kinds_that_only_name() -> [AlignedKind; 2] {
    [
        AlignedKind::Roster(&roster_kinds::RESULT),
        AlignedKind::Roster(&roster_kinds::ASSESSMENT_RESULT),
    ]
}

/// A record that exists.
struct AlignedRecord {
    title: Option<String>,
    /// The items that the record names.
    says: Vec<String>,
}

impl AlignedKind {
    /// The record, unless it does not exist or lies outside of the reach.
    fn find(self, tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<Option<AlignedRecord>> {
        match self {
            // Neither store can hold the character U+0000.
            _ if id.contains('\0') => Ok(None),
            Self::Named(_) => Ok(Some(AlignedRecord { title: None, says: Vec::new() })),
            Self::Roster(kind) => {
                let Some(stored) = roster::find_within(tx, kind, id, reach)? else {
                    return Ok(None);
                };
                let body: Value = serde_json::from_str(&stored.body).map_err(Problem::internal)?;
                if body["status"] == "tobedeleted" {
                    return Ok(None);
                }
                Ok(Some(AlignedRecord { title: title(&body), says: mentioned_by(&body) }))
            }
            Self::Content(kind, _) => {
                let Some(stored) = assessment::repository::find(tx, kind, id)? else {
                    return Ok(None);
                };
                let metadata = stored.metadata.as_deref().map(serde_json::from_str).transpose();
                let metadata: Option<Value> = metadata.map_err(Problem::internal)?;
                let says = metadata.map(|metadata| mentioned(&metadata)).unwrap_or_default();
                Ok(Some(AlignedRecord { title: Some(stored.title), says }))
            }
        }
    }

    /// Refuses to change the alignments of a record that does not lie within the reach. Errors: `NotFound`;
    /// `Forbidden`.
    fn check_change(self, tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<()> {
        match self {
            Self::Roster(kind) => reach::check_change(tx, kind, id, reach),
            Self::Content(..) | Self::Named(_) if reach.is_limited() => {
                let message = message!(
                    "all organizations share the {kind} '{id}', and your access is limited to {reach}",
                    kind = self.name()
                );
                Err(Problem::new(ProblemKind::Forbidden, message))
            }
            Self::Content(..) | Self::Named(_) => Ok(()),
        }
    }

    fn missing(self, id: &str) -> Problem {
        Problem::not_found(self.name(), id)
    }
}

fn title(body: &Value) -> Option<String> {
    body["title"].as_str().map(str::to_owned)
}

/// The items that a record of the rosters names itself.
fn mentioned_by(body: &Value) -> Vec<String> {
    let mut found = mentioned(&body["learningObjectiveSet"]);
    found.extend(mentioned(&body["metadata"]));
    found
}

/// The identifiers in the texts of a value: alone, as `urn:uuid:…`, or at the end of an address. The caller checks
/// whether such items exist.
pub fn mentioned(value: &Value) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                let last = text.rsplit(['/', ':']).next().unwrap_or_default().to_ascii_lowercase();
                if is_uuid(&last) {
                    found.insert(last);
                }
            }
            Value::Array(members) => open.extend(members),
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    found.into_iter().collect()
}

/// An item that a record covers.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its identifier.
    pub item: String,
    /// Its standard members.
    pub body: Value,
    /// Whether the record itself names the item.
    pub is_named_by_record: bool,
}

/// The items that a record covers, without deleted ones. Errors: `NotFound` for an unknown kind or record, or one outside
/// of the reach.
pub fn covered(tx: &mut Tx<'_>, kind: &str, id: &str, reach: &Reach) -> Result<Vec<Statement>> {
    let kind = AlignedKind::from_name(kind)?;
    let found = kind.find(tx, id, reach)?.ok_or_else(|| kind.missing(id))?;
    let aligned = repository::aligned(tx, kind.name(), id)?;
    let all: BTreeSet<&str> = aligned.iter().chain(&found.says).map(String::as_str).collect();
    let all: Vec<&str> = all.into_iter().collect();
    let existing = repository::statements(tx, &all)?;
    let statement = |(item, body): (String, Value)| {
        let is_named_by_record = !aligned.contains(&item);
        Statement { item, body, is_named_by_record }
    };
    Ok(existing.into_iter().map(statement).collect())
}

/// The items that each of many records of a kind covers, by the records' ids, as [`covered`] returns them. Runs as many
/// SQL statements as for one record. A record is its id and its canonical JSON. Errors: `NotFound` for an unknown kind.
pub fn covered_by_all(
    tx: &mut Tx<'_>,
    kind: &str,
    records: &[(&str, &str)],
) -> Result<HashMap<String, Vec<Statement>>> {
    let ids: Vec<&str> = records.iter().map(|(id, _)| *id).collect();
    let mut items: HashMap<&str, BTreeSet<String>> = HashMap::new();
    for (id, body) in records {
        let body: Value = serde_json::from_str(body).map_err(Problem::internal)?;
        items.entry(id).or_default().extend(mentioned_by(&body));
    }
    let aligned = repository::aligned_of_all(tx, AlignedKind::from_name(kind)?.name(), &ids)?;
    for (id, item) in &aligned {
        items.entry(id).or_default().insert(item.clone());
    }
    let all: BTreeSet<&str> = items.values().flatten().map(String::as_str).collect();
    let existing = repository::statements(tx, &all.into_iter().collect::<Vec<_>>())?;
    let aligned: HashSet<(&str, &str)> =
        aligned.iter().map(|(id, item)| (id.as_str(), item.as_str())).collect();
    let of = |id: &str, wanted: &BTreeSet<String>| -> Vec<Statement> {
        let existing = existing.iter().filter(|(item, _)| wanted.contains(item));
        existing
            .map(|(item, body)| Statement {
                is_named_by_record: !aligned.contains(&(id, item.as_str())),
                item: item.clone(),
                body: body.clone(),
            })
            .collect()
    };
    let covered = items.iter().map(|(id, wanted)| ((*id).to_owned(), of(id, wanted)));
    Ok(covered.filter(|(_, statements)| !statements.is_empty()).collect())
}

/// The records within the reach that are aligned to an item, and this item. With `children`, also records of the items below it, and
/// these items. Deleted records are left out. Errors: `NotFound`; `TooLarge` above
/// [`limits::COVERAGE_MAX_RECORDS`].
pub fn coverage(
    tx: &mut Tx<'_>,
    item: &str,
    children: bool,
    reach: &Reach,
) -> Result<(Vec<CoveringRecord>, Vec<String>)> {
    if repository::known(tx, &[item])?.is_empty() {
        return Err(Problem::not_found("CFItem", item));
    }
    let items = if children { repository::below(tx, item)? } else { vec![item.to_owned()] };
    let mut found = Vec::new();
    for Alignment { kind, id, item } in repository::aligned_to(tx, &items)? {
        if found.len() == limits::COVERAGE_MAX_RECORDS {
            return Err(too_many());
        }
        let record = match AlignedKind::from_name(&kind) {
            Ok(kind) => kind.find(tx, &id, reach)?,
            Err(_) => None,
        };
        if let Some(record) = record {
            let (title, source) = (record.title, AlignmentSource::Alignment);
            found.push(CoveringRecord { kind, id, title, item, source });
        }
    }
    Ok((found, items))
}

fn too_many() -> Problem {
    let most = limits::COVERAGE_MAX_RECORDS;
    let message =
        message!("more than {most} records cover the item; request one of its child items");
    Problem::new(ProblemKind::TooLarge, message)
}

/// Up to this many texts are searched for with SQL; more are compared in memory.
const FEW: usize = 8;

/// The records within the reach that name one of the items themselves. Reads whole tables: for a scan with a deadline.
/// Errors: `TooLarge` above [`limits::COVERAGE_MAX_RECORDS`].
pub fn records_naming(
    tx: &mut Tx<'_>,
    items: &[String],
    reach: &Reach,
) -> Result<Vec<CoveringRecord>> {
    let wanted: HashSet<&str> = items.iter().map(String::as_str).collect();
    let texts = if items.len() > FEW { &[] } else { items };
    let mut found: Vec<CoveringRecord> = Vec::new();
    let mut note = |kind: AlignedKind, id: &str, title: Option<String>, says: Vec<String>| {
        for item in says.into_iter().filter(|item| wanted.contains(item.as_str())) {
            let (kind, id) = (kind.name().to_owned(), id.to_owned());
            let (title, source) = (title.clone(), AlignmentSource::Record);
            found.push(CoveringRecord { kind, id, title, item, source });
        }
        if found.len() > limits::COVERAGE_MAX_RECORDS { Err(too_many()) } else { Ok(()) }
    };
    for kind in kinds().into_iter().chain(kinds_that_only_name()) {
        match kind {
            AlignedKind::Roster(of) => roster::mentioning(tx, of, texts, |id, body| {
                let body: Value = serde_json::from_str(body).map_err(Problem::internal)?;
                note(kind, id, title(&body), mentioned_by(&body))
            })?,
            AlignedKind::Content(of, _) => {
                assessment::repository::metadata(tx, of, |id, title, metadata| {
                    let metadata = serde_json::from_str(metadata).map_err(Problem::internal)?;
                    note(kind, id, Some(title.to_owned()), mentioned(&metadata))
                })?;
            }
            AlignedKind::Named(_) => {}
        }
    }
    retain_within(tx, &mut found, reach)?;
    Ok(found)
}

fn retain_within(tx: &mut Tx<'_>, found: &mut Vec<CoveringRecord>, reach: &Reach) -> Result<()> {
    if !reach.is_limited() {
        return Ok(());
    }
    for kind in kinds().into_iter().chain(kinds_that_only_name()) {
        let AlignedKind::Roster(of) = kind else { continue };
        let ids = found.iter().filter(|one| one.kind == of.one).map(|one| one.id.as_str());
        let ids: Vec<&str> = ids.collect();
        let within = roster::ids_within(tx, of, &ids, reach, RecordUse::See)?;
        found.retain(|one| one.kind != of.one || within.contains(&one.id));
    }
    Ok(())
}

/// Aligns a record to exactly these items. Errors: `NotFound` for a record that does not
/// exist; `Invalid` for items that do not exist; `Forbidden` for a record that does not lie only within the reach.
pub fn set(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (kind, id): (&str, &str),
    items: &[String],
    reach: &Reach,
) -> Result<()> {
    let kind = AlignedKind::from_name(kind)?;
    if kind.find(tx, id, reach)?.is_none() {
        return Err(kind.missing(id));
    }
    kind.check_change(tx, id, reach)?;
    let wanted: Vec<&str> = items.iter().map(String::as_str).collect();
    let existing = repository::known(tx, &wanted)?;
    let mut faults = Faults::default();
    for (index, item) in items.iter().enumerate().filter(|(_, item)| !existing.contains(*item)) {
        let message = message!("there is no CFItem with the identifier '{item}'");
        faults.add(Path::Record("items", Some(index)), message);
    }
    faults.refuse()?;
    repository::unalign(tx, kind.name(), id, None)?;
    let new = |item: &String| Alignment {
        kind: kind.name().to_owned(),
        id: id.to_owned(),
        item: item.clone(),
    };
    let unique: BTreeSet<&String> = items.iter().collect();
    let new: Vec<Alignment> = unique.into_iter().map(new).collect();
    repository::align(tx, now, &new).map(drop)
}

/// Removes the alignments of a record, or the one to an item. Errors: `NotFound` for an unknown kind, or a record outside
/// of the reach; `Forbidden` for a record that does not lie only within it.
pub fn remove(
    tx: &mut Tx<'_>,
    (kind, id): (&str, &str),
    item: Option<&str>,
    reach: &Reach,
) -> Result<()> {
    let kind = AlignedKind::from_name(kind)?;
    kind.check_change(tx, id, reach)?;
    repository::unalign(tx, kind.name(), id, item).map(drop)
}

/// Adds all alignments or none, and returns how many were new. Errors: `Invalid` with each that names a kind,
/// record or item that does not exist; `Forbidden` for a record that does not lie only within the reach.
pub fn add(
    tx: &mut Tx<'_>,
    now: Timestamp,
    alignments: &[Alignment],
    reach: &Reach,
) -> Result<u64> {
    let items = alignments.iter().map(|one| one.item.as_str()).filter(|item| is_uuid(item));
    let existing = repository::known(tx, &items.collect::<Vec<_>>())?;
    let mut faults = Faults::default();
    let mut seen: HashSet<(&str, &str)> = HashSet::new();
    for (index, one) in alignments.iter().enumerate() {
        let path = Path::Record("alignments", Some(index));
        if !existing.contains(&one.item) {
            let message =
                message!("there is no CFItem with the identifier '{item}'", item = one.item);
            faults.add(Path::Member(&path, "item"), message);
        }
        match AlignedKind::from_name(&one.kind) {
            Err(problem) => faults.add(Path::Member(&path, "kind"), problem.message),
            Ok(kind) if seen.insert((&one.kind, &one.id)) => match kind.find(tx, &one.id, reach)? {
                Some(_) => kind.check_change(tx, &one.id, reach)?,
                None => {
                    let message = message!("there is no {one.kind} with the id '{one.id}'");
                    faults.add(Path::Member(&path, "id"), message);
                }
            },
            Ok(_) => {}
        }
    }
    faults.refuse()?;
    let unique: HashSet<&Alignment> = alignments.iter().collect();
    let unique: Vec<Alignment> = unique.into_iter().cloned().collect();
    repository::align(tx, now, &unique)
}
