//! Creates a course with its whole tree of components and resources at once.

mod cut;
mod of_test;
mod read;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use lyceum_core::{Detail, Problem, ProblemKind, Reach, Result, messages};
use lyceum_store::Tx;

use crate::kind::RecordKind;
use crate::kinds::{COMPONENT_RESOURCE, COURSE, COURSE_COMPONENT, RESOURCE};
use crate::limits;
use crate::reach;
use crate::record::Record;
use crate::repository::{self, Creation, WriteOutcome};
use crate::rules;
use crate::write::{SourcedIdPair, WriteRules};

/// A course and its tree, which are valid in themselves.
#[derive(Debug)]
pub struct Structure {
    nodes: Vec<cut::CutObject>,
    pair: SourcedIdPair,
    /// The records by kind, in an order in which each kind refers only to earlier ones.
    sorts: [KindRecords; 4],
}

/// The records of one kind, with their places in the body.
#[derive(Debug)]
struct KindRecords {
    kind: &'static RecordKind,
    records: Vec<Record>,
    positions: Vec<BodyPosition>,
    numbers: HashMap<String, usize>,
}

/// The place of a record in the body.
#[derive(Clone, Copy, Debug)]
struct BodyPosition {
    node: usize,
    /// The index of the component resource in the node, if the record is a component resource or its resource.
    link: Option<usize>,
    /// Whether it is the resource of the component resource.
    resource: bool,
}

impl KindRecords {
    fn of(kind: &'static RecordKind) -> Self {
        Self { kind, records: Vec::new(), positions: Vec::new(), numbers: HashMap::new() }
    }

    /// Adds the record, or returns why it cannot be added. A resource may occur in many places.
    fn add(&mut self, record: Record, position: BodyPosition) -> Result<(), &'static str> {
        if let Some(number) = self.numbers.get(&record.sourced_id) {
            let known = &self.records[*number];
            return match position.resource && record.same_as(&known.body, known.extra.as_deref()) {
                true => Ok(()),
                false => Err("also occurs in another place of the structure; use each sourcedId \
                              once"),
            };
        }
        self.numbers.insert(record.sourced_id.clone(), self.records.len());
        self.records.push(record);
        self.positions.push(position);
        Ok(())
    }
}

/// Reads `{course, courseStructure: {subComponents: [{…component, componentResources: [{…, resource}],
/// subComponents}]}}`. A `resource` is a whole record or a reference. A missing sourcedId is derived from the course
/// and the place, so that the same body always means the same records. A `courseStructure` that is a single test is
/// also accepted (`of_test.rs`).
///
/// Errors: `Malformed`; `TooLarge`; `Invalid` with the place of each error in the body.
pub fn read(body: &str, rules: &WriteRules) -> Result<Structure> {
    read::structure(&of_test::spelled_out(body), rules)
}

impl Structure {
    /// The course's ids.
    pub fn pair(&self) -> &SourcedIdPair {
        &self.pair
    }

    /// Creates the records that do not exist yet, in the caller's transaction. Returns `Unchanged` if all of them
    /// existed, so that a request can be repeated.
    ///
    /// Errors: `Conflict` for ids of records with other values; `Invalid` for references to missing records;
    /// `Forbidden` for new records that do not lie within the reach.
    pub fn create(&self, tx: &mut Tx<'_>, reach: &Reach) -> Result<WriteOutcome> {
        self.check_references(tx)?;
        let mut outcome = WriteOutcome::Unchanged;
        let mut conflicts = Vec::new();
        for sort in &self.sorts {
            let Creation { created, taken_ids } =
                repository::create_all(tx, sort.kind, &sort.records)?;
            if !created.is_empty() {
                outcome = WriteOutcome::Created;
            }
            let new: Vec<&Record> = created.iter().map(|number| &sort.records[*number]).collect();
            let written: Vec<_> = new.iter().map(|record| (*record, None)).collect();
            if let Some(problem) =
                reach::refused(tx, sort.kind, &written, reach)?.into_values().next()
            {
                return Err(problem);
            }
            self.refuse_targets(tx, sort, &new)?;
            let taken_ids = taken_ids.into_iter().take(limits::COURSE_MAX_REPORTED_FAULTS);
            conflicts.extend(taken_ids.map(|(number, problem)| Detail {
                path: format!("{}.sourcedId", self.path(sort.positions[number])),
                message: problem.message,
            }));
        }
        match conflicts.first() {
            None => Ok(outcome),
            Some(first) => {
                let message = first.text();
                Err(Problem { details: conflicts, ..Problem::new(ProblemKind::Conflict, message) })
            }
        }
    }

