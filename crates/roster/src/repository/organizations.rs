//! The table `roster_org_below`: each organization with itself and with every organization above it, by the references
//! `parent`. It is written with the organizations, so that moving a school changes at once who reaches its records.

use std::collections::BTreeSet;

use lyceum_core::{Problem, Reach, Result, message};
use lyceum_store::{Tx, dialect};

use super::targets::depend_on;
use crate::kind::RecordKind;
use crate::kinds::ORG;
use crate::limits;
use crate::record::Record;

/// The organizations above those of the ids, with these themselves, as the query `above (root, org)`.
fn above(tx: &Tx<'_>, placeholder: &str) -> String {
    let is_one = dialect::is_one_of(tx.dialect(), "sourced_id", placeholder);
    format!(
        "WITH RECURSIVE above (root, org) AS (SELECT sourced_id, sourced_id FROM orgs WHERE {is_one} \
         UNION SELECT o.parent_id, a.org FROM above a JOIN orgs o ON o.sourced_id = a.root \
         WHERE o.parent_id IS NOT NULL)"
    )
}

/// Stores the places of organizations that are new or have another parent, and of all below them. Errors: `Invalid` for
/// a tree with more than [`limits::ORG_TREE_MAX_LEVELS`].
pub(super) fn place(tx: &mut Tx<'_>, kind: &RecordKind, ids: &[&str]) -> Result<()> {
    if *kind != ORG || ids.is_empty() {
        return Ok(());
    }
    lock_above(tx, ids)?;
    let below = "WITH RECURSIVE below (org) AS (SELECT sourced_id FROM orgs WHERE ";
    let sql = format!(
        "{below}{} UNION SELECT o.sourced_id FROM below b JOIN orgs o ON o.parent_id = b.org) \
         SELECT org FROM below",
        dialect::is_one_of(tx.dialect(), "sourced_id", "$1")
    );
    let list = json(ids)?;
    let moved = json(&tx.all(&sql, &[list.as_str().into()], |row| row.string(0))?)?;
    let is_moved = dialect::is_one_of(tx.dialect(), "org", "$1");
    let delete = format!("DELETE FROM roster_org_below WHERE {is_moved}");
    tx.send(&delete, &[moved.as_str().into()])?;
    let insert = format!(
        "INSERT INTO roster_org_below (root, org) {} SELECT root, org FROM above",
        above(tx, "$1")
    );
    tx.send(&insert, &[moved.as_str().into()])?;
    let deep = format!(
        "SELECT org FROM roster_org_below WHERE {is_moved} GROUP BY org HAVING COUNT(*) > {} LIMIT 1",
        limits::ORG_TREE_MAX_LEVELS
    );
    match tx.query_one(&deep, &[moved.as_str().into()], |row| row.string(0))? {
        Some(org) => Err(too_deep(&org)),
        None => Ok(()),
    }
}

/// Refuses a place below the last level of a tree, for the organization or for one below it, before it is stored.
/// `before` is the record that it replaces. Errors: `Invalid`.
pub(crate) fn check_depth(tx: &mut Tx<'_>, record: &Record, before: Option<&Record>) -> Result<()> {
    let parent = if *record.kind == ORG { record.column("parent") } else { None };
    let Some(parent) = parent else { return Ok(()) };
    if before.is_some_and(|before| before.column("parent") == Some(parent)) {
        return Ok(());
    }
    let mut number = |sql: &str, id: &str| {
        tx.query_one(sql, &[id.into()], |row| row.int(0)).map(|found| found.unwrap_or(0))
    };
    let level = "SELECT COUNT(*) FROM roster_org_below WHERE org = $1";
    let above = number(level, parent)?;
    let own_levels = match before {
        None => 1,
        Some(_) => {
            let deepest = "SELECT COALESCE(MAX(n), 0) FROM (SELECT COUNT(*) AS n FROM roster_org_below WHERE org IN \
                           (SELECT org FROM roster_org_below WHERE root = $1) GROUP BY org) levels";
            number(deepest, &record.sourced_id)? - number(level, &record.sourced_id)? + 1
        }
    };
    match usize::try_from(above + own_levels).is_ok_and(|all| all <= limits::ORG_TREE_MAX_LEVELS) {
        true => Ok(()),
        false => Err(too_deep(&record.sourced_id)),
    }
}

fn too_deep(org: &str) -> Problem {
    let rule = message!(
        "must have fewer organizations above it: a tree of organizations has at most {most} levels (got '{org}' on a deeper \
         one)",
        most = limits::ORG_TREE_MAX_LEVELS
    );
    Problem::invalid("org.parent.sourcedId", rule)
}

/// Makes a transaction that is not serializable, such as an import, depend on the organizations above: another
/// transaction may be moving one of them.
fn lock_above(tx: &mut Tx<'_>, ids: &[&str]) -> Result<()> {
    if tx.is_serializable() {
        return Ok(());
    }
    let sql = format!("{} SELECT DISTINCT root FROM above", above(tx, "$1"));
    let list = json(ids)?;
    // Sorted, so that two imports do not wait for each other in a circle.
    let above: BTreeSet<String> =
        tx.all(&sql, &[list.as_str().into()], |row| row.string(0))?.into_iter().collect();
    above.iter().try_for_each(|id| depend_on(tx, &ORG, id))
}

/// Lets no organization within the reach move until the end of a transaction that is not serializable, such as an import.
/// All such transactions lock organizations in the same order, so that they do not wait for each other in a circle.
pub(crate) fn hold_still(tx: &mut Tx<'_>, reach: &Reach) -> Result<()> {
    let Reach::Organizations(roots) = reach else { return Ok(()) };
    if tx.is_serializable() {
        return Ok(());
    }
    let is_root = dialect::is_one_of(tx.dialect(), "root", "$1");
    let sql = format!(
        "SELECT sourced_id FROM orgs WHERE sourced_id IN \
         (SELECT org FROM roster_org_below WHERE {is_root}) ORDER BY sourced_id{}",
        dialect::lock_rows(tx.dialect())
    );
    tx.query(&sql, &[json(roots)?.as_str().into()], |_| Ok(true))
}

/// Removes an organization that is purged. No other refers to it.
pub(super) fn forget(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    tx.send("DELETE FROM roster_org_below WHERE org = $1", &[id.into()])
}

/// The pairs of root and organization that are stored without need or missing.
pub(super) fn differences(tx: &mut Tx<'_>) -> Result<Vec<(String, String)>> {
    let due = "WITH RECURSIVE above (root, org) AS (SELECT sourced_id, sourced_id FROM orgs \
               UNION SELECT o.parent_id, a.org FROM above a JOIN orgs o ON o.sourced_id = a.root \
               WHERE o.parent_id IS NOT NULL)";
    let sql = format!(
        "{due} SELECT root, org FROM (SELECT root, org FROM above EXCEPT SELECT root, org FROM roster_org_below) m \
         UNION ALL SELECT root, org FROM (SELECT root, org FROM roster_org_below EXCEPT SELECT root, org FROM above) s \
         ORDER BY 1, 2"
    );
    tx.all(&sql, &[], |row| Ok((row.string(0)?, row.string(1)?)))
}

fn json<T: serde::Serialize + ?Sized>(ids: &T) -> Result<String> {
    serde_json::to_string(ids).map_err(Problem::internal)
}
