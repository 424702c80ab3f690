//! A person is exported and erased: every area has strings that exist nowhere else, put there by the real routes.

mod load;
pub(crate) mod school;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_testkit::full_size;
use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use self::school::{ID, OTHER, ROSTERING, STRINGS, School, envelope};
use crate::http::Http;
use crate::served::{Served, Store, on_both_stores, rest_on_both_stores};

on_both_stores!(everything_about_a_person_is_exported_and_erased);
rest_on_both_stores!(
    an_erasure_continues_after_every_kill_and_nothing_comes_back,
    administrators_export_and_erase_over_the_api,
    persons_are_erased_under_load,
);

fn everything_about_a_person_is_exported_and_erased(store: Store) {
    let database = match &store {
        Store::Postgres(address) => Some(address.clone()),
        Store::Sqlite => None,
    };
    let school = School::start(store);
    let badge = school.populate();
    let served = &school.served;

    verifies(&school, &badge, false);
    let exported = exported(served);
    for (area, string) in STRINGS.iter().filter(|(area, _)| *area != "rejected event") {
        assert!(
            exported.values().any(|text| text.contains(string)),
            "{area}: '{string}' is not exported"
        );
    }

    let (totals, sums) = (school.totals(), school.sums());
    #[expect(clippy::cast_precision_loss, reason = "there are few events")]
    let xp = 1.5 * (school::event_count() / 2 + 1) as f64;
    assert!(sums["the person"].contains(&xp.to_string()), "{sums:?}");
    println!("{sums:#?}");
    let dry: Value =
        serde_json::from_str(&served.run(&["admin", "person", "erase", ID, "--dry-run", "--json"]))
            .unwrap();
    assert_eq!(dry["erase"]["users"], 1, "{dry}");
    assert!(served.fails(&["admin", "person", "erase", ID]).contains("--yes"));
    let erased: Value =
        serde_json::from_str(&served.run(&["admin", "person", "erase", ID, "--yes", "--json"]))
            .unwrap();
    println!("{erased:#}");
    let pseudonym = erased["erasure"]["pseudonym"].as_str().unwrap();
    assert!(erased["historyEnds"].as_str().unwrap().ends_with('Z'));

    assert_eq!(school.totals(), totals);
    assert_eq!(school.sums(), sums);
    let again: Value =
        serde_json::from_str(&served.run(&["admin", "person", "erase", ID, "--yes", "--json"]))
            .unwrap();
    assert_eq!(again, erased, "erasing again changes nothing");
    served.run(&["events", "rebuild", "--json"]);
    assert_eq!(school.sums(), sums, "a rebuild gives other facts");
    let checked: Value = serde_json::from_str(&served.run(&["admin", "check", "--json"])).unwrap();
    assert_eq!(checked["faults"], json!([]));
    is_revoked(&school, &badge);
    comes_not_back(&school);
    is_not_imported(&school);
    in_no_event(&school);
    let other = school.read(&format!("{ROSTERING}/users/{OTHER}"));
    assert_eq!(other["user"]["agents"][0]["sourcedId"], pseudonym);
    assert_eq!(other["user"]["metadata"]["buddy"], format!("works with {pseudonym}."));

    let backup = served.file("new.backup");
    served.run(&["admin", "backup", backup.to_str().unwrap()]);
    let unpacked = served.file("unpacked");
    unpack(&backup, &unpacked);
    let mut folders = vec![served.file("data"), unpacked];
    folders.extend(database.map(|address| pages_of(&address)));
    for folder in folders {
        nowhere_in(&folder, &STRINGS);
    }
}

/// The command and the server are killed in the middle, while others send events of both pupils.
fn an_erasure_continues_after_every_kill_and_nothing_comes_back(store: Store) {
    let kills = if full_size() { 12 } else { 3 };
    let database = match &store {
        Store::Postgres(address) => Some(address.clone()),
        Store::Sqlite => None,
    };
    let mut school = School::start(store);
    school.populate();
    school.more_events(if full_size() { 20_000 } else { 3000 });
    let sums = school.sums();
    for round in 0..kills {
        let mut erasing = school.served.begin(&["admin", "person", "erase", ID, "--yes"]);
        let since = Instant::now();
        while school.sends_event_of_person() != 409 {
            assert!(since.elapsed() < Duration::from_mins(1), "the erasure was not begun");
        }
        // A later kill meets a later step.
        sleep(Duration::from_millis(30 * round));
        erasing.kill().unwrap();
        erasing.wait().unwrap();
        if round == 1 {
            school.served.kill();
            school = school.again();
        }
        assert_eq!(school.sends_event_of_person(), 409);
    }
    let erased = school.served.run(&["admin", "person", "erase", ID, "--yes", "--json"]);
    let erased: Value = serde_json::from_str(&erased).unwrap();
    assert_eq!(erased["erasure"]["phase"], "done");
    let others = |sums: &BTreeMap<String, String>| sums[OTHER].clone();
    assert_eq!(others(&school.sums()), others(&sums));
    school.served.run(&["events", "rebuild", "--json"]);
    assert_eq!(others(&school.sums()), others(&sums));
    comes_not_back(&school);
    in_no_event(&school);
    let mut folders = vec![school.served.file("data")];
    folders.extend(database.map(|address| pages_of(&address)));
    for folder in folders {
        nowhere_in(&folder, &STRINGS);
    }
}

