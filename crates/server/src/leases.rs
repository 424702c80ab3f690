//! Renews the lease by which this node holds its projects, and replicates their files.

use std::sync::Arc;
use std::time::Duration;

use lyceum_core::{Problem, Result};
use lyceum_hosting::leases::{self, HeldProject};
use lyceum_hosting::replicas::Replicas;
use lyceum_hosting::takeover::{self, HeldFiles};
use lyceum_store::Tx;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::blocking::run_blocking;
use crate::state::App;
use crate::{hosted, limits};

/// Renews the lease until the server ends.
pub(crate) async fn renew_periodically(app: App) {
    if !app.lease.is_needed() {
        return;
    }
    loop {
        sleep(Duration::from_millis(limits::HOME_LEASE_RENEW_MS)).await;
        match renew_apart(&app).await {
            // Ending backends may take longer than the lease.
            Ok(_settling) => {}
            Err(problem) => {
                tracing::warn!(%problem, "the lease of this server's projects was not renewed; trying again");
            }
        }
    }
}

/// Looks at the leases of the other nodes until the server ends.
pub(crate) async fn watch_others(app: App) {
    if !app.lease.is_needed() {
        return;
    }
    loop {
        let node = Arc::clone(&app.node);
        match app.db.read(move |tx| leases::of_others(tx, &node)).await {
            Ok(found) => app.lease.record_others(found),
            Err(problem) => tracing::debug!(%problem, "the leases of other servers were not read"),
        }
        sleep(Duration::from_millis(limits::HOME_LEASE_WATCH_MS)).await;
    }
}

/// Takes the lease when the server starts, and moves the folders of projects aside that other nodes have taken meanwhile.
pub(crate) async fn acquire(app: &App) -> Result<()> {
    if !app.lease.is_needed() {
        return Ok(());
    }
    renew(app).await?;
    let node = Arc::clone(&app.node);
    for slug in run_blocking(move || takeover::folders(&node)).await? {
        set_aside(app, &slug).await?;
    }
    Ok(())
}

/// Renews the lease, and stops serving the projects that other nodes have taken.
pub(crate) async fn renew(app: &App) -> Result<()> {
    if !app.lease.is_needed() {
        return Ok(());
    }
    renew_apart(app).await?.await.map_err(Problem::internal)
}

/// Renews the lease, and does not wait until the projects that other nodes have taken are moved aside. The returned task
/// does that, also if its caller gives up: no other renewal names them again.
pub(crate) async fn renew_apart(app: &App) -> Result<JoinHandle<()>> {
    let renewed = renew_in_turn(app).await?;
    let app = App::clone(app);
    Ok(tokio::spawn(async move { settle(&app, renewed).await }))
}

/// Stops serving the projects that were lost, and replicates the files of those that came.
async fn settle(app: &App, (lost, has_moves): (Vec<String>, bool)) {
    for slug in lost {
        if let Err(problem) = lose(app, &slug).await {
            tracing::error!(slug, %problem, "a project that another server has taken was not moved aside");
        }
    }
    if has_moves {
        follow(app, app.lease.slugs()).await;
    }
}

/// Renews the lease. Returns the projects that were lost, and whether any project may have moved.
async fn renew_in_turn(app: &App) -> Result<(Vec<String>, bool)> {
    let _turn = app.lease_turn.lock().await;
    let mut known = app.lease.known_moves();
    loop {
        let (node, sent) = (Arc::clone(&app.node), leases::since_start());
        let renewal = app.db.write(move |tx| leases::renew(tx, &node, sent, known)).await?;
        let has_moves = renewal.has_moves();
        match app.lease.renewed(renewal) {
            Some(lost) => return Ok((lost, has_moves)),
            None => known = None,
        }
    }
}

/// Ends the backends of a project that another node has taken, and moves its folder aside.
async fn lose(app: &App, slug: &str) -> Result<()> {
    let _held = hosted::retire(app, slug).await?;
    set_aside(app, slug).await
}

async fn set_aside(app: &App, slug: &str) -> Result<()> {
    let (node, sought) = (Arc::clone(&app.node), slug.to_owned());
    if !app.db.read(move |tx| takeover::is_stale(tx, &node, &sought)).await? {
        return Ok(());
    }
    let (node, moved) = (Arc::clone(&app.node), slug.to_owned());
    if let Some(folder) = run_blocking(move || takeover::set_aside(&node, &moved)).await? {
        let folder = folder.display();
        tracing::warn!(slug, %folder, "another server has taken the project; its files here were moved aside");
    }
    Ok(())
}

/// Replicates the files of those of the projects that this node holds.
pub(crate) async fn follow(app: &App, slugs: Vec<String>) {
    let Some(replicas) = replicas(app) else { return };
    let node = Arc::clone(&app.node);
    let held = match held_files(app, slugs).await {
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

pub(crate) async fn held_files(app: &App, slugs: Vec<String>) -> Result<Vec<HeldFiles>> {
    let node = Arc::clone(&app.node);
    app.db.read(move |tx| takeover::held_files(tx, &node, &slugs)).await
}

/// Records that the replicas have a state of this node, so that it may acknowledge writes to the project.
pub(crate) async fn set_replicated(app: &App, project: HeldProject) -> Result<()> {
    // A renewal that read the projects before must not be taken over after this.
    let _turn = app.lease_turn.lock().await;
    let (node, recorded) = (Arc::clone(&app.node), project.clone());
    if app.db.write(move |tx| leases::set_replicated(tx, &node, &recorded)).await? {
        app.lease.end_wait(&project);
    }
    Ok(())
}

/// The replicas of projects; `None` if other nodes cannot get the files of this one.
pub(crate) fn replicas(app: &App) -> Option<Arc<Replicas>> {
    let replication = app.replication.as_ref().filter(|_| app.lease.is_needed())?;
    Some(Arc::clone(&replication.projects))
}

/// Ends the lease when the server has stopped, so that other nodes take its projects at once. If its files are not
/// replicated, they wait until the lease ends by itself.
pub(crate) async fn release(app: &App, is_replicated: bool) {
    if !app.lease.is_needed() {
        return;
    }
    app.lease.expire();
    if !is_replicated {
        return;
    }
    let node = Arc::clone(&app.node);
    if let Err(problem) = app.db.write(move |tx: &mut Tx<'_>| leases::release(tx, &node)).await {
        tracing::warn!(%problem, "the projects of this server were not handed over; others take them when its lease ends");
    }
}
