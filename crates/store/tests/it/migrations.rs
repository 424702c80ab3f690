use std::thread;

use lyceum_core::ProblemKind;
use lyceum_store::{Db, Dialect, Migration, Target};

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
fn what_is_for_one_store_is_done_there_alone() {
    let sql = "CREATE TABLE kept (id TEXT PRIMARY KEY)\n;\nPOSTGRES ALTER TABLE kept ADD COLUMN more TEXT;";
    let two = [SCHEMA, &[Migration { version: 1000, name: "two", sql }]].concat();
    with_target(|target| {
        let db = Db::open(target, &two).unwrap();
        let more = db.read_blocking(|tx| tx.query("SELECT more FROM kept", &[], |_| Ok(true)));
        assert_eq!(more.is_ok(), db.dialect() == Dialect::Postgres, "{more:?}");
    });
}

#[test]
fn all_who_open_at_once_find_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Target::Sqlite(folder.path().join("new.db"));
    for target in [sqlite, lyceum_testkit::fresh_database(&[])] {
        let counts: Vec<i64> = thread::scope(|scope| {
            let openers: Vec<_> = (0..8).map(|_| scope.spawn(|| count(&open(&target)))).collect();
            openers.into_iter().map(|opener| opener.join().unwrap()).collect()
        });
        assert_eq!(counts, [0; 8]);
    }
}

#[test]
fn a_database_that_is_not_there_is_told() {
    let target = Target::Sqlite("/nowhere/at/all.db".into());
    let problem = Db::open(&target, &[]).err().unwrap();
    assert!(problem.message.contains("/nowhere/at"), "{problem}");
    let target = Target::Postgres("postgres://nobody@127.0.0.1:1/none".to_owned());
    assert_eq!(Db::open(&target, &[]).err().unwrap().kind, ProblemKind::Unavailable);
    let target = Target::Postgres("postgres://127.0.0.1:port".to_owned());
    assert_eq!(Db::open(&target, &[]).err().unwrap().kind, ProblemKind::Invalid);
}
