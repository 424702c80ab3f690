//! Reports that this server lives, and watches the other servers that share its database.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use lyceum_hosting::nodes::report::{self, NodeReport, NodeState, NodeStatus};
use lyceum_store::Tx;
use tokio::time::sleep;

use crate::limits;
use crate::state::App;

/// Reports until the server ends. Logs a conflict of public addresses when it begins or changes.
pub(crate) async fn report_periodically(app: App) {
    let mut conflict = None;
    loop {
        let is_stopping = app.draining.load(Relaxed);
        let state = if is_stopping { NodeState::Stopping } else { NodeState::Serving };
        report_state(app.clone(), state).await;
        if let Ok(nodes) = app.db.read(report::list).await {
            app.live_servers.store(count_live(&nodes), Relaxed);
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

fn newest_migration() -> i32 {
    crate::migrations().iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// Reports the state of this server.
pub(crate) async fn report_state(app: App, state: NodeState) {
    let (sent, node) = (Instant::now(), app.node.clone());
    let report = NodeReport {
        version: env!("CARGO_PKG_VERSION"),
        schema_version: newest_migration(),
        public_url: app.config.server.public_url.clone(),
        state,
        master_key: app.master_key.clone(),
    };
    let write = move |tx: &mut Tx<'_>| report::report(tx, sent, &node, &report);
    if let Err(problem) = app.db.write(write).await {
        tracing::warn!(%problem, "the server could not report its state");
    }
}
