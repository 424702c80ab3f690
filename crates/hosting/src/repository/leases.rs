//! The leases of nodes.

use std::collections::HashMap;

use lyceum_core::Result;
use lyceum_store::{Tx, dialect};

/// The token of a project that the node holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldToken {
    pub(crate) token: i64,
    /// Whether the next holder must find a replica of this node. Before that, the node acknowledges nothing.
    pub(crate) is_replicated: bool,
}

/// Sets the end of the node's lease, so many milliseconds after the database's time. Returns how often projects came to
/// the node or left it.
pub(crate) fn renew(tx: &mut Tx<'_>, node: &str, lasts_ms: i64) -> Result<i64> {
    let now = dialect::now_ms(tx.dialect());
    let sql = format!("UPDATE nodes SET lease_until_ms = {now} + $1 WHERE id = $2");
    tx.send(&sql, &[lasts_ms.into(), node.into()])?;
    let moves =
        tx.query_one("SELECT moves FROM nodes WHERE id = $1", &[node.into()], |row| row.int(0))?;
    Ok(moves.unwrap_or_default())
}

/// Ends the node's lease.
pub(crate) fn end(tx: &mut Tx<'_>, node: &str) -> Result<()> {
    tx.send("UPDATE nodes SET lease_until_ms = 0 WHERE id = $1", &[node.into()])
}

/// The ends of the leases of all other nodes that have one, by node.
pub(crate) fn of_others(tx: &mut Tx<'_>, node: &str) -> Result<Vec<(String, i64)>> {
    let sql = "SELECT id, lease_until_ms FROM nodes WHERE id <> $1 AND lease_until_ms > 0";
    tx.all(sql, &[node.into()], |row| Ok((row.string(0)?, row.int(1)?)))
}

/// The tokens of the projects that the node holds, by slug.
pub(crate) fn tokens(tx: &mut Tx<'_>, node: &str) -> Result<HashMap<String, HeldToken>> {
    let sql = "SELECT slug, token, \
               CASE WHEN replicated_of = token AND replicated_token < token THEN 0 ELSE 1 END \
               FROM project_homes WHERE node = $1";
    let tokens = tx.all(sql, &[node.into()], |row| {
        let held = HeldToken { token: row.int(1)?, is_replicated: row.int(2)? == 1 };
        Ok((row.string(0)?, held))
    })?;
    Ok(tokens.into_iter().collect())
}

/// Notes that the project leaves its node, and comes to another one if one is named.
pub(crate) fn count_move(tx: &mut Tx<'_>, slug: &str, to: Option<&str>) -> Result<()> {
    let sql = "UPDATE nodes SET moves = moves + 1 \
               WHERE id = $1 OR id IN (SELECT node FROM project_homes WHERE slug = $2)";
    tx.send(sql, &[to.unwrap_or_default().into(), slug.into()])
}

/// Ends the leases of all nodes.
pub(crate) fn end_all(tx: &mut Tx<'_>) -> Result<()> {
    tx.send("UPDATE nodes SET lease_until_ms = 0", &[])
}
