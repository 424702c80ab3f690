//! Walks through the records of organizations in the order of insertion. An index holds the records of each organization
//! in this order, so a page costs the same in a small and in a large roster, wherever the records lie.

use lyceum_core::{Problem, Reach, Result};
use lyceum_store::{LARGE_BLOCK_BITS, Sql, Tx, dialect};

use super::read::in_part;
use crate::collections::Collection;
use crate::kind::{OrganizationPath, RecordKind};
use crate::rules::SEVERAL_ORGS;

/// The width of the first range of numbers that a list reads. Each further range is twice as wide.
pub(super) const FIRST_RANGE: i64 = 1024;
/// The widest range, whose records are sorted within about 100 ms.
pub(super) const WIDEST_RANGE: i64 = 65_536;

/// The most line items or users of the organizations for which a list walks through these to their results and
/// demographics. With more, the organizations have so many records that a list reads the table.
const OWNERS_MAX_COUNT: i64 = 20_000;

/// The records between organizations and the records of a list.
#[derive(Clone, Copy)]
enum Owners {
    LineItems,
    Users,
}

/// The way from organizations to their records of a kind.
pub(super) struct OrganizationWalk {
    /// The records through which the way leads, if any.
    owners: Option<Owners>,
    /// The table `l` with the records.
    table: &'static str,
    /// The condition that `l` belongs to the owner or to the organization `b.org`.
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
        let (owners, condition) = match kind.organization {
            OrganizationPath::School => (None, "l.school_id = b.org"),
            OrganizationPath::Roles => (None, "l.field = 'user.roles.org' AND l.value = b.org"),
            OrganizationPath::Through("lineItem") => {
                (Some(Owners::LineItems), "l.line_item_id = i.sourced_id")
            }
            OrganizationPath::Through("student") => {
                (Some(Owners::Users), "l.student_id = u.sourced_id")
            }
            OrganizationPath::UserOfSameId => (Some(Owners::Users), "l.sourced_id = u.sourced_id"),
            _ => return Ok(None),
        };
        let (table, seq) = match kind.organization {
            OrganizationPath::Roles => ("roster_link", "l.owner"),
            _ => (kind.table, "l.seq"),
        };
        let roots = serde_json::to_string(roots).map_err(Problem::internal)?;
        Ok(Some(Self { owners, table, condition, seq, roots }))
    }

    /// Whether a list finds its records faster by the walk than in the table.
    pub(super) fn is_short(&self, tx: &mut Tx<'_>) -> Result<bool> {
        let counted = match self.owners {
            None => return Ok(true),
            Some(Owners::LineItems) => "lineItems",
            Some(Owners::Users) => "users",
        };
        Ok(self.counted(tx, counted)? <= OWNERS_MAX_COUNT)
    }

    /// The organizations `b` of the reach with the owners and another join, as the part of a statement from `FROM` on.
    fn from(&self, sql: &mut Sql, join_records: &str) -> String {
        // A join by the value could read the links of all organizations.
        let dialect = sql.dialect;
        let look_up = |table, alias, condition| dialect::look_up(dialect, table, alias, condition);
        let join = match self.owners {
            None => String::new(),
            Some(Owners::LineItems) => look_up("line_items", "i", "i.school_id = b.org"),
            Some(Owners::Users) => [
                look_up("roster_link", "r", "r.field = 'user.roles.org' AND r.value = b.org"),
                look_up("users", "u", "u.seq = r.owner"),
            ]
            .join(" "),
        };
        let is_root = self.is_root(sql);
        format!("FROM roster_org_below b {join} {join_records} WHERE {is_root}")
    }

    /// Appends the condition that the record of table `t` belongs to one of the organizations, with a number in the
    /// range.
    pub(super) fn within(&self, sql: &mut Sql, range: Option<(i64, i64)>) {
        let Self { table, condition, seq, .. } = self;
        // The order of a cross join is kept by SQLite.
        let mut query = match self.owners {
            None => {
                let from = self.from(sql, &format!("CROSS JOIN {table} l"));
                format!("SELECT {seq} {from} AND {condition}")
            }
            Some(_) => {
                let join = dialect::look_up(sql.dialect, table, "l", condition);
                format!("SELECT {seq} {}", self.from(sql, &join))
            }
        };
        if let Some((first, last)) = range {
            let [first, last] = [first, last].map(|seq| sql.placeholder(seq));
            query = format!("{query} AND {seq} >= {first} AND {seq} <= {last}");
        }
        let is_among = dialect::is_among(sql.dialect, "t.seq", &query);
        sql.push(&is_among);
    }

    /// The number of active records of the whole collection that belong to one of the organizations; `None` if it is not
    /// counted.
    pub(super) fn total(&self, tx: &mut Tx<'_>, collection: Collection) -> Result<Option<i64>> {
        if !self.is_counted() {
            return Ok(None);
        }
        let mut total = self.counted(tx, collection.path)?;
        if collection.kind.organization == OrganizationPath::Roles {
            let mut sql = Sql::new(tx.dialect());
            sql.push("SELECT count(*)");
            self.push_users_of_several(&mut sql, collection);
            total += tx.query_one(&sql.text, &sql.values(), |row| row.int(0))?.unwrap_or(0);
        }
        Ok(Some(total))
    }

    /// Whether the organizations have counts of the records.
    pub(super) fn is_counted(&self) -> bool {
        self.owners.is_none()
    }

    /// Where the record number `offset` (from 0) of the whole collection, which is counted, lies: the first number of its
    /// block, and how many of the organizations' records in the block come before it. `None` behind the last record.
    pub(super) fn seek(
        &self,
        tx: &mut Tx<'_>,
        collection: Collection,
        offset: u64,
    ) -> Result<Option<(i64, u64)>> {
        let mut sql = Sql::new(tx.dialect());
        sql.push("SELECT block, CAST(SUM(live) AS BIGINT) FROM (SELECT n.block, n.live");
        self.push_counts(&mut sql, collection.path);
        if collection.kind.organization == OrganizationPath::Roles {
            sql.push(&format!(" UNION ALL SELECT t.seq >> {LARGE_BLOCK_BITS}, 1"));
            self.push_users_of_several(&mut sql, collection);
        }
        sql.push(") counts GROUP BY block ORDER BY block");
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        let found = tx.tally_block_at(&sql.text, &sql.values(), offset)?;
        Ok(found.map(|(block, skip)| (block << LARGE_BLOCK_BITS, skip.unsigned_abs())))
    }

    /// The sum of the counts of the organizations.
    fn counted(&self, tx: &mut Tx<'_>, collection: &str) -> Result<i64> {
        let mut sql = Sql::new(tx.dialect());
        sql.push("SELECT CAST(COALESCE(SUM(n.live), 0) AS BIGINT)");
        self.push_counts(&mut sql, collection);
        Ok(tx.query_one(&sql.text, &sql.values(), |row| row.int(0))?.unwrap_or(0))
    }

    /// Appends the counts `n` of the organizations, in blocks, as the part of a statement from `FROM` on.
    fn push_counts(&self, sql: &mut Sql, collection: &str) {
        let path = sql.placeholder(collection);
        let is_root = self.is_root(sql);
        sql.push(&format!(
            " FROM (SELECT DISTINCT CAST({path} AS TEXT) || '@' || b.org AS name FROM roster_org_below b \
             WHERE {is_root}) part CROSS JOIN tally n WHERE n.collection = part.name AND n.level = 1"
        ));
    }

    /// Appends the active users `t` with roles at several organizations, whom the counts leave out, as the part of a
    /// statement from `FROM` on.
    fn push_users_of_several(&self, sql: &mut Sql, collection: Collection) {
        let several = format!(
            "SELECT l.owner FROM roster_org_below b CROSS JOIN roster_link l WHERE {} \
             AND l.field = '{SEVERAL_ORGS}' AND l.value = b.org",
            self.is_root(sql)
        );
        let is_among = dialect::is_among(sql.dialect, "t.seq", &several);
        let table = collection.kind.table;
        sql.push(&format!(" FROM {table} t WHERE t.status = 'active' AND {is_among} AND "));
        in_part(sql, collection.part);
    }

    /// The number of the next record behind the given one.
    pub(super) fn next(&self, tx: &mut Tx<'_>, after: i64) -> Result<Option<i64>> {
        let Self { table, condition, seq, .. } = self;
        let mut sql = Sql::new(tx.dialect());
        let after = sql.placeholder(after);
        let from = self.from(&mut sql, "");
        let text = format!(
            "SELECT MIN(following.seq) FROM (SELECT (SELECT MIN({seq}) FROM {table} l \
             WHERE {condition} AND {seq} > {after}) AS seq {from}) following"
        );
        Ok(tx.query_one(&text, &sql.values(), |row| row.opt_int(0))?.flatten())
    }

    fn is_root(&self, sql: &mut Sql) -> String {
        let placeholder = sql.placeholder(self.roots.as_str());
        dialect::is_one_of(sql.dialect, "b.root", &placeholder)
    }
}
