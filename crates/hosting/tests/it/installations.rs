//! Installations of a database, their marks and their replicas.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use lyceum_core::time::{ManualClock, Timestamp};
use lyceum_hosting::installations::{
    self, FormerInstallation, MarkComparison, PresentInstallation,
};
use lyceum_hosting::nodes::{Node, NodeSettings};
use lyceum_hosting::owners;
use lyceum_hosting::replicas::{self, InstallationStores, ReplicaStore, Replicas};
use lyceum_replica::{Replicator, StoreMark, restorable_times};
use lyceum_store::{Db, SqlDialect};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::screens::both;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

fn now() -> Timestamp {
    "2030-01-15T08:00:00Z".parse().unwrap()
}

fn present(db: &Db) -> PresentInstallation {
    db.write_blocking(|tx| installations::present(tx, now())).unwrap()
}

/// Replaces the mark as a server does.
fn mark(db: &Db, store: &ReplicaStore, at: Timestamp) -> MarkComparison {
    let known = present(db);
    let store = store.below(&known.id);
    let stored = store.mark().unwrap();
    let found = known.compare(stored.as_ref(), at, false);
    if found == MarkComparison::Due {
        let mark = installations::new_mark(at);
        set_next_mark(db, at, &known, stored.as_ref(), &mark);
        store.set_mark(&mark).unwrap();
        db.write_blocking(|tx| installations::set_mark(tx, &known.id, &mark)).unwrap();
    }
    found
}

fn set_next_mark(
    db: &Db,
    at: Timestamp,
    known: &PresentInstallation,
    stored: Option<&StoreMark>,
    next: &StoreMark,
) {
    db.write_blocking(|tx| installations::set_next_mark(tx, at, known, stored, next)).unwrap();
}

#[test]
fn a_mark_that_another_database_stored_is_foreign() {
    both(|db| {
        let folder = tempfile::tempdir().unwrap();
        let store = ReplicaStore::in_folder(folder.path()).unwrap();
        assert_eq!(mark(db, &store, now()), MarkComparison::Due, "the first one");
        assert_eq!(mark(db, &store, now().plus_seconds(59)), MarkComparison::Recent);
        assert_eq!(mark(db, &store, now().plus_seconds(60)), MarkComparison::Due);
        let known = present(db);
        assert_eq!(known.compare(None, now().plus_seconds(900), false), MarkComparison::Due);

        // A server that was killed while it stored a mark: both marks are its own.
        let next = installations::new_mark(now());
        let later = now().plus_seconds(600);
        set_next_mark(db, later, &known, None, &next);
        assert_eq!(mark(db, &store, later.plus_seconds(599)), MarkComparison::Recent);
        store.below(&known.id).set_mark(&next).unwrap();
        // The next server is killed, too, before it stores a mark.
        let later = later.plus_seconds(600);
        set_next_mark(db, later, &present(db), Some(&next), &installations::new_mark(later));
        assert_eq!(mark(db, &store, later.plus_seconds(599)), MarkComparison::Recent);
        assert_eq!(mark(db, &store, later.plus_seconds(600)), MarkComparison::Due);

        // The copy, or the original, stored another one.
        store.below(&known.id).set_mark(&installations::new_mark(later)).unwrap();
        assert_eq!(mark(db, &store, later), MarkComparison::Foreign);
        let copied = present(db);
        db.write_blocking(|tx| installations::replace(tx, later, &copied)).unwrap();
        db.write_blocking(|tx| installations::replace(tx, later, &copied)).unwrap();
        let former = db.read_blocking(installations::former).unwrap();
        assert_eq!(former.iter().map(|one| &one.id).collect::<Vec<_>>(), [&copied.id]);
        assert_ne!(present(db).id, copied.id);
        assert_eq!(mark(db, &store, later), MarkComparison::Due);
    });
}

/// A node with a file of a project, and its replicas in a folder.
struct Setup {
    _folder: TempDir,
    root: ReplicaStore,
    node: Node,
    clock: Arc<ManualClock>,
}

