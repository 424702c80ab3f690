//! The schema part of a plan: changes, losses, and the copy that is changed.

use std::path::PathBuf;

use lyceum_core::ProblemKind;
use lyceum_core::time::Timestamp;
use lyceum_project::schema::{self, MigrationFile, Schema};
use lyceum_project::{DatabaseState, DatabaseWish, SchemaWish, change};
use rusqlite::Connection;
use tempfile::TempDir;

const USERS: &str = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)";

struct Place(TempDir);

impl Place {
    fn new(sql: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        Connection::open(place.live()).unwrap().execute_batch(sql).unwrap();
        place
    }

    fn live(&self) -> PathBuf {
        self.0.path().join("live.db")
    }

    fn copy(&self) -> PathBuf {
        self.0.path().join("copy.db")
    }

    fn state(&self) -> DatabaseState {
        DatabaseState {
            ddl: schema::read(&self.live()).unwrap().ddl(),
            applied: schema::applied(&self.live()).unwrap(),
            declared: None,
        }
    }

    fn make(&self, wish: &DatabaseWish) -> lyceum_core::Result<()> {
        let now = Timestamp::from_milliseconds(0);
        schema::apply_to_copy(&self.live(), &self.copy(), (&self.state(), wish), now)
    }

    fn count(&self, sql: &str) -> i64 {
        Connection::open(self.copy()).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

fn push(ddl: &str) -> DatabaseWish {
    let schema = SchemaWish::Push { ddl: ddl.to_owned(), renames: Vec::new() };
    DatabaseWish { schema, accept_data_loss: false }
}

fn migrate(files: &[(&str, &str)]) -> DatabaseWish {
    let file = |(tag, sql): &(&str, &str)| MigrationFile { tag: (*tag).into(), sql: (*sql).into() };
    let schema = SchemaWish::Migrate { files: files.iter().map(file).collect() };
    DatabaseWish { schema, accept_data_loss: false }
}

#[test]
fn a_change_can_be_repeated_on_a_copy_while_the_live_file_stays() {
    let place = Place::new(&format!("{USERS}; INSERT INTO users VALUES (1, 'ada')"));
    let wish = push("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)");
    place.make(&wish).unwrap();
    Connection::open(place.live())
        .unwrap()
        .execute_batch("INSERT INTO users VALUES (2, 'b')")
        .unwrap();
    place.make(&wish).unwrap();
    assert_eq!(place.count("SELECT count(*) FROM users WHERE age IS NULL"), 2);
    assert_eq!(schema::read(&place.live()).unwrap(), Schema::of(USERS).unwrap());

    // The same change of a database that does not exist yet.
    let empty = Place(tempfile::tempdir().unwrap());
    empty.make(&wish).unwrap();
    empty.make(&wish).unwrap();
    assert_eq!(empty.count("SELECT count(age) FROM users"), 0);
    assert!(!empty.live().exists());
}

#[test]
fn losses_are_named_and_refused() {
    let place = Place::new(&format!("{USERS}; INSERT INTO users VALUES (1, 'ada')"));
    let mut wish = push("CREATE TABLE users (id INTEGER PRIMARY KEY)");
    let planned = change(&place.state(), &wish).unwrap().unwrap();
    assert_eq!(planned.losses, ["the column 'users.name' is dropped with its values"]);
    assert_eq!(place.make(&wish).unwrap_err().kind, ProblemKind::Conflict);
    wish.accept_data_loss = true;
    place.make(&wish).unwrap();
    assert_eq!(place.count("SELECT count(*) FROM users"), 1);

    // Losses of migrations that the schemas show, and those that only the rows show.
    let drops = migrate(&[("0", "ALTER TABLE users DROP COLUMN name")]);
    let planned = change(&place.state(), &drops).unwrap().unwrap();
    assert_eq!((planned.losses.len(), planned.adopts), (1, false));
    let renames = migrate(&[("0", "ALTER TABLE users RENAME COLUMN name TO nick")]);
    assert!(change(&place.state(), &renames).unwrap().unwrap().losses.is_empty());
    let deletes = migrate(&[("0", "DELETE FROM users; CREATE TABLE b (id)")]);
    let message = place.make(&deletes).unwrap_err().message;
    assert!(message.contains("'users' would have 0 rows instead of 1"), "{message}");
}

#[test]
fn migrations_that_match_the_database_are_recorded_and_not_run() {
    let place = Place::new(&format!("{USERS}; INSERT INTO users VALUES (1, 'ada')"));
    let wish = migrate(&[("0_users", USERS)]);
    let planned = change(&place.state(), &wish).unwrap().unwrap();
    assert!(planned.adopts && planned.migrations == ["0_users"]);
    place.make(&wish).unwrap();
    assert_eq!(place.count("SELECT count(*) FROM users"), 1);
    std::fs::copy(place.copy(), place.live()).unwrap();
    assert_eq!(change(&place.state(), &wish).unwrap(), None);
    let more = migrate(&[("0_users", USERS), ("1_age", "ALTER TABLE users ADD age INTEGER")]);
    assert_eq!(change(&place.state(), &more).unwrap().unwrap().migrations, ["1_age"]);
    let other = migrate(&[("0_users", "CREATE TABLE users (id)")]);
    assert_eq!(change(&place.state(), &other).unwrap_err().kind, ProblemKind::Conflict);
}

#[test]
fn changes_by_others_are_reported() {
    let place = Place::new(&format!("{USERS}; CREATE TABLE logs (line)"));
    let state = DatabaseState { declared: Some(USERS.to_owned()), ..place.state() };
    let planned = change(&state, &push(USERS)).unwrap().unwrap();
    assert_eq!(planned.drift, ["CREATE TABLE logs (line)"]);
    assert_eq!(planned.losses, ["the table 'logs' is dropped, with all its rows"]);
}

#[test]
fn rows_that_break_the_new_schema_are_reported_before_the_change() {
    let place = Place::new(
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE posts (id INTEGER PRIMARY KEY, author INTEGER);
         INSERT INTO users VALUES (1, 'ada'), (2, NULL), (3, 'ada'); INSERT INTO posts VALUES (1, 1), (2, 9), (3, NULL)",
    );
    let problems =
        |ddl: &str| schema::problems(&place.live(), &Schema::of(ddl).unwrap(), &[]).unwrap();
    let problem_texts = problems(
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age INTEGER NOT NULL);
         CREATE TABLE posts (id INTEGER PRIMARY KEY, author INTEGER REFERENCES users)",
    );
    assert_eq!(
        problem_texts,
        [
            "1 rows of 'posts' refer to rows of 'users' that do not exist",
            "'users.name' must not be null, and is in 1 rows; fill them first",
            "the new column 'users.age' must not be null and has no default, and there are 3 rows; give it a default",
            "'users (name)' must be unique, and 1 values occur more than once",
        ]
    );
    assert!(
        problems(
            "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age INTEGER NOT NULL DEFAULT 1)"
        )
        .is_empty()
    );
    let index = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT); CREATE UNIQUE INDEX by_name ON users (name)";
    assert_eq!(
        problems(index),
        ["'users (name)' must be unique, and 1 values occur more than once"]
    );
}

#[test]
fn renames_are_kept_only_for_servers_where_they_apply() {
    let ddl = "CREATE TABLE users (id INTEGER PRIMARY KEY, nick TEXT)";
    let wish = SchemaWish::Push { ddl: ddl.into(), renames: vec!["users.name=nick".into()] };
    let state = |ddl: &str| DatabaseState { ddl: ddl.into(), ..DatabaseState::default() };
    assert_eq!(wish.clone().for_state(&state(USERS)).unwrap(), wish);
    let SchemaWish::Push { renames, .. } = wish.for_state(&state(ddl)).unwrap() else { panic!() };
    assert!(renames.is_empty());
}
