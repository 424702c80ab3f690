//! Replicates the SQLite files of this server while it runs: its own database, and the files of its projects.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lyceum_blob::DeletionRight;
use lyceum_core::config::Config;
use lyceum_core::time::Clock;
use lyceum_core::{Problem, Result};
use lyceum_hosting::installations::{self, FormerInstallation, MarkComparison};
use lyceum_hosting::leases::NodeLease;
use lyceum_hosting::nodes::Node;
use lyceum_hosting::owners;
use lyceum_hosting::replicas::{self, InstallationStores, Replicas};
use lyceum_replica::{ReplicaStore, ReplicationStatus, Replicator};
use lyceum_store::{Db, SqlDialect, Tx, run_blocking};
use tokio::time::sleep;

use crate::owner_watch::OwnerWatch;
use crate::{Cluster, limits};

/// The replication of a server whose settings name a place for replicas.
pub struct Replication {
    replicator: Arc<Replicator>,
    /// The files of projects.
    pub projects: Arc<Replicas>,
    /// The server's own database, if it is an SQLite file.
    database: Option<PathBuf>,
    /// The store of all installations.
    store: ReplicaStore,
    /// Into whose store the files are replicated; `None` until the store answers.
    installation: Mutex<Option<KnownInstallation>>,
    /// Whether this installation owns the S3 bucket, if there is one.
    owner: Option<OwnerWatch>,
    /// Whether files that changed before the start are replicated.
    has_followed: AtomicBool,
}

/// Checks the installation until the server ends.
pub async fn check_periodically(cluster: Arc<Cluster>) {
    if let Some(replication) = &cluster.replication {
        replication.check_periodically(&cluster.db, &*cluster.clock, &cluster.node).await;
    }
}

/// The present installation of the database, and the former ones.
#[derive(Clone, PartialEq, Eq)]
struct KnownInstallation {
    id: String,
    former: Vec<FormerInstallation>,
}

impl Replication {
    /// Starts to replicate, with at most `open_max` open files; `None` if the settings name no place for replicas.
    pub async fn start(
        db: &Db,
        config: &Config,
        clock: &Arc<dyn Clock>,
        (node, lease, right): (&Arc<Node>, &Arc<NodeLease>, &DeletionRight),
        open_max: usize,
    ) -> Result<Option<Self>> {
        let Some(store) = replicas::store(config)? else { return Ok(None) };
        let replicator = Replicator::start(Arc::clone(clock), config.replica.keep_days, open_max)?;
        let replicator = Arc::new(replicator);
        let lease = Arc::clone(lease);
        let epoch_of = move |slug: &str| lease.epoch(slug);
        let projects = Arc::new(Replicas::new(Arc::clone(&replicator), node, epoch_of));
        let is_file = db.dialect() == SqlDialect::Sqlite;
        let database = is_file.then(|| config.store.data.join(replicas::SERVER_DATABASE));
        if let Some(file) = &database {
            replicator.add(file, replicas::SERVER_DATABASE, None);
        }
        let (installation, has_followed) = Default::default();
        let owner = owners::store(config)?.map(|store| OwnerWatch::new(store, right.clone()));
        let replication =
            Self { replicator, projects, database, store, installation, owner, has_followed };
        match replication.check_installation(db, &**clock, true).await {
            // Without an answer, the server does not wait for further ones.
            Ok(()) => replication.check_owner(db, &**clock).await,
            Err(problem) => {
                tracing::warn!(%problem, "files are replicated once the store of replicas answers");
            }
        }
        Ok(Some(replication))
    }

    /// Replaces the mark of the installation in the store until the server ends, and notices if another database uses it.
    async fn check_periodically(&self, db: &Db, clock: &dyn Clock, node: &Arc<Node>) {
        loop {
            let is_start = self.installation().is_none();
            if let Err(problem) = self.check_installation(db, clock, is_start).await {
                tracing::warn!(%problem, "the mark in the store of replicas was not compared; trying again");
            }
            if let Err(problem) = self.follow_changed(db, node).await {
                tracing::warn!(%problem, "files of projects are replicated once they are used");
            }
            self.check_owner(db, clock).await;
            sleep(Duration::from_secs(limits::INSTALLATION_CHECK_EVERY_S)).await;
        }
    }

    /// Whether an operator must say which installation owns the S3 bucket.
    pub fn lacks_bucket(&self) -> bool {
        self.owner.as_ref().is_some_and(OwnerWatch::lacks_bucket)
    }

    /// Checks whether this installation owns the S3 bucket.
    pub async fn check_owner(&self, db: &Db, clock: &dyn Clock) {
        if let Some(owner) = &self.owner {
            owner.check(db, clock.now(), Instant::now).await;
        }
    }

