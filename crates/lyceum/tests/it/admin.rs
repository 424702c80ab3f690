//! `lyceum admin`, on both stores.

use std::fs;
use std::process::{Command, Stdio};

use lyceum_store::{Migration, StoreLocation};
use lyceum_testkit::fresh_database;

use crate::transcript::Place;

/// The setting of PostgreSQL's address.
const DATABASE: &str = "LYCEUM_STORE__DATABASE";

/// A place whose commands use SQLite, and one whose commands use a new PostgreSQL database.
fn places() -> [Place; 2] {
    [Place::new(), on_postgres()]
}

/// The same for tests of other commands: on PostgreSQL, the migrations ran.
pub(crate) fn migrated_places() -> [Place; 2] {
    [Place::new(), on_database(&lyceum_server::migrations())]
}

fn on_postgres() -> Place {
    let place = on_database(&[]);
    // Without any table: what the first command makes of it is part of the test.
    let emptied = Command::new("psql")
        .args([place.variable(DATABASE).unwrap(), "--quiet", "-c"])
        .arg("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        .env("PATH", place.variable("PATH").unwrap())
        .stderr(Stdio::null())
        .status();
    assert!(emptied.unwrap().success());
    place
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
fn backups_of_earlier_releases_are_checked_and_restored() {
    for (from, to) in places().into_iter().zip(places()) {
        from.ok("client create x --id x");
        let old = to.path().join("old.backup");
        match from.variable(DATABASE) {
            None => {
                let database = from.path().join("lyceum-data/lyceum.db");
                lyceum_store::restore(&database, &old, |_, _| ()).unwrap();
                to.ok("admin check old.backup");
            }
            Some(url) => {
                let mut dump = Command::new("pg_dump");
                dump.args(["--format=custom", "--no-owner", "--file"]).arg(&old).arg(url);
                let status = dump.env("PATH", from.variable("PATH").unwrap()).status();
                assert!(status.unwrap().success());
            }
        }
        let (code, _, stderr) = to.run("admin restore old.backup");
        assert_eq!(code, 0, "{stderr}");
        assert!(stderr.contains("does not contain files of deployed projects"), "{stderr}");
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
fn a_forced_restore_of_an_earlier_schema_leaves_no_later_table() {
    let place = on_postgres();
    place.ok("client create x --id x");
    let (url, path) = (place.variable(DATABASE).unwrap(), place.variable("PATH").unwrap());
    let ran = |mut command: Command| {
        let output = command.env("PATH", path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let mut earlier = Command::new("psql");
    earlier.args([url, "--set=ON_ERROR_STOP=1", "-c"]);
    earlier.arg(
        "DROP TABLE nodes, project_homes, deleted_projects, roster_org_below, outbox, outbox_topics, webhooks, \
             webhook_filters, webhook_sender, webhook_messages, webhook_deliveries, client_signing_secrets, \
             signed_request_nonces, erasures, erased_ids, class_sign_ins, class_secrets, lesson_answer_request, \
             class_apps, school_hours, qti_file, extra_time, event_young_facts, derivation_key, backups, \
             event_sums, event_place_chunks, installations, bucket_marks; \
         DELETE FROM event_runs WHERE name = 'places'; \
         ALTER TABLE game_players DROP COLUMN highest_xp; \
         ALTER TABLE clients DROP COLUMN reach; \
         ALTER TABLE people DROP COLUMN reach, DROP COLUMN roster_user, DROP COLUMN language; \
         ALTER TABLE lesson_attempt DROP COLUMN time_limit_ms, DROP COLUMN allows_late, DROP COLUMN clock_ms; \
         DROP INDEX people_staff, event_refusals_replayed; \
         ALTER TABLE sessions DROP COLUMN class_id; \
         ALTER TABLE imports DROP COLUMN is_forgotten; \
         ALTER TABLE api_keys DROP COLUMN reach; \
         DROP INDEX enrollments_own_goal; \
         ALTER TABLE enrollments DROP COLUMN begin_date, DROP COLUMN end_date; \
         DELETE FROM refinery_schema_history WHERE version >= 86",
    );
    ran(earlier);
    let mut dump = Command::new("pg_dump");
    let old = place.path().join("old.backup");
    dump.args(["--format=custom", "--no-owner", "--file"]).arg(&old).arg(url);
    ran(dump);
    place.ok("client create y --id y");
    place.ok("admin restore old.backup --force");
    assert_eq!(ids(&place), ["x"]);
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
    let place = on_postgres();
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
