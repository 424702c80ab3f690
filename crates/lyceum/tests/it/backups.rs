//! Backups of the whole server, made under load and restored elsewhere; and projects that move to another node.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::deploy::{client, place_at, staging};
use crate::hosted::Moto;
use crate::served::{Served, Store, rest_on_both_stores};
use crate::whole_project;

const SLUG: &str = "word-rivers";

/// Lists and pages whose answers are compared.
const READ: &[&str] = &[
    "/api/projects",
    "/api/projects/word-rivers",
    "/api/projects/word-rivers/state",
    "/api/projects/word-rivers/deployments",
    "/api/projects/word-rivers/audit",
    "/api/projects/word-rivers/database/points",
    "/api/projects/word-rivers/bucket",
    "/api/games/word-rivers",
    "/ims/oneroster/rostering/v1p2/orgs",
    "/_projects/word-rivers/",
    "/_projects/word-rivers/api/summary",
    "/_projects/word-rivers/api/scores",
];

/// Every answer by its path, without the port of the server that gave it; the objects of the bucket, too.
fn answers(served: &Served) -> BTreeMap<String, String> {
    let client = client(served);
    let port = served.base.rsplit(':').next().unwrap();
    let read =
        |path: &str| client.get(path).expect(200).text().replace(&format!(":{port}"), ":PORT");
    let mut answers: BTreeMap<String, String> =
        READ.iter().map(|path| ((*path).to_owned(), read(path))).collect();
    for key in keys(&client) {
        let path = format!("/api/projects/{SLUG}/bucket/object?key={key}");
        answers.insert(path.clone(), read(&path));
    }
    answers
}

/// The keys of all objects of the bucket.
fn keys(client: &TestClient) -> Vec<String> {
    let (mut keys, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/projects/{SLUG}/bucket?limit=1000{cursor}");
        let page: Value = client.get(&path).expect(200).json();
        let objects = page["objects"].as_array().unwrap();
        keys.extend(objects.iter().map(|object| object["key"].as_str().unwrap().to_owned()));
        match page["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={}", next.replace('+', "%2B")),
            None => return keys,
        }
    }
}

fn put(client: &TestClient, key: &str, text: &str) {
    let path = format!("/api/projects/{SLUG}/bucket/object?key={key}");
    client.put(&path).body("application/octet-stream", text).expect(200);
}

fn add(client: &TestClient, points: u32) {
    let score = json!({ "player": format!("p{points}"), "points": points });
    client.post(&format!("/_projects/{SLUG}/api/scores")).json(&score).expect(201);
}

fn org(client: &TestClient, id: &str) {
    let body = json!({ "org": { "sourcedId": id, "name": id, "type": "school" } });
    client.post("/ims/oneroster/rostering/v1p2/orgs").json(&body).expect(201);
}

rest_on_both_stores!(a_backup_under_load_gives_the_same_responses_after_its_restore);

