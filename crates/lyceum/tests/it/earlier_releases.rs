//! Databases of earlier releases, in `tests/schemas`: this program upgrades each of them, on both stores, and gives the
//! answers that the release gave.
//!
//! `LYCEUM_BLESS=1 LYCEUM_TEST_BIN=<the released program> cargo test -p lyceum --test it earlier_releases` adds one.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::persons::school::{ID, OTHER, ROSTERING, School};
use crate::served::{Served, Store, on_both_stores, root, variable};

const GRADEBOOK: &str = "/ims/oneroster/gradebook/v1p2";

/// The rows of the database of a release.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReleaseRecord {
    /// The file master.key of its server.
    master_key: String,
    /// The port of its server, which is in stored addresses.
    port: String,
    /// Its answers, with PORT for this port.
    answers: BTreeMap<String, Value>,
}

fn folder() -> PathBuf {
    root().join("tests/schemas")
}

/// The paths that are read.
fn paths() -> Vec<String> {
    let lists = ["orgs", "courses", "classes", "academicSessions", "users", "enrollments"];
    let more = ["demographics", "courses/components", "courses/component-resources"];
    let roster = lists.iter().chain(&more).map(|list| format!("{ROSTERING}/{list}"));
    let gradebook = ["assessmentLineItems", "assessmentResults"];
    let gradebook = gradebook.iter().map(|list| format!("{GRADEBOOK}/{list}"));
    let activity = [ID, OTHER].map(|student| {
        format!(
            "/bridge/analytics/activity?studentId={student}&startDate=2026-01-01&endDate=2026-12-31"
        )
    });
    let others = [
        "/ims/oneroster/resources/v1p2/resources".to_owned(),
        "/assessment-items/essay".to_owned(),
        "/assessment-tests/test".to_owned(),
        "/api/games/rivers".to_owned(),
        "/api/games/rivers/leaderboard".to_owned(),
        format!("/api/games/rivers/state?userId={ID}"),
    ];
    roster.chain(gradebook).chain(activity).chain(others).collect()
}

fn port(served: &Served) -> String {
    served.base.rsplit(':').next().unwrap().to_owned()
}

/// The answers by path, with PORT for each of these ports.
fn answers(school: &School, ports: &[&str]) -> BTreeMap<String, Value> {
    let read = |path: String| {
        let text = school.client.get(&path).expect(200).text();
        let text = ports.iter().fold(text, |text, port| text.replace(&format!(":{port}"), ":PORT"));
        let answer = serde_json::from_str(&text).unwrap_or(Value::String(text));
        (path, answer)
    };
    paths().into_iter().map(read).collect()
}

/// Whether every value of the former answer is in the present one. Members may be added.
fn has_all(present: &Value, former: &Value) -> bool {
    match (present, former) {
        (Value::Object(present), Value::Object(former)) => former
            .iter()
            .all(|(name, value)| present.get(name).is_some_and(|found| has_all(found, value))),
        (Value::Array(present), Value::Array(former)) => {
            present.len() == former.len()
                && present.iter().zip(former).all(|(present, former)| has_all(present, former))
        }
        _ => present == former,
    }
}

on_both_stores!(databases_of_earlier_releases_give_the_same_responses_after_the_upgrade);

fn databases_of_earlier_releases_give_the_same_responses_after_the_upgrade(store: Store) {
    let kind = if matches!(store, Store::Sqlite) { "sqlite" } else { "postgresql" };
    if variable("LYCEUM_BLESS").is_some() {
        return add_release(store, kind);
    }
    let end = format!(".{kind}.json");
    let names = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    let schemas: Vec<&str> = names.iter().filter_map(|name| name.strip_suffix(&end)).collect();
    assert!(schemas.contains(&"13"), "{schemas:?}");
    for schema in schemas {
        let file = |end: &str| folder().join(format!("{schema}.{kind}.{end}"));
        let record: ReleaseRecord =
            serde_json::from_str(&fs::read_to_string(file("json")).unwrap()).unwrap();
        let (store, force): (Store, &[&str]) = match kind {
            "sqlite" => (Store::Sqlite, &[]),
            // A new database of the tests has a table already.
            _ => (Store::postgres_for_restore(), &["--force"]),
        };
        let school = School::on(Served::prepared(store, &[], |data| {
            let backup = file("backup");
            data.run(&[&["admin", "restore", backup.to_str().unwrap()], force].concat());
            fs::write(data.file("data/master.key"), &record.master_key).unwrap();
        }));
        let present = answers(&school, &[&record.port, &port(&school.served)]);
        for (path, former) in &record.answers {
            let present = &present[path];
            assert!(
                has_all(present, former),
                "schema {schema}, {path}: the release answered\n{former:#}\nand now it is\n{present:#}"
            );
        }
        school.roster("org", "/orgs", &json!({"sourcedId": "new", "name": "N", "type": "school"}));
        let checked: Value =
            serde_json::from_str(&school.served.run(&["admin", "check", "--json"])).unwrap();
        assert_eq!(checked["faults"], json!([]), "schema {schema}");
    }
}

/// Adds the database of the release that is tested.
fn add_release(store: Store, kind: &str) {
    let school = School::start(store);
    school.populate();
    let port = port(&school.served);
    let answers = answers(&school, &[&port]);
    let found = school.served.run(&["doctor", "--listen", "127.0.0.1:0"]);
    let (_, schema) = found.split_once("schema ").expect("the number of its schema");
    let schema: String = schema.chars().take_while(char::is_ascii_digit).collect();
    let file = |end: &str| folder().join(format!("{schema}.{kind}.{end}"));
    let master_key = fs::read_to_string(school.served.file("data/master.key")).unwrap();
    let record = ReleaseRecord { master_key, port, answers };
    fs::create_dir_all(folder()).unwrap();
    fs::write(file("json"), serde_json::to_string_pretty(&record).unwrap() + "\n").unwrap();
    let _ = fs::remove_file(file("backup"));
    school.served.run(&["admin", "backup", file("backup").to_str().unwrap()]);
}

#[test]
fn a_response_may_gain_members_but_not_lose_any() {
    let former = json!({"a": [{"b": 1}], "c": null});
    assert!(has_all(&json!({"a": [{"b": 1, "new": 2}], "c": null, "d": 3}), &former));
    for present in
        [json!({"a": [{"b": 2}], "c": null}), json!({"a": [], "c": null}), json!({"a": [{"b": 1}]})]
    {
        assert!(!has_all(&present, &former), "{present}");
    }
}
