//! Renews the lease by which this node holds its projects.

use std::sync::Arc;
use std::time::Duration;

use lyceum_core::Result;
use lyceum_hosting::leases;
use lyceum_store::Tx;
use tokio::time::sleep;

use crate::state::App;
use crate::{hosted, limits};

/// Renews the lease until the server ends.
pub(crate) async fn renew_periodically(app: App) {
    if !app.lease.is_needed() {
        return;
    }
    loop {
        sleep(Duration::from_millis(limits::HOME_LEASE_RENEW_MS)).await;
        if let Err(problem) = renew(&app).await {
            tracing::warn!(%problem, "the lease of this server's projects was not renewed; trying again");
        }
    }
}

/// Renews the lease, and stops serving the projects that other nodes have taken.
pub(crate) async fn renew(app: &App) -> Result<()> {
    if !app.lease.is_needed() {
        return Ok(());
    }
    let _turn = app.lease_turn.lock().await;
    let mut known = app.lease.known_moves();
    loop {
        let (node, sent) = (Arc::clone(&app.node), leases::since_start());
        let renewal = app.db.write(move |tx| leases::renew(tx, &node, sent, known)).await?;
        let Some(lost) = app.lease.renewed(renewal) else {
            known = None;
            continue;
        };
        for slug in lost {
            hosted::lose(app, &slug).await;
        }
        return Ok(());
    }
}

/// Ends the lease when the server stops, so that other nodes take its projects at once.
pub(crate) async fn release(app: &App) {
    if !app.lease.is_needed() {
        return;
    }
    app.lease.end();
    let node = Arc::clone(&app.node);
    if let Err(problem) = app.db.write(move |tx: &mut Tx<'_>| leases::release(tx, &node)).await {
        tracing::warn!(%problem, "the lease of this server's projects was not ended");
    }
}
