//! The published Python clients against the program: every operation, on both stores, and once more
//! after a restart; and the sensor that npm has.

use std::process::{Command, Stdio};

use lyceum_access::{Scope, Scopes};
use serde_json::Value;

use crate::http::Http;
use crate::python::{argument, run};
use crate::served::{Key, Served, Store, on_both_stores, rest_on_both_stores, root};

on_both_stores!(
    the_published_client_uses_every_operation_of_every_service,
    the_published_client_of_events_uses_every_operation,
    the_published_bridge_client_enrolls_leads_and_reports,
    the_published_qti_client_stores_scores_and_checks,
    the_published_powerpath_client_uses_every_operation,
);

rest_on_both_stores!(
    the_older_published_client_uses_every_operation,
    the_published_qti_client_edits_tests,
    the_published_clr_client_uses_every_operation,
    the_published_case_client_uses_every_operation,
    the_published_webhooks_client_uses_every_operation,
    the_published_client_of_oneroster_1_1_reads_the_records_of_1_2,
    the_published_sensor_for_caliper_1_1_sends_every_type_of_event,
);

fn the_published_client_uses_every_operation_of_every_service(store: Store) {
    twice(store, "rostering_client.py");
}

fn the_published_client_of_events_uses_every_operation(store: Store) {
    twice(store, "caliper_client.py");
}

fn the_older_published_client_uses_every_operation(store: Store) {
    twice(store, "legacy_client.py");
}

fn the_published_bridge_client_enrolls_leads_and_reports(store: Store) {
    twice(store, "edubridge_client.py");
}

fn the_published_qti_client_stores_scores_and_checks(store: Store) {
    twice(store, "qti_client.py");
}

fn the_published_qti_client_edits_tests(store: Store) {
    twice(store, "qti_tests.py");
}

fn the_published_powerpath_client_uses_every_operation(store: Store) {
    twice(store, "powerpath_client.py");
}

fn the_published_clr_client_uses_every_operation(store: Store) {
    twice(store, "clr_client.py");
}

fn the_published_case_client_uses_every_operation(store: Store) {
    twice(store, "case_client.py");
}

fn the_published_webhooks_client_uses_every_operation(store: Store) {
    twice(store, "webhooks_client.py");
}

/// `strongmind-oneroster-client`, and requests that oauthlib signs; on PostgreSQL also a second server, which refuses what
/// the first one accepted.
fn the_published_client_of_oneroster_1_1_reads_the_records_of_1_2(store: Store) {
    let is_shared = matches!(store, Store::Postgres(_));
    let mut served = Served::start(store);
    let created = served.run(&["client", "create", "Old reader", "--oauth1", "--json"]);
    let created: Value = serde_json::from_str(&created).unwrap();
    let text = |name: &str| created[name].as_str().unwrap().to_owned();
    let (key, signing) = (Key { id: text("id"), secret: text("secret") }, text("signingSecret"));
    let state = served.file("state.json");
    for (phase, restart) in [("write", true), ("read", false)] {
        let other = is_shared.then(|| served.beside());
        let mut more = vec!["--phase", phase, "--state", argument(&state)];
        more.extend(["--signing-secret", &signing]);
        more.extend(other.iter().flat_map(|other| ["--other-node", &other.base]));
        let summary = run(&served, &key, "oneroster", "oneroster_v1p1_client.py", &more);
        println!("OneRoster 1.1, {phase}: {summary}");
        drop(other);
        if restart {
            served = served.restart();
        }
    }
}

/// Writes and reads, then reads again from a server that was restarted on the same data.
fn twice(store: Store, script: &str) {
    let mut served = Served::start(store);
    let everything = Scopes::EVERYTHING.with(Scope::PasswordsRead);
    let key = served.client("platform", &everything.iter().map(Scope::name).collect::<Vec<_>>());
    let state = served.file("state.json");
    for (phase, restart) in [("write", true), ("read", false)] {
        let more = ["--phase", phase, "--state", argument(&state)];
        let summary = run(&served, &key, "clients", script, &more);
        println!("{script}, {phase}: {summary}");
        if restart {
            served = served.restart();
        }
    }
}

/// `ims-caliper` 1.1.0 as npm has it. It tells nobody what was answered, so the log is read.
fn the_published_sensor_for_caliper_1_1_sends_every_type_of_event(store: Store) {
    let folder = root().join("tests/sensors");
    assert!(folder.join("node_modules").is_dir(), "run `npm ci` in tests/sensors");
    let served = Served::start(store);
    let http = Http::sign_in(&served.base, &served.client("standard", &[]), None);
    let endpoint = format!("{}/ims/caliper/v1p2/events", served.base);
    let mut sensor = Command::new("node");
    sensor.arg(folder.join("send.cjs")).args([&endpoint, http.token()]).stdin(Stdio::null());
    let sent = sensor.output().expect("node is installed");
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    let sent: Vec<Value> = serde_json::from_slice(&sent.stdout).unwrap();
    assert_eq!(sent.len(), 15);
    for event in &sent {
        let id = event["id"].as_str().unwrap().replace(':', "%3A");
        let answer = http.send("get", &format!("/caliper/events/{id}"), None);
        assert_eq!(answer.status, 200, "{event} was refused: {}", refused(&served));
        assert_eq!(answer.json()["event"]["type"], event["type"]);
    }
}

/// The envelopes that the server refused, with their faults.
fn refused(served: &Served) -> String {
    served.run(&["events", "rejected", "--json"])
}
