//! Changes from one schema to another: the steps, the data that they keep, and what is refused.

use std::path::{Path, PathBuf};

use lyceum_core::ProblemKind;
use lyceum_core::time::Timestamp;
use lyceum_project::schema::{
    self, Consent, Difference, MigrationFile, Rename, Schema, SchemaChange, diff, migrate, push,
};
use rusqlite::Connection;
use tempfile::TempDir;

use Consent::{KeepEverything, MayLose};

/// A database file in a temporary folder.
struct Place(TempDir);

impl Place {
    fn new(sql: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.open().execute_batch(sql).unwrap();
        place
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("app.db")
    }

    fn restore_point(&self) -> PathBuf {
        self.0.path().join("restore/1.db")
    }

    fn open(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }

    fn push(&self, desired: &str, consent: Consent) -> Result<SchemaChange, String> {
        self.push_renamed(desired, consent, &[])
    }

    fn push_renamed(
        &self,
        desired: &str,
        consent: Consent,
        renames: &[Rename],
    ) -> Result<SchemaChange, String> {
        let _ = std::fs::remove_file(self.restore_point());
        let desired = Schema::of(desired).unwrap();
        let pushed = push(&self.file(), &desired, renames, consent, &self.restore_point());
        assert_eq!(pushed.is_ok(), schema::read(&self.file()).unwrap() == desired, "{pushed:?}");
        pushed.map_err(|problem| problem.message.to_string())
    }

    fn migrate(&self, files: &[(&str, &str)], consent: Consent) -> Result<Vec<String>, String> {
        let _ = std::fs::remove_file(self.restore_point());
        let file =
            |(tag, sql): &(&str, &str)| MigrationFile { tag: (*tag).into(), sql: (*sql).into() };
        let files: Vec<_> = files.iter().map(file).collect();
        let now = Timestamp::from_milliseconds(0);
        let migrated = migrate(&self.file(), &files, now, consent, &self.restore_point());
        migrated.map(|outcome| outcome.done).map_err(|problem| problem.message.to_string())
    }

    /// The rows of a query, each as text.
    fn rows(&self, sql: &str) -> Vec<String> {
        rows(&self.file(), sql)
    }
}

fn rows(file: &Path, sql: &str) -> Vec<String> {
    let connection = Connection::open(file).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let read = statement.query_map([], |row| {
        let cells = (0..columns).map(|n| row.get::<_, rusqlite::types::Value>(n));
        Ok(cells.map(|cell| format!("{:?}", cell.unwrap())).collect::<Vec<_>>().join(" "))
    });
    read.unwrap().map(Result::unwrap).collect()
}

fn difference(current: &str, desired: &str) -> Difference {
    diff(&Schema::of(current).unwrap(), &Schema::of(desired).unwrap(), &[]).unwrap()
}

#[test]
fn equal_schemas_have_no_difference_in_any_notation() {
    let one = "CREATE TABLE `users` (\n\t`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,\n\t`name` text\n);\n\
               --> statement-breakpoint\nCREATE UNIQUE INDEX `by_name` ON `users` (`name`);";
    let two = "create table IF NOT EXISTS users (name TEXT, id INTEGER primary key autoincrement not null);
               create unique index by_name on users(name)";
    assert!(difference(one, two).is_empty());
    assert_eq!(Schema::of(&Schema::of(one).unwrap().ddl()).unwrap(), Schema::of(two).unwrap());
    // Tables that a tool uses internally do not count.
    let books = format!("{one}; CREATE TABLE __drizzle_migrations (id)");
    assert!(difference(&books, two).is_empty());
}

