//! Replicates the SQLite files of this server while it runs: its own database, and the files of its projects.

use std::path::PathBuf;
use std::sync::Arc;

use lyceum_core::Result;
use lyceum_core::config::Config;
use lyceum_core::time::Clock;
use lyceum_hosting::leases::NodeLease;
use lyceum_hosting::nodes::Node;
use lyceum_hosting::replicas::{self, Replicas};
use lyceum_replica::{ReplicationStatus, Replicator};
use lyceum_store::{Db, SqlDialect};

use crate::apart::apart;

/// The replication of a server whose settings name a place for replicas.
pub struct Replication {
    replicator: Arc<Replicator>,
    /// The files of projects.
    pub(crate) projects: Arc<Replicas>,
    /// The server's own database, if it is an SQLite file.
    database: Option<PathBuf>,
}

impl Replication {
    /// Starts to replicate; `None` if the settings name no place for replicas.
    pub(crate) async fn start(
        db: &Db,
        config: &Config,
        clock: &Arc<dyn Clock>,
        (node, lease): (&Arc<Node>, &Arc<NodeLease>),
    ) -> Result<Option<Self>> {
        let Some(store) = replicas::store(config)? else { return Ok(None) };
        let keep_days = config.replica.keep_days;
        let replicator = Replicator::start(store.clone(), Arc::clone(clock), keep_days)?;
        let replicator = Arc::new(replicator);
        // A server that starts later counts more than one before it.
        let epoch = u64::try_from(clock.now().milliseconds()).unwrap_or_default();
        let lease = Arc::clone(lease);
        let epoch_of = move |slug: &str| lease.epoch(slug).unwrap_or(epoch);
        let projects = Replicas::new(store, Arc::clone(&replicator), node, epoch_of);
        let projects = Arc::new(projects);
        let is_file = db.dialect() == SqlDialect::Sqlite;
        let database = is_file.then(|| config.store.data.join(replicas::SERVER_DATABASE));
        if let Some(file) = &database {
            replicator.add(file, replicas::SERVER_DATABASE, epoch);
        }
        let own = Arc::clone(node);
        let files = db.read(move |tx| replicas::held_files(tx, &own)).await?;
        let following = Arc::clone(&projects);
        tokio::spawn(async move {
            if let Err(problem) = apart(move || following.follow_changed(&files)).await {
                tracing::warn!(%problem, "files of projects are replicated once they are used");
            }
        });
        Ok(Some(Self { replicator, projects, database }))
    }

    pub(crate) fn status(&self) -> ReplicationStatus {
        self.replicator.status()
    }

    /// Runs work that rewrites the server's own database and empties its log.
    pub(crate) fn while_released<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.database {
            Some(file) => self.replicator.while_released(file, work),
            None => work(),
        }
    }

    /// Stores everything that was committed, and stops. Returns whether all of it was stored.
    pub(crate) async fn stop(&self) -> bool {
        let replicator = Arc::clone(&self.replicator);
        let stopped = apart(move || replicator.stop()).await;
        if let Err(problem) = &stopped {
            tracing::warn!(%problem, "the last changes were not replicated; they are sent after the next start");
        }
        stopped.is_ok()
    }
}
