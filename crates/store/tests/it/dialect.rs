use lyceum_core::ProblemKind;
use lyceum_core::time::Timestamp;
use lyceum_store::Db;
use lyceum_store::dialect::{self, SqlDialect, contains, json_members, json_text, number};

use crate::{on_both, wait};

const BODY: &str = r#"{"title":"Ärger & O'Neil 50%","metadata":{"a.b":"x","n":1.50,"big":12345678901,
"yes":true,"no":null,"list":["a",2,null,true],"deep":{"k":[1]},"grade":"09"},"words":["one","two"]}"#;

fn ask(db: &Db, expression: &str) -> Option<String> {
    let sql = format!("SELECT CAST({expression} AS TEXT) FROM things");
    wait(db.read(move |tx| tx.query_one(&sql, &[], |row| Ok(row.opt_text(0)?.map(str::to_owned)))))
        .unwrap()
        .unwrap()
}

fn with_body(body: impl Fn(&Db, SqlDialect)) {
    on_both(|db| {
        let add = "INSERT INTO things (id, body) VALUES ('1', $1)";
        wait(db.write(move |tx| tx.execute(add, &[BODY.into()]))).unwrap();
        body(db, db.dialect());
    });
}

#[test]
fn the_time_of_the_database_is_the_text_of_a_timestamp() {
    with_body(|db, dialect| {
        let at = |plus_s| -> Timestamp {
            let text = ask(db, &dialect::now_text(dialect, plus_s)).unwrap();
            let at: Timestamp = text.parse().unwrap();
            assert_eq!(at.to_string(), text);
            at
        };
        let now_ms = || -> i64 { ask(db, dialect::now_ms(dialect)).unwrap().parse().unwrap() };
        // One of them may be rounded up, and the other one down.
        let (before, now, after) = (now_ms() - 1, at("0").milliseconds(), now_ms());
        assert!((before..=after).contains(&now), "{before} <= {now} <= {after}");
        let later = at("100000");
        assert!(at("0").plus_seconds(100_000) >= later);
        assert!(later.milliseconds() >= now + 100_000_000);
        assert!(at("-30") < at("0"));
    });
}

