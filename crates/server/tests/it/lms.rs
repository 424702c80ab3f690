//! Learning over HTTP: every effect is read back from roster, log and facts, and after a restart.

use lyceum_access::Player;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{Setup, TestServer, both, both_as};
use serde_json::{Value, json};

use crate::enrolling::{ROSTERING, get, post};
use crate::game_tokens::{both_at, code, player, playground};

/// A course of maths and one of reading, taught by the game, and ann a student of the first.
fn classroom(server: &TestServer) -> TestClient {
    let client = playground(server);
    let setup = json!({
        "gameId": "rivers",
        "organization": {"id": "s"},
        "courses": [
            {"subject": "Math", "grade": 3, "totalXp": 900, "masterableUnits": 20, "courseId": "m3"},
            {"subject": "Reading", "grade": "K", "totalXp": 100.5},
        ],
    });
    post(&client, "/api/lms/setup", &setup, 200);
    post(&client, "/bridge/enrollments/enroll/ann/m3", &json!({}), 201);
    client
}

fn ended(id: &str, correct: u32, total: u32, seconds: f64) -> Value {
    json!({
        "activityData": {"activityId": id, "activityName": "Rivers 1", "subject": "math", "grade": "03"},
        "scoreData": {"correctQuestions": correct, "totalQuestions": total},
        "timingData": {"durationSeconds": seconds},
    })
}

#[test]
fn a_setup_creates_roster_records_and_verify_names_the_missing_ones() {
    both(|server| {
        let client = classroom(server);
        let taught = get(&client, "/api/lms/integrations/rivers");
        assert_eq!(taught["organization"]["name"], "School s");
        assert_eq!(taught["courses"][1]["courseId"], "rivers-reading-k");
        assert_eq!(taught["courses"][1]["title"], "Rivers: Reading K");
        let course = get(&client, &format!("{ROSTERING}/courses/m3"))["course"].clone();
        assert_eq!(course["metadata"]["metrics"], json!({"totalXp": 900, "masterableUnits": 20}));
        server.restart();
        let client = server.client();
        assert_eq!(get(&client, "/api/timeback/integrations/rivers"), taught);
        let verify = || get(&client, "/api/lms/verify/rivers");
        assert_eq!((&verify()["status"], &verify()["missing"]), (&json!("ok"), &json!([])));
        for (path, kind, id) in [
            ("rostering/v1p2/courses/components", "courseComponent", "m3-component"),
            ("resources/v1p2/resources", "resource", "m3-resource"),
            ("rostering/v1p2/courses", "course", "rivers-reading-k"),
        ] {
            client.delete(&format!("/ims/oneroster/{path}/{id}")).expect(204);
            let missing = verify()["missing"].to_string();
            assert!(missing.contains(&format!("the {kind} '{id}' was deleted")), "{missing}");
        }
        assert_eq!(verify()["status"], "incomplete");
        // Set up again, all of it is there again, and what is not named any more is not taught.
        let again = json!({"gameId": "rivers", "courses": [
            {"subject": "Math", "grade": "3", "totalXp": 900, "courseId": "m3"}]});
        post(&client, "/api/lms/setup", &again, 200);
        assert_eq!(verify()["missing"], json!([]));
        assert_eq!(get(&client, "/api/lms/config/rivers")["courses"].as_array().unwrap().len(), 1);

        client.delete("/api/lms/integrations/rivers").expect(204);
        assert_eq!(code(&client.get("/api/lms/integrations/rivers").expect(404)), "NOT_FOUND");
        client.delete("/api/lms/integrations/rivers").expect(404);
        let course = get(&client, &format!("{ROSTERING}/courses/m3"))["course"].clone();
        assert_eq!(course["status"], "tobedeleted");
        for courses in [
            json!([]),
            json!([{"subject": "Math", "grade": 3}]),
            json!([{"subject": "Math", "grade": [], "totalXp": 1}]),
            json!([{"subject": "Math", "grade": 3, "totalXp": 1}, {"subject": "math", "grade": "03", "totalXp": 1}]),
        ] {
            let bad = json!({"gameId": "rivers", "courses": courses});
            assert_eq!(
                code(&client.post("/api/lms/setup").json(&bad).expect(422)),
                "VALIDATION_FAILED"
            );
        }
        let ann = player(server, &client, "ann", "rivers");
        assert_eq!(code(&ann.post("/api/lms/setup").json(&again).expect(403)), "FORBIDDEN");
    });
}