    fn check_references(&self, tx: &mut Tx<'_>) -> Result<()> {
        let records =
            || self.sorts.iter().flat_map(|sort| sort.records.iter().zip(&sort.positions));
        let inside = |kind: &RecordKind, id: &str| {
            self.sorts.iter().any(|sort| sort.kind == kind && sort.numbers.contains_key(id))
        };
        let outward = records()
            .flat_map(|(record, _)| &record.references)
            .filter(|to| !inside(to.kind, &to.sourced_id));
        let missing: BTreeSet<_> = repository::missing(tx, outward)?
            .into_iter()
            .map(|to| (to.kind.one, to.sourced_id.as_str()))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut faults = Vec::new();
        for (record, position) in records() {
            for to in &record.references {
                if missing.contains(&(to.kind.one, to.sourced_id.as_str())) {
                    let message = messages::unknown_reference(to.kind.one, &to.sourced_id);
                    faults.push(Detail { path: self.inside(*position, &to.path), message });
                }
            }
            if faults.len() >= limits::COURSE_MAX_REPORTED_FAULTS {
                break;
            }
        }
        Err(Problem::invalid_all(faults))
    }

    /// Refuses new records with references that are not allowed, with the places of the errors in the body.
    fn refuse_targets(&self, tx: &mut Tx<'_>, sort: &KindRecords, new: &[&Record]) -> Result<()> {
        let mut faults = Vec::new();
        for (id, problem) in rules::refused_targets(tx, new)? {
            let position = sort.positions[sort.numbers[id]];
            faults.extend(problem.details.into_iter().map(|detail| Detail {
                path: self.inside(position, &detail.path),
                message: detail.message,
            }));
        }
        faults.sort_by(|a, b| a.path.cmp(&b.path));
        faults.truncate(limits::COURSE_MAX_REPORTED_FAULTS);
        if faults.is_empty() { Ok(()) } else { Err(Problem::invalid_all(faults)) }
    }

    fn path(&self, position: BodyPosition) -> String {
        path(&self.nodes, position)
    }

    fn inside(&self, position: BodyPosition, fault: &str) -> String {
        inside(&self.nodes, position, fault)
    }
}

/// The place of a record in the body.
fn path(nodes: &[cut::CutObject], position: BodyPosition) -> String {
    let mut path = cut::path(nodes, position.node);
    if let Some(number) = position.link {
        let _ = write!(path, ".{}[{number}]", crate::syllabus::LINKS);
    }
    if position.resource {
        path.push_str(".resource");
    }
    path
}

/// The place of an error in a record. The path of the error begins with the name of the kind.
fn inside(nodes: &[cut::CutObject], position: BodyPosition, fault: &str) -> String {
    let path = path(nodes, position);
    match fault.split_once('.') {
        Some((_, rest)) => format!("{path}.{rest}"),
        None => path,
    }
}

fn sorts() -> [KindRecords; 4] {
    [
        KindRecords::of(&RESOURCE),
        KindRecords::of(&COURSE),
        KindRecords::of(&COURSE_COMPONENT),
        KindRecords::of(&COMPONENT_RESOURCE),
    ]
}
