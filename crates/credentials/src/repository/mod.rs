//! The only SQL of the crate.

pub(crate) mod definitions;
pub(crate) mod erase;
pub(crate) mod issued;
pub(crate) mod issuers;
pub(crate) mod keys;
pub(crate) mod records;
pub(crate) mod status;

use lyceum_core::{Reach, Result};
use lyceum_roster::kinds::USER;
use lyceum_roster::repository as roster;
use lyceum_store::{ChangeRange, ChangedRow, FromRow, Sql, Tx};

use crate::repository::issued::Page;

/// The definitions of badges that changed in the range, deleted ones included.
pub fn changed_definitions(tx: &mut Tx<'_>, range: &ChangeRange) -> Result<Vec<ChangedRow>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push("SELECT t.updated, t.seq, t.id FROM badge_definitions t WHERE TRUE");
    range.rows(tx, sql, "t.updated")
}

/// The issued badges of learners within the reach that changed in the range, revoked ones included.
pub fn changed_badges(
    tx: &mut Tx<'_>,
    reach: &Reach,
    range: &ChangeRange,
) -> Result<Vec<ChangedRow>> {
    changed_of_learners(tx, "issued_credentials", reach, range)
}

/// The learner records (CLR) of learners within the reach that changed in the range, deleted ones included.
pub fn changed_learner_records(
    tx: &mut Tx<'_>,
    reach: &Reach,
    range: &ChangeRange,
) -> Result<Vec<ChangedRow>> {
    changed_of_learners(tx, "learner_records", reach, range)
}

fn changed_of_learners(
    tx: &mut Tx<'_>,
    table: &str,
    reach: &Reach,
    range: &ChangeRange,
) -> Result<Vec<ChangedRow>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!("SELECT t.updated, t.seq, t.id FROM {table} t WHERE "));
    roster::refers_within(&mut sql, (&USER, "t.learner"), reach)?;
    range.rows(tx, sql, "t.updated")
}

/// A page of the rows that are valid or changed after `page.since`, about `page.learner` and of learners within `page.reach`, in the
/// order of time, and how many there are. The table is called `r`; `join` brings columns that the number of rows does not
/// depend on; `only` is a condition that all rows fulfil.
fn page<T: for<'r> FromRow<'r>>(
    tx: &mut Tx<'_>,
    columns: &str,
    table: &str,
    join: &str,
    only: &str,
    page: &Page,
) -> Result<(Vec<T>, u64)> {
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let since = page.since.map(|since| since.to_string());
    let chosen = |sql: &mut Sql| -> Result<()> {
        sql.push(&format!(" WHERE {only}"));
        if let Some(since) = &since {
            // What was changed or revoked since counts as well.
            let since = sql.placeholder(since.as_str());
            sql.push(&format!(" AND (r.valid_from > {since} OR r.updated > {since})"));
        }
        if let Some(learner) = &page.learner {
            sql.push(" AND r.learner = ").bind(learner.as_str());
        }
        if page.reach.is_limited() {
            sql.push(" AND ");
            roster::refers_within(sql, (&USER, "r.learner"), &page.reach)?;
        }
        Ok(())
    };
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!("SELECT {columns} FROM {table} {join}"));
    chosen(&mut sql)?;
    sql.push(" ORDER BY r.valid_from, r.seq LIMIT ").bind(number(page.limit));
    sql.push(" OFFSET ").bind(number(page.offset));
    let found = tx.rows(&sql.text, &sql.values())?;
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!("SELECT COUNT(*) FROM {table}"));
    chosen(&mut sql)?;
    let total = tx.query_one(&sql.text, &sql.values(), |row| row.int(0))?.unwrap_or(0);
    Ok((found, u64::try_from(total).unwrap_or(0)))
}
