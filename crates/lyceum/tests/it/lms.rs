//! `lyceum lms` against the running sandbox and against a server.

use serde_json::{Value, json};

use crate::http::Http;
use crate::sandbox::Running;
use crate::served::{Served, Store};
use crate::transcript::Place;

const CONFIG: &str = r#"{
  "name": "Rivers",
  "integrations": { "lms": { "courses": [{ "subject": "Math", "grade": 4, "totalXp": 500 }] } }
}"#;

#[test]
#[ignore = "rest"]
fn the_running_sandbox_is_found_and_managed() {
    let list = tempfile::tempdir().unwrap();
    let place = Place::new().with("XDG_RUNTIME_DIR", list.path().to_str().unwrap());
    place.write("lyceum.config.json", CONFIG);
    let sandbox = Running::start(&place, "--memory");
    let verified = place.json("lms verify --json");
    assert_eq!(verified["status"], "ok", "{verified}");
    let stdout = place.ok("timeback verify");
    assert!(stdout.contains("courseComponent") && stdout.contains("mock-math-4"), "{stdout}");

    let course = "/ims/oneroster/rostering/v1p2/courses/rivers-math-4";
    let planned = place.json("lms setup --dry-run --json");
    assert_eq!(planned["found"][0]["resources"][1]["state"], "missing");
    assert!(place.ok("lms setup --dry-run").contains("create"));
    assert_eq!(place.json("lms config --json")["courses"][0]["courseCode"], "Math-4");
    let there = place.json("lms setup --json");
    assert_eq!(there["courses"][0]["courseId"], "rivers-math-4");
    // The user learns in the new course in place of the one that the sandbox generated.
    let me = sandbox.get("/api/users/me");
    let enrolled = json!([{"subject": "Math", "grade": 4, "courseId": "rivers-math-4"}]);
    assert_eq!(me["lms"]["enrollments"], enrolled);
    let activity = json!({
        "activityData": {"activityId": "rivers-1", "subject": "Math", "grade": 4},
        "scoreData": {"correctQuestions": 1, "totalQuestions": 1},
        "timingData": {"durationSeconds": 60},
    });
    sandbox.client().post("/api/lms/end-activity").json(&activity).expect(200);
    let shown = place.ok("lms config");
    assert!(shown.contains("\"totalXp\": 500"), "{shown}");

    let url = sandbox.printed["url"].as_str().unwrap().replace("localhost", "127.0.0.1");
    let roster = Http::without_token(&url);
    assert_eq!(roster.send("get", course, None).status, 200);
    assert_eq!(roster.send("delete", course, None).status, 204);
    let (code, stdout, why) = place.run("lms verify --json");
    assert_eq!(code, 1);
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["status"], "incomplete");
    assert!(why.contains("the course 'rivers-math-4' was deleted"), "{why}");
    assert!(why.contains("lyceum lms setup"), "{why}");
    assert!(place.ok("lms setup --dry-run").contains("restore"));
    place.ok("lms setup --quiet");
    place.ok("lms verify --quiet");

    place.ok("lms remove --dry-run");
    place.ok("lms config --quiet");
    place.ok("lms remove");
    assert_eq!(place.fails("lms verify").0, 4);
    assert_eq!(place.fails("lms remove").0, 4);

    // What cannot be set up says why.
    place.write("none.json", r#"{"name": "Rivers"}"#);
    let (code, why) = place.fails("lms setup --config none.json");
    assert_eq!(code, 2);
    assert!(why.contains("has no courses") && why.contains("integrations.lms"), "{why}");
    let courses = json!([{"subject": "Math", "grade": 4}, {"subject": "Reading", "grade": 4}]);
    let lms = json!({"name": "Rivers", "integrations": {"lms": {"courses": courses}}});
    place.write("early.json", &lms.to_string());
    let (code, why) = place.fails("lms setup --config early.json");
    assert_eq!(code, 1);
    assert!(why.contains("courses[1].totalXp: must be a number above 0"), "{why}");
    drop(sandbox);
    let (code, why) = place.fails("lms verify --server http://127.0.0.1:1");
    assert_eq!(code, 1);
    assert!(why.contains("cannot reach"), "{why}");
    assert!(why.contains("correct the address with --server"), "{why}");
}

#[test]
#[ignore = "rest"]
fn a_server_is_managed_with_credentials() {
    let served = Served::start(Store::Sqlite);
    let key = served.client("platform", &[]);
    let http = Http::sign_in(&served.base, &key, None);
    let place = Place::new();
    place.write("lyceum.config.json", CONFIG);
    let url = &served.base;
    let (code, why) = place.fails(&format!("lms setup --server {url}"));
    assert_eq!(code, 3, "a mock token is nothing here: {why}");
    let place = place.with("LYCEUM_CLIENT_ID", &key.id).with("LYCEUM_CLIENT_SECRET", &key.secret);
    assert_eq!(place.fails(&format!("lms setup --server {url}")).0, 4, "there is no such game yet");
    let game = json!({"slug": "rivers", "displayName": "Rivers"});
    assert_eq!(http.send("post", "/api/games", Some(game)).status, 201);
    place.ok(&format!("lms setup --server {url}"));
    place.ok(&format!("lms verify --server {url} --game rivers"));
    place.ok(&format!("lms remove --server {url}"));
    assert_eq!(place.fails(&format!("lms config --server {url}")).0, 4);
}
