//! The reports of nodes about themselves: that they live, their release and their public address.
//!
//! A live node without a report for 60 s is silent. That is computed when it is read, so no server has to watch the
//! others. With different public addresses, one server refuses the tokens of another.

use std::collections::BTreeSet;
use std::time::Instant;

use lyceum_core::{Problem, Result};
use lyceum_store::Tx;

use super::Node;
use crate::limits;
use crate::repository::nodes as repository;

pub use crate::repository::nodes::{NodeReport, NodeState, NodeStatus};

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

/// The difference between the public addresses of the live nodes, if several live. Links and tokens contain the public
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