impl Setup {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("replicas")).unwrap();
        let root = ReplicaStore::in_folder(&folder.path().join("replicas")).unwrap();
        let about = NodeSettings { name: "oak", address: "", shares_blobs: false };
        let node = Node::of_folder(&folder.path().join("hosting"), &about).unwrap().0;
        // Later than each time of the file system, so that a file is unchanged after its replica.
        let clock = Arc::new(ManualClock::at(now()));
        Self { _folder: folder, root, node, clock }
    }

    fn replicas(&self, db: &Db) -> (Arc<Replicator>, Replicas) {
        let replicator = Arc::new(Replicator::start(self.clock.clone(), 7, 256).unwrap());
        let replicas = Replicas::new(Arc::clone(&replicator), &self.node, |_| None);
        let former = db.read_blocking(installations::former).unwrap();
        replicas.replicate_into(InstallationStores::new(&self.root, &present(db).id, &former));
        (replicator, replicas)
    }

    fn file(&self, slug: &str) -> (PathBuf, Connection) {
        let file = self.node.folder_of(slug).join("d1.sqlite");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let connection = Connection::open(&file).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection.execute_batch("CREATE TABLE number (value INTEGER)").unwrap();
        (file, connection)
    }
}

#[test]
fn a_start_follows_files_whose_last_snapshot_is_older_than_their_last_change() {
    both(|db| {
        let setup = Setup::new();
        let (file, connection) = setup.file("maths");
        let (other, _other) = setup.file("reading");
        let (replicator, replicas) = setup.replicas(db);
        replicas.follow_changed(&[file.clone(), other.clone()]).unwrap();
        for file in [&file, &other] {
            replicator.flush(file).unwrap();
        }
        setup.clock.advance_milliseconds(1000);
        connection.execute_batch("INSERT INTO number VALUES (1)").unwrap();
        replicator.stop().unwrap();
        setup.clock.advance_milliseconds(DAY_MS);
        let (replicator, replicas) = setup.replicas(db);
        replicas.follow_changed(&[file.clone(), other]).unwrap();
        assert_eq!(replicator.status().files, 1, "the other one has a snapshot of its last state");
        let store = setup.root.below(&present(db).id);
        let name = "projects/maths/d1.sqlite";
        let has_snapshot = || {
            let times = restorable_times(&store, name).unwrap().unwrap();
            times.snapshot >= times.latest
        };
        for _ in 0..500 {
            if has_snapshot() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("the file has no new snapshot");
    });
}

#[test]
fn replicas_that_nobody_uses_are_deleted_in_time() {
    both(|db| {
        let setup = Setup::new();
        let (file, _connection) = setup.file("maths");
        let (replicator, replicas) = setup.replicas(db);
        // The server's own database, from the time before it was moved to PostgreSQL.
        replicator.add(&file, replicas::SERVER_DATABASE, None);
        replicator.flush(&file).unwrap();
        replicator.stop().unwrap();
        let store = setup.root.below(&present(db).id);
        let exists = || restorable_times(&store, replicas::SERVER_DATABASE).unwrap().is_some();
        let used = db.read_blocking(replicas::used_names).unwrap();
        for days in [6, 8] {
            let now = now().plus_seconds(days * DAY_MS / 1000);
            replicas.remove_expired(now, 7, &used).unwrap();
            assert_eq!(exists(), days < 7 || db.dialect() == SqlDialect::Sqlite, "{days} days");
        }
    });
}

/// The former installations.
fn former(db: &Db) -> Vec<FormerInstallation> {
    db.read_blocking(installations::former).unwrap()
}

#[test]
fn replicas_of_other_installations_are_deleted_only_after_an_operator_confirms() {
    both(|db| {
        let setup = Setup::new();
        let (first, unknown) = (present(db).id, "unknown".to_owned());
        mark(db, &setup.root, now());
        setup.root.below(&unknown).set_mark(&installations::new_mark(now())).unwrap();
        // A copy of the database that was restored, while its original is stopped for a long time.
        db.write_blocking(|tx| installations::end(tx, now())).unwrap();
        let second = present(db).id;
        mark(db, &setup.root, now());
        let left = |days: i64| {
            let now = now().plus_seconds(days * DAY_MS / 1000);
            replicas::remove_replaced_installations(&setup.root, now, 7, &former(db)).unwrap();
            let all = [&first, &unknown, &second];
            all.map(|id| setup.root.below(id).mark().unwrap().is_some())
        };
        assert_eq!(left(400), [true, true, true], "the original may come back");
        db.write_blocking(|tx| owners::take_over(tx, now())).unwrap();
        assert_eq!(left(6), [true, true, true]);
        assert_eq!(left(8), [false, true, true]);
        assert_eq!(left(400), [false, true, true], "another database may use it");
    });
}
