//! Deletes projects with their files.

use std::sync::Arc;

use lyceum_core::config::S3Settings;
use lyceum_core::{Problem, Result};
use lyceum_hosting::nodes::Node;
use lyceum_hosting::{deletion, projects};
use lyceum_store::{Db, Tx, run_blocking};

use super::backend::{engine, folder};
use crate::App;

/// Deletes the project, or changes nothing. It completes even if its caller disconnects. `delete` deletes the rows.
pub async fn delete<T: Send + 'static>(
    app: &App,
    slug: String,
    delete: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let app = App::clone(app);
    let deleted = tokio::spawn(async move {
        let _held = engine(&app)?.retire(&slug, &folder(&app, &slug)).await?;
        let (node, own_slug) = (Arc::clone(&app.cluster.node), slug.clone());
        let aside = run_blocking(move || deletion::move_aside(&node, &own_slug)).await?;
        match app.db.write(delete).await {
            Ok(done) => {
                let s3 = app.config.s3.clone();
                // If the folder cannot be deleted now, the next start deletes it, or a later sweep.
                if let Err(problem) = run_blocking(move || aside.discard(&s3)).await {
                    tracing::warn!(slug, "cannot delete the files of a deleted project: {problem}");
                }
                Ok(done)
            }
            Err(problem) => {
                run_blocking(move || aside.put_back()).await?;
                Err(problem)
            }
        }
    });
    deleted.await.map_err(Problem::internal)?
}

/// Finishes the deletions that a crash interrupted.
pub(super) async fn recover(db: &Db, node: &Arc<Node>, s3: &S3Settings) -> Result<()> {
    let home_node = Arc::clone(node);
    let left = move || {
        deletion::remove_empty(&home_node)?;
        deletion::left_aside(&home_node)
    };
    for folder in run_blocking(left).await? {
        let slug = folder.slug().to_owned();
        let exists = db.read(move |tx| projects::exists(tx, &slug)).await?;
        let s3 = s3.clone();
        run_blocking(move || folder.recover(exists, &s3)).await?;
    }
    Ok(())
}

/// Finishes the deletions that waited until objects in S3 may be deleted.
pub(super) async fn resume(app: &App) -> Result<()> {
    let node = Arc::clone(&app.cluster.node);
    for folder in run_blocking(move || deletion::left_aside(&node)).await? {
        let slug = folder.slug().to_owned();
        let exists = app.db.read(move |tx| projects::exists(tx, &slug)).await?;
        let (now, s3, bucket) = (app.clock.now(), app.config.s3.clone(), app.bucket.clone());
        run_blocking(move || folder.resume(now, exists, &s3, &bucket)).await?;
    }
    Ok(())
}