fn administrators_export_and_erase_over_the_api(store: Store) {
    let school = School::start(store);
    school.populate();
    let everything = school.client.clone();
    everything.get(&format!("/api/people/{ID}/export")).expect(403);
    everything.post(&format!("/api/people/{ID}/erase")).expect(403);
    let key = school.served.client("platform", &["lyceum/people.manage"]);
    let http = Http::sign_in(&school.served.base, &key, None);
    let granted = TestClient::new(&school.served.base).with_token(http.token());
    let hook = json!({ "name": "Erasures", "targetUrl": "https://example.org/hook", "secret": "s", "active": true });
    let hook: Value = everything.post("/webhooks").json(&hook).expect(201).json();
    granted.get("/api/people/nobody/export").expect(404);
    granted.get(&format!("/api/people/{ID}/erasure")).expect(404);
    let zip = granted.get(&format!("/api/people/{ID}/export")).expect(200);
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(zip.body)).unwrap();
    assert!(zip.by_name("roster/users.ndjson").is_ok());

    let begun: Value = granted.post(&format!("/api/people/{ID}/erase")).expect(202).json();
    assert_eq!(begun["historyEnds"], json!(null));
    let ended = ended(&granted, ID);
    assert_eq!(ended["pseudonym"], begun["pseudonym"]);
    assert!(ended["historyEnds"].is_string());
    is_announced(&everything, hook["webhook"]["id"].as_str().unwrap());
    comes_not_back(&school);
    in_no_event(&school);
}

fn persons_are_erased_under_load(store: Store) {
    load::persons_are_erased(store);
}

/// The erasure of a person when it has ended.
fn ended(client: &TestClient, id: &str) -> Value {
    let since = Instant::now();
    loop {
        let state: Value = client.get(&format!("/api/people/{id}/erasure")).expect(200).json();
        if state["phase"] == "done" {
            return state;
        }
        assert!(since.elapsed() < Duration::from_mins(5), "{state:#}");
        sleep(Duration::from_millis(50));
    }
}

/// Programs with a webhook learn that they must erase the person, too.
fn is_announced(client: &TestClient, webhook: &str) {
    let since = Instant::now();
    let path = format!("/webhooks/{webhook}/deliveries");
    loop {
        let log: Value = client.get(&path).expect(200).json();
        let mut deliveries = log["deliveries"].as_array().unwrap().iter();
        if deliveries.any(|one| one["type"] == "user.erased" && one["object"] == ID) {
            return;
        }
        assert!(since.elapsed() < Duration::from_mins(1), "{log:#}");
        sleep(Duration::from_millis(50));
    }
}

/// The files of the export by name.
fn exported(served: &Served) -> BTreeMap<String, String> {
    let zip = served.file("person.zip");
    served.run(&["admin", "person", "export", ID, "-o", zip.to_str().unwrap()]);
    let mut zip = zip::ZipArchive::new(File::open(zip).unwrap()).unwrap();
    let mut files = BTreeMap::new();
    for at in 0..zip.len() {
        let mut file = zip.by_index(at).unwrap();
        let name = file.name().unwrap().into_owned();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        files.insert(name, text);
    }
    for name in ["roster/users.ndjson", "events/superseded.ndjson"] {
        assert!(files["index.html"].contains(&format!("<a href=\"{name}\">")));
    }
    files
}

