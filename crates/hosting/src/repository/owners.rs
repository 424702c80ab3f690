//! The marks of the owner of the S3 bucket.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use super::ms;

/// Whether a server of this database made the mark.
pub(crate) fn knows(tx: &mut Tx<'_>, mark: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM bucket_marks WHERE mark = $1";
    Ok(tx.query_one(sql, &[mark.into()], |_| Ok(()))?.is_some())
}

pub(crate) fn add(tx: &mut Tx<'_>, mark: &str, now: Timestamp) -> Result<()> {
    let sql = "INSERT INTO bucket_marks (mark, made_ms) VALUES ($1, $2)";
    tx.send(sql, &[mark.into(), ms(now)])
}

/// Forgets the marks from before a time, except one.
pub(crate) fn forget(tx: &mut Tx<'_>, before: Timestamp, kept: &str) -> Result<()> {
    let sql = "DELETE FROM bucket_marks WHERE made_ms < $1 AND mark <> $2";
    tx.send(sql, &[ms(before), kept.into()])
}
