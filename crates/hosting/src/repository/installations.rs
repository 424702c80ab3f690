//! The installations of the database.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use super::ms;

/// The installation to which the servers of a database belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentInstallation {
    /// Random hexadecimal digits, the name of its folder in the store of replicas.
    pub id: String,
    /// The mark that the store has, unless the next one is there already.
    pub(crate) mark: String,
    /// The mark that a server stores next; the same one if that is done.
    pub(crate) next_mark: String,
    /// When a server began to store it.
    pub(crate) marked: Timestamp,
}

/// An installation whose database was restored or copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerInstallation {
    /// Its id.
    pub id: String,
    /// Its replicas count for this database up to this time.
    pub ended: Timestamp,
    /// Whether an operator said that its servers never run again.
    pub is_replaced: bool,
}

/// The present installation; `None` before the first one, and after a restore.
pub(crate) fn present(tx: &mut Tx<'_>) -> Result<Option<PresentInstallation>> {
    let sql = "SELECT id, mark, next_mark, marked_ms FROM installations WHERE ended_ms IS NULL";
    tx.query_one(sql, &[], |row| {
        Ok(PresentInstallation {
            id: row.string(0)?,
            mark: row.string(1)?,
            next_mark: row.string(2)?,
            marked: Timestamp::from_milliseconds(row.int(3)?),
        })
    })
}

/// The installations that have ended, the last one first.
pub(crate) fn former(tx: &mut Tx<'_>) -> Result<Vec<FormerInstallation>> {
    let sql = "SELECT id, ended_ms, replaced_ms FROM installations WHERE ended_ms IS NOT NULL \
               ORDER BY ended_ms DESC, began_ms DESC";
    tx.all(sql, &[], |row| {
        Ok(FormerInstallation {
            id: row.string(0)?,
            ended: Timestamp::from_milliseconds(row.int(1)?),
            is_replaced: row.opt_int(2)?.is_some(),
        })
    })
}

pub(crate) fn begin(tx: &mut Tx<'_>, now: Timestamp, id: &str) -> Result<()> {
    tx.send(
        "INSERT INTO installations (id, began_ms, mark, next_mark, marked_ms) VALUES ($1, $2, '', '', 0)",
        &[id.into(), ms(now)],
    )
}

pub(crate) fn end(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    tx.send("UPDATE installations SET ended_ms = $1 WHERE ended_ms IS NULL", &[ms(now)])
}

/// Records the mark that is stored next, and the one that the store has; returns whether this server was first.
pub(crate) fn set_next_mark(
    tx: &mut Tx<'_>,
    now: Timestamp,
    known: &PresentInstallation,
    stored: Option<&str>,
    next: &str,
) -> Result<bool> {
    let PresentInstallation { id, mark, next_mark, .. } = known;
    let changed = tx.execute(
        "UPDATE installations SET mark = $1, next_mark = $2, marked_ms = $3 \
         WHERE id = $4 AND mark = $5 AND next_mark = $6 AND ended_ms IS NULL",
        &[
            stored.unwrap_or(mark).into(),
            next.into(),
            ms(now),
            id.into(),
            mark.into(),
            next_mark.into(),
        ],
    )?;
    Ok(changed == 1)
}

/// Records that the next mark is stored.
pub(crate) fn set_mark(tx: &mut Tx<'_>, id: &str, mark: &str) -> Result<()> {
    let sql = "UPDATE installations SET mark = next_mark WHERE id = $1 AND next_mark = $2";
    tx.send(sql, &[id.into(), mark.into()])
}

/// Records that the servers of all former installations never run again. Returns the number of former installations.
pub(crate) fn set_replaced(tx: &mut Tx<'_>, now: Timestamp) -> Result<u64> {
    let sql = "UPDATE installations SET replaced_ms = $1 WHERE ended_ms IS NOT NULL";
    tx.execute(sql, &[ms(now)])
}
