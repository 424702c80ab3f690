//! Renews in time the lease by which this node holds its projects, and replicates their files. The rules are in
//! `lyceum_hosting::leases`.

use std::sync::Arc;
use std::time::Duration;

use lyceum_core::{Problem, Result};
use lyceum_hosting::leases::{self, HeldProject};
use lyceum_hosting::replicas::Replicas;
use lyceum_hosting::takeover::{self, HeldFiles};
use lyceum_store::{Tx, run_blocking};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::{Cluster, limits};

/// Renews the lease until the server ends.
pub async fn renew_periodically(cluster: Arc<Cluster>) {
    if !cluster.lease.is_needed() {
        return;
    }
    loop {
        sleep(Duration::from_millis(limits::HOME_LEASE_RENEW_MS)).await;
        match renew_apart(&cluster).await {
            // Ending backends may take longer than the lease.
            Ok(_settling) => {}
            Err(problem) => {
                tracing::warn!(%problem, "the lease of this server's projects was not renewed; trying again");
            }
        }
    }
}

/// Looks at the leases of the other nodes until the server ends.
pub async fn watch_others(cluster: Arc<Cluster>) {
    if !cluster.lease.is_needed() {
        return;
    }
    loop {
        let node = Arc::clone(&cluster.node);
        match cluster.db.read(move |tx| leases::of_others(tx, &node)).await {
            Ok(found) => cluster.lease.record_others(found),
            Err(problem) => tracing::debug!(%problem, "the leases of other servers were not read"),
        }
        sleep(Duration::from_millis(limits::HOME_LEASE_WATCH_MS)).await;
    }
}

/// Takes the lease when the server starts, and moves the folders of projects aside that other nodes have taken meanwhile.
pub async fn acquire(cluster: &Arc<Cluster>) -> Result<()> {
    if !cluster.lease.is_needed() {
        return Ok(());
    }
    renew(cluster).await?;
    let node = Arc::clone(&cluster.node);
    for slug in run_blocking(move || takeover::folders(&node)).await? {
        set_aside(cluster, &slug).await?;
    }
    Ok(())
}

/// Renews the lease, and stops serving the projects that other nodes have taken.
pub async fn renew(cluster: &Arc<Cluster>) -> Result<()> {
    if !cluster.lease.is_needed() {
        return Ok(());
    }
    renew_apart(cluster).await?.await.map_err(Problem::internal)
}

/// Renews the lease, and does not wait until the projects that other nodes have taken are moved aside. The returned task
/// does that, also if its caller gives up: no other renewal names them again.
pub async fn renew_apart(cluster: &Arc<Cluster>) -> Result<JoinHandle<()>> {
    let renewed = renew_in_turn(cluster).await?;
    let cluster = Arc::clone(cluster);
    Ok(tokio::spawn(async move { settle(&cluster, renewed).await }))
}

/// Stops serving the projects that were lost, and replicates the files of those that came.
async fn settle(cluster: &Arc<Cluster>, (lost, has_moves): (Vec<String>, bool)) {
    for slug in lost {
        if let Err(problem) = lose(cluster, &slug).await {
            tracing::error!(slug, %problem, "a project that another server has taken was not moved aside");
        }
    }
    if has_moves {
        follow(cluster, cluster.lease.slugs()).await;
    }
}

/// Renews the lease. Returns the projects that were lost, and whether any project may have moved.
async fn renew_in_turn(cluster: &Arc<Cluster>) -> Result<(Vec<String>, bool)> {
    let _turn = cluster.lease_turn.lock().await;
    let mut known = cluster.lease.known_moves();
    loop {
        let (node, sent) = (Arc::clone(&cluster.node), leases::since_start());
        let renewal = cluster.db.write(move |tx| leases::renew(tx, &node, sent, known)).await?;
        let has_moves = renewal.has_moves();
        match cluster.lease.renewed(renewal) {
            Some(lost) => return Ok((lost, has_moves)),
            None => known = None,
        }
    }
}

/// Ends the backends of a project that another node has taken, and moves its folder aside.
async fn lose(cluster: &Arc<Cluster>, slug: &str) -> Result<()> {
    let _held = cluster.retire(slug).await?;
    set_aside(cluster, slug).await
}

async fn set_aside(cluster: &Arc<Cluster>, slug: &str) -> Result<()> {
    let (node, sought) = (Arc::clone(&cluster.node), slug.to_owned());
    if !cluster.db.read(move |tx| takeover::is_stale(tx, &node, &sought)).await? {
        return Ok(());
    }
    let (node, moved) = (Arc::clone(&cluster.node), slug.to_owned());
    if let Some(folder) = run_blocking(move || takeover::set_aside(&node, &moved)).await? {
        let folder = folder.display();
        tracing::warn!(slug, %folder, "another server has taken the project; its files here were moved aside");
    }
    Ok(())
}

/// Replicates the files of those of the projects that this node holds.
pub async fn follow(cluster: &Arc<Cluster>, slugs: Vec<String>) {
    let Some(replicas) = replicas(cluster) else { return };
    let node = Arc::clone(&cluster.node);
    let held = match held_files(cluster, slugs).await {
        Ok(held) => held,
        Err(problem) => return tracing::error!(%problem, "files of projects are not replicated"),
    };
    let followed = run_blocking(move || {
        held.iter().try_for_each(|held| takeover::follow(&node, &replicas, held))
    });
    if let Err(problem) = followed.await {
        tracing::error!(%problem, "files of projects are not replicated");
    }
}

pub(crate) async fn held_files(
    cluster: &Arc<Cluster>,
    slugs: Vec<String>,
) -> Result<Vec<HeldFiles>> {
    let node = Arc::clone(&cluster.node);
    cluster.db.read(move |tx| takeover::held_files(tx, &node, &slugs)).await
}

/// Records that the replicas have a state of this node, so that it may acknowledge writes to the project.
pub async fn set_replicated(cluster: &Arc<Cluster>, project: HeldProject) -> Result<()> {
    // A renewal that read the projects before must not be taken over after this.
    let _turn = cluster.lease_turn.lock().await;
    let (node, recorded) = (Arc::clone(&cluster.node), project.clone());
    if cluster.db.write(move |tx| leases::set_replicated(tx, &node, &recorded)).await? {
        cluster.lease.end_wait(&project);
    }
    Ok(())
}

/// The replicas of projects; `None` if other nodes cannot get the files of this one.
pub fn replicas(cluster: &Arc<Cluster>) -> Option<Arc<Replicas>> {
    let replication = cluster.replication.as_ref().filter(|_| cluster.lease.is_needed())?;
    Some(Arc::clone(&replication.projects))
}

/// Ends the lease when the server has stopped, so that other nodes take its projects at once. If its files are not
/// replicated, they wait until the lease ends by itself.
pub async fn release(cluster: &Arc<Cluster>, is_replicated: bool) {
    if !cluster.lease.is_needed() {
        return;
    }
    cluster.lease.expire();
    if !is_replicated {
        return;
    }
    let node = Arc::clone(&cluster.node);
    if let Err(problem) = cluster.db.write(move |tx: &mut Tx<'_>| leases::release(tx, &node)).await
    {
        tracing::warn!(%problem, "the projects of this server were not handed over; others take them when its lease ends");
    }
}