#[test]
fn a_finished_activity_is_counted_everywhere_and_repeated_attempts_count_less() {
    both_at("2026-11-22T10:00:00Z", |server, _| {
        let client = classroom(server);
        let ann = player(server, &client, "ann", "rivers");
        let end = |body: &Value| post(&ann, "/api/lms/end-activity", body, 200);
        let first = end(&ended("a", 10, 10, 600.0));
        assert_eq!(
            (&first["xpAwarded"], &first["attempt"], &first["courseId"]),
            (&json!(12.5), &json!(1), &json!("m3"))
        );
        assert_eq!(end(&ended("a", 9, 10, 600.0))["xpAwarded"], 5);
        assert_eq!(end(&ended("a", 10, 10, 600.0))["xpAwarded"], 3.1);
        assert_eq!(end(&ended("a", 10, 10, 600.0))["xpAwarded"], 0);
        assert_eq!(end(&ended("b", 7, 10, 600.0))["xpAwarded"], 0, "another activity, below 80 %");
        let mut own = ended("c", 1, 10, 0.0);
        own["xpEarned"] = json!(2.5);
        own["masteredUnits"] = json!(5);
        let own = end(&own);
        assert_eq!((&own["xpAwarded"], &own["pctCompleteApp"]), (&json!(2.5), &json!(25.0)));
        assert_eq!(own["multiplier"], Value::Null);
        server.restart();
        let client = server.client();
        let ann = server.anonymous().with_token(ann.token().unwrap());
        assert_eq!(get(&ann, "/api/lms/xp/today"), json!({"date": "2026-11-22", "xp": 23.1}));
        assert_eq!(get(&ann, "/api/lms/xp/total"), json!({"totalXp": 23.1}));
        assert_eq!(get(&ann, "/api/levels/me")["totalXp"], 23.1);
        // The bridge's own sums are the same, and the log has the event.
        let facts = get(
            &client,
            "/bridge/analytics/activity?studentId=ann&startDate=2026-11-22&endDate=2026-11-22",
        );
        let maths = &facts["facts"]["2026-11-22"]["Math"];
        assert_eq!(maths["activityMetrics"]["xpEarned"], 23.1);
        assert_eq!(maths["activityMetrics"]["masteredUnits"], 5);
        assert_eq!(maths["timeSpentMetrics"]["activeSeconds"], 3000);
        let event =
            get(&client, &format!("/caliper/events/{}", first["eventId"].as_str().unwrap()));
        assert!(event.to_string().contains("ServiceActivityContext"), "{event}");
    });
}

