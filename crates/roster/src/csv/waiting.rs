//! Rows that refer to records of their own kind which come later in the file, or never.
//!
//! The rows wait on disk. Memory needs about 8 bytes for each row and each reference.

use std::collections::{HashMap, HashSet};

use lyceum_core::{Problem, Result};
use lyceum_store::{Spool, Tx};

use super::candidate::CandidateRow;
use super::reading::BATCH_RECORDS;
use super::rows::CsvRow;
use super::writing::{ReadyRow, parent_field};
use crate::kind::RecordKind;
use crate::record::{Record, RecordReference};
use crate::repository;

const SPACE: &str = "waiting";

/// The waiting rows.
pub(super) struct WaitingRows {
    kind: &'static RecordKind,
    spool: Option<Spool>,
    rows: Vec<WaitingRow>,
}

struct WaitingRow {
    own: u64,
    needs: Vec<u64>,
    /// The parent record, if it is one of the needed ones.
    parent: Option<u64>,
}

/// The waiting rows, after it is known whether the records that they need exist.
pub(super) struct SettledRows {
    kind: &'static RecordKind,
    spool: Option<Spool>,
    accepted: Vec<bool>,
    /// Whether the row refers to a record that does not exist and is not in the file.
    dangles: Vec<bool>,
    all: HashSet<u64>,
}

/// A row in its form on disk.
#[derive(serde::Serialize, serde::Deserialize)]
struct RowOnDisk {
    row: CsvRow,
    body: String,
    extra: Option<String>,
    source_modified: Option<String>,
}

impl WaitingRows {
    pub(super) fn new(kind: &'static RecordKind) -> Self {
        Self { kind, spool: None, rows: Vec::new() }
    }

    /// Makes a row wait for the references. `hash` computes the hash of an id of this kind.
    pub(super) fn add(
        &mut self,
        ready: ReadyRow,
        references: &[RecordReference],
        hash: impl Fn(&str) -> u64,
    ) -> Result<()> {
        let parent_path =
            parent_field(self.kind).map(|field| format!("{}.{field}.sourcedId", self.kind.one));
        let parent = references.iter().find(|one| Some(&one.path) == parent_path.as_ref());
        self.rows.push(WaitingRow {
            own: hash(&ready.record.sourced_id),
            needs: references.iter().map(|one| hash(&one.sourced_id)).collect(),
            parent: parent.map(|one| hash(&one.sourced_id)),
        });
        let on_disk = RowOnDisk {
            row: ready.candidate.row,
            body: ready.record.body,
            extra: ready.record.extra,
            source_modified: ready.record.source_modified,
        };
        let text = serde_json::to_string(&on_disk).map_err(Problem::internal)?;
        let spool = match &mut self.spool {
            Some(spool) => spool,
            none => none.insert(Spool::new()?),
        };
        spool.put(SPACE, "", &text)
    }

    /// Determines which rows can be written. Each needed record must exist by now, or wait and be writable itself. A
    /// reference to a record that is in no row is left out. In a tree, the ancestors of a row must also lead to an
    /// existing record.
    pub(super) fn settle(
        mut self,
        tx: &mut Tx<'_>,
        hash: impl Fn(&str) -> u64,
    ) -> Result<SettledRows> {
        let mut settled = SettledRows {
            kind: self.kind,
            spool: self.spool,
            accepted: Vec::new(),
            dangles: vec![false; self.rows.len()],
            all: self.rows.iter().map(|node| node.own).collect(),
        };
        settled.accepted = vec![true; self.rows.len()];
        let absent = settled.absent(tx, hash)?;
        for (node, dangles) in self.rows.iter_mut().zip(&mut settled.dangles) {
            node.needs.retain(|need| absent.contains(need));
            *dangles = node.needs.iter().any(|need| !settled.all.contains(need));
            node.needs.retain(|need| settled.all.contains(need));
            node.parent = node.parent.filter(|parent| node.needs.contains(parent));
        }
        loop {
            drop_needy(&self.rows, &mut settled.accepted);
            if !drop_rootless(&self.rows, &mut settled.accepted) {
                break;
            }
        }
        Ok(settled)
    }
}

