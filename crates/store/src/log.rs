//! Transactions for the event log only: writers that wait for each other, a reader that follows them, and its SQL. All other
//! SQL that differs between the stores is in [`dialect`](crate::dialect).

use lyceum_core::{Problem, Result};

use crate::{SqlDialect, Tx, Value};

/// Whether no other transaction can write before this one ends: always on SQLite.
pub fn is_only_writer(tx: &Tx<'_>) -> bool {
    tx.dialect() == SqlDialect::Sqlite
}

/// How a write on PostgreSQL holds the rows of a query until it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLock {
    /// No other write holds them alone.
    Alone,
    /// The same, but rows that others hold are left out, so the query never waits.
    AloneIfFree,
}

/// The end of a query that holds its rows. SQLite has one writer, which holds everything.
pub fn lock(tx: &Tx<'_>, lock: RowLock) -> &'static str {
    match lock {
        _ if is_only_writer(tx) => "",
        RowLock::Alone => "FOR NO KEY UPDATE",
        RowLock::AloneIfFree => "FOR NO KEY UPDATE SKIP LOCKED",
    }
}

/// Makes a write that sees one state run again if another write has changed rows of a query since that state. Where each
/// statement [sees the latest commits](crate::StatementsSee::LatestCommits), and on SQLite, this does nothing.
///
/// PostgreSQL only tells this to a transaction that locks the rows. A lock until the end would keep others from
/// changing them, and if such writes follow each other closely, forever. So the lock ends with a savepoint, at once.
pub fn run_again_if_changed(tx: &mut Tx<'_>, query: &str, values: &[Value<'_>]) -> Result<()> {
    if tx.sees_latest() {
        return Ok(());
    }
    tx.send("SAVEPOINT unchanged", &[])?;
    tx.send(&format!("{query} FOR SHARE"), values)?;
    tx.send("ROLLBACK TO SAVEPOINT unchanged", &[])?;
    // Waits for all four: the rollback to the savepoint would otherwise hide from a commit that the lock was refused.
    tx.execute("RELEASE SAVEPOINT unchanged", &[]).map(drop)
}

/// The transactions that may still commit. Transactions are numbered in the order in which they started to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    /// All transactions before this one have ended.
    pub oldest: i64,
    /// No transaction from this one on has begun.
    pub next: i64,
}

/// The other transactions that may still commit. On SQLite there is none, because one write runs after the other.
pub fn horizon(tx: &mut Tx<'_>) -> Result<Horizon> {
    let sql = match tx.dialect() {
        SqlDialect::Sqlite => "SELECT 0, 0",
        // A snapshot alone does not tell the next transaction: it ends behind the newest one that has ended, and
        // others may have begun since.
        SqlDialect::Postgres => {
            "SELECT pg_snapshot_xmin(s)::text::bigint, \
             pg_snapshot_xmax(s)::text::bigint + age(pg_snapshot_xmax(s)::xid) \
             FROM pg_current_snapshot() AS s"
        }
    };
    let horizon = tx.row(sql, &[])?.map(|(oldest, next)| Horizon { oldest, next });
    horizon.ok_or_else(|| Problem::internal("the store returned no horizon"))
}

/// An item of `FROM` behind those that it follows, called `name`: of each of their rows, those of a table whose
/// `key` lies between two numbers. On both stores they lead to it, and never the other way round: a planner
/// does not know how few numbers lie between two columns.
pub fn join_between(
    dialect: SqlDialect,
    (table, name): (&str, &str),
    key: &str,
    (first, last): (&str, &str),
) -> String {
    match dialect {
        SqlDialect::Sqlite => {
            format!("CROSS JOIN {table} {name} ON {name}.{key} BETWEEN {first} AND {last}")
        }
        SqlDialect::Postgres => format!(
            "CROSS JOIN LATERAL (SELECT * FROM {table} WHERE {key} BETWEEN {first} AND {last} \
             OFFSET 0) AS {name}"
        ),
    }
}
