//! The replicas that the next holder of a project must find.

use std::fs;
use std::sync::Arc;

use lyceum_core::ProblemKind;
use lyceum_core::time::{ManualClock, Timestamp};
use lyceum_hosting::installations;
use lyceum_hosting::leases::{self, NodeLease};
use lyceum_hosting::nodes::{self, Node, NodeSettings};
use lyceum_hosting::replicas::{InstallationStores, ReplicaStore, Replicas};
use lyceum_hosting::takeover::{self, HeldFiles};
use lyceum_replica::Replicator;
use lyceum_store::{Db, SqlDialect, Tx};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::screens::both;

const FILE: &str = "projects/maths/d1.sqlite";

fn now() -> Timestamp {
    "2030-01-15T08:00:00Z".parse().unwrap()
}

/// Nodes that share a store of replicas.
struct Setup<'a> {
    folder: TempDir,
    db: &'a Db,
    store: ReplicaStore,
    /// The lease of a node of PostgreSQL.
    lease: NodeLease,
}

impl<'a> Setup<'a> {
    fn new(db: &'a Db) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let present = db.write_blocking(|tx| installations::present(tx, now())).unwrap();
        fs::create_dir(folder.path().join("replicas")).unwrap();
        let root = ReplicaStore::in_folder(&folder.path().join("replicas")).unwrap();
        let store = root.below(&present);
        Self { folder, db, store, lease: NodeLease::new(SqlDialect::Postgres) }
    }

    fn node(&self, name: &str) -> Node {
        let about = NodeSettings { name, address: "", shares_blobs: true };
        let node = Node::of_folder(&self.folder.path().join(name), &about).unwrap().0;
        self.db.write_blocking(|tx| nodes::enter(tx, &node)).unwrap();
        node
    }

    fn execute(&self, sql: &str) {
        self.db.write_blocking(|tx| tx.execute(sql, &[])).unwrap();
    }

    /// Stores a state of the project with one row as a node with this epoch.
    fn store_epoch(&self, epoch: i64) {
        let file = self.folder.path().join(format!("{epoch}.sqlite"));
        let connection = Connection::open(&file).unwrap();
        let rows = format!(
            "PRAGMA journal_mode = WAL; CREATE TABLE epoch (value); INSERT INTO epoch VALUES ({epoch})"
        );
        connection.execute_batch(&rows).unwrap();
        let replicator = self.replicator();
        replicator.add(&file, FILE, Some(epoch.unsigned_abs()));
        replicator.flush(&file).unwrap();
    }

    fn replicator(&self) -> Replicator {
        let clock = Arc::new(ManualClock::at(now()));
        let replicator = Replicator::start(clock, 7, 256).unwrap();
        replicator.replicate_into(self.store.clone());
        replicator
    }

    fn left(&self, node: &Node) -> Option<HeldFiles> {
        let left = |tx: &mut Tx<'_>| takeover::left_project(tx, node, &self.lease, "maths");
        self.db.read_blocking(left).unwrap()
    }

    /// Takes the project, and returns the epoch of its files.
    fn take(&self, node: &Node) -> Result<i64, ProblemKind> {
        let replicas = Replicas::new(Arc::new(self.replicator()), node, |_| None);
        let present = self.db.read_blocking(installations::id).unwrap().unwrap();
        let root = ReplicaStore::in_folder(&self.folder.path().join("replicas")).unwrap();
        replicas.restore_from(InstallationStores::new(&root, &present, &[]));
        let left = self.left(node).unwrap();
        let restored = takeover::restore(node, &replicas, &left).map_err(|problem| problem.kind)?;
        let take = |tx: &mut Tx<'_>| takeover::become_holder(tx, node, &self.lease, &restored);
        assert!(self.db.write_blocking(take).unwrap());
        let file = Connection::open(node.folder_of("maths").join("d1.sqlite")).unwrap();
        Ok(file.query_row("SELECT value FROM epoch", [], |row| row.get(0)).unwrap())
    }

