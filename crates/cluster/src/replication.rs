//! Replicates the SQLite files of this server while it runs: its own database, and the files of its projects.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lyceum_blob::BucketInstallations;
use lyceum_core::config::Config;
use lyceum_core::time::Clock;
use lyceum_core::{Problem, Result};
use lyceum_hosting::installations::{self, FormerInstallation, MarkComparison, StoredMarks};
use lyceum_hosting::leases::NodeLease;
use lyceum_hosting::nodes::Node;
use lyceum_hosting::replicas::{self, InstallationStores, Replicas};
use lyceum_replica::{ReplicaStore, ReplicationStatus, Replicator};
use lyceum_store::{Db, SqlDialect, Tx, run_blocking};
use tokio::time::{sleep, timeout};

use crate::{Cluster, limits};

/// The time that a server that stops waits for its last mark.
const STOP_MARK_MAX: Duration = Duration::from_secs(10);

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
    /// The stores with the marks of installations.
    mark_stores: Vec<ReplicaStore>,
    /// The installations whose objects of the S3 bucket this server uses.
    bucket: BucketInstallations,
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
        (node, lease, bucket): (&Arc<Node>, &Arc<NodeLease>, BucketInstallations),
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
        let mark_stores = installations::mark_stores(config)?;
        let replication = Self {
            replicator,
            projects,
            database,
            store,
            installation,
            mark_stores,
            bucket,
            has_followed,
        };
        if let Err(problem) = replication.check_installation(db, &**clock, true).await {
            // Without an answer, the server does not wait for further ones.
            tracing::warn!(%problem, "files are replicated once the store of replicas answers");
        }
        Ok(Some(replication))
    }

    /// Replaces the mark of the installation in the store until the server ends, and notices if another database uses it.
    async fn check_periodically(&self, db: &Db, clock: &dyn Clock, node: &Arc<Node>) {
        loop {
            if let Err(problem) = self.check(db, clock).await {
                tracing::warn!(%problem, "the marks of this installation were not compared; trying again");
            }
            if let Err(problem) = self.follow_changed(db, node).await {
                tracing::warn!(%problem, "files of projects are replicated once they are used");
            }
            sleep(Duration::from_secs(limits::INSTALLATION_CHECK_EVERY_S)).await;
        }
    }

    /// Compares the marks of the installation. Only for a minute after that, objects of the S3 bucket are deleted.
    pub async fn check(&self, db: &Db, clock: &dyn Clock) -> Result<()> {
        let is_start = self.installation().is_none();
        self.check_installation(db, clock, is_start).await
    }

    /// Compares the stored marks of the installation with those of the database. Begins a new installation if another
    /// database uses this one, and replicates into the store of the present one.
    async fn check_installation(
        &self,
        db: &Db,
        clock: &dyn Clock,
        is_start_or_stop: bool,
    ) -> Result<()> {
        for _ in 0..limits::INSTALLATION_CHECK_MAX_COUNT {
            let now = clock.now();
            let id = db.write(move |tx| installations::present(tx, now)).await?;
            let (stores, read) = (self.mark_stores.clone(), id.clone());
            let marks = run_blocking(move || StoredMarks::read(&stores, &read)).await?;
            let compared = id.clone();
            let found = db.write(move |tx| {
                installations::compare(tx, now, &compared, &marks, is_start_or_stop)
            });
            match found.await? {
                MarkComparison::Recent => {}
                MarkComparison::Due(mark) => {
                    let set = move |store: &ReplicaStore| store.set_mark(&mark);
                    self.with_marks_of(&id, set).await?;
                }
                MarkComparison::Foreign => {
                    self.bucket.withdraw();
                    tracing::warn!(
                        installation = id,
                        "another server with a copy of this database uses the same place for replicas or the same S3 bucket; \
                         this server begins a new installation"
                    );
                    self.with_marks_of(&id, ReplicaStore::set_left).await?;
                    db.write(move |tx| installations::replace(tx, now, &id)).await?;
                    continue;
                }
                MarkComparison::Ended => continue,
            }
            return self.use_installation(db).await;
        }
        Err(Problem::internal("this database begins new installations all the time"))
    }

    /// Writes into the folder of an installation in each store with marks.
    async fn with_marks_of(
        &self,
        id: &str,
        write: impl Fn(&ReplicaStore) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let stores: Vec<_> = self.mark_stores.iter().map(|store| store.below(id)).collect();
        run_blocking(move || stores.iter().try_for_each(write)).await
    }

    /// Replicates into the store of the present installation, if that has changed.
    async fn use_installation(&self, db: &Db) -> Result<()> {
        let read =
            |tx: &mut Tx<'_>| Ok((installations::bucket_ids(tx)?, installations::former(tx)?));
        let (ids, former) = db.read(read).await?;
        let known = KnownInstallation { id: ids.present.clone(), former };
        self.bucket.set(ids);
        self.bucket.prove(Duration::from_secs(limits::INSTALLATION_PROOF_S));
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

    /// Deletes what no restore needs from the replicas of this database, and those of adopted installations.
    pub async fn remove_expired(&self, db: &Db, clock: &dyn Clock, keep_days: u32) -> Result<()> {
        if self.installation().is_none() {
            return Ok(());
        }
        // An operator may have adopted one since.
        let (used, former) =
            db.read(|tx| Ok((replicas::used_names(tx)?, installations::former(tx)?))).await?;
        let (projects, store, now) = (Arc::clone(&self.projects), self.store.clone(), clock.now());
        run_blocking(move || {
            projects.remove_expired(now, keep_days, &used)?;
            replicas::remove_adopted_installations(&store, now, keep_days, &former)
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
    pub async fn stop(&self, db: &Db, clock: &dyn Clock) -> bool {
        // So that a copy that was made from the running database begins an installation of its own.
        let marking = self.check_installation(db, clock, true);
        match timeout(STOP_MARK_MAX, marking).await {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => tracing::warn!(%problem, "the marks of this installation stay"),
            Err(_) => tracing::warn!("the marks of this installation stay: no answer in time"),
        }
        let replicator = Arc::clone(&self.replicator);
        let stopped = run_blocking(move || replicator.stop()).await;
        if let Err(problem) = &stopped {
            tracing::warn!(%problem, "the last changes were not replicated; they are sent after the next start");
        }
        stopped.is_ok()
    }
}
