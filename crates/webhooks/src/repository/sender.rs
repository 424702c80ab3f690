//! The server that sends, and the revision of webhooks and filters. The turn ends by the clock of the database, so that
//! servers with different clocks agree when it does.

use lyceum_core::Result;
use lyceum_store::{Tx, dialect};

use crate::limits;

/// Becomes or stays the sender for some seconds. `false`: another server is the sender.
pub fn become_sender(tx: &mut Tx<'_>, holder: &str) -> Result<bool> {
    let now = dialect::now_ms(tx.dialect());
    let sql = format!(
        "UPDATE webhook_sender SET holder = $1, until_ms = {now} + $2 \
         WHERE id = 1 AND (holder = $1 OR until_ms <= {now})"
    );
    Ok(tx.execute(&sql, &[holder.into(), (limits::WEBHOOK_SENDER_LEASE_S * 1000).into()])? == 1)
}

/// Stops being the sender, so that another server need not wait.
pub fn release(tx: &mut Tx<'_>, holder: &str) -> Result<()> {
    let sql = "UPDATE webhook_sender SET holder = '', until_ms = 0 WHERE id = 1 AND holder = $1";
    tx.send(sql, &[holder.into()])
}

/// Whether the server is the sender, or may become it. Writes nothing.
pub fn may_become_sender(tx: &mut Tx<'_>, holder: &str) -> Result<bool> {
    let now = dialect::now_ms(tx.dialect());
    let sql = format!("SELECT 1 FROM webhook_sender WHERE holder = $1 OR until_ms <= {now}");
    Ok(tx.query_one(&sql, &[holder.into()], |_| Ok(()))?.is_some())
}

/// The revision, if the server holds the turn.
pub(crate) fn revision_of_holder(tx: &mut Tx<'_>, holder: &str) -> Result<Option<i64>> {
    tx.row("SELECT revision FROM webhook_sender WHERE holder = $1", &[holder.into()])
}

/// The revision of webhooks, filters and replays.
pub fn revision(tx: &mut Tx<'_>) -> Result<i64> {
    Ok(tx.row("SELECT revision FROM webhook_sender WHERE id = 1", &[])?.unwrap_or_default())
}

pub(crate) fn next_revision(tx: &mut Tx<'_>) -> Result<()> {
    tx.send("UPDATE webhook_sender SET revision = revision + 1 WHERE id = 1", &[])
}

/// Whether the server is the sender.
pub fn is_sender(tx: &mut Tx<'_>, holder: &str) -> Result<bool> {
    let now = dialect::now_ms(tx.dialect());
    let sql = format!("SELECT 1 FROM webhook_sender WHERE holder = $1 AND until_ms > {now}");
    Ok(tx.query_one(&sql, &[holder.into()], |_| Ok(()))?.is_some())
}
