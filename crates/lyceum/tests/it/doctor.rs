//! `lyceum doctor`: each finding with its remedy.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use lyceum_core::time::{Clock, SystemClock};
use lyceum_hosting::nodes::report::{self, NodeReport, NodeState};
use lyceum_hosting::nodes::{self, Node, NodeSettings};
use lyceum_store::{Db, StoreLocation};
use lyceum_testkit::postgres::Cluster;
use lyceum_testkit::{both_stores, fresh_database};
use serde_json::Value;

use crate::served::{Served, Store};
use crate::transcript::Place;

const ANYWHERE: &str = "--listen 127.0.0.1:0";

/// The exit code and the findings of the doctor.
fn findings(place: &Place, flags: &str) -> (i32, Vec<Value>) {
    let (code, stdout, _) = place.run(&format!("doctor --json {flags}"));
    (code, serde_json::from_str(&stdout).unwrap())
}

/// The finding of a check that is not well alone.
fn only_ill(place: &Place, flags: &str, check: &str) -> (String, String) {
    let (code, findings) = findings(place, flags);
    assert_eq!(code, 1, "{findings:?}");
    for finding in &findings {
        assert_eq!(finding["state"] == "ok", finding["check"] != check, "{finding}");
        assert_eq!(finding["remedy"].is_null(), finding["check"] != check, "{finding}");
    }
    let ill = findings.iter().find(|finding| finding["check"] == check).unwrap();
    let text = |name: &str| ill[name].as_str().unwrap().to_owned();
    (text("found"), text("remedy"))
}

#[test]
fn a_fresh_machine_has_no_errors_and_is_not_changed() {
    let place = Place::new();
    let (code, findings) = findings(&place, ANYWHERE);
    let checks: Vec<_> = findings.iter().map(|finding| finding["check"].clone()).collect();
    assert_eq!(checks, ["clock", "disk", "port", "database", "time zones", "runtime"]);
    assert!(findings.iter().all(|finding| finding["state"] == "ok"), "{findings:?}");
    assert_eq!(code, 0);
    assert!(place.path().read_dir().unwrap().next().is_none(), "nothing was made");
}

#[test]
fn a_busy_port_is_reported() {
    let place = Place::new();
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = holder.local_addr().unwrap();
    let (found, remedy) = only_ill(&place, &format!("--listen {address}"), "port");
    assert!(found.contains(&format!("{address} is used by")), "{found}");
    assert!(found.contains(&format!("process {}", std::process::id())), "{found}");
    assert!(remedy.contains("--listen"), "{remedy}");
}

#[test]
fn a_running_server_is_not_an_error() {
    let served = Served::start(Store::Sqlite);
    let address = served.base.trim_start_matches("http://").to_owned();
    let (code, findings) = findings(&Place::new(), &format!("--listen {address}"));
    assert_eq!(code, 0, "{findings:?}");
    assert!(
        findings[2]["found"].as_str().unwrap().contains("a Lyceum server is running"),
        "{findings:?}"
    );
}

#[test]
fn a_file_in_the_place_of_the_data_folder_is_reported() {
    let place = Place::new();
    place.write("notes.txt", "not a folder");
    let (found, remedy) = only_ill(&place, &format!("{ANYWHERE} --data notes.txt/data"), "disk");
    assert!(found.contains("notes.txt") && remedy.contains("--data"), "{found}; {remedy}");
}

