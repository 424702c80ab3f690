//! Which server sends, and the revision of webhooks and filters. The turn ends by the clock of the database, so that
//! servers with different clocks agree when it does.

use lyceum_core::Result;
use lyceum_store::{Tx, dialect};

/// Holds the turn for some seconds from now. `false`: another server holds it.
pub(crate) fn claim(tx: &mut Tx<'_>, seconds: i64, holder: &str) -> Result<bool> {
    let now = dialect::now_ms(tx.dialect());
    let sql = format!(
        "UPDATE webhook_sender SET holder = $1, until_ms = {now} + $2 \
         WHERE id = 1 AND (holder = $1 OR until_ms <= {now})"
    );
    Ok(tx.execute(&sql, &[holder.into(), (seconds * 1000).into()])? == 1)
}

pub(crate) fn release(tx: &mut Tx<'_>, holder: &str) -> Result<()> {
    let sql = "UPDATE webhook_sender SET holder = '', until_ms = 0 WHERE id = 1 AND holder = $1";
    tx.send(sql, &[holder.into()])
}

/// Whether the turn is free for a server that does not hold it.
pub(crate) fn is_free(tx: &mut Tx<'_>, holder: &str) -> Result<bool> {
    let now = dialect::now_ms(tx.dialect());
    let sql = format!("SELECT 1 FROM webhook_sender WHERE holder = $1 OR until_ms <= {now}");
    Ok(tx.query_one(&sql, &[holder.into()], |_| Ok(()))?.is_some())
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

pub(crate) fn is_held(tx: &mut Tx<'_>, holder: &str) -> Result<bool> {
    let now = dialect::now_ms(tx.dialect());
    let sql = format!("SELECT 1 FROM webhook_sender WHERE holder = $1 AND until_ms > {now}");
    Ok(tx.query_one(&sql, &[holder.into()], |_| Ok(()))?.is_some())
}
