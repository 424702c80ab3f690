//! The alignments of records to items.

use std::collections::HashSet;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result};
use lyceum_roster::repository as roster;
use lyceum_store::{Param, Sql, Tx, Value, dialect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::write::present;
use crate::aligned_kind::{self, AlignedKind};
use crate::class::CHILD_OF;
use crate::limits;
use crate::record::ItemIdentifier;

/// The alignment of a record to an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
pub struct Alignment {
    /// The kind of record, such as `resource`.
    #[schemars(length(min = 1))]
    pub kind: String,
    /// The record's id.
    #[schemars(length(min = 1))]
    pub id: String,
    /// The identifier of the item.
    #[schemars(with = "ItemIdentifier")]
    pub item: String,
}

/// Adds the alignments that are new, and returns how many there were.
pub fn align(tx: &mut Tx<'_>, now: Timestamp, alignments: &[Alignment]) -> Result<u64> {
    let now = now.to_string();
    let values: Vec<Value<'_>> = alignments
        .iter()
        .flat_map(|one| [(&one.kind).into(), (&one.id).into(), (&one.item).into(), (&now).into()])
        .collect();
    let columns = ["kind", "record", "item", "created_at"];
    tx.insert_rows("case_alignment", &columns, &values, "ON CONFLICT DO NOTHING")
}

/// Removes all alignments of a record, or the one to an item. Returns how many were removed.
pub fn unalign(tx: &mut Tx<'_>, kind: &str, record: &str, item: Option<&str>) -> Result<u64> {
    let mut sql = Sql::new(tx.dialect());
    sql.push("DELETE FROM case_alignment WHERE kind = ").bind(kind);
    sql.push(" AND record = ").bind(record);
    if let Some(item) = item {
        sql.push(" AND item = ").bind(item);
    }
    tx.execute(&sql.text, &sql.values())
}

/// The items that a record is aligned to, in the order in which alignments were added, deleted items included.
pub fn aligned(tx: &mut Tx<'_>, kind: &str, record: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let sql = "SELECT item FROM case_alignment WHERE kind = $1 AND record = $2 ORDER BY seq";
    tx.query(sql, &[kind.into(), record.into()], |row| {
        found.push(row.text(0)?.to_owned());
        Ok(true)
    })?;
    Ok(found)
}

/// The records of a kind, among these, with the items that each is aligned to.
pub fn aligned_of_all(
    tx: &mut Tx<'_>,
    kind: &str,
    records: &[&str],
) -> Result<Vec<(String, String)>> {
    let list = serde_json::to_string(records).map_err(Problem::internal)?;
    let among = dialect::is_one_of(tx.dialect(), "record", "$2");
    let sql =
        format!("SELECT record, item FROM case_alignment WHERE kind = $1 AND {among} ORDER BY seq");
    let mut found = Vec::new();
    tx.query(&sql, &[kind.into(), list.as_str().into()], |row| {
        found.push((row.text(0)?.to_owned(), row.text(1)?.to_owned()));
        Ok(true)
    })?;
    Ok(found)
}

/// A page of the alignments of records within the reach, in the order in which they were added, and the number of all.
pub fn alignments(
    tx: &mut Tx<'_>,
    (kind, item): (Option<&str>, Option<&str>),
    reach: &Reach,
    limit: u64,
    offset: u64,
) -> Result<(Vec<Alignment>, u64)> {
    let conditions = |sql: &mut Sql| -> Result<()> {
        sql.push(" FROM case_alignment a WHERE TRUE");
        for (column, wanted) in [("kind", kind), ("item", item)] {
            if let Some(wanted) = wanted {
                sql.push(&format!(" AND {column} = ")).bind(wanted);
            }
        }
        if reach.is_limited() {
            sql.push(" AND CASE kind");
            for of in aligned_kind::kinds() {
                let AlignedKind::Roster(of) = of else { continue };
                sql.push(&format!(" WHEN '{}' THEN ", of.one));
                roster::refers_within(sql, (of, "a.record"), reach)?;
            }
            sql.push(" ELSE TRUE END");
        }
        Ok(())
    };
    let mut counted = Sql::new(tx.dialect());
    counted.push("SELECT COUNT(*)");
    conditions(&mut counted)?;
    let total = tx.query_one(&counted.text, &counted.values(), |row| row.int(0))?.unwrap_or(0);
    let mut sql = Sql::new(tx.dialect());
    sql.push("SELECT kind, record, item");
    conditions(&mut sql)?;
    let number = |n: u64| Param::Int(i64::try_from(n).unwrap_or(i64::MAX));
    sql.push(" ORDER BY seq LIMIT ").bind(number(limit)).push(" OFFSET ").bind(number(offset));
    let mut found = Vec::new();
    tx.query(&sql.text, &sql.values(), |row| {
        let text = |column| row.text(column).map(str::to_owned);
        found.push(Alignment { kind: text(0)?, id: text(1)?, item: text(2)? });
        Ok(true)
    })?;
    Ok((found, u64::try_from(total).unwrap_or(0)))
}

/// The alignments to any of the items: as many as an answer may contain, and one more.
pub(crate) fn aligned_to(tx: &mut Tx<'_>, items: &[String]) -> Result<Vec<Alignment>> {
    let list = serde_json::to_string(items).map_err(Problem::internal)?;
    let among = dialect::is_one_of(tx.dialect(), "item", "$1");
    let sql = format!(
        "SELECT kind, record, item FROM case_alignment WHERE {among} ORDER BY seq LIMIT $2"
    );
    let most = i64::try_from(limits::COVERAGE_MAX_RECORDS + 1).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    tx.query(&sql, &[list.as_str().into(), most.into()], |row| {
        let text = |column| row.text(column).map(str::to_owned);
        found.push(Alignment { kind: text(0)?, id: text(1)?, item: text(2)? });
        Ok(true)
    })?;
    Ok(found)
}

/// The item and the items below it, at most [`limits::COVERAGE_MAX_NODES`].
pub(crate) fn below(tx: &mut Tx<'_>, item: &str) -> Result<Vec<String>> {
    let among = dialect::is_one_of(tx.dialect(), "destination", "$1");
    let sql =
        format!("SELECT origin FROM case_association WHERE {among} AND type = $2 ORDER BY seq");
    let mut all = vec![item.to_owned()];
    let mut seen = HashSet::from([item.to_owned()]);
    let mut from = 0;
    while from < all.len() && all.len() < limits::COVERAGE_MAX_NODES {
        let level = serde_json::to_string(&all[from..]).map_err(Problem::internal)?;
        from = all.len();
        tx.query(&sql, &[level.as_str().into(), CHILD_OF.into()], |row| {
            let origin = row.text(0)?;
            if seen.insert(origin.to_owned()) {
                all.push(origin.to_owned());
            }
            Ok(all.len() < limits::COVERAGE_MAX_NODES)
        })?;
    }
    Ok(all)
}

/// The items that exist.
pub(crate) fn known(tx: &mut Tx<'_>, items: &[&str]) -> Result<HashSet<String>> {
    present(tx, "case_item", items)
}
