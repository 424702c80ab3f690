//! Computes columns, links and counts again from the JSON, and compares them with the stored ones.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_core::Result;
use lyceum_store::{LARGE_BLOCK_BITS, Row, Tx};

use super::organizations;
use crate::kind::RecordKind;
use crate::kinds;
use crate::record::{ListLink, Record, RecordReference, Status};

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// Records read.
    pub records: u64,
    /// Links that the records have.
    pub links: u64,
    /// The inconsistencies in words, each with its kind and sourcedId.
    pub faults: Vec<String>,
}

/// Checks every record of every kind: columns and links against the JSON, references against the
/// records, counters against the rows.
pub fn check(
    tx: &mut Tx<'_>,
    mut progress: impl FnMut(&'static RecordKind, u64),
) -> Result<CheckReport> {
    let mut checked = CheckReport::default();
    let mut counted = BlockCounts::new();
    for kind in kinds::ALL {
        let mut after = i64::MIN;
        while let Some(last) = check_batch(tx, kind, after, &mut checked, &mut counted)? {
            after = last;
            progress(kind, checked.records);
        }
    }
    let links = tx.query_one("SELECT count(*) FROM roster_link", &[], |row| row.int(0))?;
    if links != i64::try_from(checked.links).ok() {
        checked.faults.push(format!("{} links are due, {links:?} are stored", checked.links));
    }
    check_counters(tx, &counted, &mut checked)?;
    for (root, org) in organizations::differences(tx)? {
        checked.faults.push(format!(
            "org '{org}': the stored organizations above it and its parents disagree about '{root}'"
        ));
    }
    Ok(checked)
}

/// The active records by count and block of numbers, as [`Tx::tally_blocks`] answers them.
type BlockCounts = BTreeMap<String, BTreeMap<i64, i64>>;

/// Records that are held in memory at once.
const BATCH_RECORDS: i64 = 1000;

/// Checks the records of the kind behind `after`; answers where the batch ended.
fn check_batch(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    after: i64,
    checked: &mut CheckReport,
    counted: &mut BlockCounts,
) -> Result<Option<i64>> {
    let batch = read_batch(tx, kind, after, &mut checked.faults)?;
    let missing = super::missing(tx, batch.iter().flat_map(|(_, record)| &record.references))?;
    for (seq, record) in &batch {
        checked.records += 1;
        checked.links += record.links.len() as u64;
        check_links(tx, *seq, record, checked)?;
        let is_missing = |one: &&RecordReference| missing.iter().any(|it| std::ptr::eq(*it, *one));
        for reference in record.references.iter().filter(is_missing) {
            checked.faults.push(format!(
                "{} '{}': {} points to '{}', which does not exist",
                kind.one, record.sourced_id, reference.path, reference.sourced_id
            ));
        }
        if record.status == Status::Active {
            let collections = record.collections().into_iter().map(str::to_owned);
            for count in collections.chain(record.organization_counts()) {
                let blocks = counted.entry(count).or_default();
                *blocks.entry(seq >> LARGE_BLOCK_BITS).or_default() += 1;
            }
        }
    }
    Ok(batch.last().map(|(seq, _)| *seq))
}

fn read_batch(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    after: i64,
    faults: &mut Vec<String>,
) -> Result<Vec<(i64, Record)>> {
    let names: Vec<String> = kind.columns().map(|(_, name)| name).collect();
    let common = ["seq", "body", "extra", "sourced_id", "status", "date_last_modified"];
    let columns: Vec<&str> = common.into_iter().chain(names.iter().map(String::as_str)).collect();
    let sql = format!(
        "SELECT {} FROM {} WHERE seq > $1 ORDER BY seq LIMIT $2",
        columns.join(", "),
        kind.table
    );
    let mut records = Vec::new();
    tx.query(&sql, &[after.into(), BATCH_RECORDS.into()], |row| {
        let record = Record::stored(kind, row.text(1)?, row.opt_text(2)?)?;
        compare(row, &record, &names, faults)?;
        records.push((row.int(0)?, record));
        Ok(true)
    })?;
    Ok(records)
}

fn compare(
    row: &Row<'_>,
    record: &Record,
    names: &[String],
    faults: &mut Vec<String>,
) -> Result<()> {
    let modified = record.date_last_modified.to_string();
    let common = [
        ("sourced_id", record.sourced_id.as_str()),
        ("status", record.status.as_str()),
        ("date_last_modified", modified.as_str()),
    ];
    let declared =
        names.iter().map(String::as_str).zip(record.columns.iter().map(Option::as_deref));
    let expected = common.into_iter().map(|(name, value)| (name, Some(value))).chain(declared);
    for (at, (name, expected)) in expected.enumerate() {
        let stored = row.opt_text(at + 3)?;
        if stored != expected {
            faults.push(format!(
                "{} '{}': column {name} holds {stored:?}, the record says {expected:?}",
                record.kind.one, record.sourced_id
            ));
        }
    }
    Ok(())
}

fn check_links(
    tx: &mut Tx<'_>,
    seq: i64,
    record: &Record,
    checked: &mut CheckReport,
) -> Result<()> {
    for ListLink { field, value } in &record.links {
        let found = tx.query_one(
            "SELECT 1 FROM roster_link WHERE field = $1 AND value = $2 AND owner = $3",
            &[field.into(), value.into(), seq.into()],
            |_| Ok(()),
        )?;
        if found.is_none() {
            checked.faults.push(format!(
                "{} '{}': no link {field} = '{value}'",
                record.kind.one, record.sourced_id
            ));
        }
    }
    Ok(())
}

fn check_counters(tx: &mut Tx<'_>, counted: &BlockCounts, checked: &mut CheckReport) -> Result<()> {
    let mut names: BTreeSet<String> = counted.keys().cloned().collect();
    for collection in crate::collections::all() {
        names.insert(collection.path.to_owned());
        names.extend(tx.tally_parts(collection.path)?);
    }
    let none = BTreeMap::new();
    for name in names {
        let stored = tx.tally_blocks(&name)?;
        let expected = counted.get(&name).unwrap_or(&none);
        let blocks: BTreeSet<&i64> = stored.keys().chain(expected.keys()).collect();
        for block in blocks {
            let [stored, expected] =
                [&stored, expected].map(|counts| counts.get(block).unwrap_or(&0));
            if stored != expected {
                let first = block << LARGE_BLOCK_BITS;
                checked.faults.push(format!(
                    "the counter of {name} says {stored} from number {first} on, there are {expected}"
                ));
            }
        }
    }
    Ok(())
}
