//! `lyceum events`, `lyceum listen`, `lyceum trigger`

use lyceum_core::time::Timestamp;
use lyceum_events::{CONTEXT, repository};
use lyceum_store::{Db, StoreLocation};
use serde_json::{Value, json};

use crate::served::{Served, Store, on_both_stores};
use crate::transcript::Place;

on_both_stores!(events_are_triggered_and_listened_to);

const KINDS: [&str; 6] = [
    "activity.completed",
    "time.spent",
    "question.seen",
    "question.answered",
    "question.graded",
    "session.logged-in",
];

/// Each fault and the place that the server names for it.
const FAULTS: [(&str, &str); 11] = [
    ("no-id", "data[0].id: is required"),
    ("no-actor", "data[0].actor: is required"),
    (
        "time",
        "data[0].eventTime: must be a UTC instant such as 2026-01-15T08:00:00.000Z (got 'yesterday')",
    ),
    (
        "action",
        "data[0].action: must be Completed in an event of the type ActivityEvent (got 'Abandoned')",
    ),
    ("type", "data[0].type: must be an event type of Caliper 1.2 (got 'NoSuchEvent')"),
    ("profile", "data[0].profile: must be"),
    ("object", "data[0].object.type: must be"),
    ("member", "data[0].generated.items[0].value: must be between"),
    ("version", "dataVersion: must be 'http://purl.imsglobal.org/ctx/caliper/v1p2'"),
    ("envelope", "note: is not a member of an envelope"),
    ("json", "400 the body must be a JSON object"),
];

fn events_are_triggered_and_listened_to(store: Store) {
    let served = Served::start(store);
    let key = served.client("platform", &[]);
    let place =
        Place::new().with("LYCEUM_CLIENT_ID", &key.id).with("LYCEUM_CLIENT_SECRET", &key.secret);
    let on = |line: &str| format!("{line} --server {}", served.base);
    for kind in KINDS {
        assert_eq!(
            place.ok(&on(&format!("trigger {kind}"))),
            "200 1 event kept: 1 new, 0 known already\n",
            "{kind}"
        );
    }
    let sent = place.json(&on("trigger time.spent --count 3 --email ada@example.org --json"));
    assert_eq!(
        (&sent["status"], &sent["answer"]["message"]),
        (&json!(200), &json!("3 events kept: 3 new, 0 known already"))
    );
    for (fault, stderr) in FAULTS {
        let answer = place.ok(&on(&format!("trigger activity.completed --bad {fault}")));
        assert!(answer.contains(stderr), "{fault}: {answer}");
    }
    let all = place.ok(&on("listen --after 0 --no-follow --json"));
    let all: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all.len(), 9, "what was refused is not there");
    let ada = place.ok(&on("listen --after 0 --no-follow --actor-email ada@example.org"));
    assert_eq!(ada.lines().count(), 3, "{ada}");
    let line = ada.lines().next().unwrap();
    assert!(
        line.ends_with("TimeSpentEvent SpentTime ada@example.org active=600 inactive=60"),
        "{line}"
    );
    assert_eq!(place.ok(&on("listen --no-follow")), "", "only what is new");
    // The same by environment; a server of another one is refused.
    let place = place.with("LYCEUM_URL", &served.base);
    assert_eq!(place.ok("listen --after 0 --no-follow --env production").lines().count(), 9);
    let (_, stderr) = place.fails("listen --no-follow --env staging");
    assert!(stderr.contains("production"), "{stderr}");
    let rejected: Value =
        serde_json::from_str(&served.run(&["events", "rejected", "--json"])).unwrap();
    assert_eq!(rejected.as_array().unwrap().len(), FAULTS.len());
    assert_eq!(rejected[0]["client"], key.id);
    assert!(rejected[1]["faults"][0]["path"] == "note", "{}", rejected[1]);
}

#[test]
fn missing_credentials_scopes_and_servers_are_reported() {
    let served = Served::start(Store::Sqlite);
    let key = served.client("platform", &["lyceum/roster.read"]);
    let place = Place::new();
    let (code, stderr) = place.fails(&format!("trigger time.spent --server {}", served.base));
    assert!(code == 3 && stderr.contains("--client-id"), "{code} {stderr}");
    let signed = format!("--client-id {} --client-secret {}", key.id, key.secret);
    let (code, stderr) = place.fails(&format!("listen --server {} {signed}", served.base));
    assert!(code == 3 && stderr.contains("403"), "{code} {stderr}");
    let (code, stderr) = place.fails("trigger time.spent --server http://127.0.0.1:9");
    assert!(code == 1 && stderr.contains("cannot reach"), "{code} {stderr}");
}

#[test]
fn refused_envelopes_are_listed_shown_and_replayed() {
    let place = Place::new();
    place.ok("client create App --id app");
    let file = place.path().join("lyceum-data/lyceum.db");
    let db = Db::open(&StoreLocation::Sqlite(file), &lyceum_api::migrations()).unwrap();
    let entity = json!({"id": "https://example.org/users/1", "type": "Person"});
    let good = json!({
        "sensor": "https://example.org/sensors/1",
        "sendTime": "2026-01-15T09:00:00.000Z",
        "dataVersion": CONTEXT,
        "data": [entity],
    });
    let now = Timestamp::from_milliseconds(1_768_464_000_000);
    let faults = [lyceum_core::Detail { path: "data[0]".into(), message: "is odd".into() }];
    for body in [good.to_string(), "{}".to_owned()] {
        db.write_blocking(|tx| {
            repository::refuse(tx, now, "app", (&"data[0]: is odd".into(), &faults), &body)
        })
        .unwrap();
    }
    let list = place.ok("events rejected");
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["id", "received", "client", "replayed", "why"]);
    assert_eq!(rows[1][..4], ["2", "2026-01-15T08:00:00.000Z", "app", "no"]);
    let shown = place.ok("events rejected 1");
    assert_eq!(shown, format!("data[0]: is odd\n  data[0]: is odd\n{good}\n"));
    let (code, stderr) = place.fails("events replay 2");
    assert!(code == 1 && stderr.contains("sensor: is required"), "{code} {stderr}");
    let answer = place.json("events replay --all --json");
    assert_eq!(answer, json!({"taken": 1, "refused": 1}));
    assert_ne!(place.json("events rejected 1 --json")["replayed"], Value::Null);
    for line in ["events rejected 7", "events replay 7"] {
        let (code, stderr) = place.fails(line);
        assert!(code == 4 && stderr.contains("no rejected envelope 7"), "{code} {stderr}");
    }
}
