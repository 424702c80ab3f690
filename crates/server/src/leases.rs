//! Renews the lease by which this node holds its projects, replicates their files, and takes projects of nodes whose lease
//! has ended.

use std::sync::Arc;
use std::time::Duration;

use lyceum_core::{Problem, Result};
use lyceum_hosting::leases;
use lyceum_hosting::nodes::KnownNode;
use lyceum_hosting::replicas::Replicas;
use lyceum_hosting::takeover::{self, HeldFiles};
use lyceum_store::Tx;
use tokio::time::sleep;

use crate::apart::apart;
use crate::state::App;
use crate::{hosted, limits};

/// Renews the lease until the server ends.
pub(crate) async fn renew_periodically(app: App) {
    if !app.lease.is_needed() {
        return;
    }
    loop {
        sleep(Duration::from_millis(limits::HOME_LEASE_RENEW_MS)).await;
        match renew_in_turn(&app).await {
            // Ending backends may take longer than the lease.
            Ok(renewed) => {
                let app = App::clone(&app);
                tokio::spawn(async move { settle(&app, renewed).await });
            }
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
            Ok(found) => app.lease.see(found),
            Err(problem) => tracing::debug!(%problem, "the leases of other servers were not read"),
        }
        sleep(Duration::from_millis(limits::HOME_LEASE_WATCH_MS)).await;
    }
}

/// Takes the lease when the server starts, and moves the folders of projects aside that other nodes have taken meanwhile.
pub(crate) async fn begin(app: &App) -> Result<()> {
    if !app.lease.is_needed() {
        return Ok(());
    }
    renew(app).await?;
    let node = Arc::clone(&app.node);
    for slug in apart(move || takeover::folders(&node)).await? {
        set_aside(app, &slug).await?;
    }
    Ok(())
}

/// Renews the lease, and stops serving the projects that other nodes have taken.
pub(crate) async fn renew(app: &App) -> Result<()> {
    if !app.lease.is_needed() {
        return Ok(());
    }
    let renewed = renew_in_turn(app).await?;
    settle(app, renewed).await;
    Ok(())
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
    if let Some(folder) = apart(move || takeover::set_aside(&node, &moved)).await? {
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
    let followed =
        apart(move || held.iter().try_for_each(|held| takeover::follow(&node, &replicas, held)));
    if let Err(problem) = followed.await {
        tracing::error!(%problem, "files of projects are not replicated");
    }
}

async fn held_files(app: &App, slugs: Vec<String>) -> Result<Vec<HeldFiles>> {
    let node = Arc::clone(&app.node);
    app.db.read(move |tx| takeover::held_files(tx, &node, &slugs)).await
}

/// The replicas of projects; `None` if other nodes cannot get the files of this one.
fn replicas(app: &App) -> Option<Arc<Replicas>> {
    let replication = app.replication.as_ref().filter(|_| app.lease.is_needed())?;
    Some(Arc::clone(&replication.projects))
}

/// Takes a project whose node's lease has ended, and restores its files. It completes even if its caller disconnects.
///
/// Errors: `Unavailable` without replicas, or if the files cannot be restored.
pub(crate) async fn take(app: &App, slug: &str, holder: &KnownNode) -> Result<()> {
    let Some(replicas) = replicas(app) else { return Err(leases::unreachable(slug, holder)) };
    let (app, slug, holder) = (App::clone(app), slug.to_owned(), holder.clone());
    let taken = tokio::spawn(async move {
        // What this node has lost before must be gone first.
        renew(&app).await?;
        // Another request may have taken the project, and its backend runs here now.
        if left_project(&app, &slug).await?.is_none() {
            return Ok(());
        }
        // Other requests for the project wait here.
        let _held = hosted::retire(&app, &slug).await?;
        let Some(left) = left_project(&app, &slug).await? else { return Ok(()) };
        take_files(&app, &replicas, left).await.map_err(|problem| {
            tracing::error!(slug, %problem, "the files of a project could not be taken");
            leases::unreachable(&slug, &holder).because(problem)
        })
    });
    taken.await.map_err(Problem::internal)?
}

async fn left_project(app: &App, slug: &str) -> Result<Option<HeldFiles>> {
    let (node, lease, slug) = (Arc::clone(&app.node), Arc::clone(&app.lease), slug.to_owned());
    app.db.read(move |tx| takeover::left_project(tx, &node, &lease, &slug)).await
}

async fn take_files(app: &App, replicas: &Arc<Replicas>, left: HeldFiles) -> Result<()> {
    let slug = left.slug().to_owned();
    let (node, from) = (Arc::clone(&app.node), Arc::clone(replicas));
    let restored = apart(move || takeover::restore(&node, &from, &left)).await?;
    let (node, lease, to_take) = (Arc::clone(&app.node), Arc::clone(&app.lease), restored.clone());
    if !app.db.write(move |tx| takeover::take(tx, &node, &lease, &to_take)).await? {
        let node = Arc::clone(&app.node);
        return apart(move || restored.discard(&node)).await;
    }
    tracing::warn!(
        slug,
        "this server has taken a project, because the lease of its server had ended"
    );
    renew(app).await?;
    follow(app, vec![slug.clone()]).await;
    // No write is acknowledged before the replica has a state of this node, because from then on the replica ignores what
    // the former holder adds.
    let held = held_files(app, vec![slug]).await?;
    let (node, to) = (Arc::clone(&app.node), Arc::clone(replicas));
    apart(move || held.iter().try_for_each(|held| takeover::flush(&node, &to, held))).await
}

/// Ends the lease when the server has stopped, so that other nodes take its projects at once. If its files are not
/// replicated, they wait until the lease ends by itself.
pub(crate) async fn release(app: &App, is_replicated: bool) {
    if !app.lease.is_needed() {
        return;
    }
    app.lease.end();
    if !is_replicated {
        return;
    }
    let node = Arc::clone(&app.node);
    if let Err(problem) = app.db.write(move |tx: &mut Tx<'_>| leases::release(tx, &node)).await {
        tracing::warn!(%problem, "the projects of this server were not handed over; others take them when its lease ends");
    }
}