#[test]
fn a_database_of_a_newer_program_is_reported_and_not_changed() {
    both_stores(&[], |target| {
        let place = Place::new();
        let (target, flags) = match target {
            StoreLocation::Sqlite(_) => {
                std::fs::create_dir(place.path().join("data")).unwrap();
                (
                    StoreLocation::Sqlite(place.path().join("data/lyceum.db")),
                    "--data data".to_owned(),
                )
            }
            StoreLocation::Postgres(url) => {
                (target.clone(), format!("--data data --database {url}"))
            }
        };
        let flags = format!("{ANYWHERE} {flags}");
        let db = Db::open(&target, &lyceum_api::migrations()).unwrap();
        let (code, found) = findings(&place, &flags);
        assert_eq!(code, 0, "{found:?}");
        assert!(found[3]["found"].as_str().unwrap().contains("schema"), "{found:?}");

        let later = "INSERT INTO refinery_schema_history (version, name, applied_on, checksum)
                     VALUES (9999, 'later', '2026-01-01T00:00:00Z', '0')";
        db.write_blocking(|tx| tx.execute(later, &[]).map(drop)).unwrap();
        let (found, remedy) = only_ill(&place, &flags, "database");
        assert!(found.contains("9999") && remedy.contains("newer lyceum"), "{found}; {remedy}");
    });
}

#[test]
fn an_unreachable_database_is_reported() {
    let place = Place::new();
    let flags = format!("{ANYWHERE} --database postgres://nobody:secret-word@127.0.0.1:1/none");
    let (found, remedy) = only_ill(&place, &flags, "database");
    assert!(found.contains("cannot be opened") && !found.contains("secret-word"), "{found}");
    assert!(remedy.contains("address"), "{remedy}");
}

#[test]
fn a_runtime_that_does_not_run_is_reported() {
    let place = Place::new().with("LYCEUM_WORKERD", "/bin/false");
    let (found, remedy) = only_ill(&place, ANYWHERE, "runtime");
    assert!(found.contains("/bin/false") && remedy.contains("LYCEUM_WORKERD"), "{found}; {remedy}");
}

#[test]
fn old_time_zone_data_is_reported() {
    let place = Place::new();
    // A zone of one type, UTC, in the first version of the format (RFC 8536 3).
    let mut utc = b"TZif".to_vec();
    utc.extend([0; 16]);
    for count in [0_u32, 0, 0, 0, 1, 4] {
        utc.extend(count.to_be_bytes());
    }
    utc.extend([0; 6]);
    utc.extend(b"UTC\0");
    for zone in ["Asia/Almaty", "America/Asuncion"] {
        let file = place.path().join("zones").join(zone);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, &utc).unwrap();
    }
    let folder = place.path().join("zones").to_string_lossy().into_owned();
    let place = place.with("TZDIR", &folder);
    let (found, remedy) = only_ill(&place, ANYWHERE, "time zones");
    assert!(found.contains("Asia/Almaty") && remedy.contains("tzdata"), "{found}; {remedy}");
}

#[test]
fn an_unreachable_bucket_is_reported() {
    let place = Place::new()
        .with("LYCEUM_S3__BUCKET", "files")
        .with("LYCEUM_S3__ENDPOINT", "http://127.0.0.1:9");
    let (found, remedy) = only_ill(&place, ANYWHERE, "bucket");
    assert!(found.contains("the S3 bucket 'files' does not work"), "{found}");
    assert!(remedy.contains("[s3]"), "{remedy}");
}

