//! Walks through the records of organizations in the order of insertion. An index holds the records of each organization
//! in this order, so a page costs the same in a small and in a large roster, wherever the records lie.

use lyceum_core::{Problem, Reach, Result};
use lyceum_store::{Sql, Tx, dialect};

use super::read::in_part;
use crate::collections::Collection;
use crate::kind::{OrganizationPath, RecordKind};
use crate::rules::SEVERAL_ORGS;

/// The width of the first range of numbers that a list reads. Each further range is twice as wide.
pub(super) const FIRST_RANGE: i64 = 1024;
/// The widest range, whose records are sorted within about 100 ms.
pub(super) const WIDEST_RANGE: i64 = 65_536;

/// The way from organizations to their records of a kind.
pub(super) struct OrganizationWalk {
    /// The table `l` with the records of each organization.
    table: String,
    /// The condition that `l` belongs to the organization `b.org`.
    condition: &'static str,
    /// The number of the record.
    seq: &'static str,
    /// The roots of the reach as a JSON array.
    roots: String,
}

impl OrganizationWalk {
    /// The walk through the kind; `None` if no index leads from an organization to its records.
    pub(super) fn of(kind: &RecordKind, reach: &Reach) -> Result<Option<Self>> {
        let Reach::Organizations(roots) = reach else { return Ok(None) };
        let (table, condition, seq) = match kind.organization {
            OrganizationPath::School => (kind.table, "l.school_id = b.org", "l.seq"),
            OrganizationPath::Roles => {
                ("roster_link", "l.field = 'user.roles.org' AND l.value = b.org", "l.owner")
            }
            _ => return Ok(None),
        };
        let roots = serde_json::to_string(roots).map_err(Problem::internal)?;
        Ok(Some(Self { table: format!("{table} l"), condition, seq, roots }))
    }

    /// Appends the condition that the record of table `t` belongs to one of the organizations, with a number in the
    /// range.
    pub(super) fn within(&self, sql: &mut Sql, range: Option<(i64, i64)>) {
        let Self { table, condition, seq, .. } = self;
        // The order of a cross join is kept by SQLite.
        let mut query = format!(
            "SELECT {seq} FROM roster_org_below b CROSS JOIN {table} WHERE {} AND {condition}",
            self.is_root(sql)
        );
        if let Some((first, last)) = range {
            let [first, last] = [first, last].map(|seq| sql.placeholder(seq));
            query = format!("{query} AND {seq} >= {first} AND {seq} <= {last}");
        }
        let is_among = dialect::is_among(sql.dialect, "t.seq", &query);
        sql.push(&is_among);
    }

    /// The number of active records of the whole collection that belong to one of the organizations.
    pub(super) fn total(&self, tx: &mut Tx<'_>, collection: Collection) -> Result<i64> {
        let mut sql = Sql::new(tx.dialect());
        let path = sql.placeholder(collection.path);
        let text = format!(
            "SELECT CAST(COALESCE(SUM(n.live), 0) AS BIGINT) FROM (SELECT DISTINCT CAST({path} AS TEXT) || '@' || b.org \
             AS name FROM roster_org_below b WHERE {}) part CROSS JOIN tally n \
             WHERE n.collection = part.name AND n.level = 1",
            self.is_root(&mut sql)
        );
        let counted = tx.query_one(&text, &sql.values(), |row| row.int(0))?.unwrap_or(0);
        Ok(counted + self.of_several(tx, collection)?)
    }

    /// The number of active users with roles at several organizations, which their counts leave out.
    fn of_several(&self, tx: &mut Tx<'_>, collection: Collection) -> Result<i64> {
        if collection.kind.organization != OrganizationPath::Roles {
            return Ok(0);
        }
        let mut sql = Sql::new(tx.dialect());
        let several = format!(
            "SELECT l.owner FROM roster_org_below b CROSS JOIN roster_link l WHERE {} \
             AND l.field = '{SEVERAL_ORGS}' AND l.value = b.org",
            self.is_root(&mut sql)
        );
        let is_among = dialect::is_among(sql.dialect, "t.seq", &several);
        let table = collection.kind.table;
        sql.push(&format!(
            "SELECT count(*) FROM {table} t WHERE t.status = 'active' AND {is_among} AND "
        ));
        in_part(&mut sql, collection.part);
        Ok(tx.query_one(&sql.text, &sql.values(), |row| row.int(0))?.unwrap_or(0))
    }

    /// The number of the next record behind the given one.
    pub(super) fn next(&self, tx: &mut Tx<'_>, after: i64) -> Result<Option<i64>> {
        let Self { table, condition, seq, .. } = self;
        let mut sql = Sql::new(tx.dialect());
        let after = sql.placeholder(after);
        let is_root = self.is_root(&mut sql);
        let text = format!(
            "SELECT MIN(following.seq) FROM (SELECT (SELECT MIN({seq}) FROM {table} \
             WHERE {condition} AND {seq} > {after}) AS seq FROM roster_org_below b WHERE {is_root}) following"
        );
        Ok(tx.query_one(&text, &sql.values(), |row| row.opt_int(0))?.flatten())
    }

    fn is_root(&self, sql: &mut Sql) -> String {
        let placeholder = sql.placeholder(self.roots.as_str());
        dialect::is_one_of(sql.dialect, "b.root", &placeholder)
    }
}