#[test]
fn time_is_counted_once_and_a_late_result_on_its_own_day() {
    both_at("2026-11-22T10:00:00Z", |server, _| {
        let client = classroom(server);
        let ann = player(server, &client, "ann", "rivers");
        let spent = json!({
            "activityData": {"activityId": "a", "subject": "Math", "grade": 3},
            "timingData": {"startedAt": "2026-11-22T09:58:00Z", "endedAt": "2026-11-22T09:59:00Z",
                "activeSeconds": 45, "inactiveSeconds": 15},
        });
        post(&ann, "/api/lms/time-spent", &spent, 200);
        post(&ann, "/api/lms/end-activity", &ended("a", 10, 10, 60.0), 200);
        let mut late = ended("b", 10, 10, 120.0);
        late["timingData"]["endedAt"] = json!("2026-11-20T23:30:00Z");
        post(&ann, "/api/lms/end-activity", &late, 200);
        let times = |day: &str| {
            let path =
                format!("/bridge/analytics/activity?studentId=ann&startDate={day}&endDate={day}");
            get(&client, &path)["facts"][day]["Math"]["timeSpentMetrics"].clone()
        };
        assert_eq!(times("2026-11-22")["activeSeconds"], 60, "45 s were told before");
        assert_eq!(times("2026-11-22")["inactiveSeconds"], 15);
        assert_eq!(times("2026-11-20")["activeSeconds"], 120);
        let days = get(&ann, "/api/lms/xp/history?startDate=2026-11-20&endDate=2026-11-22");
        assert_eq!(
            days,
            json!({"history": [
            {"date": "2026-11-20", "xp": 2.5}, {"date": "2026-11-21", "xp": 0}, {"date": "2026-11-22", "xp": 1.3}]})
        );
        let there = get(
            &ann,
            "/api/lms/xp/history?startDate=2026-11-20&endDate=2026-11-22&timezone=Asia/Tokyo",
        );
        assert_eq!(there["history"][1], json!({"date": "2026-11-21", "xp": 2.5}));
        assert_eq!(get(&ann, "/api/lms/xp/history")["history"].as_array().unwrap().len(), 30);
        for bad in [
            "startDate=x",
            "startDate=2026-11-23&endDate=2026-11-22",
            "startDate=2020-01-01",
            "timezone=Mars",
        ] {
            assert_eq!(
                code(&ann.get(&format!("/api/lms/xp/history?{bad}")).expect(422)),
                "VALIDATION_FAILED"
            );
        }
        for when in ["2026-11-22T11:00:00Z", "2026-01-01T00:00:00Z", "yesterday"] {
            let mut bad = ended("d", 1, 1, 1.0);
            bad["timingData"]["endedAt"] = json!(when);
            assert_eq!(
                code(&ann.post("/api/lms/end-activity").json(&bad).expect(422)),
                "VALIDATION_FAILED"
            );
        }
    });
}

#[test]
fn more_correct_answers_than_questions_are_refused_and_a_penalty_is_not() {
    both_at("2026-11-22T10:00:00Z", |server, _| {
        let client = classroom(server);
        let ann = player(server, &client, "ann", "rivers");
        let refused_at = |path: &str, body: &Value, field: &str| {
            let refused: Value = ann.post(path).json(body).expect(422).json();
            let detail = &refused["error"]["details"][0];
            assert_eq!(detail["path"], field, "{refused}");
            let message = detail["message"].as_str().unwrap();
            for part in ["totalQuestions", "got 9 correct of 1", "Send how many"] {
                assert!(message.contains(part), "{message}");
            }
        };
        let counts = json!({ "correctQuestions": 9, "totalQuestions": 1 });
        refused_at("/api/lms/end-activity", &ended("a", 9, 1, 60.0), "scoreData.correctQuestions");
        let mut score = counts.clone();
        score["score"] = json!(9);
        refused_at("/api/scores", &score, "correctQuestions");
        refused_at(
            "/api/scores",
            &json!({ "score": 9, "metadata": counts }),
            "metadata.correctQuestions",
        );
        assert_eq!(get(&ann, "/api/users/me/scores"), json!([]));

        post(&ann, "/api/lms/end-activity", &ended("a", 10, 10, 600.0), 200);
        let mut penalty = ended("b", 0, 10, 0.0);
        penalty["xpEarned"] = json!(-2.5);
        let earned = post(&ann, "/api/lms/end-activity", &penalty, 200);
        assert_eq!((&earned["xpAwarded"], &earned["multiplier"]), (&json!(-2.5), &json!(null)));
        assert_eq!(get(&ann, "/api/lms/xp/total"), json!({ "totalXp": 10 }));
        assert_eq!(get(&ann, "/api/levels/me")["totalXp"], 10);
        penalty["xpEarned"] = json!(-1e15);
        ann.post("/api/lms/end-activity").json(&penalty).expect(422);
    });
}

