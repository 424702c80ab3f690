//! Which server sends, and the revision of webhooks and filters.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

/// Holds the turn until an instant. `false`: another server holds it.
pub(crate) fn claim(
    tx: &mut Tx<'_>,
    now: Timestamp,
    until: Timestamp,
    holder: &str,
) -> Result<bool> {
    let sql = "UPDATE webhook_sender SET holder = $1, until_ms = $2 \
               WHERE id = 1 AND (holder = $1 OR until_ms <= $3)";
    let values = [holder.into(), until.milliseconds().into(), now.milliseconds().into()];
    Ok(tx.execute(sql, &values)? == 1)
}

pub(crate) fn release(tx: &mut Tx<'_>, holder: &str) -> Result<()> {
    let sql = "UPDATE webhook_sender SET holder = '', until_ms = 0 WHERE id = 1 AND holder = $1";
    tx.send(sql, &[holder.into()])
}

/// Whether the turn is free for a server that does not hold it.
pub(crate) fn is_free(tx: &mut Tx<'_>, now: Timestamp, holder: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM webhook_sender WHERE holder = $1 OR until_ms <= $2";
    Ok(tx.query_one(sql, &[holder.into(), now.milliseconds().into()], |_| Ok(()))?.is_some())
}

/// The revision, if the server holds the turn.
pub(crate) fn revision_of_holder(tx: &mut Tx<'_>, holder: &str) -> Result<Option<i64>> {
    tx.row("SELECT revision FROM webhook_sender WHERE holder = $1", &[holder.into()])
}

pub(crate) fn revision(tx: &mut Tx<'_>) -> Result<i64> {
    Ok(tx.row("SELECT revision FROM webhook_sender WHERE id = 1", &[])?.unwrap_or_default())
}

pub(crate) fn next_revision(tx: &mut Tx<'_>) -> Result<()> {
    tx.send("UPDATE webhook_sender SET revision = revision + 1 WHERE id = 1", &[])
}

pub(crate) fn is_held(tx: &mut Tx<'_>, now: Timestamp, holder: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM webhook_sender WHERE holder = $1 AND until_ms > $2";
    Ok(tx.query_one(sql, &[holder.into(), now.milliseconds().into()], |_| Ok(()))?.is_some())
}