    fn token(&self) -> i64 {
        let sql = "SELECT token FROM project_homes";
        self.db.read_blocking(|tx| tx.query_one(sql, &[], |row| row.int(0))).unwrap().unwrap()
    }

    /// Records that the node has stored a state under its token.
    fn set_replicated(&self, node: &Node) -> bool {
        let slugs = ["maths".to_owned()];
        let held = self.db.read_blocking(|tx| takeover::held_files(tx, node, &slugs)).unwrap();
        let Some(held) = held.first() else { return false };
        let project = held.project();
        self.db.write_blocking(|tx| leases::set_replicated(tx, node, &project)).unwrap()
    }
}

fn with_project(body: impl Fn(&Setup<'_>)) {
    both(|db| {
        let setup = Setup::new(db);
        setup.execute(
            "INSERT INTO projects (slug, revision, active, latest, created_ms, updated_ms) \
             VALUES ('maths', 1, 1, 1, 0, 0)",
        );
        let oak = setup.node("oak");
        let sql = "INSERT INTO project_homes (slug, node, mark, kept, token) \
                   VALUES ('maths', $1, 'x', '{\"database\": true, \"kv\": false, \"bucket\": false, \"lms\": false}', 5)";
        db.write_blocking(|tx| tx.execute(sql, &[oak.id().into()])).unwrap();
        body(&setup);
    });
}

#[test]
fn a_holder_that_stored_nothing_is_replaced_from_the_epoch_before() {
    with_project(|setup| {
        setup.store_epoch(5);
        assert_eq!(setup.take(&setup.node("elm")), Ok(5));
        let ash = setup.node("ash");
        assert_eq!(setup.take(&ash), Ok(5), "elm stored nothing");
        assert!(!setup.set_replicated(&setup.node("elm")), "elm does not hold it any more");
        assert!(setup.set_replicated(&ash));
        let elm = setup.node("elm");
        assert_eq!(setup.take(&elm), Err(ProblemKind::NotFound), "ash acknowledged writes");
        let token = setup.token();
        setup.store_epoch(token);
        assert_eq!(setup.take(&elm), Ok(token));
        // Of a holder that was lost between its first replica and the record of it.
        let token = setup.token();
        setup.store_epoch(token);
        assert_eq!(setup.take(&setup.node("oak")), Ok(token));
    });
}

#[test]
fn a_project_that_an_older_server_moved_must_have_a_replica_of_it() {
    with_project(|setup| {
        setup.store_epoch(5);
        let elm = setup.node("elm");
        assert_eq!(setup.take(&elm), Ok(5));
        setup.execute(
            "UPDATE project_homes SET token = token + 1, node = (SELECT id FROM nodes WHERE name = 'oak')",
        );
        assert_eq!(setup.take(&elm), Err(ProblemKind::NotFound));
        setup.store_epoch(setup.token());
        let token = setup.token();
        assert_eq!(setup.take(&elm), Ok(token));
    });
}

#[test]
fn a_state_that_was_restored_before_the_holder_stored_its_own_is_not_taken() {
    with_project(|setup| {
        setup.store_epoch(5);
        let (elm, ash) = (setup.node("elm"), setup.node("ash"));
        assert_eq!(setup.take(&elm), Ok(5));
        let replicas = Replicas::new(Arc::new(setup.replicator()), &ash, |_| None);
        let root = ReplicaStore::in_folder(&setup.folder.path().join("replicas")).unwrap();
        let present = setup.db.read_blocking(installations::id).unwrap().unwrap();
        replicas.restore_from(InstallationStores::new(&root, &present, &[]));
        let restored = takeover::restore(&ash, &replicas, &setup.left(&ash).unwrap()).unwrap();
        assert!(setup.set_replicated(&elm), "and acknowledges writes");
        let take = |tx: &mut Tx<'_>| takeover::become_holder(tx, &ash, &setup.lease, &restored);
        assert!(!setup.db.write_blocking(take).unwrap());
    });
}
