use std::thread;

use lyceum_core::ProblemKind;
use lyceum_store::{Db, Migration, SqlDialect, StoreLocation};

use crate::{SCHEMA, count, open, with_target};

const NEXT: Migration =
    Migration { version: 1000, name: "next", sql: "CREATE TABLE next (id TEXT PRIMARY KEY)" };

#[test]
fn a_schema_goes_forward_once_and_keeps_the_rows() {
    with_target(|target| {
        let add = "INSERT INTO things (id) VALUES ('one')";
        open(target).write_blocking(|tx| tx.execute(add, &[])).unwrap();
        let newer = [SCHEMA, &[NEXT]].concat();
        for _ in 0..2 {
            let db = Db::open(target, &newer).unwrap();
            assert_eq!(count(&db), 1);
            db.read_blocking(|tx| tx.query("SELECT id FROM next", &[], |_| Ok(true))).unwrap();
        }
        let older = Db::open(target, SCHEMA).err().expect("an older program refuses the schema");
        assert_eq!(older.kind, ProblemKind::Conflict);
        assert!(older.message.contains("version 1000"), "{older}");
    });
}

#[test]
fn migrations_for_one_store_run_only_there() {
    let sql = "CREATE TABLE kept (id TEXT PRIMARY KEY)\n;\nPOSTGRES ALTER TABLE kept ADD COLUMN more TEXT;";
    let two = [SCHEMA, &[Migration { version: 1000, name: "two", sql }]].concat();
    with_target(|target| {
        let db = Db::open(target, &two).unwrap();
        let more = db.read_blocking(|tx| tx.query("SELECT more FROM kept", &[], |_| Ok(true)));
        assert_eq!(more.is_ok(), db.dialect() == SqlDialect::Postgres, "{more:?}");
    });
}

#[test]
fn concurrent_opens_find_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = StoreLocation::Sqlite(folder.path().join("new.db"));
    let schema = [Migration { version: 1000, ..SCHEMA[0] }];
    let open = |target: &StoreLocation| Db::open(target, &schema).unwrap();
    for target in [sqlite, lyceum_testkit::fresh_database(&[])] {
        let counts: Vec<i64> = thread::scope(|scope| {
            let openers: Vec<_> = (0..8).map(|_| scope.spawn(|| count(&open(&target)))).collect();
            openers.into_iter().map(|opener| opener.join().unwrap()).collect()
        });
        assert_eq!(counts, [0; 8]);
    }
}

#[test]
fn a_missing_database_is_reported() {
    let target = StoreLocation::Sqlite("/nowhere/at/all.db".into());
    let problem = Db::open(&target, &[]).err().unwrap();
    assert!(problem.message.contains("/nowhere/at"), "{problem}");
    let target = StoreLocation::Postgres("postgres://nobody@127.0.0.1:1/none".to_owned());
    assert_eq!(Db::open(&target, &[]).err().unwrap().kind, ProblemKind::Unavailable);
    let target = StoreLocation::Postgres("postgres://127.0.0.1:port".to_owned());
    assert_eq!(Db::open(&target, &[]).err().unwrap().kind, ProblemKind::Invalid);
}
