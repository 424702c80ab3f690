//! Tasks that wait for changes of the database.

use std::time::{Duration, Instant};

use lyceum_core::Result;
use lyceum_store::limits::CHANGE_LOOK_MS;
use lyceum_store::{Changes, Db, SqlDialect, StoreLocation, Tx, jobs};
use lyceum_testkit::both_stores;
use tokio::time::timeout;

use crate::{SCHEMA, open, wait};

const AT_ONCE: Duration = Duration::ZERO;
const SOON: Duration = Duration::from_secs(10);
/// Longer than a change needs.
const QUIET: Duration = Duration::from_millis(2 * CHANGE_LOOK_MS);

fn write(tx: &mut Tx<'_>) -> Result<()> {
    let sql = "INSERT INTO things (id, number) VALUES ('x', 1) ON CONFLICT (id) DO UPDATE SET number = things.number + 1";
    tx.execute(sql, &[]).map(drop)
}

/// Whether the wait ends within the time.
async fn ends(changes: &mut Changes, within: Duration) -> bool {
    timeout(within, changes.wait(AT_ONCE, None)).await.is_ok()
}

/// Waits until the changes from before are seen, on SQLite. In a cluster, other tests change their databases at any time.
async fn rest(db: &Db, changes: &mut Changes) {
    while db.dialect() == SqlDialect::Sqlite && ends(changes, QUIET).await {}
}

fn watched(db: &Db) -> Changes {
    let (changes, watching) = (db.changes(), db.clone());
    tokio::spawn(async move { watching.watch_changes().await });
    changes
}

#[test]
fn a_commit_of_any_process_ends_the_wait() {
    both_stores(SCHEMA, |target| {
        wait(async {
            let (db, other) = (open(target), open(target));
            let mut changes = watched(&db);
            assert!(ends(&mut changes, SOON).await, "the first look may come after a change");
            rest(&db, &mut changes).await;
            for writer in [&db, &other] {
                writer.write(write).await.unwrap();
                assert!(ends(&mut changes, SOON).await);
                rest(&db, &mut changes).await;
            }
        });
    });
}

#[test]
fn reads_wake_nobody() {
    wait(async {
        let folder = tempfile::tempdir().unwrap();
        let db = open(&StoreLocation::Sqlite(folder.path().join("lyceum.db")));
        let mut changes = watched(&db);
        rest(&db, &mut changes).await;
        db.read(|tx| tx.query_one("SELECT 1 FROM things", &[], |_| Ok(()))).await.unwrap();
        assert!(!ends(&mut changes, QUIET).await, "nothing was written");
    });
}

#[test]
fn a_change_during_the_pause_is_not_missed() {
    both_stores(SCHEMA, |target| {
        wait(async {
            let db = open(target);
            let mut changes = watched(&db);
            rest(&db, &mut changes).await;
            let start = Instant::now();
            let waiting = changes.wait(QUIET, None);
            let (written, ended) = tokio::join!(db.write(write), timeout(SOON, waiting));
            written.unwrap();
            ended.unwrap();
            assert!(start.elapsed() >= QUIET);
        });
    });
}

#[test]
fn the_wait_for_a_job_ends_when_it_is_added_and_when_it_is_due_again() {
    both_stores(SCHEMA, |target| {
        wait(async {
            let (db, other) = (open(target), open(target));
            let mut changes = watched(&db);
            rest(&db, &mut changes).await;
            assert_eq!(db.read(|tx| jobs::due_in(tx, "work")).await.unwrap(), None);
            other.write(|tx| jobs::add(tx, "work", "")).await.unwrap();
            until_due(&db, &mut changes).await;
            let job = db.write(|tx| jobs::claim(tx, "work", 60)).await.unwrap().unwrap();
            let left = db.read(|tx| jobs::due_in(tx, "work")).await.unwrap().unwrap();
            assert!((50..=60).contains(&left.as_secs()), "{left:?}");
            assert_eq!(db.read(|tx| jobs::due_in(tx, "play")).await.unwrap(), None);
            // It is due again in two seconds, which no change announces.
            db.write(move |tx| jobs::fail(tx, &job, &"failed".into())).await.unwrap();
            rest(&db, &mut changes).await;
            until_due(&db, &mut changes).await;
        });
    });
}

async fn until_due(db: &Db, changes: &mut Changes) {
    let due = async {
        while !db.read(|tx| jobs::is_due(tx, "work")).await.unwrap() {
            changes.wait_for_job(db, "work", AT_ONCE).await;
        }
    };
    timeout(SOON, due).await.unwrap();
}