fn a_backup_under_load_gives_the_same_responses_after_its_restore(store: Store) {
    let is_postgres = matches!(store, Store::Postgres(_));
    let served = staging(store);
    let place = place_at(&served);
    whole_project::write(&place);
    place.ok("deploy --yes");
    let own = client(&served);
    (0..20).for_each(|n| add(&own, n));
    (0..20).for_each(|n| put(&own, &format!("kept/{n}"), &format!("object {n}")));
    org(&own, "first");
    let (loaded, done) = (served.file("loaded.backup"), AtomicBool::new(false));
    let [scores, objects, orgs] = [(); 3].map(|()| client(&served));
    let runs = || !done.load(Relaxed);
    thread::scope(|scope| {
        let stop = Stop(&done);
        scope.spawn(|| {
            for n in (20..).take_while(|_| runs()) {
                add(&scores, n);
            }
        });
        scope.spawn(|| {
            for n in (0..).take_while(|_| runs()) {
                put(&objects, &format!("new/{n}"), &format!("text {n}"));
                let keys = json!({ "keys": [format!("new/{}", n / 2)] });
                objects
                    .post(&format!("/api/projects/{SLUG}/bucket/delete"))
                    .json(&keys)
                    .expect(204);
            }
        });
        scope.spawn(|| {
            for n in (0..).take_while(|_| runs()) {
                org(&orgs, &format!("org{n}"));
            }
        });
        let created = served.run(&["admin", "backup", loaded.to_str().unwrap(), "--json"]);
        drop(stop);
        let created: Value = serde_json::from_str(&created).unwrap();
        assert_eq!(
            (&created["covers"]["projects"], &created["missing"]),
            (&json!([SLUG]), &json!([])),
            "{created}"
        );
    });
    let checked = served.run(&["admin", "check", loaded.to_str().unwrap(), "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&checked).unwrap()["faults"], json!([]));

    let whole = served.file("whole.backup");
    served.run(&["admin", "backup", whole.to_str().unwrap()]);
    let before = answers(&served);
    let back = restored(&served, &whole, is_postgres);
    assert_eq!(answers(&back), before);
    add(&client(&back), 1_000_000);
    let sound = back.run(&["admin", "check", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&sound).unwrap()["faults"], json!([]), "{sound}");
    // Nothing is replaced while a server has it open.
    let again = back.fails(&["admin", "restore", whole.to_str().unwrap(), "--force"]);
    assert!(again.contains("is in use"), "{again}");

    let back = restored(&served, &loaded, is_postgres);
    let found = answers(&back);
    for (path, answer) in &before {
        let is_kept = path.contains("key=kept/");
        assert!(!is_kept || found.get(path) == Some(answer), "{path} is as it was");
    }
    let scores: Value = serde_json::from_str(&found["/_projects/word-rivers/api/scores"]).unwrap();
    let ids: Vec<_> =
        scores.as_array().unwrap().iter().map(|row| row["id"].as_u64().unwrap()).collect();
    assert!(
        ids.len() >= 20 && ids.iter().copied().eq(1..=ids.len() as u64),
        "no row is torn: {ids:?}"
    );
    damaged_backups_are_reported(&served, &loaded);
}

/// Stops those who write, also when the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// A server on a new folder, and a new database, from a backup.
fn restored(from: &Served, backup: &Path, is_postgres: bool) -> Served {
    let store = if is_postgres { Store::postgres_for_restore() } else { Store::Sqlite };
    // A new database of the tests has a table already.
    let force: &[&str] = if is_postgres { &["--force"] } else { &[] };
    Served::prepared(store, &["--env", "staging"], |data| {
        let restore = ["admin", "restore", backup.to_str().unwrap()];
        data.run(&[&restore[..], force].concat());
        fs::copy(from.file("data/master.key"), data.file("data/master.key")).unwrap();
    })
}

fn damaged_backups_are_reported(served: &Served, backup: &Path) {
    let bytes = fs::read(backup).unwrap();
    let damaged = served.file("damaged.backup");
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 0x10;
    for (what, bytes) in [("flipped", &flipped[..]), ("short", &bytes[..bytes.len() / 3 * 2])] {
        fs::write(&damaged, bytes).unwrap();
        let stderr = served.fails(&["admin", "check", damaged.to_str().unwrap()]);
        let names_place = ["database", "projects/", "blobs/", "the entry", "beginning", "manifest"];
        assert!(names_place.iter().any(|place| stderr.contains(place)), "{what}: {stderr}");
        let empty = served.file("elsewhere");
        let stderr = served.fails(&[
            "admin",
            "restore",
            damaged.to_str().unwrap(),
            "--data",
            empty.to_str().unwrap(),
        ]);
        assert!(stderr.contains("nothing was restored"), "{what}: {stderr}");
        assert!(!empty.join("lyceum.db").exists() && !empty.join("hosting").exists(), "{what}");
    }
}

#[test]
#[ignore = "rest"]
fn a_backup_with_files_in_s3_is_restored_on_a_server_with_that_bucket() {
    const STAGING: &[&str] = &["--env", "staging"];
    let moto = Moto::start();
    let settings = moto.settings().map(|(name, value)| (name, &*value.to_owned().leak()));
    let settings: &'static _ = settings.to_vec().leak();
    let served = Served::prepared_with(Store::Sqlite, STAGING, settings, |_| ());
    let place = place_at(&served);
    whole_project::write(&place);
    place.ok("deploy --yes");
    let own = client(&served);
    (0..5).for_each(|n| add(&own, n));
    // So much, and so mixed, that a backup which held it would be large.
    let mixed = |n: u32| char::from(b' ' + (n.wrapping_mul(2_654_435_761) >> 24) as u8 % 95);
    let large: String = (0..2_000_000).map(mixed).collect();
    put(&own, "large", &large);
    let before = answers(&served);

    let backup = served.file("whole.backup");
    let created = served.run(&["admin", "backup", backup.to_str().unwrap(), "--json"]);
    let created: Value = serde_json::from_str(&created).unwrap();
    let covers = &created["covers"];
    assert_eq!((&covers["projects"], &covers["s3Bucket"]), (&json!([SLUG]), &json!("files")));
    assert_eq!(created["missing"], json!([]));
    let bytes = created["bytes"].as_u64().unwrap();
    assert!(bytes < 1_000_000, "objects and versions are in the bucket alone: {bytes} bytes");

    let elsewhere = Served::start(Store::Sqlite);
    let folder = elsewhere.file("elsewhere");
    let restore = ["admin", "restore", backup.to_str().unwrap()];
    let stderr = elsewhere.fails(&[&restore[..], &["--data", folder.to_str().unwrap()]].concat());
    assert!(
        stderr.contains("bucket 'files'") && stderr.contains("nothing was restored"),
        "{stderr}"
    );

    let back = Served::prepared_with(Store::Sqlite, STAGING, settings, |data| {
        data.run(&restore);
        fs::copy(served.file("data/master.key"), data.file("data/master.key")).unwrap();
    });
    drop(served);
    assert_eq!(answers(&back), before);
    let sound = back.run(&["admin", "check", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&sound).unwrap()["faults"], json!([]), "{sound}");
    add(&client(&back), 1_000_000);
}

#[test]
#[ignore = "rest"]
fn a_project_moves_to_another_node_and_both_answer_before_and_after() {
    // A database of SQLite has one node.
    let settings = &[("LYCEUM_SERVER__PUBLIC_URL", "http://school.localhost")];
    let oak = Served::prepared_with(Store::postgres(), &["--env", "staging"], settings, |_| ());
    let place = place_at(&oak);
    whole_project::write(&place);
    place.ok("deploy --yes");
    add(&client(&oak), 7);
    let elm = oak.beside();
    let mut there = place;
    there.set("LYCEUM_URL", &elm.base);
    for line in ["deploy --yes", "deploy --dry-run", "bucket list --remote", "deployments list"] {
        there.ok(line);
    }
    let scores = |node: &Served| client(node).get("/_projects/word-rivers/api/scores").send();
    assert_eq!(scores(&elm).text(), scores(&oak).text());
    assert!(!elm.file("data/hosting/projects/word-rivers").exists());
    assert!(elm.fails(&["admin", "project", "adopt", SLUG]).contains("is missing"));

    let oak = oak.restart();
    let before = scores(&oak).text();
    let moved = |name: &str| {
        let from = oak.file("data/hosting").join(name);
        let to = elm.file("data/hosting").join(name);
        fs::create_dir_all(&to).unwrap();
        let status =
            std::process::Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status();
        assert!(status.unwrap().success());
    };
    ["projects/word-rivers", "blobs"].into_iter().for_each(moved);
    elm.run(&["admin", "project", "adopt", SLUG]);
    assert_eq!(scores(&elm).text(), before);
    // The former node notices it when it renews its lease.
    let begun = Instant::now();
    while scores(&oak).status == 503 {
        assert!(begun.elapsed() < Duration::from_secs(10), "{}", oak.log());
    }
    assert_eq!(scores(&oak).text(), before);
    there.ok("deploy --yes");
    let listed = elm.run(&["admin", "project", "list"]);
    assert!(listed.contains(elm.base.trim_start_matches("http://")), "{listed}");
}

#[test]
#[ignore = "rest"]
fn several_nodes_are_restored_one_after_the_other() {
    // A database of SQLite has one node.
    let oak = staging(Store::postgres());
    let place = place_at(&oak);
    whole_project::write(&place);
    place.ok("deploy --yes");
    add(&client(&oak), 7);
    let before = answers(&oak);
    let elm = oak.beside();
    let [of_elm, of_oak] = ["elm.backup", "oak.backup"].map(|name| oak.file(name));
    elm.run(&["admin", "backup", of_elm.to_str().unwrap()]);
    oak.run(&["admin", "backup", of_oak.to_str().unwrap()]);
    let elm = restored(&oak, &of_elm, true);
    assert_eq!(client(&elm).get("/_projects/word-rivers/api/scores").send().status, 503);
    let oak = elm.beside_prepared(|data| {
        data.run(&["admin", "restore", of_oak.to_str().unwrap(), "--files"]);
    });
    assert_eq!(answers(&oak), before);
    // The first node forwards to it.
    assert_eq!(client(&elm).get("/_projects/word-rivers/api/scores").send().status, 200);
}

#[test]
#[ignore = "rest"]
fn a_server_backs_itself_up_to_s3_and_an_empty_machine_restores_it() {
    let moto = Moto::start();
    let key = "5a".repeat(32);
    let settings = [
        ("LYCEUM_S3__ENDPOINT", moto.endpoint()),
        ("LYCEUM_S3__ACCESS_KEY", "key"),
        ("LYCEUM_S3__SECRET_KEY", "secret"),
        ("LYCEUM_BACKUP__TO", "s3://files/backups"),
        ("LYCEUM_BACKUP__KEY", &key),
    ];
    let settings = settings.map(|(name, value)| (name, &*value.to_owned().leak()));
    let settings: &'static _ = settings.to_vec().leak();
    let served = Served::prepared_with(Store::Sqlite, &[], settings, |data| {
        data.run(&["client", "create", "early", "--id", "early"]);
    });
    let doctor = || {
        let found = served.run(&["doctor", "--listen", "127.0.0.1:0", "--json"]);
        let found: Vec<Value> = serde_json::from_str(&found).unwrap();
        let backup = found.into_iter().find(|finding| finding["check"] == "backup").unwrap();
        (backup["state"].clone(), backup["found"].as_str().unwrap().to_owned())
    };
    let since = Instant::now();
    let found = loop {
        let (state, found) = doctor();
        if found.contains("restored as a trial") {
            assert_eq!(state, "ok");
            break found;
        }
        assert!(since.elapsed() < Duration::from_mins(1), "{found}\n{}", served.log());
    };
    let file = &found[found.find("s3://files/backups/lyceum-").expect("its address")..];
    served.run(&["admin", "check", file]);
    let elsewhere = Served::start(Store::Sqlite);
    let plain = elsewhere.file("plain.backup");
    let plain = plain.to_str().unwrap();
    elsewhere.run(&["admin", "backup", plain]);
    let refused = served.fails(&["admin", "check", plain]);
    assert!(refused.contains("is not encrypted") && refused.contains("--unencrypted"), "{refused}");
    served.run(&["admin", "check", plain, "--unencrypted"]);
    let refused = served.fails(&["admin", "check", file, "--unencrypted"]);
    assert!(refused.contains("leave out --unencrypted"), "{refused}");

    let empty = served.file("elsewhere");
    let restore = ["admin", "restore", file, "--data", empty.to_str().unwrap()];
    served.run(&restore);
    let clients = served.run(&["client", "list", "--json", "--data", empty.to_str().unwrap()]);
    assert!(clients.contains("\"early\""), "{clients}");
    let missing = served.fails(&["admin", "restore", "s3://files/backups/none", "--force"]);
    assert!(missing.contains("the file 's3://files/backups/none' does not exist"), "{missing}");
}

#[test]
#[ignore = "rest"]
fn a_full_disk_is_reported_and_leaves_no_file() {
    let served = Served::start(Store::Sqlite);
    let (file, partial) = (served.file("full.backup"), served.file("full.backup.partial"));
    // Writing to this device fails as on a full disk.
    std::os::unix::fs::symlink("/dev/full", &partial).unwrap();
    let stderr = served.fails(&["admin", "backup", file.to_str().unwrap()]);
    assert!(stderr.contains("the server's disk is full"), "{stderr}");
    assert!(!file.exists() && partial.symlink_metadata().is_err(), "nothing is left");
    served.run(&["admin", "backup", file.to_str().unwrap()]);
}
