//! Reports that this server lives, and watches the other servers that share its database.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use lyceum_hosting::nodes::report::{self, NodeReport, NodeState, NodeStatus};
use lyceum_store::Tx;
use tokio::time::sleep;

use crate::{Cluster, limits};

/// Reports until the server ends. Logs a conflict of public addresses when it begins or changes.
pub async fn report_periodically(cluster: Arc<Cluster>) {
    let mut conflict = None;
    loop {
        let is_stopping = cluster.draining.load(Relaxed);
        let state = if is_stopping { NodeState::Stopping } else { NodeState::Serving };
        report_state(&cluster, state).await;
        if let Ok(nodes) = cluster.db.read(report::list).await {
            cluster.live_servers.store(count_live(&nodes), Relaxed);
            let found = report::address_conflict(&nodes);
            if found != conflict
                && let Some(found) = &found
            {
                tracing::error!("{found}; set it to the same address on all of them");
            }
            conflict = found;
        }
        sleep(Duration::from_secs(limits::NODE_REPORT_EVERY_S)).await;
    }
}

/// The number of servers that answer requests, including this one.
fn count_live(nodes: &[NodeStatus]) -> u32 {
    let live = nodes.iter().filter(|node| node.state == NodeState::Serving).count();
    u32::try_from(live).unwrap_or(u32::MAX).max(1)
}

/// Reports the state of this server.
pub async fn report_state(cluster: &Arc<Cluster>, state: NodeState) {
    let (sent, node) = (Instant::now(), cluster.node.clone());
    let report = NodeReport {
        version: env!("CARGO_PKG_VERSION"),
        schema_version: cluster.schema_version,
        public_url: cluster.config.server.public_url.clone(),
        state,
        master_key: cluster.master_key.clone(),
    };
    let write = move |tx: &mut Tx<'_>| report::report(tx, sent, &node, &report);
    if let Err(problem) = cluster.db.write(write).await {
        tracing::warn!(%problem, "the server could not report its state");
    }
}