#[test]
fn servers_that_share_the_database_are_checked_together() {
    let target = fresh_database(&lyceum_api::migrations());
    let StoreLocation::Postgres(url) = &target else { unreachable!("a PostgreSQL database") };
    let mut place = Place::new().with("LYCEUM_STORE__DATABASE", url);
    let servers = |place: &Place| {
        let (_, findings) = findings(place, ANYWHERE);
        let found = findings.iter().find(|finding| finding["check"] == "servers").unwrap();
        let text = |name: &str| found[name].as_str().unwrap().to_owned();
        (text("state"), text("found"))
    };
    let ok = |found: &str| ("ok".to_owned(), found.to_owned());
    assert_eq!(servers(&place), ok("no other server uses the database"));

    let db = Db::open(&target, &lyceum_api::migrations()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings = NodeSettings { name: "oak", address: "oak:4321", shares_blobs: false };
    let (oak, _alone) = Node::of_folder(folder.path(), &settings).unwrap();
    let address = "https://school.example.org";
    let report = |version, seconds_ago: u64| {
        let now = SystemClock.now();
        let at = Instant::now().checked_sub(Duration::from_secs(seconds_ago)).unwrap();
        let public_url = Some(address.to_owned());
        let (state, master_key) = (NodeState::Serving, String::new());
        let report = NodeReport { version, schema_version: 0, public_url, state, master_key };
        let stored = db.write_blocking(|tx| {
            nodes::note(tx, now, &oak)?;
            report::report(tx, at, &oak, &report)
        });
        stored.unwrap();
    };
    let own = env!("CARGO_PKG_VERSION");
    report(own, 0);
    let (state, found) = servers(&place);
    assert_eq!(state, "failed");
    let begin = "2 servers share the database, but 'server.public_url' is not set on ";
    assert!(found.starts_with(begin), "{found}");
    place.set("LYCEUM_SERVER__PUBLIC_URL", "https://x.example.org");
    let (state, found) = servers(&place);
    assert_eq!(state, "failed");
    assert!(found.contains("'server.public_url' differs: "), "{found}");
    place.set("LYCEUM_SERVER__PUBLIC_URL", address);
    assert_eq!(servers(&place), ok(&format!("other servers: oak ({own})")));
    report("0.0.1", 0);
    let found = format!("this program is {own}, but others run: oak (0.0.1)");
    assert_eq!(servers(&place), ("warning".to_owned(), found));
    report(own, 61);
    let found = format!("no longer reporting: oak ({own})");
    assert_eq!(servers(&place), ("warning".to_owned(), found));
}

#[test]
fn a_read_replica_that_is_the_primary_or_does_not_answer_is_reported() {
    let StoreLocation::Postgres(database) = fresh_database(&lyceum_api::migrations()) else {
        unreachable!()
    };
    let place = Place::new();
    let with_replica = |replica: &str| {
        let file = place.path().join("lyceum.toml");
        let settings = format!("[store]\ndatabase = '{database}'\nread_replica = '{replica}'\n");
        std::fs::write(&file, settings).unwrap();
        let (code, findings) = findings(&place, &format!("{ANYWHERE} --config {}", file.display()));
        let found = findings.into_iter().find(|finding| finding["check"] == "read replica");
        (code, found.unwrap()["found"].as_str().unwrap().to_owned())
    };
    let (code, found) = with_replica(&database);
    assert_eq!(code, 1);
    assert!(found.contains("it is not a standby but takes writes itself"), "{found}");
    let (code, found) = with_replica("postgres://nobody:secret-word@127.0.0.1:1/none");
    assert_eq!(code, 0);
    assert!(found.contains("it cannot be used") && !found.contains("secret-word"), "{found}");
}

#[test]
fn a_read_replica_is_reported_with_the_server_that_it_follows() {
    let primary = Cluster::start();
    let standby = Cluster::replica_of(&primary);
    let replica = Cluster::replica_of(&standby);
    let place = Place::new();
    let found = |replica: &Cluster| {
        let file = place.path().join("lyceum.toml");
        let (database, replica) = (primary.url(), replica.url());
        let settings = format!("[store]\ndatabase = '{database}'\nread_replica = '{replica}'\n");
        std::fs::write(&file, settings).unwrap();
        let (_, findings) = findings(&place, &format!("{ANYWHERE} --config {}", file.display()));
        let found = findings.into_iter().find(|finding| finding["check"] == "read replica");
        let found = found.unwrap();
        (found["state"].as_str().unwrap().to_owned(), found["found"].as_str().unwrap().to_owned())
    };
    let (state, text) = found(&standby);
    assert!(state == "ok" && text.ends_with("ms behind; it follows the primary"), "{text}");
    let (state, text) = found(&replica);
    let port = standby.url().rsplit(':').next().unwrap().replace("/postgres", "");
    let follows =
        format!("it follows 127.0.0.1:{port}, which is not the address in 'store.database'");
    assert!(state == "ok" && text.contains(&follows), "{text}");
    drop(standby);
    let (state, text) = found(&replica);
    assert!(state == "warning" && text.contains("it is not connected to a server"), "{text}");
}