    /// Compares the mark of the installation in the database with the one in the store. Begins a new installation if
    /// another database uses this one, and replicates into the store of the present one.
    async fn check_installation(&self, db: &Db, clock: &dyn Clock, is_start: bool) -> Result<()> {
        for _ in 0..limits::INSTALLATION_CHECK_MAX_COUNT {
            let now = clock.now();
            let present = db.write(move |tx| installations::present(tx, now)).await?;
            let store = self.store.below(&present.id);
            let reading = store.clone();
            let stored = run_blocking(move || reading.mark()).await?;
            let again = db.write(move |tx| installations::present(tx, now)).await?;
            if again != present {
                // Another server of the database replaces the mark at this moment.
                continue;
            }
            match present.compare(stored.as_ref(), now, is_start) {
                MarkComparison::Recent => {}
                MarkComparison::Due => {
                    let mark = installations::new_mark(now);
                    let (id, next, set) = (present.id.clone(), mark.clone(), mark.clone());
                    let claim = move |tx: &mut Tx<'_>| {
                        installations::set_next_mark(tx, now, &present, stored.as_ref(), &next)
                    };
                    if db.write(claim).await? {
                        run_blocking(move || store.set_mark(&mark)).await?;
                        db.write(move |tx| installations::set_mark(tx, &id, &set)).await?;
                    }
                }
                MarkComparison::Foreign => {
                    tracing::warn!(
                        installation = present.id,
                        "another server with a copy of this database replicates into the same place; this server \
                         replicates into a new one from now on"
                    );
                    if let Some(owner) = &self.owner {
                        owner.doubt(&present.id).await?;
                    }
                    db.write(move |tx| installations::replace(tx, now, &present)).await?;
                    continue;
                }
            }
            return self.use_installation(db).await;
        }
        let message =
            "the servers of this database replace the mark in the store of replicas all the time";
        Err(Problem::internal(message))
    }

    /// Replicates into the store of the present installation, if that has changed.
    async fn use_installation(&self, db: &Db) -> Result<()> {
        let known = db.read(|tx| Ok((installations::id(tx)?, installations::former(tx)?))).await?;
        let (Some(id), former) = known else { return Ok(()) };
        let known = KnownInstallation { id, former };
        let before = self.installation();
        if before.as_ref() == Some(&known) {
            return Ok(());
        }
        let stores = InstallationStores::new(&self.store, &known.id, &known.former);
        if before.is_some_and(|before| before.id == known.id) {
            self.projects.restore_from(stores);
        } else {
            let projects = Arc::clone(&self.projects);
            // It may wait for uploads.
            run_blocking(move || {
                projects.replicate_into(stores);
                Ok(())
            })
            .await?;
            self.has_followed.store(false, Relaxed);
        }
        *self.installation.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(())
    }

    fn installation(&self) -> Option<KnownInstallation> {
        self.installation.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replicates the files of projects that changed before the start, or before the store of replicas changed, once.
    async fn follow_changed(&self, db: &Db, node: &Arc<Node>) -> Result<()> {
        if self.installation().is_none() || self.has_followed.swap(true, Relaxed) {
            return Ok(());
        }
        let (own, following) = (Arc::clone(node), Arc::clone(&self.projects));
        let followed = async {
            let files = db.read(move |tx| replicas::held_files(tx, &own)).await?;
            run_blocking(move || following.follow_changed(&files)).await
        };
        let followed = followed.await;
        if followed.is_err() {
            self.has_followed.store(false, Relaxed);
        }
        followed
    }

    /// Deletes what no restore needs from the replicas of this database, and those of replaced installations.
    pub async fn remove_expired(&self, db: &Db, clock: &dyn Clock, keep_days: u32) -> Result<()> {
        if self.installation().is_none() {
            return Ok(());
        }
        // An operator may have replaced one since.
        let (used, former) =
            db.read(|tx| Ok((replicas::used_names(tx)?, installations::former(tx)?))).await?;
        let (projects, store, now) = (Arc::clone(&self.projects), self.store.clone(), clock.now());
        run_blocking(move || {
            projects.remove_expired(now, keep_days, &used)?;
            replicas::remove_replaced_installations(&store, now, keep_days, &former)
        })
        .await
    }

    /// How far the replication is.
    pub fn status(&self) -> ReplicationStatus {
        self.replicator.status()
    }

    /// Runs work that rewrites the server's own database and empties its log.
    pub fn while_released<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.database {
            Some(file) => self.replicator.while_released(file, work),
            None => work(),
        }
    }

    /// Stores everything that was committed, and stops. Returns whether all of it was stored.
    pub async fn stop(&self) -> bool {
        let replicator = Arc::clone(&self.replicator);
        let stopped = run_blocking(move || replicator.stop()).await;
        if let Err(problem) = &stopped {
            tracing::warn!(%problem, "the last changes were not replicated; they are sent after the next start");
        }
        stopped.is_ok()
    }
}
