//! What nodes report about themselves: that they live, their release and their public address.

use std::collections::BTreeSet;
use std::time::Instant;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result, phrase};
use lyceum_store::{Tx, named_column};
use schemars::JsonSchema;
use serde::Serialize;

use super::Node;
use crate::limits;
use crate::repository::nodes as repository;

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

named_column!(NodeState, NodeState::named);

/// What a node reports about itself.
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

/// Stores what a node reported at an instant of this process.
pub fn report(tx: &mut Tx<'_>, sent: Instant, node: &Node, report: &NodeReport) -> Result<()> {
    let age_ms = i64::try_from(sent.elapsed().as_millis()).map_err(Problem::internal)?;
    repository::report(tx, age_ms, node.id(), report)
}

/// The nodes that reported in the last hour, and those that hold projects. A live node without a report for
/// [`limits::NODE_LEASE_S`] is silent. The clock of the database decides, not the one of this machine.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<NodeStatus>> {
    let nodes = repository::list(tx, limits::NODE_LISTED_S)?;
    let checked = nodes.into_iter().map(|(mut node, is_present)| {
        if node.state.is_live() && !is_present {
            node.state = NodeState::Silent;
        }
        node
    });
    Ok(checked.collect())
}

/// The first live node that may encrypt under another master key than the one with this fingerprint.
pub fn with_other_key<'a>(nodes: &'a [NodeStatus], fingerprint: &str) -> Option<&'a NodeStatus> {
    nodes.iter().find(|node| node.state.is_live() && node.master_key != fingerprint)
}

/// What is wrong with the public addresses of the live nodes, if several live. Links and tokens contain the public
/// address, so all nodes need the same one.
pub fn address_conflict(nodes: &[NodeStatus]) -> Option<String> {
    let is_live = |node: &&NodeStatus| node.state.is_live();
    // A server that was killed and started again is a new node of the same name. The former one counts as live for a
    // while, but reports no more.
    let was_restarted = |node: &NodeStatus| {
        nodes
            .iter()
            .filter(is_live)
            .any(|other| other.name == node.name && other.started > node.seen)
    };
    let live: Vec<&NodeStatus> =
        nodes.iter().filter(is_live).filter(|node| !was_restarted(node)).collect();
    let without: Vec<&str> =
        live.iter().filter(|node| node.public_url.is_empty()).map(|node| &*node.name).collect();
    let addresses: BTreeSet<&str> = live.iter().map(|node| &*node.public_url).collect();
    match live.len() {
        0 | 1 => None,
        count if !without.is_empty() => Some(format!(
            "{count} servers share the database, but 'server.public_url' is not set on {}",
            without.join(", ")
        )),
        count if addresses.len() > 1 => {
            let address_of = |node: &&NodeStatus| format!("{} on {}", node.public_url, node.name);
            let all: Vec<String> = live.iter().map(address_of).collect();
            Some(format!(
                "{count} servers share the database, but 'server.public_url' differs: {}",
                all.join(", ")
            ))
        }
        _ => None,
    }
}
