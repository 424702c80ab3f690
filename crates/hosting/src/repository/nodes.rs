//! The nodes of the database.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{SqlDialect, Tx, columns, dialect};

use super::ms;
use crate::nodes::KnownNode;
use crate::nodes::report::{NodeReport, NodeStatus};

/// Records the generation if it is later than the stored one; returns whether it was.
pub(crate) fn enter(tx: &mut Tx<'_>, now: Timestamp, node: &KnownNode) -> Result<bool> {
    let KnownNode { id, name, address, generation } = node;
    let changed = tx.execute(
        "INSERT INTO nodes (id, name, address, generation, started_ms) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, address = excluded.address, \
         generation = excluded.generation, started_ms = excluded.started_ms \
         WHERE nodes.generation < excluded.generation",
        &[id.into(), name.into(), address.into(), (*generation).into(), ms(now)],
    )?;
    Ok(changed == 1)
}

pub(crate) fn note(tx: &mut Tx<'_>, now: Timestamp, node: &KnownNode) -> Result<()> {
    let KnownNode { id, name, address, generation } = node;
    tx.send(
        "INSERT INTO nodes (id, name, address, generation, started_ms) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT DO NOTHING",
        &[id.into(), name.into(), address.into(), (*generation).into(), ms(now)],
    )
}

/// The stored generation of a node; `None` if the node is unknown.
pub(crate) fn generation(tx: &mut Tx<'_>, id: &str) -> Result<Option<i64>> {
    tx.query_one("SELECT generation FROM nodes WHERE id = $1", &[id.into()], |row| row.int(0))
}

/// Whether there is a node with another id.
pub(crate) fn has_others(tx: &mut Tx<'_>, id: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM nodes WHERE id <> $1 LIMIT 1";
    Ok(tx.query_one(sql, &[id.into()], |_| Ok(()))?.is_some())
}

/// The node whose id ends with the tag, if its lease has not ended.
pub(crate) fn of_tag(tx: &mut Tx<'_>, tag: &str) -> Result<Option<KnownNode>> {
    let has_lease = match tx.dialect() {
        SqlDialect::Sqlite => String::new(),
        SqlDialect::Postgres => {
            format!(" AND lease_until_ms > {}", dialect::now_ms(tx.dialect()))
        }
    };
    // A UUID has 36 characters; the last 12 are the tag.
    let sql = format!(
        "SELECT id, name, address, generation FROM nodes WHERE substr(id, 25) = $1{has_lease}"
    );
    tx.query_one(&sql, &[tag.into()], |row| {
        Ok(KnownNode {
            id: row.string(0)?,
            name: row.string(1)?,
            address: row.string(2)?,
            generation: row.int(3)?,
        })
    })
}

/// Records that no node runs.
pub(crate) fn stop_all(tx: &mut Tx<'_>) -> Result<()> {
    tx.send("UPDATE nodes SET state = 'stopped'", &[])
}

/// Stores a report. One that was sent before the node stopped, but arrives after that, changes nothing.
pub(crate) fn report(tx: &mut Tx<'_>, now: Timestamp, id: &str, report: &NodeReport) -> Result<()> {
    let NodeReport { version, schema_version, public_url, state, master_key } = report;
    tx.send(
        "UPDATE nodes SET version = $1, public_url = $2, state = $3, seen_ms = $4, schema_version = $5, \
         master_key = $6 WHERE id = $7 AND NOT (state = 'stopped' AND seen_ms > $4)",
        &[
            (*version).into(),
            public_url.as_deref().unwrap_or_default().into(),
            state.name().into(),
            ms(now),
            i64::from(*schema_version).into(),
            master_key.into(),
            id.into(),
        ],
    )
}

/// Whether all live nodes that reported since then know the migration.
pub(crate) fn all_know(tx: &mut Tx<'_>, since: Timestamp, schema_version: i32) -> Result<bool> {
    let sql = "SELECT COUNT(*) FROM nodes WHERE state IN ('serving', 'stopping') AND seen_ms >= $1 \
               AND schema_version < $2";
    let older =
        tx.query_one(sql, &[ms(since), i64::from(schema_version).into()], |row| row.int(0))?;
    Ok(older == Some(0))
}

columns!(NodeStatus {
    id: "id",
    name: "name",
    address: "address",
    version: "version",
    public_url: "public_url",
    state: "state",
    started: "started_ms",
    seen: "seen_ms",
    projects: "(SELECT COUNT(*) FROM project_homes WHERE node = nodes.id)",
    master_key: "master_key",
});

/// The nodes that reported since then, and those that hold projects, by name.
pub(crate) fn list(tx: &mut Tx<'_>, since: Timestamp) -> Result<Vec<NodeStatus>> {
    let sql = format!(
        "SELECT {} FROM nodes WHERE seen_ms >= $1 OR id IN (SELECT node FROM project_homes) \
         ORDER BY name, id",
        NodeStatus::COLUMNS
    );
    tx.rows(&sql, &[ms(since)])
}

/// Deletes nodes that hold no project and did not report for a long time, such as containers that get a new data
/// folder at each start.
pub(crate) fn forget(tx: &mut Tx<'_>, before: Timestamp) -> Result<()> {
    let sql = "DELETE FROM nodes WHERE started_ms < $1 AND seen_ms < $1 AND id NOT IN (SELECT node FROM project_homes)";
    tx.send(sql, &[ms(before)])
}
