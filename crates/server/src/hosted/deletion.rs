//! Deletes projects with their files.

use std::sync::Arc;

use lyceum_core::config::S3Settings;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_hosting::deletion;
use lyceum_hosting::nodes::Node;
use lyceum_hosting::projects;
use lyceum_store::{Db, Tx};

use super::backend::{engine, folder};
use crate::apart::apart;
use crate::state::App;

/// Deletes the project, or changes nothing. It completes even if its caller disconnects. `delete` deletes the rows.
pub(crate) async fn delete<T: Send + 'static>(
    app: &App,
    slug: String,
    delete: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let app = App::clone(app);
    let deleted = tokio::spawn(async move {
        let now = app.clock.now();
        let _held = engine(&app)?.retire(&slug, &folder(&app, &slug)).await?;
        let (node, of) = (Arc::clone(&app.node), slug.clone());
        let aside = apart(move || deletion::move_aside(&node, &of)).await?;
        match app.db.write(delete).await {
            Ok(done) => {
                let s3 = app.config.s3.clone();
                // If the folder cannot be deleted now, the next start deletes it.
                if let Err(problem) = apart(move || aside.discard(&s3, now)).await {
                    tracing::warn!(slug, "cannot delete the files of a deleted project: {problem}");
                }
                Ok(done)
            }
            Err(problem) => {
                apart(move || aside.put_back()).await?;
                Err(problem)
            }
        }
    });
    deleted.await.map_err(Problem::internal)?
}

/// Finishes the deletions that a crash interrupted.
pub(super) async fn recover(
    db: &Db,
    node: &Arc<Node>,
    s3: &S3Settings,
    now: Timestamp,
) -> Result<()> {
    let of = Arc::clone(node);
    for folder in apart(move || deletion::left_aside(&of)).await? {
        let slug = folder.slug().to_owned();
        let exists = db.read(move |tx| projects::is_there(tx, &slug)).await?;
        let s3 = s3.clone();
        apart(move || folder.recover(exists, &s3, now)).await?;
    }
    Ok(())
}