#[test]
fn xp_of_today_can_be_raised_and_lowered() {
    both_at("2026-11-22T10:00:00Z", |server, _| {
        let client = classroom(server);
        let ann = player(server, &client, "ann", "rivers");
        post(&ann, "/api/lms/end-activity", &ended("a", 10, 10, 600.0), 200);
        let set =
            |xp: f64| ann.put("/api/lms/xp/today").json(&json!({"xp": xp, "timezone": "UTC"}));
        assert_eq!(set(40.0).expect(200).json::<Value>(), json!({"date": "2026-11-22", "xp": 40}));
        assert_eq!(set(8.5).expect(200).json::<Value>()["xp"], 8.5);
        set(8.5).expect(200);
        assert_eq!(code(&set(-1.0).expect(422)), "VALIDATION_FAILED");
        server.restart();
        let ann = server.anonymous().with_token(ann.token().unwrap());
        assert_eq!(get(&ann, "/api/timeback/xp/today")["xp"], 8.5);
        assert_eq!(get(&ann, "/api/lms/xp/total"), json!({"totalXp": 8.5}));
    });
}

#[test]
fn activities_need_an_enrolled_student_and_a_course_of_the_game() {
    both(|server| {
        let client = classroom(server);
        let bob = player(server, &client, "bob", "rivers");
        let refused = bob.post("/api/lms/end-activity").json(&ended("a", 1, 1, 60.0)).expect(403);
        assert_eq!(code(&refused), "FORBIDDEN");
        let ann = player(server, &client, "ann", "rivers");
        let mut body = ended("a", 1, 1, 60.0);
        body["activityData"]["subject"] = json!("Chemistry");
        let response = ann.post("/api/lms/end-activity").json(&body).expect(422);
        assert!(response.text().contains("Math in grade 3"), "{}", response.text());
        body["activityData"]["subject"] = json!("Math");
        body["scoreData"]["correctQuestions"] = json!(2);
        assert_eq!(
            code(&ann.post("/api/lms/end-activity").json(&body).expect(422)),
            "VALIDATION_FAILED"
        );
        body["scoreData"]["correctQuestions"] = json!(1);
        body["studentId"] = json!("bob");
        assert_eq!(code(&ann.post("/api/lms/end-activity").json(&body).expect(403)), "FORBIDDEN");
        // A client ends it for the student, once for one key.
        body["studentId"] = json!("ann");
        body["gameId"] = json!("rivers");
        let end = || {
            client
                .post("/api/lms/end-activity")
                .header("idempotency-key", "k")
                .json(&body)
                .expect(200)
                .text()
        };
        assert_eq!(end(), end());
        assert_eq!(get(&ann, "/api/lms/xp/total"), json!({"totalXp": 1.3}));
        let me = get(&ann, "/api/users/me");
        assert_eq!(
            me["lms"]["enrollments"],
            json!([{"subject": "Math", "grade": 3, "courseId": "m3"}])
        );
        assert_eq!((&me["hasLmsAccount"], &me["hasTimebackAccount"]), (&json!(true), &json!(true)));
        let planets = player(server, &client, "ann", "planets");
        let mut body = ended("a", 1, 1, 60.0);
        assert_eq!(
            code(&planets.post("/api/lms/end-activity").json(&body).expect(404)),
            "NOT_FOUND"
        );
        body["gameId"] = json!("rivers");
        planets.post("/api/lms/end-activity").json(&body).expect(403);
    });
}

#[test]
fn a_sandbox_without_an_lms_says_so() {
    let demo = Player { user: "ann".to_owned(), game: String::new() };
    let setup = Setup { sandbox: Some((demo, false)), ..Setup::default() };
    both_as(&setup, |server| {
        playground(server);
        let mock = server.anonymous().with_token("mock");
        for path in ["xp/total", "xp/today", "integrations/rivers", "verify/rivers"] {
            assert_eq!(code(&mock.get(&format!("/api/lms/{path}")).expect(503)), "LMS_DISABLED");
        }
        let refused = mock.post("/api/lms/end-activity").json(&ended("a", 1, 1, 1.0)).expect(503);
        assert_eq!(code(&refused), "LMS_DISABLED");
        assert_eq!(get(&mock, "/api/users/me")["lms"], Value::Null);
    });
}
