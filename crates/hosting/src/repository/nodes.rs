//! The nodes of the database. The times of their reports are of the clock of the database, so that nodes with different
//! clocks agree which of them are alive.

use lyceum_core::time::Timestamp;
use lyceum_core::{Result, phrase};
use lyceum_store::{SqlDialect, Tx, columns, dialect, named_column};
use schemars::JsonSchema;
use serde::Serialize;

use super::ms;
use crate::limits;

named_column!(NodeState, NodeState::named);

/// The report of a node about itself.
#[derive(Clone, Debug)]
pub struct NodeReport {
    /// The release of its program.
    pub version: &'static str,
    /// The newest migration that its program knows.
    pub schema_version: i32,
    /// The public address that its settings name.
    pub public_url: Option<String>,
    /// Its state.
    pub state: NodeState,
    /// The fingerprint of the master key under which it encrypts.
    pub master_key: String,
}

/// A node as it last reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeStatus {
    /// Its id, a UUID.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The address that leads to this node alone.
    pub address: String,
    /// The release of its program.
    pub version: String,
    /// The public address that its settings name; empty if they name none.
    pub public_url: String,
    /// Its state.
    pub state: NodeState,
    /// When it was started, by the clock of the database.
    pub started: Timestamp,
    /// When it last reported, by the clock of the database.
    pub seen: Timestamp,
    /// The number of projects whose files it has.
    pub projects: i64,
    /// The fingerprint of the master key under which it encrypts.
    #[serde(skip)]
    #[schemars(skip)]
    pub master_key: String,
}

/// The state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NodeState {
    /// It answers requests.
    Serving,
    /// It finishes the requests that it accepted.
    Stopping,
    /// It was stopped.
    Stopped,
    /// It did not stop, but does not report: it crashed, or it does not reach the database.
    Silent,
}

impl NodeState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Serving, Self::Stopping, Self::Stopped, Self::Silent];

    /// Its name in the store and in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Serving => phrase!("serving"),
            Self::Stopping => phrase!("stopping"),
            Self::Stopped => phrase!("stopped"),
            Self::Silent => phrase!("silent"),
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether the node runs.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Serving | Self::Stopping)
    }
}

/// A node of the database, as people see it.
#[derive(Clone, Debug)]
pub struct KnownNode {
    /// A UUID.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The address at which people reach it.
    pub address: String,
    /// The number of times that a server was started on its data folder.
    pub generation: i64,
}

/// Records the generation if it is later than the stored one; returns whether it was. The last report of the former
/// generation, perhaps by another clock, does not keep out those of this one.
pub(crate) fn enter(tx: &mut Tx<'_>, node: &KnownNode) -> Result<bool> {
    let KnownNode { id, name, address, generation } = node;
    let now = dialect::now_ms(tx.dialect());
    let sql = format!(
        "INSERT INTO nodes (id, name, address, generation, started_ms) VALUES ($1, $2, $3, $4, {now}) \
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, address = excluded.address, \
         generation = excluded.generation, started_ms = excluded.started_ms, seen_ms = 0 \
         WHERE nodes.generation < excluded.generation"
    );
    let values = [id.into(), name.into(), address.into(), (*generation).into()];
    Ok(tx.execute(&sql, &values)? == 1)
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

/// Stores a report that was sent some milliseconds ago. One that was sent before the node stopped, but arrives after that,
/// changes nothing.
pub(crate) fn report(tx: &mut Tx<'_>, age_ms: i64, id: &str, report: &NodeReport) -> Result<()> {
    let NodeReport { version, schema_version, public_url, state, master_key } = report;
    let sent = format!("{} - CAST($1 AS BIGINT)", dialect::now_ms(tx.dialect()));
    let sql = format!(
        "UPDATE nodes SET seen_ms = {sent}, version = $2, public_url = $3, state = $4, schema_version = $5, \
         master_key = $6 WHERE id = $7 AND NOT (state = 'stopped' AND seen_ms > {sent})"
    );
    tx.send(
        &sql,
        &[
            age_ms.into(),
            (*version).into(),
            public_url.as_deref().unwrap_or_default().into(),
            state.name().into(),
            i64::from(*schema_version).into(),
            master_key.into(),
            id.into(),
        ],
    )
}

/// Whether a node was alive a moment ago, by the clock of the database: it reported within the lease, or holds a lease of
/// projects. A report of the future, from before the clock was set back, does not count.
fn is_present(dialect: SqlDialect) -> String {
    let (now, lease_ms) = (dialect::now_ms(dialect), limits::NODE_LEASE_S * 1000);
    let has_reported = format!("seen_ms >= {now} - {lease_ms} AND seen_ms <= {now} + {lease_ms}");
    match dialect {
        SqlDialect::Sqlite => format!("({has_reported})"),
        SqlDialect::Postgres => format!("({has_reported} OR lease_until_ms > {now})"),
    }
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

/// The nodes that reported in the last seconds, so many, and those that hold projects, by name; with whether each is
/// present.
pub(crate) fn list(tx: &mut Tx<'_>, seconds: i64) -> Result<Vec<(NodeStatus, bool)>> {
    let sql = format!(
        "SELECT {}, CASE WHEN {} THEN 1 ELSE 0 END FROM nodes \
         WHERE seen_ms >= {} - $1 OR id IN (SELECT node FROM project_homes) ORDER BY name, id",
        NodeStatus::COLUMNS,
        is_present(tx.dialect()),
        dialect::now_ms(tx.dialect()),
    );
    tx.rows(&sql, &[(seconds * 1000).into()])
}

/// Deletes nodes that hold no project and did not report for so many seconds, such as containers that get a new data
/// folder at each start.
pub(crate) fn forget(tx: &mut Tx<'_>, seconds: i64) -> Result<()> {
    let before = format!("{} - $1", dialect::now_ms(tx.dialect()));
    let sql = format!(
        "DELETE FROM nodes WHERE started_ms < {before} AND seen_ms < {before} \
         AND id NOT IN (SELECT node FROM project_homes)"
    );
    tx.send(&sql, &[(seconds * 1000).into()])
}
