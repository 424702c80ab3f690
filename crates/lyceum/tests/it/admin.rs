//! `lyceum admin`, on both stores.

use std::fs;
use std::process::Command;

use lyceum_store::{Migration, StoreLocation};
use lyceum_testkit::fresh_database;

use crate::transcript::Place;

/// The setting of PostgreSQL's address.
const DATABASE: &str = "LYCEUM_STORE__DATABASE";

/// A place whose commands use SQLite, and one whose commands use a new PostgreSQL database.
fn places() -> [Place; 2] {
    [Place::new(), on_database(&[])]
}

/// The same for tests of other commands: on PostgreSQL, the migrations ran.
pub(crate) fn migrated_places() -> [Place; 2] {
    [Place::new(), on_database(&lyceum_api::migrations())]
}

fn on_database(migrations: &[Migration]) -> Place {
    let StoreLocation::Postgres(url) = fresh_database(migrations) else {
        unreachable!("a PostgreSQL database")
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs = lyceum_testkit::postgres::programs();
    let path = format!("{}:{}", path.to_string_lossy(), programs.display());
    Place::new().with(DATABASE, &url).with("PATH", &path)
}

#[test]
fn a_restore_brings_back_the_records_of_the_backup() {
    for place in places() {
        place.ok("client create before --id before");
        let (code, stdout, stderr) = place.run("admin backup copy.backup");
        assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
        assert!(
            stderr.starts_with("backed up to 'copy.backup'\nwarning: a backup does not contain"),
            "{stderr}"
        );
        place.ok("client create after --id after");

        let (code, printed) = place.fails("admin restore copy.backup");
        assert!(printed.contains("--force"), "{printed}");
        assert!([1, 5].contains(&code), "{code}");
        assert_eq!(ids(&place), ["before", "after"], "a refused restore changes nothing");

        place.ok("admin restore copy.backup --force");
        assert_eq!(ids(&place), ["before"]);
        place.ok("admin check");
    }
}

#[test]
#[ignore = "rest"]
fn a_restore_creates_a_missing_database() {
    for (from, to) in places().into_iter().zip(places()) {
        from.ok("client create x --id x");
        from.ok("admin backup copy.backup");
        fs::copy(from.path().join("copy.backup"), to.path().join("copy.backup")).unwrap();
        to.ok("admin restore copy.backup");
        assert_eq!(ids(&to), ["x"]);
    }
}

#[test]
#[ignore = "rest"]
fn the_log_of_a_former_database_is_not_applied_to_a_restored_one() {
    let (from, to) = (Place::new(), Place::new());
    from.ok("client create x --id x");
    from.ok("admin backup copy.backup");
    fs::copy(from.path().join("copy.backup"), to.path().join("copy.backup")).unwrap();
    fs::create_dir(to.path().join("lyceum-data")).unwrap();
    for log in ["lyceum.db-wal", "lyceum.db-shm"] {
        let left = to.path().join("lyceum-data").join(log);
        fs::write(&left, "of a database that was moved aside").unwrap();
        let (code, stderr) = to.fails("admin restore copy.backup --force");
        assert!(code == 5 && stderr.contains(log), "{stderr}");
        fs::remove_file(left).unwrap();
    }
    to.ok("admin restore copy.backup");
    assert_eq!(ids(&to), ["x"]);
    let (code, stderr) = to.fails("admin restore copy.backup --files");
    assert!(code == 2 && stderr.contains("one node"), "{stderr}");
}

#[test]
#[ignore = "rest"]
fn a_forced_restore_leaves_no_table_that_the_backup_lacks() {
    let place = on_database(&[]);
    place.ok("client create x --id x");
    let psql = |sql: &str| {
        let mut command = Command::new("psql");
        command.args([place.variable(DATABASE).unwrap(), "--set=ON_ERROR_STOP=1", "-tAc", sql]);
        let output = command.env("PATH", place.variable("PATH").unwrap()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    psql("DROP TABLE erased_ids");
    place.ok("admin backup copy.backup");
    psql("CREATE TABLE erased_ids (hash TEXT)");
    place.ok("client create y --id y");
    place.ok("admin restore copy.backup --force");
    assert_eq!(ids(&place), ["x"]);
    assert_eq!(psql("SELECT to_regclass('erased_ids') IS NULL"), "t\n");
}

fn ids(place: &Place) -> Vec<String> {
    let list = place.json("client list --json");
    let id = |client: &serde_json::Value| client["id"].as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(id).collect()
}

#[test]
fn existing_files_are_not_overwritten_and_missing_ones_are_reported() {
    for place in places() {
        place.ok("client create x");
        place.write("taken", "");
        let (code, stderr) = place.fails("admin backup taken");
        assert_eq!(
            (code, stderr.lines().next()),
            (5, Some("error: the file 'taken' already exists"))
        );
        let (code, stderr) = place.fails("admin restore missing");
        assert_eq!((code, stderr.as_str()), (4, "error: the file 'missing' does not exist\n"));
        place.write("text", "this is not a backup");
        let (code, stderr) = place.fails("admin restore text --force");
        assert_eq!(code, 1, "{stderr}");
        assert_eq!(place.json("client list --json").as_array().unwrap().len(), 1);
    }
}

#[test]
#[ignore = "rest"]
fn missing_tools_of_postgresql_are_named() {
    let place = on_database(&[]);
    place.ok("client create x");
    let mut command = place.command("admin backup copy");
    let output = command.env("PATH", "").output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(
        printed.starts_with("error: `pg_dump` is not installed; install PostgreSQL"),
        "{printed}"
    );
}

#[test]
fn a_sound_database_is_checked_and_purged() {
    for place in places() {
        place.ok("client create x");
        let (code, stdout, stderr) = place.run("admin check");
        assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
        assert_eq!(stderr, "checked 0 records: no errors\n");
        assert_eq!(
            place.json("admin check --json"),
            serde_json::json!({"records": 0, "files": 0, "faults": []})
        );
        let (code, _, stderr) = place.run("admin purge --older-than 30d");
        assert_eq!((code, stderr.as_str()), (0, "removed 0 records\n"));
    }
}

#[test]
fn keys_are_rotated_and_replaced() {
    for place in places() {
        place.ok("client create x");
        let (_, _, stderr) = place.run("admin rotate-keys");
        let rotated = "the new key signs tokens in 120 s; the former key still verifies tokens for 2 more hours\n";
        assert_eq!(stderr, rotated);
        fs::remove_file(place.path().join("lyceum-data/master.key")).unwrap();
        let (code, stderr) = place.fails("admin rotate-keys");
        assert!(stderr.contains("was encrypted with another master key"), "{stderr}");
        assert_eq!(code, 1);
        place.ok("admin rotate-keys --discard");
        place.ok("admin rotate-keys");
    }
}