/// Panics if not every check of the badge passes, except that of the revocation as told.
fn verifies(school: &School, badge: &Value, is_revoked: bool) {
    let report: Value = school.client.post("/verify").json(badge).expect(200).json();
    let report = &report["verification"];
    assert_eq!(report["verified"], !is_revoked, "{report:#}");
    let checks = report["checks"].as_array().unwrap();
    let failed: Vec<_> = checks.iter().filter(|check| check["outcome"] == "failed").collect();
    let names: Vec<_> = failed.iter().map(|check| &check["name"]).collect();
    assert_eq!(names, if is_revoked { vec!["status"] } else { Vec::new() }, "{report:#}");
}

/// The badge is revoked, and the server no longer shows it.
fn is_revoked(school: &School, badge: &Value) {
    verifies(school, badge, true);
    let id = badge["id"].as_str().unwrap().rsplit('/').next().unwrap();
    school.client.get(&format!("/ims/ob/v3p0/credentials/{id}")).expect(404);
}

/// The texts of events are compressed, so they are read as a client reads them.
fn in_no_event(school: &School) {
    let events = school.client.get("/caliper/events?limit=3000").expect(200).text();
    let events = events.replace(OTHER, "");
    for (area, string) in STRINGS {
        assert!(!events.contains(string), "{area} is in the event log");
    }
    assert!(events.contains("/users/erased-"));
}

/// Delayed writes that name the person are refused.
fn comes_not_back(school: &School) {
    for number in [0, 9999] {
        let refused = school
            .client
            .post("/caliper/event")
            .json(&envelope(&[school.event(number, true)]))
            .expect(409);
        assert!(!refused.text().contains(ID), "{}", refused.text());
    }
    let role = json!({"roleType": "primary", "role": "student", "org": {"sourcedId": "school"}});
    let user = json!({"user": {"sourcedId": ID, "status": "active", "enabledUser": "true", "username": "x",
        "givenName": "x", "familyName": "x", "roles": [role]}});
    school.client.post(&format!("{ROSTERING}/users")).json(&user).expect(409);
    school.client.put(&format!("{ROSTERING}/users/{ID}")).json(&user).expect(404);
    let refused =
        school.client.post(&format!("{ROSTERING}/users/bulk?atomic=false")).json(&user).expect(200);
    assert!(refused.text().contains(r#""outcome":"refused""#), "{}", refused.text());
}

/// A nightly import that still has the user is refused.
fn is_not_imported(school: &School) {
    let folder = school.served.file("delta");
    fs::create_dir_all(&folder).unwrap();
    let manifest =
        "propertyName,value\nmanifest.version,1.0\noneroster.version,1.2\nfile.users,delta\n";
    fs::write(folder.join("manifest.csv"), manifest).unwrap();
    let users = format!(
        "sourcedId,status,dateLastModified,enabledUser,username,givenName,familyName\n{ID},active,2026-09-01T00:00:00Z,true,x,X,X\n"
    );
    fs::write(folder.join("users.csv"), users).unwrap();
    let stderr = school.served.fails(&["import", folder.to_str().unwrap()]);
    assert!(stderr.contains("users.csv line 2: the user was erased from this server"), "{stderr}");
}

fn unpack(backup: &Path, to: &Path) {
    let file = zstd::Decoder::new(File::open(backup).unwrap()).unwrap();
    tar::Archive::new(file).unpack(to).unwrap();
}

/// The folder with the tables of a database, after its deleted rows were removed from the pages.
fn pages_of(address: &str) -> PathBuf {
    let mut client = postgres::Client::connect(address, postgres::NoTls).unwrap();
    client.batch_execute("VACUUM FULL").unwrap();
    client.batch_execute("CHECKPOINT").unwrap();
    let row = client
        .query_one(
            "SELECT current_setting('data_directory') || '/base/' || oid::text FROM pg_database \
             WHERE datname = current_database()",
            &[],
        )
        .unwrap();
    PathBuf::from(row.get::<_, String>(0))
}

/// Panics if a file below the folder contains one of the strings.
fn nowhere_in(folder: &Path, strings: &[(&str, &str)]) {
    let mut folders = vec![folder.to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = fs::read(&path).unwrap();
            for (area, string) in strings {
                // The other pupil's id begins with the person's.
                let is_other = |at: &usize| bytes[*at..].starts_with(OTHER.as_bytes());
                let mut found = memchr::memmem::find_iter(&bytes, string.as_bytes());
                if let Some(at) = found.find(|at| !is_other(at)) {
                    let around = &bytes[at.saturating_sub(200)..(at + 200).min(bytes.len())];
                    panic!("{area} is in {}: {}", path.display(), String::from_utf8_lossy(around));
                }
            }
        }
    }
    assert!(files > 0, "{} has no files", folder.display());
}
