//! `lyceum sandbox`: every option, seen from outside.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::time::Duration;

use lyceum_testserver::client::TestClient;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::served::wait;
use crate::transcript::Place;

const END_MAX: Duration = Duration::from_secs(15);

/// A sandbox that runs; it is killed with this value.
pub(crate) struct Running {
    process: Child,
    /// The JSON that it printed at its start.
    pub(crate) printed: Value,
}

impl Running {
    pub(crate) fn start(place: &Place, flags: &str) -> Self {
        Self::start_with(place, flags, &[])
    }

    fn start_with(place: &Place, flags: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = place.command(&format!("sandbox --json --port 0 {flags}"));
        command.envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut stdout = String::new();
        for line in BufReader::new(process.stdout.as_mut().unwrap()).lines() {
            stdout += &line.unwrap();
            if stdout.ends_with('}') && serde_json::from_str::<Value>(&stdout).is_ok() {
                break;
            }
        }
        let Ok(printed) = serde_json::from_str(&stdout) else {
            let output = process.wait_with_output().unwrap();
            panic!("{flags}: {}", String::from_utf8_lossy(&output.stderr));
        };
        Self { process, printed }
    }

    pub(crate) fn client(&self) -> TestClient {
        self.anonymous().with_token("anything")
    }

    fn anonymous(&self) -> TestClient {
        TestClient::new(format!("http://127.0.0.1:{}", self.printed["port"]))
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.client().get(path).expect(200).json()
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn stop(mut self) {
        kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
        assert!(wait(&mut self.process, END_MAX).expect("it ends when asked").success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn activity(sandbox: &Running) -> Value {
    let body = json!({
        "activityData": {"activityId": "fractions-1", "subject": "Math", "grade": 3},
        "scoreData": {"correctQuestions": 10, "totalQuestions": 10},
        "timingData": {"durationSeconds": 600},
    });
    sandbox.client().post("/api/lms/end-activity").json(&body).expect(200).json()
}

#[test]
fn a_new_sandbox_has_data_and_keeps_changes_after_a_crash() {
    let place = Place::new();
    let sandbox = Running::start(&place, "--project-name Rivers");
    assert_eq!(sandbox.printed["learning"], "mock");
    assert_eq!(sandbox.anonymous().get("/health").expect(200).json::<Value>()["status"], "ok");
    let me = sandbox.get("/api/users/me");
    assert_eq!((&me["username"], &me["role"]), (&json!("demo"), &json!("developer")));
    assert_eq!(me["lms"]["role"], "student");
    let enrolled = json!([{"subject": "Math", "grade": 3, "courseId": "mock-math-3"}]);
    assert_eq!((&me["lms"]["enrollments"], &me["timeback"]["enrollments"]), (&enrolled, &enrolled));
    assert_eq!(me["lms"]["organizations"][0]["name"], "Lyceum Studios");
    let held = sandbox.get("/api/inventory");
    assert_eq!(held.as_array().unwrap().len(), 1, "{held}");
    assert_eq!(
        (&held[0]["item"]["slug"], &held[0]["quantity"]),
        (&json!("LYCEUM_CREDITS"), &json!(1000))
    );
    assert_eq!(sandbox.get("/api/levels/me")["level"], 1);
    let game = sandbox.get("/api/games/rivers");
    assert_eq!((&game["id"], &game["mock"]), (&sandbox.printed["gameId"], &json!(true)));
    assert_eq!(sandbox.get("/api/leaderboard").as_array().unwrap().len(), 3);
    assert_eq!(sandbox.get("/api/games/rivers/achievements").as_array().unwrap().len(), 3);

    // Two weeks of learning stand in the log, today's not.
    let history = sandbox.get("/api/lms/xp/history");
    let xp = |day: usize| history["history"][day]["xp"].as_f64().unwrap();
    assert_eq!((xp(28), xp(20), xp(29)), (5.0, 0.0, 0.0), "{history}");
    let former: f64 = (0..30).map(xp).sum();
    let total = || sandbox.get("/api/lms/xp/total")["totalXp"].as_f64().unwrap();
    assert!((total() - former).abs() < 1e-6, "{history}");
    assert_eq!(sandbox.get("/api/levels/me")["totalXp"].as_f64(), Some(total()));

    assert_eq!(activity(&sandbox)["xpAwarded"], 12.5);
    drop(sandbox); // as a crash
    let sandbox = Running::start(&place, "--project-name Rivers");
    assert_eq!(sandbox.get("/api/lms/xp/today")["xp"], 12.5);
    let total = sandbox.get("/api/lms/xp/total")["totalXp"].as_f64().unwrap();
    assert!((total - former - 12.5).abs() < 1e-6, "{total}");
    assert_eq!(sandbox.get("/api/inventory")[0]["quantity"], 1000, "given once");
    let ignored = std::fs::read_to_string(place.path().join(".lyceum/.gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
    sandbox.stop();
    // Another project, in the same place.
    let sandbox = Running::start(&place, "--project-name Planets --project-slug solar");
    assert_eq!(sandbox.printed["project"], json!({"name": "Planets", "slug": "solar"}));
    assert_eq!(sandbox.get("/api/games").as_array().unwrap().len(), 2);
    drop(sandbox);
    let sandbox = Running::start(&place, "--recreate-db --no-seed");
    assert_eq!(sandbox.get("/api/lms/xp/total"), json!({"totalXp": 0}));
}

#[test]
fn the_level_and_learning_count_the_same_xp() {
    let sandbox = Running::start(&Place::new(), "--memory --project-name Rivers");
    let client = sandbox.client();
    let total = || sandbox.get("/api/lms/xp/total")["totalXp"].as_f64().unwrap();
    let at_level = || sandbox.get("/api/levels/me")["totalXp"].as_f64().unwrap();
    let before = total();
    activity(&sandbox);
    let penalty = json!({
        "activityData": {"activityId": "guessing", "subject": "Math", "grade": 3},
        "scoreData": {"correctQuestions": 0, "totalQuestions": 10},
        "timingData": {"durationSeconds": 5},
        "xpEarned": -2,
    });
    client.post("/api/lms/end-activity").json(&penalty).expect(200);
    assert_eq!((total(), at_level()), (before + 10.5, before + 10.5));
    client.put("/api/lms/xp/today").json(&json!({ "xp": 40 })).expect(200);
    assert_eq!((total(), at_level()), (before + 40.0, before + 40.0));
    client.put("/api/lms/xp/today").json(&json!({ "xp": 1 })).expect(200);
    assert_eq!((total(), at_level()), (before + 1.0, before + 1.0));

    // The description of each achievement names the call that makes it advance.
    let achievements = || sandbox.get("/api/games/rivers/achievements");
    let named = |all: &Value, name: &str| {
        all.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone()
    };
    let shown = achievements();
    for (name, call) in [
        ("first-steps", "achievements.unlock('first-steps')"),
        ("practice", "achievements.progress('practice', 10)"),
        ("flawless", "achievements.unlock('flawless')"),
    ] {
        assert!(named(&shown, name)["description"].as_str().unwrap().contains(call), "{shown}");
    }
    let path = "/api/games/rivers/achievements";
    client.post(&format!("{path}/first-steps/unlock")).json(&json!({})).expect(200);
    client.post(&format!("{path}/practice/progress")).json(&json!({"progress": 4})).expect(200);
    let shown = achievements();
    assert!(named(&shown, "first-steps")["unlockedAt"].is_string(), "{shown}");
    assert_eq!(named(&shown, "practice")["progress"], 4);
    assert!((at_level() - total()).abs() < 0.001);
}

#[test]
fn without_a_token_the_api_is_refused_and_standards_and_edubridge_are_served() {
    let sandbox = Running::start(&Place::new(), "--memory");
    let refused = sandbox.anonymous().get("/api/users/me").expect(401);
    assert_eq!(refused.json::<Value>()["error"]["code"], "UNAUTHORIZED");
    sandbox.anonymous().with_token("").get("/api/games").expect(401);
    sandbox.anonymous().get("/ims/oneroster/rostering/v1p2/users").expect(200);
    sandbox.anonymous().get("/edubridge/enrollments/user/demo-user").expect(200);
}

#[test]
fn a_tunnel_is_accepted_once_its_origin_is_listed() {
    let place = Place::new();
    let (page, host) = ("https://tunnel.example", "tunnel.example");
    let closed = Running::start(&place, "--memory");
    let refusal = closed.client().get("/api/users/me").header("origin", page).expect(403).text();
    assert!(refusal.contains("start it with --origin https://tunnel.example"), "{refusal}");
    closed.client().get("/api/users/me").header("host", host).expect(403);
    let origins = "--origin https://other.example --origin https://tunnel.example/";
    let open = Running::start(&place, &format!("--memory {origins}"));
    let client = open.client();
    let read = client.get("/api/users/me").header("host", host).header("origin", page);
    assert_eq!(read.expect(200).header("access-control-allow-origin"), page);
    client.get("/api/users/me").header("origin", "https://evil.example").expect(403);
    let (code, stderr) = place.fails("sandbox --memory --port 0 --origin tunnel.example");
    assert_eq!(code, 2);
    assert!(stderr.contains("must be an origin such as https://app.example.org"), "{stderr}");
}

#[test]
fn the_console_opens_with_project_and_student_by_a_link_that_works_once() {
    let place = Place::new();
    let sandbox = Running::start(&place, "--project-name Rivers");
    let link = sandbox.printed["console"].as_str().unwrap();
    let path = link.split_once(&format!(":{}", sandbox.printed["port"])).unwrap().1.to_owned();
    let browser = sandbox.anonymous();
    let entered = browser.get(&path).expect(303);
    assert_eq!(entered.header("location"), "/console");
    let cookie = entered.header("set-cookie").split(';').next().unwrap().to_owned();
    let page = browser.get("/console").header("cookie", &cookie).expect(200).text();
    assert!(page.contains(">Rivers</a>") && page.contains(">Demo Sandbox</a>"), "{page}");
    let student = browser.get("/console/students/demo%2Duser").header("cookie", &cookie);
    assert!(student.expect(200).text().contains("Demo Sandbox"));
    // Neither the link again nor any token opens a page; a new start gives a new link.
    browser.get(&path).expect(404);
    assert_eq!(sandbox.client().get("/console").send().status, 303);
    sandbox.stop();
    let sandbox = Running::start(&place, "--project-name Rivers");
    assert_ne!(sandbox.printed["console"].as_str().unwrap().split_once('=').unwrap().1, path);
    sandbox.anonymous().get(&path).expect(404);
}

#[test]
fn a_database_in_memory_leaves_nothing() {
    let place = Place::new();
    let sandbox = Running::start(&place, "--memory --project-name Rivers");
    assert_eq!(sandbox.printed["database"], Value::Null);
    activity(&sandbox);
    sandbox.stop();
    assert!(place.path().read_dir().unwrap().next().is_none(), "nothing was made");
    let sandbox = Running::start(&place, "--memory --no-seed");
    assert_eq!(sandbox.get("/api/inventory"), json!([]));
    assert_eq!(sandbox.get("/api/leaderboard"), json!([]));
    assert_eq!(sandbox.get("/api/notifications"), json!([]));
    for clash in ["--db-path x.db", "--recreate-db"] {
        assert_eq!(place.fails(&format!("sandbox --memory {clash}")).0, 2, "{clash}");
    }
}

#[test]
fn a_second_sandbox_on_the_same_file_is_refused() {
    let place = Place::new();
    let sandbox = Running::start(&place, "--db-path data/mine.db");
    assert!(place.path().join("data/mine.db").exists());
    let (code, stderr) = place.fails("sandbox --port 0 --db-path data/mine.db --recreate-db");
    assert_eq!(code, 5, "{stderr}");
    let pid = sandbox.process.id().to_string();
    assert!(stderr.contains(&pid) && stderr.contains("--db-path"), "{stderr}");
    assert!(stderr.contains(sandbox.printed["url"].as_str().unwrap()), "{stderr}");
    sandbox.get("/api/users/me");
}

#[test]
fn the_error_for_a_busy_port_names_its_process_and_a_free_port() {
    let place = Place::new();
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = held.local_addr().unwrap().port();
    let (code, stderr) = place.fails(&format!("sandbox --memory -p {port}"));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains(&format!("(process {})", std::process::id())), "{stderr}");
    let free = stderr.split("--port ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    assert!(free.parse::<u16>().unwrap() > port, "{stderr}");

    let place = Place::new().with("XDG_RUNTIME_DIR", place.path().to_str().unwrap());
    let sandbox = Running::start(&place, "--memory --project-name Rivers");
    let (_, stderr) = place.fails(&format!("sandbox --memory --port {}", sandbox.printed["port"]));
    assert!(stderr.contains("the sandbox of 'Rivers'"), "{stderr}");
}

#[test]
fn other_tools_find_running_sandboxes() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new().with("XDG_RUNTIME_DIR", folder.path().to_str().unwrap());
    let file = folder.path().join("lyceum/sandboxes.json");
    std::fs::create_dir(folder.path().join("lyceum")).unwrap();
    let gone = json!({"sandboxes": [{
        "pid": i32::MAX, "port": 1, "url": "http://localhost:1", "project": "Gone", "slug": "gone",
        "gameId": "g", "learning": null, "database": null, "startedAt": "2026-01-01T00:00:00.000Z",
    }]});
    std::fs::write(&file, gone.to_string()).unwrap();
    let listed = || -> Vec<Value> {
        let read: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        read["sandboxes"].as_array().unwrap().clone()
    };
    let sandbox = Running::start(&place, "--project-name Rivers --db-path a.db");
    let other = Running::start(&place, "--project-name Planets --memory");
    let names: Vec<_> = listed().iter().map(|entry| entry["project"].clone()).collect();
    assert_eq!(names, ["Rivers", "Planets"]);
    let entry = &listed()[0];
    assert_eq!(entry["pid"], sandbox.process.id());
    assert_eq!(
        (&entry["url"], &entry["port"]),
        (&sandbox.printed["url"], &sandbox.printed["port"])
    );
    assert_eq!((&entry["gameId"], &entry["slug"]), (&sandbox.printed["gameId"], &json!("rivers")));
    assert!(entry["database"].as_str().unwrap().ends_with("/a.db"), "{entry}");
    sandbox.stop();
    assert_eq!(listed().len(), 1);
    drop(other); // killed, and so still listed until somebody looks
    let third = Running::start(&place, "--memory");
    assert_eq!(listed().len(), 1);
    assert_eq!(listed()[0]["pid"], third.process.id());
}

#[test]
fn the_sandbox_teaches_the_courses_of_the_config() {
    let place = Place::new();
    place.write(
        "lyceum.config.json",
        r#"{
  "name": "Word Rivers", "emoji": "🌊",
  "integrations": { "lms": {
    "base": { "organization": { "name": "River School", "type": "school" }, "course": { "title": "{appName} {grade}" } },
    "courses": [
      { "subject": "Reading", "grade": 4, "totalXp": 500, "masterableUnits": 10 },
      { "subject": "Math", "grade": "K" }
    ]
  } }
}"#,
    );
    let sandbox = Running::start(&place, "--memory --tracking-course-id my-course");
    assert_eq!(sandbox.printed["project"], json!({"name": "Word Rivers", "slug": "word-rivers"}));
    let taught = sandbox.get("/api/lms/integrations/word-rivers");
    assert_eq!(taught["organization"]["name"], "River School");
    let ids: Vec<_> = taught["courses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|course| course["courseId"].clone())
        .collect();
    assert_eq!(ids, ["my-course", "mock-math-k"]);
    assert_eq!(taught["courses"][0]["title"], "Word Rivers 4");
    assert_eq!(sandbox.get("/api/timeback/verify/word-rivers")["status"], "ok");
    assert_eq!(sandbox.get("/api/games/word-rivers")["emoji"], "🌊");
    sandbox.stop();

    // A config without the integration switches it off.
    place.write("off.json", r#"{"name": "Rivers"}"#);
    let sandbox = Running::start(&place, "--memory --config-path off.json");
    assert_eq!(sandbox.printed["learning"], Value::Null);
    let refused = sandbox.client().get("/api/lms/xp/total").expect(503);
    assert_eq!(refused.json::<Value>()["error"]["code"], "LMS_DISABLED");
    assert_eq!(sandbox.get("/api/users/me")["lms"], Value::Null);
    sandbox.stop();

    place.write("bad.json", r#"{"name": 7}"#);
    let (code, stderr) = place.fails("sandbox --memory --config-path bad.json");
    assert_eq!(code, 1);
    assert!(stderr.contains("line 1, column 10, name: must be a string"), "{stderr}");
    assert_eq!(place.fails("sandbox --memory --config-path none.json").0, 4);
}

#[test]
fn a_flag_sets_the_student_of_mock_mode() {
    let place = Place::new();
    let check = |sandbox: &Running| {
        let me = sandbox.get("/api/users/me");
        assert_eq!((&me["id"], &me["lms"]["id"]), (&json!("s-17"), &json!("s-17")));
        assert_eq!(me["lms"]["enrollments"].as_array().unwrap().len(), 1, "{me}");
        assert!(sandbox.get("/api/lms/xp/total")["totalXp"].as_f64().unwrap() > 0.0);
        let users = sandbox.get("/api/users");
        assert!(users.as_array().unwrap().iter().any(|user| user["id"] == "s-17"), "{users}");
        let path = "/ims/oneroster/rostering/v1p2/users/s-17";
        let user: Value = sandbox.anonymous().get(path).expect(200).json();
        assert_eq!(user["user"]["status"], "active");
    };
    for spelling in ["tracking", "timeback"] {
        check(&Running::start(&place, &format!("--memory --{spelling}-student-id s-17")));
    }
    for name in ["SANDBOX_TRACKING_STUDENT_ID", "SANDBOX_TIMEBACK_STUDENT_ID"] {
        check(&Running::start_with(&place, "--memory", &[(name, "s-17")]));
    }
}

#[test]
fn flags_set_role_and_organization() {
    let place = Place::new();
    for spelling in ["tracking", "timeback"] {
        let flags = ["role teacher", "org-id o-1", "org-name Hillside", "org-type school"]
            .map(|flag| format!("--{spelling}-{flag}"));
        let sandbox = Running::start(&place, &format!("--memory {}", flags.join(" ")));
        let me = sandbox.get("/api/users/me");
        assert_eq!(me["lms"]["role"], "teacher");
        let org = json!([{"id": "o-1", "name": "Hillside", "type": "school", "isPrimary": true}]);
        assert_eq!(me["lms"]["organizations"], org);
        let body = json!({
            "activityData": {"activityId": "a", "subject": "Math", "grade": 3},
            "scoreData": {"correctQuestions": 1, "totalQuestions": 1},
            "timingData": {"durationSeconds": 60},
        });
        sandbox.client().post("/api/lms/end-activity").json(&body).expect(403);
    }
    for role in ["student", "parent", "administrator", "guardian"] {
        let sandbox = Running::start(&place, &format!("--memory --tracking-role {role}"));
        assert_eq!(sandbox.get("/api/users/me")["lms"]["role"], role);
    }
    assert_eq!(place.fails("sandbox --memory --tracking-role wizard").0, 2);
}

#[test]
fn a_flag_sets_the_platform_role() {
    let place = Place::new();
    for (role, status) in [("player", 403), ("developer", 201), ("admin", 201)] {
        let sandbox = Running::start(&place, &format!("--memory --platform-role {role}"));
        assert_eq!(sandbox.get("/api/users/me")["role"], role);
        assert_eq!(activity(&sandbox)["xpAwarded"], 12.5, "everybody plays");
        let game = json!({"slug": "another", "displayName": "Another"});
        sandbox.client().post("/api/games").json(&game).expect(status);
    }
    assert_eq!(place.fails("sandbox --memory --platform-role wizard").0, 2);
}

#[test]
fn an_incomplete_integration_is_refused() {
    let place = Place::new();
    for (flags, missing) in [
        ("--tracking-oneroster-url http://localhost:1", "TRACKING_API_CLIENT_ID"),
        ("--tracking-caliper-url http://localhost:1", "TRACKING_API_CLIENT_SECRET"),
        ("--tracking-oneroster-url http://localhost:1", "--tracking-student-id: is required"),
        ("--tracking-local --tracking-oneroster-url localhost", "is not an address"),
        ("--tracking-local --tracking-oneroster-url http://example.org", "must be https"),
    ] {
        let (code, stderr) = place.fails(&format!("sandbox --memory {flags}"));
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(missing), "{stderr}");
    }
    for name in ["TRACKING_API_CLIENT_ID", "TIMEBACK_API_CLIENT_ID"] {
        let (code, stderr) = Place::new().with(name, "me").fails("sandbox --memory");
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains("TRACKING_API_CLIENT_SECRET: is required"), "{stderr}");
        assert!(!stderr.contains("TRACKING_API_CLIENT_ID: is required"), "{stderr}");
    }
}

#[test]
fn the_sandbox_ends_with_its_input_if_a_flag_says_so() {
    let place = Place::new();
    let mut sandbox = Running::start(&place, "--memory --until-stdin-ends");
    sandbox.get("/api/users/me");
    drop(sandbox.process.stdin.take());
    assert!(wait(&mut sandbox.process, END_MAX).expect("it ends").success());
}

#[test]
fn flags_set_how_much_the_sandbox_logs() {
    let stderr_with = |flags: &str| {
        let place = Place::new();
        let mut command =
            place.command(&format!("sandbox --memory --port 0 --until-stdin-ends {flags}"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    };
    let usual = stderr_with("");
    assert!(usual.contains("Lyceum sandbox") && usual.contains("mock-dev-token"), "{usual}");
    assert!(!usual.contains("INFO"), "{usual}");
    let verbose = stderr_with("-v");
    assert!(verbose.contains("INFO"));
    assert!(!verbose.contains("migration"), "{verbose}");
    assert_eq!(stderr_with("-q"), "");
}

#[test]
fn a_mistyped_path_is_reported_in_the_log_and_in_the_response() {
    let place = Place::new();
    let mut sandbox = Running::start(&place, "--memory");
    let answer: Value = sandbox.client().get("/api/usres/me").expect(404).json();
    let expected = "no route has the path '/api/usres/me'; did you mean '/api/users/me'?";
    assert_eq!(answer["error"]["message"], expected, "{answer}");
    let errors = BufReader::new(sandbox.process.stderr.take().unwrap());
    let line = errors.lines().map(Result::unwrap).find(|line| line.contains("did you mean"));
    assert!(line.unwrap().contains(expected));
    let other: Value = sandbox.client().get("/api/elsewhere").expect(404).json();
    assert!(!other.to_string().contains("did you mean"), "{other}");
}
