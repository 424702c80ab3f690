//! Installations of a database, their marks and their replicas.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use lyceum_core::time::{ManualClock, Timestamp};
use lyceum_hosting::installations::{self, FormerInstallation, MarkComparison, StoredMarks};
use lyceum_hosting::nodes::{Node, NodeSettings};
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

fn present(db: &Db) -> String {
    db.write_blocking(|tx| installations::present(tx, now())).unwrap()
}

/// Compares the marks of the present installation, as a server does.
fn compare(db: &Db, stores: &[ReplicaStore], at: Timestamp, is_start: bool) -> MarkComparison {
    let id = present(db);
    let marks = StoredMarks::read(stores, &id).unwrap();
    db.write_blocking(|tx| installations::compare(tx, at, &id, &marks, is_start)).unwrap()
}

/// Replaces the mark as a server does. Returns whether it was due.
fn mark(db: &Db, stores: &[ReplicaStore], at: Timestamp) -> bool {
    match compare(db, stores, at, false) {
        MarkComparison::Due(mark) => {
            let id = present(db);
            for store in stores {
                store.below(&id).set_mark(&mark).unwrap();
            }
            true
        }
        MarkComparison::Recent => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_mark_that_another_database_stored_is_foreign_and_both_leave_the_installation() {
    both(|db| {
        let folder = tempfile::tempdir().unwrap();
        // Replicas in a folder, objects in a bucket.
        let stores = ["replicas", "bucket"].map(|name| {
            fs::create_dir(folder.path().join(name)).unwrap();
            ReplicaStore::in_folder(&folder.path().join(name)).unwrap()
        });
        assert!(mark(db, &stores, now()), "the first one");
        assert!(!mark(db, &stores, now().plus_seconds(59)));
        assert!(mark(db, &stores, now().plus_seconds(60)));
        let is_due = |found: MarkComparison| matches!(found, MarkComparison::Due(_));
        assert!(is_due(compare(db, &stores, now(), false)), "a mark of the future");
        let mut at = now().plus_seconds(61);
        assert!(is_due(compare(db, &stores, at, true)), "a start");

        // A server that was killed after it stored one mark of two, and days later the next one.
        for index in [1, 0] {
            at = at.plus_seconds(2 * DAY_MS / 1000);
            let MarkComparison::Due(next) = compare(db, &stores, at, false) else { panic!() };
            stores[index].below(&present(db)).set_mark(&next).unwrap();
        }
        assert!(mark(db, &stores, at.plus_seconds(60)));

        // The copy, or the original, stored another one.
        let shared = present(db);
        stores[1].below(&shared).set_mark(&StoreMark::new("foreign", at)).unwrap();
        assert_eq!(compare(db, &stores, at, false), MarkComparison::Foreign);
        for _ in 0..2 {
            db.write_blocking(|tx| installations::replace(tx, at, &shared)).unwrap();
        }
        let former = db.read_blocking(installations::former).unwrap();
        assert_eq!(former.iter().map(|one| &one.id).collect::<Vec<_>>(), [&shared]);
        assert_ne!(present(db), shared);
        assert!(mark(db, &stores, at));
        // The other one noticed it first.
        stores[0].below(&present(db)).set_left().unwrap();
        assert_eq!(compare(db, &stores, at, false), MarkComparison::Foreign);
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
        replicas.replicate_into(InstallationStores::new(&self.root, &present(db), &former));
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
        let store = setup.root.below(&present(db));
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
        let store = setup.root.below(&present(db));
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
fn replicas_of_other_installations_are_deleted_only_after_they_were_adopted() {
    both(|db| {
        let setup = Setup::new();
        let stores = [setup.root.clone()];
        let (first, unknown) = (present(db), "unknown".to_owned());
        mark(db, &stores, now());
        setup.root.below(&unknown).set_mark(&StoreMark::new("unknown", now())).unwrap();
        // A copy of the database that was restored, while its original is stopped for a long time.
        db.write_blocking(|tx| installations::end(tx, now())).unwrap();
        let second = present(db);
        mark(db, &stores, now());
        let left = |days: i64| {
            let now = now().plus_seconds(days * DAY_MS / 1000);
            replicas::remove_adopted_installations(&setup.root, now, 7, &former(db)).unwrap();
            let all = [&first, &unknown, &second];
            all.map(|id| setup.root.below(id).mark().unwrap().is_some())
        };
        assert_eq!(left(400), [true, true, true], "the original may come back");
        let adopt = |id: &str| db.write_blocking(|tx| installations::adopt(tx, now(), id)).unwrap();
        adopt(&second);
        assert!(former(db).iter().all(|former| !former.is_adopted), "it is the present one");
        adopt(&first);
        assert_eq!(left(6), [true, true, true]);
        assert_eq!(left(8), [false, true, true]);
        assert_eq!(left(400), [false, true, true], "another database may use it");
        adopt(&unknown);
        let ids = db.read_blocking(installations::bucket_ids).unwrap();
        assert_eq!((ids.present, ids.adopted, ids.former), (second, vec![first, unknown], vec![]));
        // The original of a restored copy may need what it has adopted.
        db.write_blocking(|tx| installations::end(tx, now())).unwrap();
        assert!(former(db).iter().all(|former| !former.is_adopted));
    });
}