#[test]
fn each_change_takes_the_smallest_step() {
    let users = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)";
    let steps = |desired: &str| difference(users, desired).statements;
    let with =
        |more: &str| format!("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, {more})");
    assert_eq!(steps(&with("age INTEGER")), [r#"ALTER TABLE "users" ADD COLUMN age INTEGER"#]);
    let level = with("level TEXT NOT NULL DEFAULT 'x'");
    assert_eq!(
        steps(&level),
        [r#"ALTER TABLE "users" ADD COLUMN level TEXT NOT NULL DEFAULT 'x'"#]
    );
    for rebuilt in [
        "code TEXT UNIQUE",
        "at TEXT DEFAULT CURRENT_TIMESTAMP",
        "n INT DEFAULT (1 + 1)",
        "n INT CHECK (n > 0)",
        "twice INT GENERATED ALWAYS AS (id * 2) STORED",
    ] {
        let steps = steps(&with(rebuilt));
        assert_eq!(steps.len(), 4, "{steps:?}");
        assert!(
            steps[1].ends_with(r#"("id", "name") SELECT "id", "name" FROM "users""#),
            "{steps:?}"
        );
    }
    let index = format!("{users}; CREATE INDEX by_name ON users (name)");
    assert_eq!(steps(&index), ["CREATE INDEX by_name ON users (name)"]);
    assert_eq!(difference(&index, users).statements, [r#"DROP INDEX "by_name""#]);
    let other = format!("{users}; CREATE INDEX by_name ON users (name DESC)");
    assert_eq!(difference(&index, &other).statements.len(), 2);
    let gone = difference(users, "");
    assert_eq!(gone.statements, [r#"DROP TABLE "users""#]);
    assert_eq!(gone.losses, ["the table 'users' is dropped, with all its rows"]);
}

/// The first of two ways in which other tools lost data: a rebuild copies a column that the old table lacks, and
/// SQLite reads the quoted name as a text.
#[test]
fn a_new_column_gets_its_default_and_not_its_own_name() {
    let old = "CREATE TABLE scores (id INTEGER PRIMARY KEY, points INTEGER DEFAULT 0)";
    let new = "CREATE TABLE scores (id INTEGER PRIMARY KEY, points INTEGER DEFAULT 1, \
               level TEXT NOT NULL DEFAULT 'x')";
    let place = Place::new(&format!("{old}; INSERT INTO scores VALUES (1, 7)"));
    place.push(new, KeepEverything).unwrap();
    assert_eq!(
        place.rows("SELECT id, points, level FROM scores"),
        [r#"Integer(1) Integer(7) Text("x")"#]
    );

    let place = Place::new(&format!("{old}; INSERT INTO scores VALUES (1, 7)"));
    let generated = "PRAGMA foreign_keys=OFF;--> statement-breakpoint
        CREATE TABLE `__new_scores` (`id` integer PRIMARY KEY, `points` integer DEFAULT 1, `level` text NOT NULL DEFAULT 'x');
        --> statement-breakpoint
        INSERT INTO `__new_scores`(\"id\", \"points\", \"level\") SELECT \"id\", \"points\", \"level\" FROM `scores`;--> statement-breakpoint
        DROP TABLE `scores`;--> statement-breakpoint
        ALTER TABLE `__new_scores` RENAME TO `scores`;--> statement-breakpoint
        PRAGMA foreign_keys=ON;";
    let refused = place.migrate(&[("0001_level", generated)], MayLose).unwrap_err();
    assert!(refused.starts_with("the migration '0001_level' fails: "), "{refused}");
    assert!(refused.contains("no such column: \"level\""), "{refused}");
    assert_eq!(place.rows("SELECT * FROM scores"), ["Integer(1) Integer(7)"]);
}

/// The second way: a rebuild runs in a transaction, in which foreign keys cannot be turned off, so dropping the
/// parent deletes its children.
#[test]
fn rebuilding_a_parent_keeps_its_children() {
    let old = "CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT);
               CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent (id) ON DELETE CASCADE)";
    let rows =
        "INSERT INTO parent VALUES (1, 'a'), (2, 'b'); INSERT INTO child VALUES (10, 1), (20, 2)";
    let place = Place::new(&format!("{old}; {rows}"));
    let new = old.replace("name TEXT", "name TEXT NOT NULL DEFAULT 'n'");
    place.push(&new, KeepEverything).unwrap();
    assert_eq!(place.rows("SELECT * FROM child").len(), 2);
    assert_eq!(place.rows("PRAGMA foreign_key_check"), [""; 0]);

    let place = Place::new(&format!("{old}; {rows}"));
    let generated = "PRAGMA foreign_keys=OFF;--> statement-breakpoint
        CREATE TABLE `__new_parent` (`id` integer PRIMARY KEY, `name` text NOT NULL DEFAULT 'n');--> statement-breakpoint
        INSERT INTO `__new_parent`(\"id\", \"name\") SELECT \"id\", \"name\" FROM `parent`;--> statement-breakpoint
        DROP TABLE `parent`;--> statement-breakpoint
        ALTER TABLE `__new_parent` RENAME TO `parent`;--> statement-breakpoint
        PRAGMA foreign_keys=ON;";
    assert_eq!(place.migrate(&[("0001_name", generated)], KeepEverything).unwrap(), ["0001_name"]);
    assert_eq!(place.rows("SELECT * FROM child").len(), 2);
}

#[test]
fn losses_are_reported_and_need_consent() {
    let old = "CREATE TABLE users (id INTEGER PRIMARY KEY, fullname TEXT, age TEXT); CREATE TABLE logs (id)";
    let new = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)";
    let place = Place::new(&format!("{old}; INSERT INTO users VALUES (1, 'Ada', '36')"));
    let refused = place.push(new, KeepEverything).unwrap_err();
    for lost in [
        "the column 'users.fullname' is dropped",
        "'users.age' changes from 'TEXT' to 'INTEGER'",
        "the table 'logs' is dropped",
    ] {
        assert!(refused.contains(lost), "{lost}: {refused}");
    }
    assert!(!place.restore_point().exists(), "nothing was done");
    let hint = "if 'users.fullname' became 'name', say --rename users.fullname=name";
    assert_eq!(difference(old, new).hints, [hint]);
    let done = place.push(new, MayLose).unwrap();
    assert_eq!(done.restore_point, Some(place.restore_point()));
    assert_eq!(place.rows("SELECT id, name, age FROM users"), ["Integer(1) Null Integer(36)"]);
    let before = rows(&place.restore_point(), "SELECT * FROM users");
    assert_eq!(before, [r#"Integer(1) Text("Ada") Text("36")"#], "the restore point");
    schema::restore(&place.restore_point(), &place.file()).unwrap();
    assert_eq!(place.rows("SELECT * FROM users"), before);
}

#[test]
fn copying_a_database_under_constant_writes_ends() {
    let rows = "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t (a); CREATE TABLE u (a);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 24)
        INSERT INTO t SELECT zeroblob(1048576) FROM n";
    let place = Place::new(rows);
    let (writer, copy) = (place.open(), place.0.path().join("copy.db"));
    writer.execute_batch("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0").unwrap();
    let begun = std::time::Instant::now();
    std::thread::scope(|scope| {
        let copied = scope.spawn(|| schema::backup(&place.file(), &copy));
        while !copied.is_finished() && begun.elapsed().as_secs() < 20 {
            writer.execute("INSERT INTO u VALUES (1)", []).unwrap();
        }
        assert!(copied.is_finished(), "the copy starts over with every write");
        copied.join().unwrap().unwrap();
    });
    let copied = Connection::open(&copy).unwrap();
    let count = copied.query_row("SELECT COUNT(*) FROM t", [], |row| row.get::<_, i64>(0));
    assert_eq!(count.unwrap(), 24);
}

#[test]
fn a_rename_keeps_its_data() {
    let old = "CREATE TABLE people (id INTEGER PRIMARY KEY, fullname TEXT);
               CREATE INDEX by_name ON people (fullname);
               CREATE VIEW names AS SELECT fullname FROM people;
               INSERT INTO people VALUES (1, 'Ada')";
    let new = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
               CREATE INDEX by_name ON users (name);
               CREATE VIEW names AS SELECT name FROM users";
    let place = Place::new(old);
    let renames: Vec<Rename> =
        ["people=users", "users.fullname=name"].map(|text| text.parse().unwrap()).to_vec();
    place.push_renamed(new, KeepEverything, &renames).unwrap();
    assert_eq!(place.rows("SELECT id, name, age FROM users"), [r#"Integer(1) Text("Ada") Null"#]);
    assert_eq!(place.rows("SELECT * FROM names"), [r#"Text("Ada")"#]);
    let (old, new) = ("CREATE TABLE t (a, b)", "CREATE TABLE t (a, c)");
    for (wrong, message) in [
        ("t.x=c", "there is no 't.x' to rename"),
        ("t.b=d", "the new schema has no 't.d'"),
        ("t.b=a", "there is a 't.a' already"),
    ] {
        let (old, new) = (Schema::of(old).unwrap(), Schema::of(new).unwrap());
        let refused = diff(&old, &new, &[wrong.parse().unwrap()]).unwrap_err();
        assert!(refused.message.contains(message), "{}", refused.message);
    }
    assert!("t.a".parse::<Rename>().is_err() && "=b".parse::<Rename>().is_err());
}

#[test]
fn rows_that_break_the_new_schema_prevent_the_change() {
    let old = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, boss INTEGER)";
    let rows = "INSERT INTO users VALUES (1, 'Ada', NULL), (2, 'Ada', 9), (3, NULL, NULL)";
    let place = Place::new(&format!("{old}; {rows}"));
    for (new, message) in [
        ("name TEXT NOT NULL DEFAULT 'x', boss INTEGER", "NOT NULL constraint failed"),
        ("name TEXT UNIQUE, boss INTEGER", "UNIQUE constraint failed"),
        ("name TEXT, boss INTEGER, must TEXT NOT NULL", "NOT NULL constraint failed"),
        (
            "name TEXT, boss INTEGER REFERENCES users (id)",
            "a row would refer to a row that does not exist",
        ),
    ] {
        let new = format!("CREATE TABLE users (id INTEGER PRIMARY KEY, {new})");
        let refused = place.push(&new, MayLose).unwrap_err();
        assert!(refused.contains(message), "{message}: {refused}");
        assert_eq!(place.rows("SELECT * FROM users").len(), 3);
        assert!(!place.restore_point().exists());
    }
}

#[test]
fn ids_of_deleted_rows_are_not_reused() {
    let old = "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT)";
    let place = Place::new(&format!(
        "{old}; INSERT INTO t (a) VALUES ('x'), ('y'), ('z'); DELETE FROM t WHERE id = 3"
    ));
    place.push(&old.replace("a TEXT", "a TEXT DEFAULT 'n'"), KeepEverything).unwrap();
    place.open().execute("INSERT INTO t (a) VALUES ('new')", []).unwrap();
    assert_eq!(place.rows("SELECT max(id) FROM t"), ["Integer(4)"]);
}

#[test]
fn triggers_views_and_indexes_survive_a_rebuild() {
    let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);
        CREATE TABLE log (a TEXT);
        CREATE INDEX by_a ON t (a) WHERE a IS NOT NULL;
        CREATE VIEW v AS SELECT a FROM t;
        CREATE TRIGGER keep AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END;";
    let place = Place::new(&format!("{schema} INSERT INTO t (a) VALUES ('x')"));
    place
        .push(
            &schema.replace(
                "a TEXT);\n        CREATE TABLE log",
                "a TEXT CHECK (a <> ''));\n        CREATE TABLE log",
            ),
            KeepEverything,
        )
        .unwrap();
    place.open().execute("INSERT INTO t (a) VALUES ('y')", []).unwrap();
    assert_eq!(place.rows("SELECT * FROM log"), [r#"Text("x")"#, r#"Text("y")"#]);
    assert_eq!(place.rows("SELECT * FROM v").len(), 2);
}

#[test]
fn ddl_that_uses_other_files_is_refused() {
    for evil in [
        "ATTACH '/etc/passwd' AS p",
        "VACUUM INTO '/tmp/x'",
        "SELECT load_extension('x')",
        "PRAGMA writable_schema = ON",
        "COMMIT",
        "CREATE TABLE (",
    ] {
        let refused = Schema::of(evil).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Invalid, "{evil}: {}", refused.message);
    }
}

#[test]
fn migrations_run_once_in_order_and_all_or_none() {
    let first = (
        "0000_users",
        "CREATE TABLE users (id INTEGER PRIMARY KEY);\n--> statement-breakpoint\n\
                 CREATE TABLE logs (id INTEGER PRIMARY KEY);",
    );
    let second = ("0001_name", "ALTER TABLE users ADD name text;");
    let broken = (
        "0002_broken",
        "ALTER TABLE users ADD age integer;--> statement-breakpoint\nALTER TABLE nobody ADD x;",
    );
    let place = Place::new("");
    assert_eq!(place.migrate(&[first], KeepEverything).unwrap(), ["0000_users"]);
    let refused = place.migrate(&[first, second, broken], KeepEverything).unwrap_err();
    assert!(refused.contains("'0002_broken' fails") && refused.contains("nobody"), "{refused}");
    assert_eq!(
        place.rows("SELECT name FROM pragma_table_info('users')"),
        [r#"Text("id")"#],
        "none"
    );
    assert_eq!(place.migrate(&[first, second], KeepEverything).unwrap(), ["0001_name"]);
    assert_eq!(place.migrate(&[first, second], KeepEverything).unwrap(), [""; 0], "once");

    let changed = ("0000_users", "CREATE TABLE users (id TEXT);");
    for (files, message) in [
        (vec![changed, second], "'0000_users' was changed after it was applied"),
        (vec![first], "the database has the migration '0001_name', which is not among the files"),
        (vec![first, ("0001_other", ""), second], "'0001_name' where the files have '0001_other'"),
    ] {
        let refused = place.migrate(&files, MayLose).unwrap_err();
        assert!(refused.contains(message), "{refused}");
    }
}

#[test]
fn migrations_lose_rows_only_with_consent() {
    let place = Place::new("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)");
    for (sql, message) in [
        ("DELETE FROM t WHERE a = 1", "the table 't' would have 1 rows instead of 2"),
        ("DROP TABLE t", "the table 't' would be dropped with its 2 rows"),
    ] {
        let refused = place.migrate(&[("0000_x", sql)], KeepEverything).unwrap_err();
        assert_eq!(refused, format!("{message}; accept the loss with --accept-data-loss"));
        assert_eq!(place.rows("SELECT * FROM t").len(), 2);
    }
    place.migrate(&[("0000_rename", "ALTER TABLE t RENAME TO u")], KeepEverything).unwrap();
    place
        .migrate(
            &[("0000_rename", "ALTER TABLE t RENAME TO u"), ("0001_x", "DELETE FROM u")],
            MayLose,
        )
        .unwrap();
    assert_eq!(rows(&place.restore_point(), "SELECT * FROM u").len(), 2);
}

#[test]
fn a_journal_sets_the_order_and_cannot_name_other_folders() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("meta")).unwrap();
    let journal = |tags: [&str; 2]| {
        format!(
            r#"{{"version":"7","dialect":"sqlite","entries":[
                {{"idx":1,"version":"6","when":2,"tag":"{}","breakpoints":true}},
                {{"idx":0,"version":"6","when":1,"tag":"{}","breakpoints":true}}]}}"#,
            tags[0], tags[1]
        )
    };
    write("meta/_journal.json", &journal(["0001_b", "0000_a"]));
    write("0000_a.sql", "CREATE TABLE a (x);");
    write("0001_b.sql", "CREATE TABLE b (x);");
    write("0002_stray.sql", "CREATE TABLE c (x);");
    let files = schema::migrations_in(folder.path()).unwrap();
    assert_eq!(
        files.iter().map(|file| file.tag.as_str()).collect::<Vec<_>>(),
        ["0000_a", "0001_b"]
    );
    write("meta/_journal.json", &journal(["../../etc/passwd", "0000_a"]));
    assert!(
        schema::migrations_in(folder.path())
            .unwrap_err()
            .message
            .contains("but there is no such file")
    );
    write("meta/_journal.json", &journal(["0009_gone", "0000_a"]));
    assert!(schema::migrations_in(folder.path()).unwrap_err().message.contains("0009_gone.sql"));
}

#[test]
fn a_column_becomes_computed_only_with_consent_and_can_change_back() {
    let table =
        |twice: &str| format!("CREATE TABLE n (id INTEGER PRIMARY KEY, twice INTEGER {twice})");
    let (plain, computed) = (table(""), table("GENERATED ALWAYS AS (id * 2) STORED"));
    let place = Place::new(&format!("{plain}; INSERT INTO n VALUES (1, 7)"));
    let refused = place.push(&computed, KeepEverything).unwrap_err();
    assert!(refused.contains("the column 'n.twice' becomes a computed one"), "{refused}");
    assert_eq!(place.rows("SELECT twice FROM n"), ["Integer(7)"]);
    place.push(&computed, MayLose).unwrap();
    assert_eq!(place.rows("SELECT twice FROM n"), ["Integer(2)"]);
    place.push(&plain, KeepEverything).unwrap();
    assert_eq!(place.rows("SELECT twice FROM n"), ["Integer(2)"]);
}

#[test]
fn a_migration_without_breakpoints_runs_to_its_end() {
    let place = Place::new("CREATE TABLE a (id INTEGER); INSERT INTO a VALUES (1)");
    let sql = "PRAGMA foreign_keys=OFF;\nCREATE TABLE b (id INTEGER);\nINSERT INTO b SELECT id FROM a;\n\
               PRAGMA FOREIGN_KEYS=ON;\nALTER TABLE b ADD COLUMN name TEXT;";
    assert_eq!(place.migrate(&[("0000_one", sql)], KeepEverything).unwrap(), ["0000_one"]);
    assert_eq!(place.rows("SELECT id, name FROM b"), ["Integer(1) Null"]);
}
