//! The installations of the database, and their marks.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, Value};

use super::ms;

/// An installation whose database was restored or copied, or another one that was adopted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerInstallation {
    /// Its id.
    pub id: String,
    /// Its replicas count for this database up to this time.
    pub ended: Timestamp,
    /// Whether an operator said that nobody else needs its objects and replicas.
    pub is_adopted: bool,
}

/// The id of the present installation; `None` before the first one, and after a restore.
pub(crate) fn present(tx: &mut Tx<'_>) -> Result<Option<String>> {
    let sql = "SELECT id FROM installations WHERE ended_ms IS NULL";
    tx.query_one(sql, &[], |row| row.string(0))
}

/// The installations that have ended, the last one first.
pub(crate) fn former(tx: &mut Tx<'_>) -> Result<Vec<FormerInstallation>> {
    let sql = "SELECT id, ended_ms, adopted_ms FROM installations WHERE ended_ms IS NOT NULL \
               ORDER BY ended_ms DESC, began_ms DESC";
    tx.all(sql, &[], |row| {
        Ok(FormerInstallation {
            id: row.string(0)?,
            ended: Timestamp::from_milliseconds(row.int(1)?),
            is_adopted: row.opt_int(2)?.is_some(),
        })
    })
}

pub(crate) fn begin(tx: &mut Tx<'_>, now: Timestamp, id: &str) -> Result<()> {
    let sql = "INSERT INTO installations (id, began_ms) VALUES ($1, $2)";
    tx.send(sql, &[id.into(), ms(now)])
}

/// Ends the present installation. The original of a copied database may need what it adopted.
pub(crate) fn end(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    tx.send("UPDATE installations SET adopted_ms = NULL", &[])?;
    tx.send("UPDATE installations SET ended_ms = $1 WHERE ended_ms IS NULL", &[ms(now)])
}

/// Records that an ended installation, or one that the database does not know, is adopted. Replicas of an unknown one never
/// count for this database.
pub(crate) fn adopt(tx: &mut Tx<'_>, now: Timestamp, id: &str) -> Result<()> {
    tx.send(
        "INSERT INTO installations (id, began_ms, ended_ms) VALUES ($1, 0, 0) ON CONFLICT (id) DO NOTHING",
        &[id.into()],
    )?;
    let sql = "UPDATE installations SET adopted_ms = $1 WHERE id = $2 AND ended_ms IS NOT NULL";
    tx.send(sql, &[ms(now), id.into()])
}

/// Whether a server of this database made the mark.
pub(crate) fn knows(tx: &mut Tx<'_>, mark: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM installation_marks WHERE mark = $1";
    Ok(tx.query_one(sql, &[mark.into()], |_| Ok(()))?.is_some())
}

pub(crate) fn remember(tx: &mut Tx<'_>, mark: &str, now: Timestamp) -> Result<()> {
    let sql = "INSERT INTO installation_marks (mark, made_ms) VALUES ($1, $2)";
    tx.send(sql, &[mark.into(), ms(now)])
}

/// Forgets the marks from before a time, except for some.
pub(crate) fn forget(tx: &mut Tx<'_>, before: Timestamp, kept: &[&str]) -> Result<()> {
    let sql = "SELECT mark FROM installation_marks WHERE made_ms < $1";
    for mark in tx.all(sql, &[ms(before)], |row| row.string(0))? {
        if !kept.contains(&mark.as_str()) {
            let mark: Value<'_> = mark.as_str().into();
            tx.send("DELETE FROM installation_marks WHERE mark = $1", &[mark])?;
        }
    }
    Ok(())
}
