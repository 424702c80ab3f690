use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use lyceum_core::ProblemKind;
use lyceum_store::{Db, StoreLocation, Value, copy_to};

use crate::{SCHEMA, count, open, wait};

/// Each write adds two rows; a copy with an odd number of rows is torn.
fn add_pair(db: &Db, n: i64) {
    wait(db.write(move |tx| {
        for half in ["a", "b"] {
            let id = format!("{n}-{half}");
            let body = "x".repeat(2000);
            tx.execute(
                "INSERT INTO things (id, body) VALUES ($1, $2)",
                &[(&id).into(), (&body).into()],
            )?;
        }
        Ok(())
    }))
    .unwrap();
}

#[test]
fn a_backup_under_writes_is_one_instant_and_restores() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let db = open(&StoreLocation::Sqlite(path("live.db")));
    for n in 0..400 {
        add_pair(&db, n);
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for n in 400.. {
                add_pair(&db, n);
                if done.load(Ordering::SeqCst) {
                    break;
                }
            }
        });
        db.read_blocking(|tx| copy_to(tx, &path("copy.db"))).unwrap();
        done.store(true, Ordering::SeqCst);
    });
    let again = db.read_blocking(|tx| copy_to(tx, &path("copy.db"))).unwrap_err();
    assert_eq!(again.kind, ProblemKind::Conflict);

    let back = Db::open(&StoreLocation::Sqlite(path("copy.db")), SCHEMA).unwrap();
    let rows = count(&back);
    assert!(rows >= 800 && rows % 2 == 0 && rows <= count(&db), "{rows} rows");
    assert!(back.check().unwrap().is_empty());
}

#[test]
fn a_damaged_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let db = open(&StoreLocation::Sqlite(path));
    let ids: Vec<String> = (0..500).map(|n| format!("thing-{n:04}")).collect();
    wait(db.write(move |tx| {
        let values: Vec<Value<'_>> = ids.iter().map(Into::into).collect();
        tx.insert_rows("things", &["id"], &values, "")
    }))
    .unwrap();
    let copy = folder.path().join("copy.db");
    db.read_blocking(|tx| copy_to(tx, &copy)).unwrap();
    let mut bytes = std::fs::read(&copy).unwrap();
    let end = bytes.len();
    bytes[end - 4096..end - 3996].fill(0xff);
    std::fs::write(&copy, bytes).unwrap();
    assert!(!open(&StoreLocation::Sqlite(copy)).check().unwrap().is_empty());
}