/// Excludes rows that need a missing record, then rows that need those, and so on.
fn drop_needy(rows: &[WaitingRow], alive: &mut [bool]) {
    let living: HashSet<u64> =
        rows.iter().zip(&*alive).filter(|(_, alive)| **alive).map(|(node, _)| node.own).collect();
    let mut needed_by: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut doomed = Vec::new();
    for (at, node) in rows.iter().enumerate().filter(|(at, _)| alive[*at]) {
        for need in &node.needs {
            needed_by.entry(*need).or_default().push(at);
        }
        if node.needs.iter().any(|need| !living.contains(need)) {
            doomed.push(at);
        }
    }
    while let Some(at) = doomed.pop() {
        if std::mem::replace(&mut alive[at], false) {
            doomed.extend(needed_by.get(&rows[at].own).into_iter().flatten());
        }
    }
}

/// Excludes rows whose ancestors never lead to an existing record; returns true if there were any.
fn drop_rootless(rows: &[WaitingRow], alive: &mut [bool]) -> bool {
    let mut below: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut reached: Vec<usize> = Vec::new();
    let mut is_reached = vec![false; rows.len()];
    for (at, node) in rows.iter().enumerate().filter(|(at, _)| alive[*at]) {
        match node.parent {
            Some(parent) => below.entry(parent).or_default().push(at),
            None => reached.push(at),
        }
    }
    while let Some(at) = reached.pop() {
        if !std::mem::replace(&mut is_reached[at], true) {
            reached.extend(below.get(&rows[at].own).into_iter().flatten());
        }
    }
    let mut dropped = false;
    for (alive, reached) in alive.iter_mut().zip(is_reached) {
        dropped |= *alive && !reached;
        *alive &= reached;
    }
    dropped
}

impl SettledRows {
    /// Whether a row with the id is waiting.
    pub(super) fn waits(&self, hash: u64) -> bool {
        self.all.contains(&hash)
    }

    /// Passes on the rows that can be written, in batches and in the order of the file, with the indexes of rows in
    /// the batch that have dangling references.
    pub(super) fn each_accepted(
        &self,
        mut each: impl FnMut(Vec<ReadyRow>, &[usize]) -> Result<()>,
    ) -> Result<()> {
        let (mut batch, mut dangling) = (Vec::new(), Vec::new());
        self.each(true, &mut |ready, dangles| {
            if dangles {
                dangling.push(batch.len());
            }
            batch.push(ready);
            if batch.len() < BATCH_RECORDS {
                return Ok(());
            }
            each(std::mem::take(&mut batch), &std::mem::take(&mut dangling))
        })?;
        if batch.is_empty() { Ok(()) } else { each(batch, &dangling) }
    }

    /// The missing records of the kind that waiting rows refer to.
    fn absent(&self, tx: &mut Tx<'_>, hash: impl Fn(&str) -> u64) -> Result<HashSet<u64>> {
        let mut absent = HashSet::new();
        self.each_accepted(|batch, _| {
            let own = batch.iter().flat_map(|one| &one.record.references);
            let own = own.filter(|one| one.kind.one == self.kind.one);
            let missing = repository::missing(tx, own)?;
            absent.extend(missing.iter().map(|one| hash(&one.sourced_id)));
            Ok(())
        })?;
        Ok(absent)
    }

    /// Passes on the rows that need records which never came.
    pub(super) fn each_refused(&self, each: &mut dyn FnMut(ReadyRow) -> Result<()>) -> Result<()> {
        self.each(false, &mut |ready, _| each(ready))
    }

    fn each(
        &self,
        accepted: bool,
        each: &mut dyn FnMut(ReadyRow, bool) -> Result<()>,
    ) -> Result<()> {
        let Some(spool) = &self.spool else { return Ok(()) };
        let mut at = 0;
        spool.each(SPACE, |_, text| {
            at += 1;
            if self.accepted[at - 1] != accepted {
                return Ok(());
            }
            let on_disk: RowOnDisk = serde_json::from_str(text).map_err(Problem::internal)?;
            let record = Record::stored(self.kind, &on_disk.body, on_disk.extra.as_deref())?;
            let record = Record { source_modified: on_disk.source_modified, ..record };
            let candidate = CandidateRow::reread(record.sourced_id.clone(), on_disk.row);
            each(ReadyRow { candidate, record }, self.dangles[at - 1])
        })
    }
}