#[test]
fn members_of_json_are_equal_on_both_stores() {
    with_body(|db, dialect| {
        for (path, wanted) in [
            (&["title"] as &[&str], Some("Ärger & O'Neil 50%")),
            (&["metadata", "a.b"], Some("x")),
            (&["metadata", "n"], Some("1.50")),
            (&["metadata", "big"], Some("12345678901")),
            (&["metadata", "yes"], Some("true")),
            (&["metadata", "no"], None),
            (&["metadata", "list"], Some(r#"["a",2,null,true]"#)),
            (&["metadata", "deep"], Some(r#"{"k":[1]}"#)),
            (&["metadata", "list", "0"], None),
            (&["metadata", "n", "x"], None),
            (&["missing", "x"], None),
        ] {
            let found = ask(db, &json_text(dialect, "body", path).unwrap());
            assert_eq!(found.as_deref(), wanted, "{path:?}");
        }
        for bad in ["", "a'b", "a\"b", "a b", "ä", "a\\", "a}"] {
            let problem = json_text(dialect, "body", &["metadata", bad]).unwrap_err();
            assert_eq!(problem.kind, ProblemKind::Invalid);
            assert!(json_members(dialect, "body", &[bad]).is_err());
        }
    });
}

#[test]
fn members_of_arrays_are_read_as_rows() {
    with_body(|db, dialect| {
        let members = |path: &[&str]| {
            let from = json_members(dialect, "things.body", path).unwrap();
            let sql = format!(
                "SELECT (SELECT COUNT(*) FROM {from}) || ':' || COALESCE((SELECT member FROM {from} WHERE member = 'true' OR member = '2' OR member = 'two' ORDER BY member LIMIT 1), '-')"
            );
            ask(db, &format!("({sql})"))
        };
        assert_eq!(members(&["metadata", "list"]).as_deref(), Some("4:2"));
        assert_eq!(members(&["words"]).as_deref(), Some("2:two"));
        assert_eq!(members(&["title"]).as_deref(), Some("0:-"));
        assert_eq!(members(&["metadata"]).as_deref(), Some("0:-"));
        assert_eq!(members(&["none"]).as_deref(), Some("0:-"));
    });
}

#[test]
fn only_texts_of_digits_count_as_numbers() {
    with_body(|db, dialect| {
        for (text, wanted) in [
            ("12", true),
            ("-12.50", true),
            ("09", true),
            ("0.5", true),
            ("", false),
            ("-", false),
            (".", false),
            ("1.", false),
            (".5", false),
            ("1.2.3", false),
            ("--1", false),
            ("1-2", false),
            ("1e5", false),
            (" 1", false),
            ("twelve", false),
            ("0x10", false),
            ("NaN", false),
        ] {
            set_id(db, text.to_owned());
            let found = ask(db, &number(dialect, "id"));
            assert_eq!(found.is_some(), wanted, "'{text}'");
        }
        set_id(db, "9".repeat(5000));
        assert_eq!(ask(db, &number(dialect, "id")), None);
        let n = number(dialect, &json_text(dialect, "body", &["metadata", "n"]).unwrap());
        assert_eq!(ask(db, &format!("({n} = 1.5 AND {n} > 1)")).as_deref().map(truth), Some(true));
        assert_eq!(ask(db, &number(dialect, "CAST(NULL AS TEXT)")), None);
    });
}

fn set_id(db: &Db, id: String) {
    let sql = "UPDATE things SET id = $1";
    wait(db.write(move |tx| tx.execute(sql, &[(&id).into()]))).unwrap();
}

fn truth(text: &str) -> bool {
    text == "1" || text == "true"
}

#[test]
fn contains_treats_wildcards_as_plain_characters() {
    with_body(|db, dialect| {
        let title = json_text(dialect, "body", &["title"]).unwrap();
        let sql = format!("SELECT COUNT(*) FROM things WHERE {}", contains(dialect, &title, "$1"));
        for (needle, wanted) in [("o'neil", 1), ("50%", 1), ("5%", 0), ("r_er", 0), ("rger &", 1)] {
            let sql = sql.clone();
            let found =
                wait(db.read(move |tx| tx.query_one(&sql, &[needle.into()], |row| row.int(0))));
            assert_eq!(found.unwrap(), Some(wanted), "{needle}");
        }
    });
}

/// The translation is part of the checksum of every migration in use: it stays as it is here.
#[test]
fn the_translation_of_the_common_ddl_never_changes() {
    let common = "CREATE TABLE a ( -- it's a TEXT\n  seq ROWID,\n  id TEXT NOT NULL DEFAULT 'TEXT',\n  b BLOB, r REAL, TEXTS BIGINT\n);\nCREATE TABLE b (id TEXT PRIMARY KEY) WITHOUT ROWID;";
    assert_eq!(
        dialect::ddl(SqlDialect::Sqlite, common),
        "CREATE TABLE a ( \n  seq INTEGER PRIMARY KEY,\n  id TEXT NOT NULL DEFAULT 'TEXT',\n  b BLOB, r REAL, TEXTS BIGINT\n);\nCREATE TABLE b (id TEXT PRIMARY KEY) WITHOUT ROWID;\n"
    );
    assert_eq!(
        dialect::ddl(SqlDialect::Postgres, common),
        "CREATE TABLE a ( \n  seq BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,\n  id TEXT COLLATE \"C\" NOT NULL DEFAULT 'TEXT',\n  b BYTEA, r DOUBLE PRECISION, TEXTS BIGINT\n);\nCREATE TABLE b (id TEXT COLLATE \"C\" PRIMARY KEY) ;\n"
    );
}

#[test]
fn a_json_array_can_be_used_as_a_list_of_values() {
    with_body(|db, dialect| {
        let is_one = dialect::is_one_of(dialect, "id", "$1");
        let sql = format!("SELECT COUNT(*) FROM things WHERE {is_one}");
        for (list, wanted) in [(r#"["7","1"]"#, 1), (r#"["7"]"#, 0), ("[]", 0)] {
            let sql = sql.clone();
            let found =
                wait(db.read(move |tx| tx.query_one(&sql, &[list.into()], |row| row.int(0))));
            assert_eq!(found.unwrap(), Some(wanted), "{list}");
        }
    });
}
